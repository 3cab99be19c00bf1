// A function of scalars that calls itself last, as a loop: one round of it in expressions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fcode-opt/ir.hpp"
#include "vcode/kernel.hpp"

namespace fcode {

using ExpressionId = std::uint32_t;

/// Expressions of a state, each once, named by their numbers.
class Expressions {
 public:
  ExpressionId add(const vcode::ThunkNode& node);
  ExpressionId constant(bool value);
  /// Simplified as far as constants and equal operands go.
  ExpressionId choice(ExpressionId condition, ExpressionId first, ExpressionId second);
  ExpressionId either(ExpressionId a, ExpressionId b);
  ExpressionId negation(ExpressionId a);

  std::optional<bool> known(ExpressionId node) const;
  const vcode::ThunkNode& operator[](ExpressionId node) const { return nodes_[node]; }
  std::size_t size() const { return nodes_.size(); }
  /// The function that has these nodes as its results.
  vcode::Thunk thunk(const std::vector<ExpressionId>& results) const;

 private:
  std::vector<vcode::ThunkNode> nodes_;
  std::map<std::string, ExpressionId> known_;
};

/// The state consists of those parameters of the function that are scalars, and then of the
/// constants that the run gives. Of sequences, which stay the same in all rounds, the expressions
/// read elements (Subscript, `id` being the parameter) and lengths (Size, `id` being the parameter
/// that is the descriptor). A state either goes on or has come to its end; then it gives the
/// results, or fails, as the function says in its own way.
struct LoopBody {
  Expressions expressions;
  std::vector<std::uint32_t> given;      // indices into Module::constants
  std::vector<Type> state;               // the types of the components
  std::vector<std::uint32_t> component;  // of each parameter; of sequences: kNone
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  ExpressionId goes_on = 0, fails = 0;
  std::vector<ExpressionId> next;  // has a meaning where the state goes on
  std::vector<ExpressionId> results;
};

/// Nothing if the function is not such a loop, or too large for one.
std::optional<LoopBody> loop_body(const Module& module, const SerialFunction& function);

}  // namespace fcode
