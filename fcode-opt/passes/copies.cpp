// Fetches from copied runs, as fetches from what was copied.
//
// Code for nested sequences copies a sequence that an apply-to-each mentions for each instance, and
// slices and subscripts then fetch from the copy:
//
//   copy = BPERMUTE(source, INDEX(starts, 1, segments))      each segment is a run of the source
//   part = BPERMUTE(copy, index, segments, into)
//
// An element of `part` is that of the source at starts + index. The indices of the copy may also be
// computed from such a sequence, as those of a slice are that has been made a fetch from its source
// itself. Where nothing but such fetches reads the copy it goes: all lags of a window read the
// window. An index outside of its segment of the copy is turned into one outside of everything, so
// that it fails as before; kernels check a run of them at once (cvl-cpu/kernel_runs.hpp).
#include <optional>
#include <vector>

#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/passes/region_rewriter.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

using vcode::Family;

bool fetches(const Statement& statement) {
  return statement.kind == Statement::Kind::Op &&
         (statement.op == Op::BPermute || statement.op == Op::Extract);
}

// How often each value is fetched from.
std::vector<std::uint32_t> count_fetches(const Function& function) {
  std::vector<std::uint32_t> fetched(function.values.size());
  for_each_statement(function.body, [&](const Statement& statement) {
    if (fetches(statement)) ++fetched[statement.operands[0]];
  });
  return fetched;
}

class CopiedRuns : public RegionRewriter {
 public:
  CopiedRuns(Module& module, Function& function)
      : RegionRewriter(module, function),
        uses_(count_uses(function)),
        fetched_(count_fetches(function)) {}

 private:
  // What is fetched from the copy that is looked at.
  struct Fetch {
    ValueId index = 0, segments = 0;
    std::optional<ValueId> into;  // the descriptor of the indices; none: one for each segment
    ValueId all = 0;              // as one segment
  };

  ValueId equivalent(const Statement& statement, const ValueList& operands) override {
    if (!fetches(statement)) return kNoValue;
    const ValueId copy = operands[0];
    Fetch fetch;
    fetch.index = operands[1];
    fetch.segments = operands[2];
    if (statement.op == Op::BPermute) fetch.into = operands[3];
    if (copy >= uses_.size() || uses_[copy] != fetched_[copy] || !fits(copy, fetch.segments)) {
      return kNoValue;
    }
    const bool fitting =
        fetch.into ? fits(fetch.index, *fetch.into) && same_count(fetch.segments, *fetch.into)
                   : same_length(fetch.index, fetch.segments);
    const Definition* made = shapes_->definition(copy);
    if (!fitting || !made || !made->is(Op::BPermute)) return kNoValue;
    const ValueList copying = operands_of(*made);
    const ValueId source = copying[0], whole = copying[2];
    if (!shapes_->one_segment(whole) || !fits(source, whole)) return kNoValue;

    fetch.all = one_segment(fetch.index, Type::Int);
    const ValueId place = fetched_element(copying[1], fetch, kDepth);
    if (place == kNoValue) return kNoValue;
    const ValueId lengths = for_each_index(emit(Op::Lengths, Type::Int, {fetch.segments}), fetch);
    const ValueId inside =
        emit(Op::And, Type::Bool,
             {emit(Op::GreaterEqual, Type::Int, {fetch.index, everywhere(0, fetch)}),
              emit(Op::Less, Type::Int, {fetch.index, lengths})});
    const ValueId checked = emit(Op::Select, Type::Int, {inside, place, everywhere(-1, fetch)});
    return emit(Op::BPermute, statement.written, {source, checked, whole, fetch.all});
  }

  static constexpr int kDepth = 8;  // how far the making of an index is followed

  /// What would be fetched from a vector over the positions of the copy, computed instead; none if
  /// it would have to be fetched.
  ValueId fetched_element(ValueId vector, const Fetch& fetch, int depth) {
    const Definition* made = shapes_->definition(vector);
    if (!made || made->kind != Statement::Kind::Op || depth == 0) return kNoValue;
    const Op op = made->op;
    const Type written = made->written;
    ValueList operands = operands_of(*made);
    switch (vcode::info(op).family) {
      case Family::Index:
        if (known_element(operands[1]) != 1 || !same_segments(operands[2], fetch.segments) ||
            !segments(operands[2], operands[0])) {
          return kNoValue;
        }
        return emit(Op::Add, Type::Int, {for_each_index(operands[0], fetch), fetch.index});
      case Family::Distribute:
        if (shapes_->one_segment(operands[1]) && shapes_->is_scalar(operands[0])) {
          return emit(Op::Distribute, written, {operands[0], fetch.all});
        }
        return same_segments(operands[1], fetch.segments) && segments(operands[1], operands[0])
                   ? for_each_index(operands[0], fetch)
                   : kNoValue;
      case Family::Elementwise:
        if (divides_ints(op, written)) return kNoValue;
        for (ValueId& operand : operands) {
          if (!same_length(operand, vector)) return kNoValue;
          operand = fetched_element(operand, fetch, depth - 1);
          if (operand == kNoValue) return kNoValue;
        }
        return emit(op, written, {operands.begin(), operands.end()});
      default:
        return kNoValue;
    }
  }

  ValueId for_each_index(ValueId per_segment, const Fetch& fetch) {
    const Type type = *function_.values[per_segment].type;
    return fetch.into ? emit(Op::Distribute, type, {per_segment, *fetch.into}) : per_segment;
  }

  ValueId everywhere(std::int64_t number, const Fetch& fetch) {
    return emit(Op::Distribute, Type::Int, {emit_constant(int_constant(number)), fetch.all});
  }

  std::vector<std::uint32_t> uses_, fetched_;  // of the function's values before the pass
};

bool fetches_twice(const Function& function) {
  std::vector<bool> fetched(function.values.size());
  bool twice = false;
  for_each_statement(function.body, [&](const Statement& statement) {
    if (!fetches(statement)) return;
    twice |= fetched[statement.operands[0]];
    fetched[statement.results[0]] = true;
  });
  return twice;
}

}  // namespace

bool fetch_from_copied(Module& module, KnownWalks& walks) {
  return rewrite_regions<CopiedRuns>(module, walks, fetches_twice);
}

}  // namespace fcode
