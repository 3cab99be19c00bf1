// Expressions of kernels in the making, each once, simplified as far as constants and equal
// operands go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace fcode
