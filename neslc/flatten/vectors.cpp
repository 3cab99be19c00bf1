#include "neslc/flatten/vectors.hpp"

#include <algorithm>
#include <utility>

#include "neslc/flatten/fetched_elements.hpp"

namespace neslc {

using ir::LengthId;
using ir::ValueId;
using ir::ValueList;
using vcode::Op;
using VectorType = vcode::Type;

void Vectors::set_length(const Value& vector, LengthId length) {
  if (vector.is_tuple()) {
    for (const Value& part : vector.parts) set_length(part, length);
    return;
  }
  b_.set_length(vector.var, length);
  if (!vector.is_sequence()) return;
  const LengthId total = b_.variable(vector.var).total;
  if (length == ir::kOne && !b_.knows_single(total)) b_.remember_single(total, vector.var);
  set_length(vector.elements(), total);
}

ValueId Vectors::vector_of(ValueId scalar, ValueId descriptor) {
  if (b_.variable(descriptor).total == ir::kOne) return scalar;
  return b_.op(Op::Distribute, type_of(scalar), {scalar, descriptor});
}

ValueId Vectors::ones(ValueId descriptor) {
  return vector_of(b_.int_constant(1), descriptor);
}

ValueId Vectors::zeros(ValueId descriptor) {
  return vector_of(b_.int_constant(0), descriptor);
}

ValueId Vectors::iota(ValueId descriptor) {
  return b_.op(Op::Index, VectorType::Int, {b_.int_constant(0), b_.int_constant(1), descriptor});
}

ValueId Vectors::ranges(ValueId start, ValueId descriptor) {
  const LengthId count = b_.variable(descriptor).length;
  return b_.op(Op::Index, VectorType::Int, {start, ones(b_.single(count, start)), descriptor});
}

ValueId Vectors::positions(ValueId descriptor) {
  const LengthId count = b_.variable(descriptor).length;
  if (count == ir::kOne) return iota(descriptor);
  return ranges(zeros(b_.single(count, lengths(descriptor))), descriptor);
}

ValueId Vectors::lengths(ValueId descriptor) {
  return b_.op(Op::Lengths, VectorType::Int, {descriptor});
}

ValueId Vectors::offsets(ValueId descriptor) {
  const LengthId count = b_.variable(descriptor).length;
  if (count == ir::kOne) return b_.int_constant(0);
  const ValueId sizes = lengths(descriptor);
  return b_.op(Op::AddScan, VectorType::Int, {sizes, b_.single(count, sizes)});
}

ValueId Vectors::flat(ValueId descriptor, const Value& elements) {
  if (b_.variable(descriptor).length == ir::kOne) return descriptor;
  const LengthId total = b_.variable(descriptor).total;
  if (b_.knows_single(total) || total == ir::kOne) return b_.single(total, ir::kNoValue);
  const ValueList vars = vars_of(elements);
  if (!vars.empty() && type_of(vars[0]) != VectorType::Segdes) return b_.single(total, vars[0]);
  const ValueId sizes = lengths(descriptor);
  const ValueId result = descriptor_of(b_.op(
      Op::AddReduce, VectorType::Int, {sizes, b_.single(b_.variable(descriptor).length, sizes)}));
  b_.set_total(result, total);
  b_.remember_single(total, result);
  return result;
}

ValueId Vectors::descriptor_of(ValueId lengths) {
  return b_.op(Op::MakeSegdes, VectorType::Int, {lengths});
}

ValueId Vectors::composed(ValueId outer, ValueId inner) {
  return b_.op(Op::AddReduce, VectorType::Int, {lengths(inner), outer});
}

ValueId Vectors::any(ValueId flags, ValueId descriptor) {
  if (b_.variable(flags).length == ir::kOne) return flags;
  return b_.op(Op::OrReduce, VectorType::Bool, {flags, descriptor});
}

ValueId Vectors::add(ValueId a, ValueId b) {
  return b_.op(Op::Add, VectorType::Int, {a, b});
}

ValueId Vectors::subtract(ValueId a, ValueId b) {
  return b_.op(Op::Subtract, VectorType::Int, {a, b});
}

Value Vectors::picked(const Value& vector, LengthId from, const Pick& pick) {
  switch (vector.kind) {
    case Value::Kind::Scalar:
      return Value::scalar(pick(vector.var), vector.context);
    default: {  // Tuple; no vector is a stream
      std::vector<Value> parts;
      for (const Value& part : vector.parts) parts.push_back(picked(part, from, pick));
      return Value::tuple(std::move(parts));
    }
    case Value::Kind::Sequence:
      break;
  }
  // Whole segments: pick their lengths and starts; the elements are then ranges of positions.
  const ValueId descriptor = descriptor_of(pick(lengths(vector.var)));
  const ValueId start = pick(offsets(vector.var));
  const LengthId inner = b_.variable(vector.var).total;
  // A single range 0, 1, 2 ... that came from INDEX is made anew instead of being copied.
  const Value& elements = vector.elements();
  if (from == ir::kOne && elements.is_scalar()) {
    const ir::Definition definition = b_.variable(elements.var).definition;
    if (definition.is(Op::Index) && b_.variable(definition.operands[0]).length == ir::kOne) {
      const ValueId first = pick(definition.operands[0]);
      const ValueId step = pick(definition.operands[1]);
      return Value::sequence(
          descriptor,
          Value::scalar(b_.op(Op::Index, VectorType::Int, {first, step, descriptor}),
                        vector.context),
          vector.context);
    }
  }
  Value chosen = gather(elements, inner, ranges(start, descriptor));
  return Value::sequence(descriptor, std::move(chosen), vector.context);
}

Value Vectors::gather(const Value& vector, LengthId from, ValueId index) {
  const LengthId count = b_.variable(index).length;
  return picked(vector, from, [&](ValueId scalars) {
    return b_.op(Op::BPermute, type_of(scalars),
                 {scalars, index, b_.single(from, scalars), b_.single(count, index)});
  });
}

Value Vectors::distribute(const Value& vector, LengthId from, ValueId descriptor) {
  return picked(vector, from, [&](ValueId scalars) {
    return b_.op(Op::Distribute, type_of(scalars), {scalars, descriptor});
  });
}

Value Vectors::permute(const Value& vector, ValueId index, ValueId descriptor) {
  switch (vector.kind) {
    case Value::Kind::Scalar:
      return Value::scalar(b_.op(Op::Permute, type_of(vector.var), {vector.var, index, descriptor}),
                           vector.context);
    default: {  // Tuple; no vector is a stream
      std::vector<Value> parts;
      for (const Value& part : vector.parts) parts.push_back(permute(part, index, descriptor));
      return Value::tuple(std::move(parts));
    }
    case Value::Kind::Sequence:
      return place({{vector, index, descriptor}}, descriptor);
  }
  return vector;
}

Value Vectors::pack(const Value& vector, ValueId flags, ValueId descriptor) {
  switch (vector.kind) {
    case Value::Kind::Scalar:
      return Value::scalar(
          b_.operation(Op::Pack, type_of(vector.var), {vector.var, flags, descriptor})[0],
          vector.context);
    default: {  // Tuple; no vector is a stream
      std::vector<Value> parts;
      for (const Value& part : vector.parts) parts.push_back(pack(part, flags, descriptor));
      return Value::tuple(std::move(parts));
    }
    case Value::Kind::Sequence:
      break;
  }
  const ValueId kept =
      b_.operation(Op::Pack, VectorType::Int, {lengths(vector.var), flags, descriptor})[0];
  const ValueId inner_flags = b_.op(Op::Distribute, VectorType::Bool, {flags, vector.var});
  const ValueId result = descriptor_of(kept);
  Value elements = pack(vector.elements(), inner_flags, flat(vector.var, vector.elements()));
  return Value::sequence(result, std::move(elements), vector.context);
}

ValueId Vectors::packed_descriptor(const Value& vector, ValueId flags, ValueId descriptor) {
  // Any PACK with these flags makes it; take one that is needed anyway.
  const Value* part = &vector;
  while (part->is_tuple() && !part->parts.empty()) part = &part->parts[0];
  if (part->is_tuple()) {
    const ValueId ones = b_.op(Op::BoolToInt, VectorType::Int, {flags});
    return descriptor_of(b_.op(Op::AddReduce, VectorType::Int, {ones, descriptor}));
  }
  const ValueId scalars = part->is_sequence() ? lengths(part->var) : part->var;
  return b_.operation(Op::Pack, type_of(scalars), {scalars, flags, descriptor})[1];
}

bool Vectors::fetches(const std::vector<Value>& sequences) const {
  return in_kernels_ && fetches_elements(b_, sequences);
}

/// Does each instance give a number of elements that is known, as where they are written one by
/// one?
bool Vectors::is_short(const Source& source) const {
  const ir::Definition& descriptor = b_.variable(source.descriptor).definition;
  if (!descriptor.is(Op::MakeSegdes)) return descriptor.is_const();
  const ValueId sizes = descriptor.operands[0];
  const ir::Definition& made = b_.variable(sizes).definition;
  return b_.known_int(sizes) || (made.is(Op::Distribute) && b_.known_int(made.operands[0]));
}

Value Vectors::place(std::vector<Source> sources, ValueId target) {
  // The first one goes to a new vector, whose other places are filled with zeros.
  std::stable_partition(sources.begin(), sources.end(),
                        [this](const Source& source) { return !is_short(source); });
  return placed(sources, nullptr, target, b_.variable(target).total);
}

Value Vectors::place_over(const std::vector<Source>& sources, const Value& defaults,
                          ValueId target) {
  return placed(sources, &defaults, target, b_.variable(target).total);
}

Value Vectors::placed(const std::vector<Source>& sources, const Value* defaults, ValueId target,
                      LengthId total) {
  const Value& form = sources.front().vector;
  switch (form.kind) {
    case Value::Kind::Scalar: {
      const VectorType type = type_of(form.var);
      ValueId result = 0;
      if (defaults != nullptr) {
        result = defaults->var;
      } else {
        const ValueId flat_target = flat(target, Value::tuple({}));
        const ValueId null = b_.null_constant(type);
        result = b_.op(Op::Distribute, type, {null, flat_target});
        b_.set_length(result, total);
      }
      for (const Source& source : sources) {
        result = b_.op(Op::DPermute, type,
                       {source.vector.var, source.index, result, source.descriptor, target});
      }
      return Value::scalar(result, form.context);
    }
    default: {  // Tuple; no vector is a stream
      std::vector<Value> parts;
      for (std::size_t i = 0; i < form.parts.size(); ++i) {
        std::vector<Source> part_sources;
        for (const Source& source : sources) {
          part_sources.push_back({source.vector.parts[i], source.index, source.descriptor});
        }
        parts.push_back(placed(part_sources, defaults == nullptr ? nullptr : &defaults->parts[i],
                               target, total));
      }
      return Value::tuple(std::move(parts));
    }
    case Value::Kind::Sequence:
      break;
  }
  return placed_sequences(sources, defaults, target, total);
}

Value Vectors::placed_sequences(const std::vector<Source>& sources, const Value* defaults,
                                ValueId target, LengthId total) {
  if (defaults == nullptr || sources.size() > 1) {
    return merged_sequences(sources, defaults, target, total);
  }
  // As a rule they are as long as those that they replace. Then their elements go where those of
  // the others are, and whoever holds the vector alone writes into it.
  const Source& source = sources.front();
  const ValueId place = place_in_all(source, target);
  const ValueId single = b_.single(b_.variable(place).length, place);
  const ValueId all = b_.single(total, lengths(defaults->var));
  const auto fetch = [&](ValueId from) {
    return b_.op(Op::BPermute, VectorType::Int, {from, place, all, single});
  };
  const ValueId differs = any(b_.op(Op::NotEqual, VectorType::Int,
                                    {fetch(lengths(defaults->var)), lengths(source.vector.var)}),
                              single);
  const auto replace = [&] {
    const ValueId index = ranges(fetch(offsets(defaults->var)), source.vector.var);
    const Source inner{source.vector.elements(), index,
                       flat(source.vector.var, Value::scalar(index, nullptr))};
    const Value& elements = defaults->elements();
    return Value::sequence(
        defaults->var,
        placed({inner}, &elements, flat(defaults->var, elements), b_.variable(defaults->var).total),
        source.vector.context);
  };
  const ValueList vars = b_.conditional(
      differs, [&] { return vars_of(merged_sequences(sources, defaults, target, total)); },
      [&] { return vars_of(replace()); });
  const Value result = with_vars(*defaults, vars, source.vector.context);
  set_length(result, total);
  return result;
}

ValueId Vectors::place_in_all(const Source& source, ValueId target) {
  if (b_.variable(target).length == ir::kOne) return source.index;
  return add(source.index,
             b_.op(Op::Distribute, VectorType::Int, {offsets(target), source.descriptor}));
}

Value Vectors::merged_sequences(const std::vector<Source>& sources, const Value* defaults,
                                ValueId target, LengthId total) {
  // The lengths first; they tell where the elements of each sequence go.
  std::vector<Source> length_sources;
  for (const Source& source : sources) {
    length_sources.push_back(
        {Value::scalar(lengths(source.vector.var), nullptr), source.index, source.descriptor});
  }
  Value default_lengths;
  if (defaults != nullptr) default_lengths = Value::scalar(lengths(defaults->var), nullptr);
  const ValueId merged =
      placed(length_sources, defaults == nullptr ? nullptr : &default_lengths, target, total).var;
  const ValueId inner_target = descriptor_of(merged);
  const LengthId inner_total = b_.variable(inner_target).total;
  std::vector<Value> sequences;
  for (const Source& source : sources) sequences.push_back(source.vector);
  if (defaults == nullptr && fetches(sequences)) {
    Value elements = fetched_elements(*this, sources, target, inner_target);
    set_length(elements, inner_total);
    return Value::sequence(inner_target, std::move(elements), sources.front().vector.context);
  }
  const ValueId all = b_.single(total, merged);
  const ValueId starts = b_.op(Op::AddScan, VectorType::Int, {merged, all});
  ValueId flat_target = inner_target;
  if (total != ir::kOne) {
    flat_target = descriptor_of(b_.op(Op::AddReduce, VectorType::Int, {merged, all}));
    b_.set_total(flat_target, inner_total);
  }

  std::vector<Source> inner;
  const auto add_elements = [&](Value elements, ValueId descriptor, ValueId segment_starts) {
    const ValueId index = ranges(segment_starts, descriptor);
    const Value indexed = Value::scalar(index, nullptr);
    inner.push_back({std::move(elements), index, flat(descriptor, indexed)});
  };
  // Of sequences that are overwritten the elements are left out. `kept`: the lengths that count.
  const auto add_survivors = [&](const Value& sequence, ValueId segment_starts, ValueId kept) {
    const ValueId nothing = zeros(b_.single(b_.variable(kept).length, kept));
    const ValueId flags =
        b_.op(Op::Distribute, VectorType::Bool,
              {b_.op(Op::NotEqual, VectorType::Int, {kept, nothing}), sequence.var});
    Value elements = pack(sequence.elements(), flags, flat(sequence.var, sequence.elements()));
    add_elements(std::move(elements), descriptor_of(kept), segment_starts);
  };

  // Which element fills each place: they are numbered through all sources, the last one wins.
  ValueId owner = ir::kNoValue;
  ValueList numbers;
  if (defaults != nullptr) {
    owner = vector_of(b_.int_constant(-1), all);
    ValueId base = b_.int_constant(0);
    for (const Source& source : length_sources) {
      const ValueId sizes = source.vector.var;
      const LengthId count = b_.variable(sizes).length;
      const ValueId number =
          b_.op(Op::Index, VectorType::Int, {base, b_.int_constant(1), b_.single(count, sizes)});
      numbers.push_back(number);
      owner = b_.op(Op::DPermute, VectorType::Int,
                    {number, source.index, owner, source.descriptor, target});
      base = add(base, b_.number_of(count, sizes));
    }
    const ValueId untouched = b_.op(Op::Less, VectorType::Int, {owner, zeros(all)});
    add_survivors(
        *defaults, starts,
        b_.op(Op::Select, VectorType::Int, {untouched, lengths(defaults->var), zeros(all)}));
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Source& source = sources[i];
    const ValueId place = place_in_all(source, target);
    const ValueId single = b_.single(b_.variable(place).length, place);
    const auto fetch = [&](ValueId from) {
      return b_.op(Op::BPermute, VectorType::Int, {from, place, all, single});
    };
    if (defaults == nullptr) {
      add_elements(source.vector.elements(), source.vector.var, fetch(starts));
    } else {
      const ValueId winner = b_.op(Op::Equal, VectorType::Int, {fetch(owner), numbers[i]});
      add_survivors(
          source.vector, fetch(starts),
          b_.op(Op::Select, VectorType::Int, {winner, lengths(source.vector.var), zeros(single)}));
    }
  }
  Value elements = placed(inner, nullptr, flat_target, inner_total);
  set_length(elements, inner_total);
  return Value::sequence(inner_target, std::move(elements), sources.front().vector.context);
}

Value Vectors::null_vector(const Value& form, ValueId descriptor) {
  switch (form.kind) {
    case Value::Kind::Scalar: {
      const VectorType type = type_of(form.var);
      const ValueId null = b_.null_constant(type);
      return Value::scalar(vector_of(null, descriptor), form.context);
    }
    default: {  // Tuple; no vector is a stream
      std::vector<Value> parts;
      for (const Value& part : form.parts) parts.push_back(null_vector(part, descriptor));
      return Value::tuple(std::move(parts));
    }
    case Value::Kind::Sequence:
      break;
  }
  return Value::sequence(descriptor_of(zeros(descriptor)), empty(form.elements(), form.context),
                         form.context);
}

Value Vectors::empty(const Value& form, Context* context) {
  Value result;
  result.kind = form.kind;
  result.context = context;
  if (!form.is_tuple()) result.var = b_.empty(type_of(form.var));
  for (const Value& part : form.parts) result.parts.push_back(empty(part, context));
  return result;
}

}  // namespace neslc
