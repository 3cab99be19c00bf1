// {if f then a else b : ...} is compiled to conditionals: where all flags are T, only a is
// computed, where all are F only b, and where there are no elements nothing. When the general case
// has become SELECT f a b, it gives the same results in the special ones.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/passes/region_rewriter.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

using vcode::Family;

// Arms with more operations stay: much might be computed for nothing.
constexpr std::size_t kMostHoisted = 16;
// How far conditions and expressions are followed.
constexpr int kDepth = 8;

/// What can be said of values behind a conditional.
class Facts {
 public:
  explicit Facts(Shapes& shapes) : shapes_(shapes) {}

  /// What a result of the conditional is in both cases; none if that differs.
  ValueId agreed(const Statement& conditional, std::size_t result) const {
    const ValueId condition = conditional.operands[0];
    const ValueId a = conditional.then_block->results[result];
    const ValueId b = conditional.else_block->results[result];
    if (same(a, b)) return a;
    if (agrees(condition, true, a, b)) return b;
    if (agrees(condition, false, b, a)) return a;
    return kNoValue;
  }

 private:
  // Is the general value equal to the special one, if the condition is `value`?
  bool agrees(ValueId condition, bool value, ValueId special, ValueId general) const {
    if (shapes_.is_number(shapes_.of(special).length, 0) &&
        implies_empty(condition, value, general)) {
      return true;
    }
    const Definition* made = shapes_.definition(general);
    if (!made || !made->is(Op::Select)) return false;
    const ValueId flags = made->operands[0], chosen = made->operands[1], other = made->operands[2];
    return (implies(condition, value, flags, true) && same(special, chosen)) ||
           (implies(condition, value, flags, false) && same(special, other));
  }

  // Are both values computed in the same way?
  bool same(ValueId x, ValueId y, int depth = kDepth) const {
    if (x == y) return true;
    const Definition *a = shapes_.definition(x), *b = shapes_.definition(y);
    if (!a || !b || a->kind != b->kind || depth == 0) return false;
    if (a->is_const()) return a->index == b->index;
    const bool alike = a->kind == Statement::Kind::Op && a->op == b->op &&
                       a->written == b->written && a->result == b->result &&
                       vcode::info(a->op).family == Family::Elementwise;
    if (!alike) return distributes_same(*a, *b, depth);
    for (std::size_t i = 0; i < a->operands.size(); ++i) {
      if (!same(a->operands[i], b->operands[i], depth - 1)) return false;
    }
    return true;
  }

  // Does it follow that all flags are `all`, if the condition is `value`?
  bool implies(ValueId condition, bool value, ValueId flags, bool all, int depth = kDepth) const {
    const Definition* made = shapes_.definition(condition);
    if (!made || made->kind != Statement::Kind::Op || depth == 0) return false;
    switch (made->op) {
      case Op::Not:
        return made->written == Type::Bool &&
               implies(made->operands[0], !value, flags, all, depth - 1);
      case Op::AndReduce:
        return value && all && covers(*made, flags);
      case Op::OrReduce:
        return !value && !all && covers(*made, flags);
      case Op::Equal:
        return value && counts(*made, flags, all);
      case Op::NotEqual:
        return !value && counts(*made, flags, all);
      default:
        return false;
    }
  }

  // Does it follow that the vector has no elements?
  bool implies_empty(ValueId condition, bool value, ValueId vector) const {
    const Definition* made = shapes_.definition(condition);
    if (!made || !made->is(value ? Op::Equal : Op::NotEqual)) return false;
    return equates(*made, shapes_.of(vector).length, Linear::number(0));
  }

  bool distributes_same(const Definition& a, const Definition& b, int depth) const {
    return a.is(Op::Distribute) && b.is(Op::Distribute) && a.written == b.written &&
           same(a.operands[0], b.operands[0], depth - 1) &&
           shapes_.same_segments(a.operands[1], b.operands[1]);
  }

  bool covers(const Definition& reduction, ValueId flags) const {
    return reduction.written == Type::Bool && reduction.operands[0] == flags &&
           is_one_segment_of(flags, reduction.operands[1]);
  }

  bool is_one_segment_of(ValueId vector, ValueId segdes) const {
    return shapes_.one_segment(segdes) && shapes_.fits(vector, segdes);
  }

  // Does the comparison say that the number of flags T is the number of all flags, or 0?
  bool counts(const Definition& comparison, ValueId flags, bool all) const {
    const std::optional<Linear> count = count_in(comparison, flags, kDepth);
    return count && equates(comparison, *count, all ? shapes_.of(flags).length : Linear::number(0));
  }

  // The number of flags T, where a scalar is computed from it.
  std::optional<Linear> count_in(const Definition& made, ValueId flags, int depth) const {
    if (made.kind != Statement::Kind::Op || made.written != Type::Int || depth == 0) {
      return std::nullopt;
    }
    if (made.op == Op::AddReduce) {
      const Definition* summed = shapes_.definition(made.operands[0]);
      const bool is_count = summed && summed->is(Op::BoolToInt) && summed->operands[0] == flags &&
                            is_one_segment_of(flags, made.operands[1]);
      return is_count ? std::optional(shapes_.of(made.operands[0]).sum) : std::nullopt;
    }
    if (vcode::info(made.op).family != Family::Elementwise) return std::nullopt;
    for (const ValueId operand : made.operands) {
      const Definition* part = shapes_.definition(operand);
      const auto count = part ? count_in(*part, flags, depth - 1) : std::nullopt;
      if (count) return count;
    }
    return std::nullopt;
  }

  // Does the comparison of INT scalars say that a = b?
  bool equates(const Definition& comparison, const Linear& a, const Linear& b) const {
    const ValueId x = comparison.operands[0], y = comparison.operands[1];
    if (comparison.written != Type::Int || !shapes_.is_scalar(x) || !shapes_.is_scalar(y)) {
      return false;
    }
    const Linear left = shapes_.of(x).sum, right = shapes_.of(y).sum;
    return shapes_.equations.equal(left + b, right + a) ||
           shapes_.equations.equal(left + a, right + b);
  }

  Shapes& shapes_;
};

class AgreeingArms : public ShapeVisitor {
 public:
  AgreeingArms(Module&, Function& function) : function_(function), names_(function.values.size()) {}

  void joined(Shapes& shapes, const Statement& conditional) override {
    std::size_t operations = 0;
    if (conditional.results.empty() ||
        !only_computes(shapes, *conditional.then_block, operations) ||
        !only_computes(shapes, *conditional.else_block, operations)) {
      return;
    }
    const Facts facts(shapes);
    ValueList values;
    for (std::size_t i = 0; i < conditional.results.size(); ++i) {
      values.push_back(facts.agreed(conditional, i));
      if (values.back() == kNoValue) return;
    }
    values_[conditional.results[0]] = std::move(values);
  }

  bool finish() {
    if (values_.empty()) return false;
    for_each_block(function_.body, [&](Block& block) { open_conditionals(block); });
    names_.apply(function_.body);
    return true;
  }

 private:
  // Operations without effects that cannot fail, and not too many of them.
  static bool only_computes(Shapes& shapes, const Block& block, std::size_t& operations) {
    for (const Statement& statement : block.statements) {
      if (statement.kind == Statement::Kind::Const) continue;
      if (statement.kind != Statement::Kind::Op || !cannot_fail(shapes, statement)) return false;
      if (++operations > kMostHoisted) return false;
    }
    return !block.diverges;
  }

  static bool cannot_fail(Shapes& shapes, const Statement& statement) {
    if (!is_pure(statement)) return false;
    if (!may_fail(statement)) return true;
    const Family family = vcode::info(statement.op).family;
    if (family != Family::Elementwise && family != Family::Distribute) return false;
    if (divides_ints(statement.op, statement.written)) return false;
    return shapes.lengths_fit(statement);
  }

  // Both arms take the place of their conditional.
  void open_conditionals(Block& block) {
    std::vector<Statement> statements;
    for (Statement& statement : block.statements) {
      const auto found = statement.kind == Statement::Kind::If && !statement.results.empty()
                             ? values_.find(statement.results[0])
                             : values_.end();
      if (found == values_.end()) {
        statements.push_back(std::move(statement));
        continue;
      }
      for (Block* arm : {statement.then_block.get(), statement.else_block.get()}) {
        for (Statement& own : arm->statements) statements.push_back(std::move(own));
      }
      for (std::size_t i = 0; i < statement.results.size(); ++i) {
        names_.set(statement.results[i], found->second[i]);
      }
    }
    block.statements = std::move(statements);
  }

  Function& function_;
  Renaming names_;
  std::map<ValueId, ValueList> values_;  // by the first result of a conditional
};

// Are there conditionals whose arms only compute?
bool has_candidates(const Function& function) {
  const auto computes = [](const Block& arm) {
    return !arm.diverges && std::all_of(arm.statements.begin(), arm.statements.end(), is_pure);
  };
  bool found = false;
  for_each_statement(function.body, [&](const Statement& statement) {
    found |= statement.kind == Statement::Kind::If && !statement.results.empty() &&
             computes(*statement.then_block) && computes(*statement.else_block);
  });
  return found;
}

}  // namespace

bool merge_agreeing_arms(Module& module, KnownWalks& walks) {
  return rewrite_regions<AgreeingArms>(module, walks, has_candidates);
}

}  // namespace fcode
