#include "neslc/front/operators.hpp"

namespace neslc {
namespace {

constexpr InfixOperator kInfix[] = {
#define INFIX_OPERATOR(spelling, level, associativity, function) \
  {spelling, level, InfixOperator::associativity, function},
#include "neslc/front/operators.def"
};

constexpr PrefixOperator kPrefix[] = {
#define PREFIX_OPERATOR(spelling, function) {spelling, function},
#include "neslc/front/operators.def"
};

}  // namespace

std::span<const InfixOperator> infix_operators() {
  return kInfix;
}

std::span<const PrefixOperator> prefix_operators() {
  return kPrefix;
}

const InfixOperator* find_infix_operator(std::string_view spelling) {
  for (const InfixOperator& infix : kInfix) {
    if (infix.spelling == spelling) return &infix;
  }
  return nullptr;
}

const PrefixOperator* find_prefix_operator(std::string_view spelling) {
  for (const PrefixOperator& prefix : kPrefix) {
    if (prefix.spelling == spelling) return &prefix;
  }
  return nullptr;
}

std::string_view display_name(std::string_view function) {
  constexpr std::string_view kOverStreams = "stream.";
  if (function.starts_with(kOverStreams)) function.remove_prefix(kOverStreams.size());
  for (const InfixOperator& infix : kInfix) {
    if (infix.function == function) return infix.spelling;
  }
  for (const PrefixOperator& prefix : kPrefix) {
    if (prefix.function == function) return prefix.spelling;
  }
  return function;
}

}  // namespace neslc
