// The operator table (operators.def) as data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace neslc {

struct InfixOperator {
  enum Associativity : std::uint8_t { Left, Right };
  std::string_view spelling;
  int level;  // 3 binds tightest, kLoosestLevel least
  Associativity associativity;
  std::string_view function;
};

struct PrefixOperator {
  std::string_view spelling;
  std::string_view function;
};

inline constexpr int kLoosestLevel = 10;

std::span<const InfixOperator> infix_operators();
std::span<const PrefixOperator> prefix_operators();

/// The operator of that spelling, or null.
const InfixOperator* find_infix_operator(std::string_view spelling);
const PrefixOperator* find_prefix_operator(std::string_view spelling);

/// What a message calls a library function: its operator if it has one, else its name.
std::string_view display_name(std::string_view function);

}  // namespace neslc
