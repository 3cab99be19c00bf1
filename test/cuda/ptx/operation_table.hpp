// The instructions that are known, by name: what the text calls them, and what they do.
//
// Each file of operations adds its own. A name is the whole of it with all its suffixes, such as
// `setp.lt.s64`; of `mov` also what it packs (see kernel.cpp).
#pragma once

#include <bit>
#include <cmath>
#include <string>
#include <unordered_map>

#include "cuda/ptx/instruction.hpp"

namespace ptx_machine {

struct Operation {
  Instruction::Run run = nullptr;
  Instruction::RunTogether run_together = nullptr;
};

class OperationTable {
 public:
  static const OperationTable& instance();

  /// Null when there is none of that name.
  const Operation* find(const std::string& name) const;
  void add(const std::string& name, Instruction::Run run);
  /// Of a warp: `wait` makes a thread wait for the others, `run` is for all of them.
  void add_together(const std::string& name, Instruction::Run wait, Instruction::RunTogether run);

 private:
  OperationTable();
  void insert(const std::string& name, Operation operation);

  std::unordered_map<std::string, Operation> operations_;
};

void add_integer_operations(OperationTable& table);
void add_bit_operations(OperationTable& table);
void add_float_operations(OperationTable& table);
void add_conversions(OperationTable& table);
void add_memory_operations(OperationTable& table);
void add_control_operations(OperationTable& table);
void add_warp_operations(OperationTable& table);

/// Of no module: copies r[2] bytes of local memory from r[1] to r[0], for calls.
inline constexpr const char* kCopyLocal = "(copy)";

// ---- for those files ----

/// `.s32` and so on.
template <class T>
std::string type_name() {
  const char* letter = std::is_floating_point_v<T> ? "f" : std::is_signed_v<T> ? "s" : "u";
  return letter + std::to_string(8 * sizeof(T));
}

/// Calls f with a value of each type.
template <class... T, class F>
void for_types(const F& f) {
  (f(T{}), ...);
}

/// Devices know only one NaN of 32 bits; those of 64 keep what they hold.
template <class T>
T result_of(T value) {
  if constexpr (sizeof(T) == 4) {
    if (std::isnan(value)) return std::bit_cast<float>(0x7FFFFFFFu);
  }
  return value;
}

template <class T, auto kFunction>
void unary(const Instruction& i, Thread& t) {
  t.set(i.r[0], static_cast<T>(kFunction(t.get<T>(i.r[1]))));
}
template <class T, auto kFunction>
void binary(const Instruction& i, Thread& t) {
  t.set(i.r[0], static_cast<T>(kFunction(t.get<T>(i.r[1]), t.get<T>(i.r[2]))));
}
template <class T, auto kFunction>
void ternary(const Instruction& i, Thread& t) {
  t.set(i.r[0], static_cast<T>(kFunction(t.get<T>(i.r[1]), t.get<T>(i.r[2]), t.get<T>(i.r[3]))));
}
/// setp: a predicate from two values, and combined with another one. Compilers compare ahead of the
/// branch that asks whether there is anything to compare: only who uses the predicate is refused.
template <class T, auto kFunction>
void compare(const Instruction& i, Thread& t) {
  const auto value = [&](std::uint32_t at) { return std::bit_cast<T>(t.moved<Bits<T>>(at)); };
  const bool unwritten = (t.unwritten<Bits<T>>(i.r[1]) | t.unwritten<Bits<T>>(i.r[2])) != 0;
  t.set<bool>(i.r[0], kFunction(value(i.r[1]), value(i.r[2])), unwritten);
}
template <class T, auto kFunction, auto kCombine>
void compare_and_combine(const Instruction& i, Thread& t) {
  const bool other = t.moved<bool>(i.r[3]), no_other = t.unwritten<bool>(i.r[3]);
  compare<T, kFunction>(i, t);
  const bool own = t.moved<bool>(i.r[0]), no_own = t.unwritten<bool>(i.r[0]);
  const bool result = kCombine(own, other);
  const bool unwritten = (no_own && kCombine(!own, other) != result) ||
                         (no_other && kCombine(own, !other) != result) ||
                         (no_own && no_other && kCombine(!own, !other) != result);
  t.set<bool>(i.r[0], result, unwritten);
}
template <class T, auto kFunction>
void add_comparison(OperationTable& table, const std::string& condition, const std::string& type) {
  constexpr auto kAnd = [](bool a, bool b) { return a && b; };
  constexpr auto kOr = [](bool a, bool b) { return a || b; };
  constexpr auto kXor = [](bool a, bool b) { return a != b; };
  table.add("setp." + condition + "." + type, compare<T, kFunction>);
  table.add("setp." + condition + ".and." + type, compare_and_combine<T, kFunction, kAnd>);
  table.add("setp." + condition + ".or." + type, compare_and_combine<T, kFunction, kOr>);
  table.add("setp." + condition + ".xor." + type, compare_and_combine<T, kFunction, kXor>);
}
/// d = p ? a : b.
template <class T>
void select(const Instruction& i, Thread& t) {
  const std::uint32_t from = t.get<bool>(i.r[3]) ? i.r[1] : i.r[2];
  t.set(i.r[0], t.moved<Bits<T>>(from), t.unwritten<Bits<T>>(from));
}

}  // namespace ptx_machine
