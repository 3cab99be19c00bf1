// Fetches from copied runs, as fetches from what was copied.
//
// Code for nested sequences copies a sequence that an apply-to-each mentions for each instance, and
// slices and subscripts then fetch from the copy:
//
//   copy = BPERMUTE(source, INDEX(starts, 1, segments))      each segment is a run of the source
//   part = BPERMUTE(copy, index, segments, into)
//
// An element of `part` is that of the source at starts + index. Where nothing but such fetches
// reads the copy it goes: all lags of a window read the window. An index outside of its segment of
// the copy is turned into one outside of everything, so that it fails as before; kernels check a
// run of them at once (cvl-cpu/kernel_runs.hpp).
#include <vector>

#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/passes/region_rewriter.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

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
  ValueId equivalent(const Statement& statement, const Operands& operands) override {
    if (!fetches(statement)) return kNoValue;
    const bool extract = statement.op == Op::Extract;
    const ValueId copy = operands[0], index = operands[1], segments = operands[2];
    if (copy >= uses_.size() || uses_[copy] != fetched_[copy] || !fits(copy, segments)) {
      return kNoValue;
    }
    if (extract ? !same_length(index, segments)
                : !fits(index, operands[3]) || !same_count(segments, operands[3])) {
      return kNoValue;
    }
    const Definition* made = shapes_->definition(copy);
    if (!made || !made->is(Op::BPermute)) return kNoValue;
    const Operands copying = operands_of(*made);
    const ValueId source = copying[0], whole = copying[2];
    const Definition* run = shapes_->definition(copying[1]);
    if (!shapes_->one_segment(whole) || !fits(source, whole) || !run || !run->is(Op::Index)) {
      return kNoValue;
    }
    const Operands counting = operands_of(*run);
    const ValueId starts = counting[0];
    if (known_element(counting[1]) != 1 || !same_segments(counting[2], segments) ||
        !same_length(starts, segments)) {
      return kNoValue;
    }
    const auto for_each_index = [&](ValueId per_segment) {
      return extract ? per_segment : emit(Op::Distribute, Type::Int, {per_segment, operands[3]});
    };
    const ValueId count = emit(Op::Length, Type::Int, {index});
    const ValueId all = emit(Op::MakeSegdes, Type::Int, {count});
    const auto everywhere = [&](std::int64_t number) {
      return emit(Op::Distribute, Type::Int, {emit_constant(int_constant(number)), all});
    };
    const ValueId lengths = for_each_index(emit(Op::Lengths, Type::Int, {segments}));
    const ValueId inside = emit(Op::And, Type::Bool,
                                {emit(Op::GreaterEqual, Type::Int, {index, everywhere(0)}),
                                 emit(Op::Less, Type::Int, {index, lengths})});
    const ValueId place = emit(Op::Add, Type::Int, {for_each_index(starts), index});
    const ValueId checked = emit(Op::Select, Type::Int, {inside, place, everywhere(-1)});
    return emit(Op::BPermute, statement.written, {source, checked, whole, all});
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

bool fetch_from_copied(Module& module) {
  return rewrite_regions<CopiedRuns>(module, fetches_twice);
}

}  // namespace fcode
