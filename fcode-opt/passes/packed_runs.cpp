// Packs of whole segments, as copies of runs.
//
// Code for nested sequences keeps or drops whole segments, as a filter of rows does, by a flag for
// each of their elements:
//
//   lengths' = PACK(LENGTHS(segments), flags, over)
//   data'    = PACK(data, DIST(flags, segments), all)
//
// What is kept are runs of the data, one for each segment that is kept; to copy those is to look at
// segments instead of elements, and a fetch from the copy can then be one from the data
// (copies.cpp). Data that another operation makes element by element stay with the pack: a kernel
// does both at once.
#include <algorithm>
#include <vector>

#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/passes/region_rewriter.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

using vcode::Family;

class PackedRuns : public RegionRewriter {
 public:
  PackedRuns(Module& module, Function& function)
      : RegionRewriter(module, function), uses_(count_uses(function)) {}

  void enter() override { marks_.push_back(packs_.size()); }
  void leave() override {
    packs_.resize(marks_.back());
    marks_.pop_back();
  }

 private:
  /// A pack of numbers, where it can be seen.
  struct Packed {
    ValueId flags;
    Content numbers;
    ValueId over;
    ValueId result;
  };

  bool takes(const Statement& statement) const override {
    return statement.kind == Statement::Kind::Op && statement.op == Op::Pack;
  }

  ValueId equivalent(const Statement& statement, const ValueList& operands) override {
    const ValueId copy = copied_runs(statement, operands);
    if (statement.written == Type::Int) {
      packs_.push_back({operands[1], shapes_->of(operands[0]).content, operands[2],
                        copy == kNoValue ? statement.results[0] : copy});
    }
    return copy;
  }

  ValueId copied_runs(const Statement& pack, const ValueList& operands) {
    const ValueId data = operands[0], all = operands[2];
    const Definition* spread = shapes_->definition(operands[1]);
    if (is_computed(data) || !spread || !spread->is(Op::Distribute)) return kNoValue;
    const bool counted = uses_[pack.results[1]] != 0;  // how much is left of each segment of `all`
    if (counted && !shapes_->one_segment(all)) return kNoValue;
    const ValueList spreading = operands_of(*spread);
    const ValueId flags = spreading[0], segments = spreading[1];
    if (!fits(data, segments) || !fits(data, all) || !this->segments(segments, flags)) {
      return kNoValue;
    }
    const auto lengths = std::find_if(packs_.begin(), packs_.end(), [&](const Packed& packed) {
      return packed.flags == flags && packed.numbers == shapes_->of(segments).content;
    });
    const bool known = lengths != packs_.end();

    const ValueId one = one_segment(flags, Type::Bool);
    const ValueId over = known ? lengths->over : one;
    const ValueId all_lengths = emit(Op::Lengths, Type::Int, {segments});
    const ValueId all_starts = emit(Op::AddScan, Type::Int, {all_lengths, one});
    const ValueId starts = emit(Op::Pack, Type::Int, {all_starts, flags, over});
    const ValueId runs =
        emit(Op::MakeSegdes, Type::Int,
             {known ? lengths->result : emit(Op::Pack, Type::Int, {all_lengths, flags, over})});
    const ValueId steps = constant_for_each_segment(1, runs);
    const ValueId places = emit(Op::Index, Type::Int, {starts, steps, runs});
    const ValueId left = one_segment(places, Type::Int);
    if (counted) names_.set(pack.results[1], left);
    return emit(Op::BPermute, pack.written, {data, places, one_segment(data, pack.written), left});
  }

  /// Does an operation make the vector that a kernel can do element by element?
  bool is_computed(ValueId vector) const {
    const Definition* made = shapes_->definition(vector);
    if (!made || made->kind != Statement::Kind::Op) return false;
    switch (vcode::info(made->op).family) {
      case Family::Elementwise:
      case Family::Distribute:
      case Family::Index:
        return true;
      default:
        return made->op == Op::BPermute;
    }
  }

  std::vector<std::uint32_t> uses_;  // of the function's values before the pass
  std::vector<Packed> packs_;        // innermost blocks last
  std::vector<std::size_t> marks_;   // where those of each block begin
};

bool packs_rows(const Function& function) {
  return reads_result_of(function, Op::Distribute, Op::Pack, 1);
}

}  // namespace

bool copy_packed_runs(Module& module, KnownWalks& walks) {
  return rewrite_regions<PackedRuns>(module, walks, packs_rows);
}

}  // namespace fcode
