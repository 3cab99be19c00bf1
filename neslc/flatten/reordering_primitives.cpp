// Gathers, placements, combinations, slices: moving elements by index.
#include <fmt/core.h>

#include "neslc/flatten/primitives.hpp"

namespace neslc {
namespace {

using ir::ValueId;
using vcode::Op;
using VectorType = vcode::Type;
using CallSite = Flattener::CallSite;

Value read(Flattener& f, const CallSite& site, const Value& argument) {
  ir::Builder& b = f.builder();
  Vectors& v = f.vectors();
  Context* const context = site.context;
  const Value& sequence = argument.parts[0];
  const Value indices = f.bring(argument.parts[1], context);
  const Value& index = indices.elements();
  Context* const each = f.for_each(context, indices.var, index);
  Context* const home = sequence.context;
  const Value size = Value::scalar(v.lengths(sequence.var), home);
  f.check_range(index.var, each, size, "Index out of bounds for function ->.");
  const Value& elements = sequence.elements();
  if (home == context && elements.is_scalar()) {
    const ValueId result = b.op(Op::BPermute, f.type_of(elements),
                                {elements.var, index.var, sequence.var, indices.var});
    return Value::sequence(indices.var, Value::scalar(result, context), context);
  }
  const Value starts = Value::scalar(v.offsets(sequence.var), home);
  const ValueId position = positions_from(f, starts, index.var, each);
  const Value result = v.gather(elements, b.variable(sequence.var).total, position);
  return Value::sequence(indices.var, in_context(result, context), context);
}

Value placed_over(Flattener& f, const Value& target, ValueId source_descriptor, const Value& index,
                  const Value& values, Context* context, const char* message) {
  Vectors& v = f.vectors();
  Context* const each = f.for_each(context, source_descriptor, index);
  const Value size = Value::scalar(v.lengths(target.var), context);
  f.check_range(index.var, each, size, message);
  return Value::sequence(
      target.var,
      v.place_over({{values, index.var, source_descriptor}}, target.elements(), target.var),
      context);
}

Value write_elements(Flattener& f, const CallSite& site, const Value& argument) {
  const Value here = f.bring(argument, site.context);
  const Value& pairs = here.parts[1];
  return placed_over(f, here.parts[0], pairs.var, pairs.elements().parts[0],
                     pairs.elements().parts[1], site.context,
                     "Index out of bounds for function <-.");
}

Value put(Flattener& f, const CallSite& site, const Value& argument) {
  const std::vector<Value> parts = components(f.bring(argument, site.context), 3);
  return placed_over(f, parts[2], parts[0].var, parts[1].elements(), parts[0].elements(),
                     site.context, "Index out of bounds for function <-.");
}

Value permute(Flattener& f, const CallSite& site, const Value& argument) {
  ir::Builder& b = f.builder();
  Vectors& v = f.vectors();
  Context* const context = site.context;
  const Value here = f.bring(argument, context);
  const Value& sequence = here.parts[0];
  const Value& index = here.parts[1];
  constexpr const char* kMessage = "Bad arguments to function PERMUTE.";
  if (sequence.var != index.var) {
    const Value values = Value::scalar(v.lengths(sequence.var), context);
    const Value indices = Value::scalar(v.lengths(index.var), context);
    const ValueId differs = b.op(Op::NotEqual, VectorType::Int, {values.var, indices.var});
    f.check(Value::scalar(differs, context), context, kMessage,
            {{"values", values}, {"indices", indices}});
    b.equate(b.variable(sequence.var).total, b.variable(index.var).total);
  }
  Context* const each = f.for_each(context, sequence.var, index.elements());
  const Value size = Value::scalar(v.lengths(sequence.var), context);
  f.check_range(index.elements().var, each, size, kMessage);
  return Value::sequence(
      sequence.var, v.permute(sequence.elements(), index.elements().var, sequence.var), context);
}

/// Without a check of the indices, which are known to be a permutation.
Value unchecked_permute(Flattener& f, const CallSite& site, const Value& argument) {
  const Value here = f.bring(argument, site.context);
  const Value& sequence = here.parts[0];
  return Value::sequence(
      sequence.var,
      f.vectors().permute(sequence.elements(), here.parts[1].elements().var, sequence.var),
      site.context);
}

/// A sequence of `size` elements, each of which reduces the values that are sent to its index.
Value combined(Flattener& f, const CallSite& site, Op op, ValueId source_descriptor,
               const Value& index, const Value& values, const Value& size) {
  Context* const context = site.context;
  const ValueId target = f.vectors().descriptor_of(size.var);
  const ValueId result =
      f.builder().op(op, f.type_of(values), {values.var, index.var, source_descriptor, target});
  return Value::sequence(target, Value::scalar(result, context), context);
}

void check_indices(Flattener& f, const CallSite& site, ValueId descriptor, const Value& index,
                   const Value& size) {
  Context* const each = f.for_each(site.context, descriptor, index);
  f.check_range(index.var, each, size,
                fmt::format("Index out of bounds for function {}.", site.definition->name));
}

template <Op kOp>
Value reduce_by_index(Flattener& f, const CallSite& site, const Value& argument) {
  const Value here = f.bring(argument, site.context);
  const Value& pairs = here.parts[0];
  check_indices(f, site, pairs.var, pairs.elements().parts[0], here.parts[1]);
  return combined(f, site, kOp, pairs.var, pairs.elements().parts[0], pairs.elements().parts[1],
                  here.parts[1]);
}

/// Without a check of the indices, which are known to lie inside.
Value unchecked_count(Flattener& f, const CallSite& site, const Value& argument) {
  const Value here = f.bring(argument, site.context);
  const Value& indices = here.parts[0];
  Context* const each = f.for_each(site.context, indices.var, indices.elements());
  const Value ones = Value::scalar(f.vectors().ones(f.instances(each)), each);
  return combined(f, site, Op::AddCombine, indices.var, indices.elements(), ones, here.parts[1]);
}

Value count_by_index(Flattener& f, const CallSite& site, const Value& argument) {
  const Value here = f.bring(argument, site.context);
  const Value& indices = here.parts[0];
  check_indices(f, site, indices.var, indices.elements(), here.parts[1]);
  return unchecked_count(f, site, here);
}

Value pack(Flattener& f, const CallSite&, const Value& argument) {
  Vectors& v = f.vectors();
  const Value& pairs = argument.elements();
  const ValueId flags = pairs.parts[1].var;
  const ValueId kept = v.packed_descriptor(pairs.parts[0], flags, argument.var);
  return Value::sequence(kept, v.pack(pairs.parts[0], flags, argument.var), argument.context);
}

Value append(Flattener& f, const CallSite& site, const Value& argument) {
  return appended(f, argument.parts, site.context);
}

Value join(Flattener& f, const CallSite& site, const Value& argument) {
  Vectors& v = f.vectors();
  const std::vector<Value> parts = components(f.bring(argument, site.context), 4);
  const ValueId target = v.descriptor_of(v.add(v.lengths(parts[0].var), v.lengths(parts[2].var)));
  return Value::sequence(target,
                         v.place({{parts[0].elements(), parts[1].elements().var, parts[0].var},
                                  {parts[2].elements(), parts[3].elements().var, parts[2].var}},
                                 target),
                         site.context);
}

/// Sequence, first index, stride, number of elements, all checked by the caller: a gather at
/// computed positions.
Value slice(Flattener& f, const CallSite& site, const Value& argument) {
  ir::Builder& b = f.builder();
  Vectors& v = f.vectors();
  Context* const context = site.context;
  const std::vector<Value> parts = components(argument, 4);
  const Value& sequence = parts[0];
  const ValueId start = f.bring_scalar(parts[1], context);
  const ValueId stride = f.bring_scalar(parts[2], context);
  const ValueId count = f.bring_scalar(parts[3], context);
  const ValueId descriptor = v.descriptor_of(count);
  const Value& elements = sequence.elements();
  if (sequence.context == context && elements.is_scalar()) {
    const ValueId index = b.op(Op::Index, VectorType::Int, {start, stride, descriptor});
    const ValueId result =
        b.op(Op::BPermute, f.type_of(elements), {elements.var, index, sequence.var, descriptor});
    return Value::sequence(descriptor, Value::scalar(result, context), context);
  }
  const Value starts = Value::scalar(v.offsets(sequence.var), sequence.context);
  const ValueId first = positions_from(f, starts, start, context);
  const ValueId index = b.op(Op::Index, VectorType::Int, {first, stride, descriptor});
  const Value result = v.gather(elements, b.variable(sequence.var).total, index);
  return Value::sequence(descriptor, in_context(result, context), context);
}

}  // namespace

Value appended(Flattener& f, const std::vector<Value>& parts, Context* context) {
  Vectors& v = f.vectors();
  std::vector<Value> here;
  for (const Value& part : parts) here.push_back(f.bring(part, context));
  if (v.fetches(here)) return flatten(f, sequence_of(f, here, context));
  std::vector<Vectors::Source> sources;
  ValueId begin = ir::kNoValue;
  for (const Value& part : here) {
    const ValueId length = v.lengths(part.var);
    const bool first = begin == ir::kNoValue;
    sources.push_back(
        {part.elements(), first ? v.positions(part.var) : v.ranges(begin, part.var), part.var});
    begin = first ? length : v.add(begin, length);
  }
  const ValueId target = v.descriptor_of(begin);
  return Value::sequence(target, v.place(sources, target), context);
}

std::vector<PrimitiveEntry> reordering_primitives() {
  return {
      {"read", read},
      {"get", read},
      {"write", write_elements},
      {"put", put},
      {"permute", permute},
      {"machine.permute", unchecked_permute},
      {"pack", pack},
      {"append", append},
      {"join", join},
      {"machine.slice", slice},
      {"sum_by_index", reduce_by_index<Op::AddCombine>},
      {"product_by_index", reduce_by_index<Op::MultiplyCombine>},
      {"max_by_index", reduce_by_index<Op::MaxCombine>},
      {"min_by_index", reduce_by_index<Op::MinCombine>},
      {"any_by_index", reduce_by_index<Op::OrCombine>},
      {"all_by_index", reduce_by_index<Op::AndCombine>},
      {"count_by_index", count_by_index},
      {"machine.count", unchecked_count},
  };
}

}  // namespace neslc
