// A function of scalars that calls itself last, or only combines what that gives with a number, as
// a loop: one round of it in expressions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fcode-opt/ir.hpp"
#include "fcode-opt/passes/expressions.hpp"
#include "vcode/kernel.hpp"

namespace fcode {

/// The state consists of those parameters of the function that are scalars, of where the own
/// elements of its sequences begin and how many there are, and of constants. Sequences stay the
/// same in all rounds. They are known by numbers: parameters by their own, and behind those the
/// constants. Of them the expressions read elements (Subscript, `id` being the vector's number) and
/// lengths (Size, `id` being the number of a descriptor, or of a constant vector; of a descriptor
/// with many segments: the length of all). A state either goes on or has come to its end; then it
/// gives the results, or fails, as the function says in its own way.
struct LoopBody {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Expressions expressions;
  /// Indices into Module::constants: those that the run gives, and sequences.
  std::vector<std::uint32_t> constants;
  std::vector<Type> state;  // the types of the components
  /// Which component is each parameter, and behind those each constant; of sequences: kNone.
  std::vector<std::uint32_t> component;
  /// Of each parameter that is a descriptor with many segments: which component is where the own
  /// one begins; the next one is its length.
  std::vector<std::uint32_t> own_segment;  // others: kNone
  /// A component that collects what is added to results, or combined with them in another way that
  /// knows no order, and what it is at first.
  struct Collected {
    std::uint32_t component = 0;
    vcode::ThunkNode identity;
  };
  std::optional<Collected> collected;
  ExpressionId goes_on = 0, fails = 0;
  std::vector<ExpressionId> next;  // has a meaning where the state goes on
  std::vector<ExpressionId> results;
};

/// Nothing if the function is not such a loop, or too large for one.
std::optional<LoopBody> loop_body(const Module& module, const SerialFunction& function);

}  // namespace fcode
