// Ranks and sorting of elements of any type. Scalars have an operation of the machine; f comes
// before t, pairs are compared by their first parts and then by the others, sequences like words in
// a dictionary (library/definitions.nesl), records by their fields. Values of one function type are
// equal, as `eql` has it.
#include "neslc/flatten/primitives.hpp"

namespace neslc {
namespace {

using ir::ValueId;
using vcode::Op;
using VectorType = vcode::Type;
using CallSite = Flattener::CallSite;

/// Is an element one number of the machine?
bool is_number(TypePtr element) {
  return element->kind == TypeKind::Int || element->kind == TypeKind::Float ||
         element->kind == TypeKind::Char;
}

/// The place of each element in the order; `sequence` has elements of type `element`. What is the
/// same for all instances is ranked once.
Value ranks(Flattener& f, TypePtr element, const Value& sequence) {
  const ValueId descriptor = sequence.var;
  const auto in_place = [&](ValueId ranks) {
    return Value::sequence(descriptor, Value::scalar(ranks, sequence.context), sequence.context);
  };
  switch (element->kind) {
    case TypeKind::Record:
      return ranks(f, f.types().fields_of(element), sequence);
    case TypeKind::Pair:
      return f.call_library("rank.pairs", {element->first(), element->second()}, sequence,
                            sequence.context);
    case TypeKind::Sequence:
    case TypeKind::Stream:
      return f.call_library("rank.sequences", {element->element()}, sequence, sequence.context);
    case TypeKind::Function:
      return in_place(f.vectors().positions(descriptor));
    case TypeKind::Bool: {
      const ValueId numbers =
          f.builder().op(Op::BoolToInt, VectorType::Int, {sequence.elements().var});
      return in_place(f.builder().op(Op::RankUp, VectorType::Int, {numbers, descriptor}));
    }
    default: {
      const ValueId values = sequence.elements().var;
      return in_place(f.builder().op(Op::RankUp, vector_type(element), {values, descriptor}));
    }
  }
}

Value rank(Flattener& f, const CallSite& site, const Value& argument) {
  return ranks(f, site.argument_type->element(), argument);
}

Value rank_down(Flattener& f, const CallSite& site, const Value& argument) {
  const TypePtr element = site.argument_type->element();
  const ValueId ranks =
      f.builder().op(Op::RankDown, vector_type(element), {argument.elements().var, argument.var});
  return Value::sequence(argument.var, Value::scalar(ranks, argument.context), argument.context);
}

Value sort(Flattener& f, const CallSite& site, const Value& argument) {
  const TypePtr element = site.argument_type->element();
  if (is_number(element)) {
    const ValueId sorted =
        f.builder().op(Op::SortUp, vector_type(element), {argument.elements().var, argument.var});
    return Value::sequence(argument.var, Value::scalar(sorted, argument.context), argument.context);
  }
  const Value places = rank(f, site, argument);
  return Value::sequence(
      argument.var, f.vectors().permute(argument.elements(), places.elements().var, argument.var),
      argument.context);
}

/// Are the elements whole numbers of the machine, and which ones.
Value keys(Flattener& f, const CallSite& site, const Value& argument) {
  ir::Builder& b = f.builder();
  const TypeKind kind = site.argument_type->element()->kind;
  const bool whole = kind == TypeKind::Int || kind == TypeKind::Char || kind == TypeKind::Bool;
  ValueId numbers = ir::kNoValue;
  if (kind == TypeKind::Bool) {
    numbers = b.op(Op::BoolToInt, VectorType::Int, {argument.elements().var});
  } else {
    numbers = whole ? argument.elements().var : f.vectors().positions(argument.var);
  }
  const Value elements = Value::scalar(numbers, argument.context);
  return Value::tuple({Value::scalar(b.bool_constant(whole), f.serial()),
                       Value::sequence(argument.var, elements, argument.context)});
}

}  // namespace

std::vector<PrimitiveEntry> ordering_primitives() {
  return {
      {"rank", rank},         {"rank_down", rank_down}, {"ranks", rank},  {"machine.keys", keys},
      {"machine.rank", rank}, {"sort", sort},           {"sorted", sort},
  };
}

}  // namespace neslc
