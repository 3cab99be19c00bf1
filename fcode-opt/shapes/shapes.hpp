// The shapes of the values of one function, while its statements are walked in order.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fcode-opt/ir.hpp"
#include "fcode-opt/shapes/shape.hpp"
#include "ir/tools.hpp"

namespace fcode {

/// Answers hold at the place that the walk has reached.
class Shapes {
 public:
  /// `trust_rules`: learn from the length rules of operations; right where a program that breaks
  /// one fails in any case, wrong where what is learned could remove that very failure.
  explicit Shapes(const Function& function, bool trust_rules = true)
      : function_(function), trust_rules_(trust_rules) {}

  /// A value that was not met yet has an unknown shape.
  const Shape& of(ValueId value) {
    if (value >= shapes_.size() || !shapes_[value]) define(value, unknown());
    return *shapes_[value];
  }
  void define(ValueId value, Shape shape);
  Shape unknown();
  Content new_content() { return next_content_++; }

  bool same_length(ValueId a, ValueId b);
  /// Is the vector as long as the descriptor says?
  bool fits(ValueId vector, ValueId segdes) {
    return equations.equal(of(vector).length, of(segdes).sum);
  }
  /// Are the descriptors the same: as many segments, of the same lengths?
  bool same_segments(ValueId a, ValueId b);
  bool one_segment(ValueId segdes) { return is_number(of(segdes).length, 1); }
  bool is_scalar(ValueId vector) { return is_number(of(vector).length, 1); }
  bool is_number(const Linear& term, std::int64_t value) const {
    return equations.number(term) == value;
  }
  /// The common element of a vector of equal elements (the length of uniform segments), if known.
  std::optional<Linear> element(ValueId value);
  /// The same as a number, where it is one that an INT of 32 bits can be: beyond, it has wrapped
  /// around there.
  std::optional<std::int64_t> known_element(ValueId value);
  bool uniform(ValueId value);

  /// Defines the results of an operation, constant or kernel, and learns from the rules that it
  /// must obey. False if they cannot hold: the statement fails.
  bool step(const Statement& statement, const Module& module);

  /// Calls `visit(left, right)` for what an operation demands of the lengths of its operands: that
  /// they are equal. Those of an elementwise one may be longer than the first, and are cut then.
  template <typename Visit>
  void for_each_demand(const Statement& statement, Visit&& visit) {
    if (statement.kind != Statement::Kind::Op) return;
    for (const ValueId operand : statement.operands)
      of(operand);  // met: shapes stay where they are
    for (const vcode::LengthRule& rule : vcode::length_rules(statement.op)) {
      visit(term(statement, rule.left), term(statement, rule.right));
    }
    if (vcode::info(statement.op).family != vcode::Family::Elementwise) return;
    for (std::size_t i = 1; i < statement.operands.size(); ++i) {
      visit(of(statement.operands[0]).length, of(statement.operands[i]).length);
    }
  }

  /// Are all lengths known to be as the operation demands?
  bool lengths_fit(const Statement& statement) {
    bool fit = true;
    for_each_demand(statement, [&](const Linear& left, const Linear& right) {
      fit = fit && equations.equal(left, right);
    });
    return fit;
  }

  /// Of a result of an Op or Const that the walk has passed, else null.
  const Definition* definition(ValueId value) const;
  /// Is the BOOL scalar known to be T or F?
  std::optional<bool> truth(ValueId condition) { return truth(condition, kConditionDepth); }
  /// Learns what follows when the BOOL scalar is `value`. False if that cannot be.
  bool assume(ValueId condition, bool value) { return assume(condition, value, kConditionDepth); }
  /// How much assume() has learned of which number is less than which, and of contents, for leaving
  /// a branch; equations have marks of their own.
  struct Mark {
    std::size_t orders, changes;
  };
  Mark mark() const { return {orders_.size(), changes_.size()}; }
  void leave(const Mark& mark);

  Equations equations;

 private:
  static constexpr int kConditionDepth = 32;  // how deep conditions are looked into

  std::optional<bool> truth(ValueId condition, int depth);
  bool assume(ValueId condition, bool value, int depth);
  const Definition* any_differ(const Definition& made);
  bool assume_equal(ValueId x, ValueId y);
  void learn(ValueId vector, const Shape& equal);
  Shape constant(const vcode::Constant& constant);
  Shape given(const GivenShape& known);
  Shape elementwise(const Statement& statement);
  Shape distribute(const Statement& statement);
  Shape result(const Statement& statement);
  bool fetches_inside(const Statement& statement);
  void pack(const Statement& statement);
  void run(const Statement& statement, const vcode::Kernel& kernel);
  bool obey_rules(const Statement& statement);
  const Linear& term(const Statement& statement, vcode::LengthTerm term) {
    const Shape& shape = of(statement.operands[term.operand]);
    return term.described ? shape.sum : shape.length;
  }

  std::size_t table_size(ValueId value) const {
    return std::max<std::size_t>(function_.values.size(), value + std::size_t{1});
  }

  const Function& function_;
  bool trust_rules_;
  std::vector<std::optional<Shape>> shapes_;
  std::vector<Definition> definitions_;                  // without a kind: not met yet
  std::map<std::pair<ValueId, Content>, Shape> packed_;  // (flags, segments) -> new descriptor
  std::map<std::pair<ValueId, Content>, Linear> sums_;   // (flags, numbers) -> sum of the packed
  struct Order {
    Linear less, more;
  };
  std::vector<Order> orders_;
  struct Change {
    ValueId value;
    Shape before;
  };
  std::vector<Change> changes_;  // of shapes, by what was assumed
  Content next_content_ = 0;
};

}  // namespace fcode
