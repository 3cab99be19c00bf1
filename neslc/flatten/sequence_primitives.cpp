// Lengths, elements, scans, reductions, nesting.
#include <utility>

#include "neslc/flatten/primitives.hpp"

namespace neslc {
namespace {

using ir::ValueId;
using vcode::Op;
using VectorType = vcode::Type;
using CallSite = Flattener::CallSite;

Value length(Flattener& f, const CallSite&, const Value& argument) {
  return Value::scalar(f.vectors().lengths(argument.var), argument.context);
}

Value distribute(Flattener& f, const CallSite& site, const Value& argument) {
  // Where the length is known to the outer context, so is the whole result.
  Context* const context = site.context;
  const Value value = f.bring(argument.parts[0], context);
  const ValueId descriptor = f.vectors().descriptor_of(f.bring_scalar(argument.parts[1], context));
  return Value::sequence(descriptor, f.vectors().distribute(value, context->count, descriptor),
                         context);
}

constexpr const char* kElementMessage = "Sequence reference (a[i]) out of bounds.";

/// The check of a[i]. An index that is a literal is compared with the least of the lengths.
void check_element(Flattener& f, const Value& index, const Value& lengths, Context* context) {
  ir::Builder& b = f.builder();
  const auto literal = b.known_int(index.var);
  if (literal && *literal >= 0 && !lengths.context->serial()) {
    const ValueId here = f.bring_scalar(lengths, context);
    const ValueId least = b.op(Op::MinReduce, VectorType::Int, {here, f.instances(context)});
    const auto too_short = [&] {
      const ValueId indices = f.bring_scalar(index, context);
      return Value::scalar(b.op(Op::LessEqual, VectorType::Int, {here, indices}), context);
    };
    f.check(b.op(Op::LessEqual, VectorType::Int, {least, index.var}), too_short, context,
            kElementMessage, {{"index", index}, {"length", Value::scalar(here, context)}});
    return;
  }
  f.check_range(f.bring_scalar(index, context), context, lengths, kElementMessage);
}

Value element(Flattener& f, const CallSite& site, const Value& argument) {
  ir::Builder& b = f.builder();
  Vectors& v = f.vectors();
  Context* const context = site.context;
  const Value& sequence = argument.parts[0];
  if (f.goes_on_unwanted() || f.row_of(sequence) != nullptr) {
    return element_of(f, sequence, {{argument.parts[1], b.origin}}, context);
  }
  Context* const home = sequence.context;
  check_element(f, argument.parts[1], Value::scalar(v.lengths(sequence.var), home), context);
  const ValueId index = f.bring_scalar(argument.parts[1], context);
  const Value& elements = sequence.elements();
  if (home == context && elements.is_scalar()) {
    return Value::scalar(
        b.op(Op::Extract, f.type_of(elements), {elements.var, index, sequence.var}), context);
  }
  // One gather; the sequence is not copied to the instances.
  const Value starts = Value::scalar(v.offsets(sequence.var), home);
  const ValueId position = positions_from(f, starts, index, context);
  const ir::LengthId total = b.variable(sequence.var).total;
  return in_context(v.gather(elements, total, position), context);
}

Value replace(Flattener& f, const CallSite& site, const Value& argument) {
  Context* const context = site.context;
  Vectors& v = f.vectors();
  const std::vector<Value> parts = components(f.bring(argument, context), 3);
  const Value& sequence = parts[0];
  f.check_range(parts[2].var, context, Value::scalar(v.lengths(sequence.var), context),
                kElementMessage);
  if (sequence.elements().is_scalar()) {
    const ValueId result =
        f.builder().op(Op::Replace, f.type_of(sequence.elements()),
                       {sequence.elements().var, parts[2].var, parts[1].var, sequence.var});
    return Value::sequence(sequence.var, Value::scalar(result, context), context);
  }
  const ValueId each = v.descriptor_of(v.ones(f.instances(context)));
  f.builder().set_total(each, context->count);
  return Value::sequence(
      sequence.var,
      v.place_over({{parts[1], parts[2].var, each}}, sequence.elements(), sequence.var), context);
}

/// Pairs of the elements; the lengths are checked.
Value zip_with(Flattener& f, const CallSite& site, const Value& argument, std::size_t count,
               const char* message) {
  const std::vector<Value> parts = components(f.bring(argument, site.context), count);
  const ValueId descriptor = parts[0].var;
  Value elements = parts.back().elements();
  f.equate_lengths(parts, site.context, message);
  for (std::size_t i = count - 1; i-- > 0;) {
    elements = Value::tuple({parts[i].elements(), std::move(elements)});
  }
  return Value::sequence(descriptor, std::move(elements), site.context);
}

Value zip(Flattener& f, const CallSite& site, const Value& argument) {
  return zip_with(f, site, argument, 2, "Length mismatch in function ZIP.");
}

Value zip3(Flattener& f, const CallSite& site, const Value& argument) {
  return zip_with(f, site, argument, 3, "Length mismatch in function ZIP.");
}

Value unzip(Flattener&, const CallSite&, const Value& argument) {
  const Value& pairs = argument.elements();
  return Value::tuple({Value::sequence(argument.var, pairs.parts[0], argument.context),
                       Value::sequence(argument.var, pairs.parts[1], argument.context)});
}

template <Op kOp>
Value scan(Flattener& f, const CallSite&, const Value& argument) {
  const Value& elements = argument.elements();
  const ValueId result = f.builder().op(kOp, f.type_of(elements), {elements.var, argument.var});
  return Value::sequence(argument.var, Value::scalar(result, argument.context), argument.context);
}

template <Op kOp>
Value reduce(Flattener& f, const CallSite&, const Value& argument) {
  const Value& elements = argument.elements();
  return Value::scalar(f.builder().op(kOp, f.type_of(elements), {elements.var, argument.var}),
                       argument.context);
}

/// Start, step, end: the numbers from start to below end.
Value range(Flattener& f, const CallSite& site, const Value& argument) {
  ir::Builder& b = f.builder();
  Context* const context = site.context;
  const std::vector<Value> parts = components(argument, 3);
  const auto step_literal = b.known_int(parts[1].var);
  const ValueId start = f.bring_scalar(parts[0], context);
  const ValueId step = f.bring_scalar(parts[1], context);
  const ValueId end = f.bring_scalar(parts[2], context);
  const bool unit = step_literal && *step_literal == 1;
  const ValueId instances = f.instances(context);
  const ValueId reversed = b.op(Op::Less, VectorType::Int, {end, start});
  ValueId bad = f.vectors().any(reversed, instances);
  if (!step_literal || *step_literal < 1) {
    const ValueId least =
        context->serial() ? step : b.op(Op::MinReduce, VectorType::Int, {step, instances});
    const ValueId not_positive = b.op(Op::LessEqual, VectorType::Int, {least, b.int_constant(0)});
    bad = b.op(Op::Or, VectorType::Bool, {bad, not_positive});
  }
  const auto violations = [&] {
    const ValueId zero = f.bring_scalar(Value::scalar(b.int_constant(0), f.serial()), context);
    const ValueId stuck = b.op(Op::LessEqual, VectorType::Int, {step, zero});
    return Value::scalar(b.op(Op::Or, VectorType::Bool, {reversed, stuck}), context);
  };
  const Flattener::Details details = {{"start", parts[0]}, {"end", parts[2]}, {"stride", parts[1]}};
  f.check(bad, violations, context, kRangeMessage, details);
  ValueId count = b.op(Op::Subtract, VectorType::Int, {end, start});
  if (!unit) {
    // As the end is not below the start, a difference below 0 is one that wrapped around.
    if (const auto first = b.known_int(parts[0].var); !first || *first < 0) {
      const Value wraps = Value::scalar(
          b.op(Op::Less, VectorType::Int, {count, f.vectors().zeros(instances)}), context);
      f.check(wraps, context, "The span of a range must be an int.", details);
    }
    // Rounded up without a sum that could wrap around: (count - 1) / step + 1, or 0.
    const ValueId some = b.op(Op::Less, VectorType::Int, {f.vectors().zeros(instances), count});
    const ValueId one = b.op(Op::BoolToInt, VectorType::Int, {some});
    const ValueId strides = b.op(Op::Divide, VectorType::Int,
                                 {b.op(Op::Subtract, VectorType::Int, {count, one}), step});
    count = b.op(Op::Add, VectorType::Int, {strides, one});
  }
  const ValueId descriptor = f.vectors().descriptor_of(count);
  return Value::sequence(
      descriptor,
      Value::scalar(b.op(Op::Index, VectorType::Int, {start, step, descriptor}), context), context);
}

Value index(Flattener& f, const CallSite& site, const Value& argument) {
  const ValueId descriptor = f.vectors().descriptor_of(f.bring_scalar(argument, site.context));
  return Value::sequence(descriptor, Value::scalar(f.vectors().positions(descriptor), site.context),
                         site.context);
}

Value partition(Flattener& f, const CallSite& site, const Value& argument) {
  ir::Builder& b = f.builder();
  Context* const context = site.context;
  const Value here = f.bring(argument, context);
  const Value& sequence = here.parts[0];
  const Value& counts = here.parts[1];
  const ValueId sums = b.op(Op::AddReduce, VectorType::Int, {counts.elements().var, counts.var});
  const Value sum = Value::scalar(sums, context);
  const Value length = Value::scalar(f.vectors().lengths(sequence.var), context);
  const ValueId differs = b.op(Op::NotEqual, VectorType::Int, {sum.var, length.var});
  f.check(Value::scalar(differs, context), context, "Length mismatch in function PARTITION.",
          {{"length", length}, {"sum of the counts", sum}});
  const ValueId inner = f.vectors().descriptor_of(counts.elements().var);
  b.equate(b.variable(sequence.var).total, b.variable(inner).total);
  return Value::sequence(counts.var, Value::sequence(inner, sequence.elements(), context), context);
}

Value flatten_primitive(Flattener& f, const CallSite&, const Value& argument) {
  return flatten(f, argument);
}

}  // namespace

Value flatten(Flattener& f, const Value& argument) {
  ir::Builder& b = f.builder();
  const Value& inner = argument.elements();
  const ir::LengthId total = b.variable(inner.var).total;
  ValueId descriptor = 0;
  if (b.variable(argument.var).length == ir::kOne) {
    descriptor = f.vectors().flat(inner.var, inner.elements());
  } else {
    descriptor = f.vectors().descriptor_of(f.vectors().composed(argument.var, inner.var));
    b.set_total(descriptor, total);
  }
  return Value::sequence(descriptor, inner.elements(), argument.context);
}

Value sequence_of(Flattener& f, const std::vector<Value>& values, Context* context) {
  ir::Builder& b = f.builder();
  Vectors& v = f.vectors();
  const auto count = static_cast<std::int64_t>(values.size());
  if (count == 1) {
    // The instances are the elements already.
    const ValueId each =
        context->serial() ? b.single_constant(1) : v.descriptor_of(v.ones(f.instances(context)));
    b.set_total(each, context->count);
    return Value::sequence(each, values[0], context);
  }
  const Value size = Value::scalar(b.int_constant(count), f.serial());
  const ValueId target = v.descriptor_of(f.bring_scalar(size, context));
  const auto number = [&](std::size_t i) {
    const Value constant = Value::scalar(b.int_constant(static_cast<std::int64_t>(i)), f.serial());
    return f.bring_scalar(constant, context);
  };
  const auto build = [&](const auto& self, const std::vector<Value>& parts) -> Value {
    const Value& form = parts[0];
    if (form.is_scalar()) {
      const VectorType type = f.type_of(form);
      ValueId result = b.op(Op::Distribute, type, {form.var, target});
      for (std::size_t i = 1; i < parts.size(); ++i) {
        result = b.op(Op::Replace, type, {result, number(i), parts[i].var, target});
      }
      return Value::scalar(result, context);
    }
    if (form.is_tuple()) {
      std::vector<Value> columns;
      for (std::size_t column = 0; column < form.parts.size(); ++column) {
        std::vector<Value> column_parts;
        for (const Value& part : parts) column_parts.push_back(part.parts[column]);
        columns.push_back(self(self, column_parts));
      }
      return Value::tuple(std::move(columns));
    }
    const ValueId each =
        context->serial() ? b.single_constant(1) : v.descriptor_of(v.ones(f.instances(context)));
    b.set_total(each, context->count);
    std::vector<Vectors::Source> sources;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      sources.push_back({parts[i], number(i), each});
    }
    return v.place(sources, target);
  };
  return Value::sequence(target, build(build, values), context);
}

std::vector<PrimitiveEntry> sequence_primitives() {
  return {
      {"length", length},
      {"dist", distribute},
      {"elt", element},
      {"rep", replace},
      {"zip", zip},
      {"zip3", zip3},
      {"unzip", unzip},
      {"plus_scan", scan<Op::AddScan>},
      {"mult_scan", scan<Op::MultiplyScan>},
      {"max_scan", scan<Op::MaxScan>},
      {"min_scan", scan<Op::MinScan>},
      {"or_scan", scan<Op::OrScan>},
      {"and_scan", scan<Op::AndScan>},
      {"xor_scan", scan<Op::XorScan>},
      {"sum", reduce<Op::AddReduce>},
      {"product", reduce<Op::MultiplyReduce>},
      {"max_val", reduce<Op::MaxReduce>},
      {"min_val", reduce<Op::MinReduce>},
      {"any", reduce<Op::OrReduce>},
      {"all", reduce<Op::AndReduce>},
      {"parity", reduce<Op::XorReduce>},
      {"iseq", range},
      {"index", index},
      {"partition", partition},
      {"flatten", flatten_primitive},
  };
}

ValueId positions_from(Flattener& f, const Value& starts, ValueId offsets, Context* context) {
  if (f.builder().known_int(starts.var) == 0) return offsets;
  return f.vectors().add(f.bring_scalar(starts, context), offsets);
}

Value elements_at(Flattener& f, const Value& elements, ValueId whole, const Value& positions) {
  ir::Builder& b = f.builder();
  Vectors& v = f.vectors();
  Context* const context = positions.context;
  if (!f.goes_on_unwanted()) {
    const ir::LengthId count = b.variable(vars_of(elements)[0]).length;
    return in_context(v.gather(elements, count, positions.var), context);
  }
  const ValueId total = v.lengths(whole);
  const auto here = [&](ValueId scalar) {
    return f.bring_scalar(Value::scalar(scalar, f.serial()), context);
  };
  const ValueId zero = here(b.int_constant(0));
  const ValueId inside = b.op(Op::And, VectorType::Bool,
                              {b.op(Op::GreaterEqual, VectorType::Int, {positions.var, zero}),
                               b.op(Op::Less, VectorType::Int, {positions.var, here(total)})});
  const ValueId place = b.op(Op::Select, VectorType::Int, {inside, positions.var, zero});
  const Value some = f.some_elements(elements, total);
  const ir::LengthId count = b.variable(vars_of(some)[0]).length;
  return in_context(v.gather(some, count, place), context);
}

Value element_of(Flattener& f, const Value& sequence, std::vector<ElementIndex> indices,
                 Context* context) {
  ir::Builder& b = f.builder();
  Vectors& v = f.vectors();
  const ir::Origin outer = b.origin;
  // The sequence that is indexed next is `rows` in its own context, or the one of them at
  // `position`.
  Value rows = sequence;
  if (const RowOf* row = f.row_of(sequence)) {
    rows = row->sequence;
    indices.insert(indices.begin(), {row->number, outer, true});
  }
  Value lengths = Value::scalar(v.lengths(rows.var), rows.context);
  Value starts = Value::scalar(v.offsets(rows.var), rows.context);
  ValueId whole = ir::kNoValue;  // describes all of their elements
  Value position;
  // Goes to the element of `rows` at the index, in the context `at`.
  const auto go = [&](const ElementIndex& index, Context* at) {
    b.origin = index.origin;
    // A check keeps positions inside only where the element is wanted.
    Context* const place =
        f.goes_on_unwanted() ? Flattener::deeper(lengths.context, index.index.context) : at;
    const ValueId here = f.bring_scalar(index.index, place);
    if (!index.inside && f.goes_on_unwanted()) {
      const ValueId zero = f.bring_scalar(Value::scalar(b.int_constant(0), f.serial()), place);
      const ValueId outside =
          b.op(Op::Or, VectorType::Bool,
               {b.op(Op::Less, VectorType::Int, {here, zero}),
                b.op(Op::GreaterEqual, VectorType::Int, {here, f.bring_scalar(lengths, place)})});
      f.check(Value::scalar(outside, place), at, kElementMessage,
              {{"index", index.index}, {"length", lengths}});
    } else if (!index.inside) {
      check_element(f, index.index, lengths, at);
    }
    position = Value::scalar(positions_from(f, starts, here, place), place);
    whole = v.flat(rows.var, rows.elements());
    if (&index == &indices.back()) return;
    const auto of_row = [&](ValueId numbers) {
      return elements_at(f, Value::scalar(numbers, rows.context), whole, position);
    };
    Value inner = rows.elements();  // of which `rows` is the owner
    rows = std::move(inner);
    lengths = of_row(v.lengths(rows.var));
    starts = of_row(v.offsets(rows.var));
  };
  for (const ElementIndex& index : indices) {
    // Where a row is the same for several elements, it is looked for once. What is the same for all
    // takes no more than a number anyway.
    Context* const own = Flattener::deeper(lengths.context, index.index.context);
    if (&index != &indices.back() && !own->serial() && f.is_made_once(own, context)) {
      f.for_instances(own, context, [&] { go(index, own); });
    } else {
      go(index, context);
    }
  }
  b.origin = outer;
  return elements_at(f, rows.elements(), whole, position);
}

}  // namespace neslc
