// The types that a VCODE program can name or hold on its stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vcode {

enum class Type : std::uint8_t {
  Int,     // vector of integers; characters are integers too
  Bool,    // vector of truth values
  Float,   // vector of floating-point numbers
  Segdes,  // segment descriptor
  Char,    // only written in programs (CONST CHAR, READ CHAR, ...): its values have type Int
  Pair,    // two values; made by PAIR only, cannot be written
};

inline constexpr std::size_t kTypeCount = 6;
inline constexpr int kDataTypes = 3;  // Int, Bool and Float, in this order, are element types

/// The word that stands for a type in a program: "INT", "BOOL", ... ("PAIR" in messages only).
std::string_view type_name(Type type);

/// The type of the values that an instruction with this written type handles: CHAR values are INT.
constexpr Type value_type(Type written) {
  return written == Type::Char ? Type::Int : written;
}

constexpr bool is_data(Type type) {
  return static_cast<int>(type) < kDataTypes;
}

}  // namespace vcode
