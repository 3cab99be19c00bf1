// {if f then a else b : ...} is compiled to code that packs the elements with flag T, computes a
// for them, and scatters the results into those of b. Where a only computes, it can be computed for
// all elements: SELECT f a b is one map, instead of a pack, gathers and a scatter.
#include <optional>
#include <vector>

#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/passes/ranges.hpp"
#include "fcode-opt/passes/region_rewriter.hpp"

namespace fcode {
namespace {

using vcode::Family;

// Of a longer computation too much might be for nothing.
constexpr int kMostMoved = 16;

class Selections : public RegionRewriter {
 public:
  using RegionRewriter::RegionRewriter;

 private:
  /// Which positions were packed.
  struct Packing {
    ValueId positions = kNoValue;  // that are left
    ValueId flags = kNoValue;
    ValueId segdes = kNoValue;  // of what is packed; one segment
  };

  ValueId equivalent(const Statement& statement, const ValueList& operands) override {
    if (statement.op != Op::DPermute) return kNoValue;
    const ValueId data = operands[0], defaults = operands[2], from = operands[3],
                  into = operands[4];
    const std::optional<Packing> packing = packing_of(operands[1]);
    if (!packing || !shapes_->one_segment(from) || !fits(data, from) ||
        !same_segments(packing->segdes, into) || !fits(defaults, into)) {
      return kNoValue;
    }
    if (Ranges(module_, *shapes_, names_).never(packing->flags)) return defaults;
    operations_ = 0;
    const ValueId chosen = for_all(data, *packing);
    if (chosen == kNoValue) return kNoValue;
    return emit(Op::Select, statement.written, {packing->flags, chosen, defaults});
  }

  std::optional<Packing> packing_of(ValueId positions) const {
    const Definition* made = shapes_->definition(positions);
    if (!made || !made->is(Op::Pack) || made->result != 0) return std::nullopt;
    const ValueList operands = operands_of(*made);
    const ValueId segdes = operands[2];
    if (!is_identity(operands[0], segdes) || !fits(operands[1], segdes) ||
        !shapes_->one_segment(segdes)) {
      return std::nullopt;
    }
    return Packing{positions, operands[1], segdes};
  }

  /// The vector from which the packing takes the elements of `packed`; none if it would have to be
  /// fetched, or if some element of it might fail.
  ValueId for_all(ValueId packed, const Packing& packing) {
    if (!same_length(packed, packing.positions)) return kNoValue;
    if (const std::optional<std::int64_t> number = known_element(packed)) {
      return emit(Op::Distribute, Type::Int,
                  {emit_constant(int_constant(*number)), packing.segdes});
    }
    const Definition* found = shapes_->definition(packed);
    if (!found || found->kind != Statement::Kind::Op || found->result != 0) return kNoValue;
    const Definition made = *found;
    const ValueList operands = operands_of(made);
    switch (vcode::info(made.op).family) {
      case Family::Pack: {
        const bool same = operands[1] == packing.flags && fits(operands[0], operands[2]) &&
                          same_segments(operands[2], packing.segdes);
        return same ? operands[0] : kNoValue;
      }
      case Family::Permute: {
        const bool same = made.op == Op::BPermute && operands[1] == packing.positions &&
                          fits(operands[0], operands[2]) && shapes_->one_segment(operands[3]) &&
                          same_segments(operands[2], packing.segdes);
        return same ? operands[0] : kNoValue;
      }
      case Family::Distribute: {
        const bool scalar = shapes_->is_scalar(operands[0]) && shapes_->one_segment(operands[1]);
        return scalar ? emit(Op::Distribute, made.written, {operands[0], packing.segdes})
                      : kNoValue;
      }
      case Family::Elementwise:
        return computed_for_all(made, operands, packing);
      default:
        return kNoValue;
    }
  }

  ValueId computed_for_all(const Definition& made, const ValueList& operands,
                           const Packing& packing) {
    if (divides_ints(made.op, made.written) || ++operations_ > kMostMoved) return kNoValue;
    ValueList all;
    for (const ValueId operand : operands) {
      all.push_back(for_all(operand, packing));
      if (all.back() == kNoValue) return kNoValue;
    }
    return emit(made.op, made.written, std::move(all));
  }

  int operations_ = 0;  // of the computation that is made for all elements
};

// Are there scatters to packed positions?
bool has_selections(const Function& function) {
  return reads_result_of(function, Op::Pack, Op::DPermute, 1);
}

}  // namespace

bool select_elements(Module& module, KnownWalks& walks) {
  return rewrite_regions<Selections>(module, walks, has_selections);
}

}  // namespace fcode
