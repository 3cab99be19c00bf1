// Expressions of kernels in the making, each once, simplified as far as constants and equal
// operands go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vcode/kernel.hpp"

namespace fcode {

using ExpressionId = std::uint32_t;

/// A number that is written in the program: of INT or BOOL, or 0.0.
vcode::ThunkNode literal_node(vcode::Type type, std::int64_t value);

/// Expressions of a state, each once, named by their numbers.
class Expressions {
 public:
  ExpressionId add(const vcode::ThunkNode& node);
  ExpressionId constant(bool value);
  ExpressionId number(std::int64_t value);
  ExpressionId applied(vcode::Op op, vcode::Type written, std::initializer_list<ExpressionId> args);
  /// Simplified as far as constants and equal operands go.
  ExpressionId choice(ExpressionId condition, ExpressionId first, ExpressionId second);
  ExpressionId either(ExpressionId a, ExpressionId b);
  ExpressionId both(ExpressionId a, ExpressionId b);
  ExpressionId negation(ExpressionId a);

  std::optional<bool> known(ExpressionId node) const;
  const vcode::ThunkNode& operator[](ExpressionId node) const { return nodes_[node]; }
  std::size_t size() const { return nodes_.size(); }
  /// The function that has these nodes as its results.
  vcode::Thunk thunk(const std::vector<ExpressionId>& results) const;

 private:
  bool is_logic(ExpressionId node, vcode::Op op) const;
  ExpressionId logic(vcode::Op op, ExpressionId a, ExpressionId b);

  std::vector<vcode::ThunkNode> nodes_;
  std::map<std::string, ExpressionId> known_;
};

}  // namespace fcode
