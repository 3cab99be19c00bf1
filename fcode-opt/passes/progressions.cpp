// Checks of indices that go up or down by one in each segment, by their first and last.
//
//   index = INDEX(start, 1, segments) - 1       the columns to the left, in each row
//   outside = OR_REDUCE(index >= DIST(lengths, segments))
//
// No index in between is greater than both ends, so that a check looks at two numbers for each
// segment that is not empty, and no index need be there for it. Numbers may wrap around on the way:
// then the last one lies on the wrong side of the first one, and one of those in between is the
// greatest INT, and one the least.
#include <optional>
#include <vector>

#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/passes/ranges.hpp"
#include "fcode-opt/passes/region_rewriter.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

class Progressions : public RegionRewriter {
 public:
  using RegionRewriter::RegionRewriter;

 private:
  static constexpr int kDepth = 4;  // how far the making of an index is followed

  ValueId equivalent(const Statement& statement, const ValueList& operands) override {
    if (statement.op == Op::OrReduce && statement.written == Type::Bool) {
      if (!shapes_->one_segment(operands[1]) || !fits(operands[0], operands[1])) return kNoValue;
      segments_ = kNoValue;
      return any(flags(operands[0], kDepth));
    }
    if (statement.written != Type::Int) return kNoValue;
    if (statement.op == Op::GreaterEqual) return extreme(Op::MaxReduce, statement.op, operands);
    return statement.op == Op::Less ? extreme(Op::MinReduce, statement.op, operands) : kNoValue;
  }

  /// The greatest or least of no numbers is neither beyond a limit that is not negative nor below.
  ValueId extreme(Op reduction, Op comparison, const ValueList& compared) {
    const Definition* made = shapes_->definition(compared[0]);
    if (!made || !made->is(reduction) || !shapes_->is_scalar(compared[0]) ||
        !shapes_->is_scalar(compared[1])) {
      return kNoValue;
    }
    const ValueList reduced = operands_of(*made);
    if (!shapes_->one_segment(reduced[1]) || !fits(reduced[0], reduced[1]) ||
        !Ranges(module_, *shapes_, names_).not_negative(compared[1])) {
      return kNoValue;
    }
    segments_ = kNoValue;
    const std::optional<Progression> index = progression(reduced[0], kDepth);
    if (!index) return kNoValue;
    return any(outside(comparison, *index, for_each_segment(compared[1], segments_)));
  }

  ValueId any(ValueId flags) {
    if (flags == kNoValue) return kNoValue;
    return emit(Op::OrReduce, Type::Bool, {flags, one_segment(flags, Type::Bool)});
  }

  /// For each of `segments_`: is there an element that is T?
  ValueId flags(ValueId elements, int depth) {
    const Definition* made = shapes_->definition(elements);
    if (!made || made->kind != Statement::Kind::Op || depth == 0) return kNoValue;
    const Op op = made->op;
    const ValueList operands = operands_of(*made);
    if (op == Op::Or && same_length(operands[0], operands[1])) {
      const ValueId x = flags(operands[0], depth - 1);
      const ValueId y = x == kNoValue ? kNoValue : flags(operands[1], depth - 1);
      return y == kNoValue ? kNoValue : emit(Op::Or, Type::Bool, {x, y});
    }
    const bool compares = op == Op::GreaterEqual || op == Op::Less;
    if (!compares || made->written != Type::Int || !same_length(operands[0], operands[1])) {
      return kNoValue;
    }
    // The least INT is less than 0.
    if (op == Op::Less && known_element(operands[1]) != 0) return kNoValue;
    const std::optional<Progression> index = progression(operands[0], kDepth);
    if (!index) return kNoValue;
    const ValueId limit = spread(operands[1]);
    return limit == kNoValue ? kNoValue : outside(op, *index, limit);
  }

  struct Progression {
    ValueId first;  // of each segment, if it has one
    int step;       // 1 or -1
  };

  ValueId outside(Op comparison, const Progression& index, ValueId limit) {
    const ValueId lengths = emit(Op::Lengths, Type::Int, {segments_});
    const bool up = index.step > 0;
    const ValueId steps =
        emit(Op::Subtract, Type::Int, {lengths, constant_for_each_segment(1, segments_)});
    const ValueId last = emit(up ? Op::Add : Op::Subtract, Type::Int, {index.first, steps});
    const ValueId wrapped = emit(up ? Op::Less : Op::Greater, Type::Int, {last, index.first});
    const ValueId ends = emit(Op::Or, Type::Bool,
                              {emit(comparison, Type::Int, {index.first, limit}),
                               emit(comparison, Type::Int, {last, limit})});
    return emit(Op::And, Type::Bool,
                {emit(Op::Greater, Type::Int, {lengths, constant_for_each_segment(0, segments_)}),
                 emit(Op::Or, Type::Bool, {ends, wrapped})});
  }

  /// Sets `segments_`, unless it must be over these.
  std::optional<Progression> progression(ValueId index, int depth) {
    const Definition* made = shapes_->definition(index);
    if (!made || made->kind != Statement::Kind::Op || made->written != Type::Int || depth == 0) {
      return std::nullopt;
    }
    const Op op = made->op;
    const ValueList operands = operands_of(*made);
    if (op == Op::Index) {
      const ValueId segments = operands[2];
      if (segments_ != kNoValue && !same_segments(segments, segments_)) return std::nullopt;
      const std::optional<std::int64_t> step = known_element(operands[1]);
      if ((step != 1 && step != -1) || !this->segments(segments, operands[0]) ||
          !this->segments(segments, operands[1])) {
        return std::nullopt;
      }
      segments_ = segments;
      return Progression{operands[0], static_cast<int>(*step)};
    }
    if ((op != Op::Add && op != Op::Subtract) || !same_length(operands[0], operands[1])) {
      return std::nullopt;
    }
    for (const std::size_t k : {0, 1}) {
      const std::optional<Progression> part = progression(operands[k], depth - 1);
      if (!part) continue;
      const ValueId other = spread(operands[1 - k]);
      if (other == kNoValue) return std::nullopt;
      const ValueId first = k == 0 ? emit(op, Type::Int, {part->first, other})
                                   : emit(op, Type::Int, {other, part->first});
      return Progression{first, op == Op::Subtract && k == 1 ? -part->step : part->step};
    }
    return std::nullopt;
  }

  /// Numbers that are the same in a whole segment, one for each.
  ValueId spread(ValueId numbers) {
    if (const auto known = known_element(numbers))
      return constant_for_each_segment(*known, segments_);
    const Definition* made = shapes_->definition(numbers);
    if (!made || !made->is(Op::Distribute)) return kNoValue;
    const ValueList operands = operands_of(*made);
    if (shapes_->is_scalar(operands[0]) && shapes_->one_segment(operands[1])) {
      return for_each_segment(operands[0], segments_);
    }
    return same_segments(operands[1], segments_) && segments(operands[1], operands[0]) ? operands[0]
                                                                                       : kNoValue;
  }

  ValueId segments_ = kNoValue;  // that are looked at
};

bool checks_indices(const Function& function) {
  bool counts = false, reduces = false;
  for_each_statement(function.body, [&](const Statement& statement) {
    if (statement.kind != Statement::Kind::Op) return;
    counts |= statement.op == Op::Index;
    reduces |= vcode::info(statement.op).family == vcode::Family::Reduce;
  });
  return counts && reduces;
}

}  // namespace

bool check_by_ends(Module& module, KnownWalks& walks) {
  return rewrite_regions<Progressions>(module, walks, checks_indices);
}

}  // namespace fcode
