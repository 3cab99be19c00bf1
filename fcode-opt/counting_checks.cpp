#include "fcode-opt/counting_checks.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "fcode-opt/checks.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

/// factor·c + rest
struct Line {
  std::int64_t factor = 0, rest = 0;
};

/// Evaluates conditions that depend on one count c, for given c and n.
class Evaluator {
 public:
  Evaluator(const Module& module, const std::vector<Definition>& definitions, ValueId count,
            ValueId total)
      : module_(module), definitions_(definitions), count_(count), total_(total) {}

  // Conditions are shallow: what is deeper was not made by a compiler's check.
  static constexpr int kDepth = 12;

  std::optional<bool> condition(ValueId value, std::int64_t c, std::int64_t n, int depth = kDepth) {
    const Definition& made = definitions_[value];
    if (depth == 0) return std::nullopt;
    if (made.is_const()) {
      const vcode::Constant& constant = module_.constants[made.index];
      if (constant.type != Type::Bool || constant.size() != 1) return std::nullopt;
      return constant.bools()[0] != 0;
    }
    if (made.kind != Statement::Kind::Op) return std::nullopt;
    if (made.op == Op::Equal || made.op == Op::NotEqual) {
      if (made.written != Type::Int) return std::nullopt;
      const std::optional<Line> x = line(made.operands[0], n, depth - 1);
      const std::optional<Line> y = line(made.operands[1], n, depth - 1);
      if (!x || !y) return std::nullopt;
      const Line difference{x->factor - y->factor, x->rest - y->rest};
      note_root(difference);
      return (difference.factor * c + difference.rest == 0) == (made.op == Op::Equal);
    }
    if (made.written != Type::Bool) return std::nullopt;
    if (made.op != Op::Not && made.op != Op::And && made.op != Op::Or) return std::nullopt;
    const std::optional<bool> x = condition(made.operands[0], c, n, depth - 1);
    if (!x) return std::nullopt;
    if (made.op == Op::Not) return !*x;
    const std::optional<bool> y = condition(made.operands[1], c, n, depth - 1);
    if (!y) return std::nullopt;
    return made.op == Op::And ? *x && *y : *x || *y;
  }

  /// The counts at which some comparison that was met changes.
  std::set<std::int64_t> roots;

 private:
  std::optional<Line> line(ValueId value, std::int64_t n, int depth) {
    if (value == count_) return Line{1, 0};
    if (value == total_) return Line{0, n};
    const Definition& made = definitions_[value];
    if (depth == 0) return std::nullopt;
    if (made.is_const()) {
      const vcode::Constant& constant = module_.constants[made.index];
      if (constant.type != Type::Int || constant.size() != 1) return std::nullopt;
      return Line{0, constant.ints()[0]};
    }
    if (!made.is(Op::Subtract) && !made.is(Op::Add)) return std::nullopt;
    if (made.written != Type::Int) return std::nullopt;
    const std::optional<Line> x = line(made.operands[0], n, depth - 1);
    const std::optional<Line> y = line(made.operands[1], n, depth - 1);
    if (!x || !y) return std::nullopt;
    const std::int64_t sign = made.op == Op::Add ? 1 : -1;
    return Line{x->factor + sign * y->factor, x->rest + sign * y->rest};
  }

  void note_root(const Line& line) {
    if (line.factor == 1 || line.factor == -1) roots.insert(-line.rest * line.factor);
  }

  const Module& module_;
  const std::vector<Definition>& definitions_;
  ValueId count_, total_;
};

class CountingChecks {
 public:
  CountingChecks(Module& module, Function& function)
      : module_(module), function_(function), definitions_(definitions(function)) {}

  bool run() {
    for_each_block(function_.body, [&](Block& block) { this->block(block); });
    return changed_;
  }

 private:
  struct Count {
    ValueId value = kNoValue;   // c
    ValueId flags = kNoValue;   // of which it counts the T
    ValueId segdes = kNoValue;  // in this one segment
  };

  void block(Block& block) {
    for (std::size_t i = 0; i < block.statements.size(); ++i) {
      if (!is_assertion(module_, block.statements[i])) continue;
      const Count count = find_count(block.statements[i].operands[0], Evaluator::kDepth);
      if (count.value == kNoValue) continue;
      // Assertions of the same message, with nothing between that could be reported before them.
      std::vector<std::size_t> group{i};
      for (std::size_t j = i + 1; j < block.statements.size(); ++j) {
        const Statement& next = block.statements[j];
        const bool same = is_assertion(module_, next) && next.index == block.statements[i].index;
        if (same) group.push_back(j);
        if (!same && !harmless(next)) break;
      }
      while (!group.empty() && !says_none(block, group, count)) group.pop_back();
      if (!group.empty()) replace(block, group, count);
    }
  }

  bool harmless(const Statement& statement) const {
    if (!is_pure(statement)) return false;
    if (statement.kind != Statement::Kind::Op) return statement.kind == Statement::Kind::Const;
    const bool elementwise = vcode::info(statement.op).family == vcode::Family::Elementwise;
    return (elementwise && !divides_ints(statement.op, statement.written)) || !may_fail(statement);
  }

  // +_REDUCE INT of B_TO_I of flags, anywhere in the condition.
  Count find_count(ValueId value, int depth) const {
    const Definition& made = definitions_[value];
    if (depth == 0 || made.kind != Statement::Kind::Op) return {};
    if (made.op == Op::AddReduce && made.written == Type::Int) {
      const Definition& summed = definitions_[made.operands[0]];
      if (!summed.is(Op::BoolToInt)) return {};
      return {value, summed.operands[0], made.operands[1]};
    }
    if (vcode::info(made.op).family != vcode::Family::Elementwise) return {};
    for (ValueId operand : made.operands) {
      const Count count = find_count(operand, depth - 1);
      if (count.value != kNoValue) return count;
    }
    return {};
  }

  // Do the assertions hold together exactly for c = 0, for all n and 0 <= c <= n?
  bool says_none(const Block& block, const std::vector<std::size_t>& group, const Count& count) {
    const ValueId total = total_of(block, group, count);
    if (const std::optional<std::int64_t> known = known_total(count.segdes)) {
      return says_none_for(block, group, count, total, *known);
    }
    if (total == kNoValue) return false;
    // Comparisons of sums of c, n and small constants: what holds up to here holds for all.
    constexpr std::int64_t kEnough = 12;
    for (std::int64_t n = 0; n <= kEnough; ++n) {
      if (!says_none_for(block, group, count, total, n)) return false;
    }
    return true;
  }

  bool says_none_for(const Block& block, const std::vector<std::size_t>& group, const Count& count,
                     ValueId total, std::int64_t n) {
    Evaluator evaluator(module_, definitions_, count.value, total);
    auto all_hold = [&](std::int64_t c) -> std::optional<bool> {
      bool all = true;
      for (std::size_t i : group) {
        const std::optional<bool> one = evaluator.condition(block.statements[i].operands[0], c, n);
        if (!one) return std::nullopt;
        all &= *one;
      }
      return all;
    };
    if (!all_hold(0)) return false;  // also collects where comparisons change
    std::set<std::int64_t> counts{0, 1, n / 2, n};
    for (std::int64_t root : evaluator.roots) counts.insert({root - 1, root, root + 1});
    for (std::int64_t c : counts) {
      if (c < 0 || c > n) continue;
      if (all_hold(c) != (c == 0)) return false;
    }
    return true;
  }

  std::optional<std::int64_t> known_total(ValueId segdes) const {
    const Definition& made = definitions_[segdes];
    if (made.is_const()) {
      const vcode::Constant& constant = module_.constants[made.index];
      const bool one = constant.type == Type::Segdes && constant.size() == 1;
      return one ? std::optional(constant.ints()[0]) : std::nullopt;
    }
    if (!made.is(Op::MakeSegdes)) return std::nullopt;
    const Definition& length = definitions_[made.operands[0]];
    if (!length.is_const()) return std::nullopt;
    const vcode::Constant& constant = module_.constants[length.index];
    if (constant.type != Type::Int || constant.size() != 1) return std::nullopt;
    return constant.ints()[0];
  }

  // The value in the conditions that is the number of flags: LENGTHS of the descriptor, or what the
  // descriptor was made from.
  ValueId total_of(const Block& block, const std::vector<std::size_t>& group,
                   const Count& count) const {
    const Definition& made = definitions_[count.segdes];
    if (made.is(Op::MakeSegdes)) return made.operands[0];
    for (std::size_t i : group) {
      const ValueId found =
          find_lengths(block.statements[i].operands[0], count.segdes, Evaluator::kDepth);
      if (found != kNoValue) return found;
    }
    return kNoValue;
  }

  ValueId find_lengths(ValueId value, ValueId segdes, int depth) const {
    const Definition& made = definitions_[value];
    if (depth == 0 || made.kind != Statement::Kind::Op) return kNoValue;
    if (made.op == Op::Lengths) return made.operands[0] == segdes ? value : kNoValue;
    if (vcode::info(made.op).family != vcode::Family::Elementwise) return kNoValue;
    for (ValueId operand : made.operands) {
      const ValueId found = find_lengths(operand, segdes, depth - 1);
      if (found != kNoValue) return found;
    }
    return kNoValue;
  }

  void replace(Block& block, const std::vector<std::size_t>& group, const Count& count) {
    for (std::size_t k = group.size(); k-- > 1;) {
      block.statements.erase(block.statements.begin() + static_cast<std::ptrdiff_t>(group[k]));
    }
    const auto place = block.statements.begin() + static_cast<std::ptrdiff_t>(group[0]);
    Statement none = make_op(function_, Op::Not, Type::Bool, {count.flags}, place->origin);
    place->operands[0] = none.results[0];
    definitions_.push_back(definition_of(none, 0));
    block.statements.insert(place, std::move(none));
    changed_ = true;
  }

  Module& module_;
  Function& function_;
  std::vector<Definition> definitions_;
  bool changed_ = false;
};

}  // namespace

bool simplify_counting_checks(Module& module, Function& function) {
  return CountingChecks(module, function).run();
}

}  // namespace fcode
