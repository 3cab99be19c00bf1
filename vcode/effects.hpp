// What a function does to the stack, as far as it can be told without running it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vcode/types.hpp"

namespace vcode {

/// A set of types: one bit for each type of values.
using TypeSet = std::uint8_t;
constexpr TypeSet type_bit(Type type) {
  return static_cast<TypeSet>(1u << static_cast<int>(type));
}
constexpr TypeSet kDataSet = type_bit(Type::Int) | type_bit(Type::Bool) | type_bit(Type::Float);
constexpr TypeSet kVectorSet = kDataSet | type_bit(Type::Segdes);
constexpr TypeSet kAnySet = kVectorSet | type_bit(Type::Pair);

/// The type of one value that a function takes or leaves.
struct ValueType {
  TypeSet allowed = kAnySet;          // what the value can be: as an input, anything else must fail
  TypeSet expected = kAnySet;         // a subset: what at least one way through the function needs
  std::uint32_t variable = 0;         // in one effect, equal numbers but 0 stand for the same type
  std::vector<ValueType> components;  // of a pair: both if they are known, else none

  bool operator==(const ValueType&) const = default;
};

struct FunctionEffect {
  std::vector<ValueType> inputs;     // removed from the stack, deepest first
  std::vector<ValueType> outputs;    // pushed in their place, deepest first
  std::uint32_t certain_inputs = 0;  // so many of the topmost inputs must be there
  bool complete = true;              // false: nothing of the above is known
  bool never_returns = false;        // ends in EXIT, or recursion without an end

  bool operator==(const FunctionEffect&) const = default;
};

/// For example "INT", "PAIR(INT, a)" or, for a type that is not known, its variable "a".
std::string type_text(const ValueType& type);
/// For example "qsort_3 ( SEGDES INT -- SEGDES INT )", "fail_1 ( INT -- never returns )" or
/// "count_2 ( ? -- ? )".
std::string effect_text(std::string_view name, const FunctionEffect& effect);

}  // namespace vcode
