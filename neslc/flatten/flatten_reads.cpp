// Elements that loops read again for each instance of a loop around them.
//
//   {{sum({a[i][k] * b[k][j] : k in [0:n]}) : j in [0:n]} : i in [0:n]}
//
// reads a[i][k] for each j, b[k][j] for each i, and checks both indices each time. An element that
// is the same for all instances of some loop around the one that reads it is fetched once, before
// that loop, into a sequence that the reading loop goes through as it does through its own
// generators: the program then is
//
//   let columns = {{b[k][j] : k in [0:n]} : j in [0:n]}
//   in {let row = {a[i][k] : k in [0:n]}
//       in {sum({x * y : k in [0:n]; x in row; y in column}) : j in [0:n]; column in columns}
//       : i in [0:n]}
//
// and what lay n elements apart lies side by side. {row[j] : row in b} is {b[k][j] : k in
// index(#b)} in this. Only elements whose indices are the variables of loops that count, or a
// constant away from them, are taken, with an index for each of the loops that they are fetched
// for: they are all different, so that they need no more memory than the sequence that they are
// read from.
#include <algorithm>
#include <utility>

#include "neslc/flatten/effects.hpp"
#include "neslc/flatten/flattener.hpp"
#include "neslc/flatten/primitives.hpp"
#include "neslc/flatten/streams.hpp"
#include "neslc/front/free_variables.hpp"

namespace neslc {

using ir::ValueId;
using vcode::Op;
using Loop = Flattener::ReadingLoop;
using VectorType = vcode::Type;

namespace {

template <class Action>
void for_each_in_body(const ApplyToEach& loop, const Action& visit) {
  for_each_unconditional(*loop.body, visit);
  if (loop.sieve) for_each_unconditional(*loop.sieve, visit);
}

/// The elements v[i] or v[i][j] ..., each as long as it goes, that are wanted, of those that are
/// evaluated once for each element of the loop.
template <class Wanted>
std::vector<const Expr*> elements_where(const ApplyToEach& loop, const Wanted& wanted) {
  std::vector<const Expr*> result;
  for_each_in_body(loop, [&](const Expr& part) {
    if (primitive_operands(part, "elt") == nullptr) return Visit::Below;
    if (wanted(part)) result.push_back(&part);
    return Visit::Past;
  });
  return result;
}

/// a[i][j] ... Those of a vector, v[k], are read where they lie.
std::vector<const Expr*> elements_read(const ApplyToEach& loop) {
  return elements_where(loop, [](const Expr& element) {
    return primitive_operands(*primitive_operands(element, "elt")->first, "elt") != nullptr;
  });
}

/// row[j] ... for such a row.
std::vector<const Expr*> elements_of(const Local* row, const ApplyToEach& loop) {
  return elements_where(
      loop, [&](const Expr& element) { return is_local(indexed_sequence(element), row); });
}

/// [a:b], [a:b:d] with a literal d, or index(n).
bool counts(const Expr& range) {
  if (primitive_argument(range, "index") != nullptr) return true;
  const std::optional<RangeParts> parts = range_parts(range);
  const auto* step = parts ? std::get_if<IntLiteral>(&parts->step->node) : nullptr;
  return step != nullptr && step->value > 0;
}

/// Does it count a few numbers that the program says? The optimizer makes a loop over those that is
/// reduced one expression, in which nothing is read again.
bool counts_a_few(const Expr& range) {
  constexpr int kFew = 16;
  const auto number = [](const Expr& expr) -> std::optional<std::int64_t> {
    if (const auto* literal = std::get_if<IntLiteral>(&expr.node)) return literal->value;
    const Expr* negated = primitive_argument(expr, "negate");
    const auto* literal = negated == nullptr ? nullptr : std::get_if<IntLiteral>(&negated->node);
    // The least INT is the negation of what is none.
    return literal == nullptr ? std::nullopt
                              : std::optional(static_cast<std::int64_t>(
                                    -static_cast<std::uint64_t>(literal->value)));
  };
  if (const Expr* count = primitive_argument(range, "index")) {
    return number(*count).value_or(kFew + 1) <= kFew;
  }
  const std::optional<RangeParts> parts = range_parts(range);
  const auto start = number(*parts->start), end = number(*parts->end), step = number(*parts->step);
  if (!start || !end || !step) return false;
  // The distance of two INTs of 64 bits may be none.
  const std::uint64_t distance =
      static_cast<std::uint64_t>(*end) - static_cast<std::uint64_t>(*start);
  return *end <= *start || distance / static_cast<std::uint64_t>(*step) < kFew;
}

/// The generators that count.
std::vector<Loop> counting(const ApplyToEach& loop) {
  std::vector<Loop> result;
  for (const Binding& generator : loop.generators) {
    const Expr& range = *generator.value;
    if (counts(range) && generator.pattern->kind == Pattern::Kind::Variable) {
      result.push_back({generator.pattern->local, &range});
    }
  }
  return result;
}

/// The generators that go through the elements of variables, which may be rows.
std::vector<Loop> rows(const ApplyToEach& loop) {
  std::vector<Loop> result;
  for (const Binding& generator : loop.generators) {
    const auto* const global = std::get_if<GlobalRef>(&generator.value->node);
    const bool is_variable =
        std::holds_alternative<LocalRef>(generator.value->node) ||
        (global != nullptr && global->definition->kind == DefinitionKind::Variable);
    if (is_variable && generator.pattern->kind == Pattern::Kind::Variable) {
      result.push_back({generator.pattern->local, generator.value.get()});
    }
  }
  return result;
}

std::vector<Loop> counting_many(const ApplyToEach& loop) {
  std::vector<Loop> result = counting(loop);
  std::erase_if(result, [](const Loop& each) { return counts_a_few(*each.range); });
  return result;
}

}  // namespace

/// Does the variable occur in the element as one index, which it may be a constant away from, and
/// nowhere else?
bool Flattener::counts_an_index(const Expr& element, const Local* local, const Frame& frame) {
  const auto mentions = [&](const Expr& expr) {
    return contains(compiler_.free_variables().of(expr), local);
  };
  const auto is_constant = [&](const Expr& expr) {
    return home_of_variables(compiler_.free_variables().of(expr), frame) == &serial_;
  };
  const auto moves = [&](const Expr& index) {
    if (is_local(index, local)) return true;
    if (const Pair* sum = primitive_operands(index, "+")) {
      return (is_local(*sum->first, local) && is_constant(*sum->second)) ||
             (is_local(*sum->second, local) && is_constant(*sum->first));
    }
    const Pair* const difference = primitive_operands(index, "-");
    return difference != nullptr && is_local(*difference->first, local) &&
           is_constant(*difference->second);
  };
  int times = 0;
  const Expr* sequence = &element;
  while (const Pair* operands = primitive_operands(*sequence, "elt")) {
    if (mentions(*operands->second)) {
      if (!moves(*operands->second)) return false;
      ++times;
    }
    sequence = operands->first.get();
  }
  return times == 1 && !mentions(*sequence);
}

/// Are the elements of the sequence that are read in all instances of the context different ones?
bool Flattener::differ(const Expr& element, const Expr& sequence, const Context* context,
                       const Frame& frame) {
  const Context* const home = home_of_variables(compiler_.free_variables().of(sequence), frame);
  for (; context != home; context = context->parent) {
    const auto counts_here = [&](const Local* counter) {
      const auto known = frame.locals.find(counter);
      return known != frame.locals.end() && known->second.context == context &&
             counts_an_index(element, counter, frame);
    };
    if (context->kind != Context::Kind::Branch &&
        std::none_of(frame.counters.begin(), frame.counters.end(), counts_here)) {
      return false;
    }
  }
  return true;
}

/// The elements for all of the `loops`, each inside the one before, fetched outside of `context`,
/// in which `expr` is evaluated that all of it is part of. Nothing if they differ there.
std::optional<FetchedRead> Flattener::fetched_before(const Expr& expr, const Expr& element,
                                                     const std::vector<Loop>& loops, Frame& frame,
                                                     Context* context) {
  if (!is_scalar_type(substituted(element.type, frame))) return {};
  const std::vector<const Local*>& outside = compiler_.free_variables().of(expr);
  std::vector<const Expr*> parts = {&element};
  std::vector<const Local*> counters;
  const Expr* sequence = &indexed_sequence(element);
  for (const Loop& loop : loops) {
    if (is_local(*sequence, loop.variable)) {
      sequence = loop.range;
    } else if (!counts_an_index(element, loop.variable, frame)) {
      return {};
    }
    parts.push_back(loop.range);
    counters.push_back(loop.variable);
  }
  std::vector<const Local*> used;
  for (const Expr* part : parts) {
    if (compiler_.effects().of(*part, frame.instantiation)) return {};
    for (const Local* local : compiler_.free_variables().of(*part)) {
      if (contains(counters, local)) continue;
      if (!contains(outside, local)) return {};
      used.push_back(local);
    }
  }
  streams_->settle(used, frame);
  Context* const home = home_of_variables(used, frame);
  if (home == nullptr || home == context || !multiplies(home, context) ||
      !differ(element, *sequence, home, frame)) {
    return {};
  }
  // Where there are no instances of `context` nothing is read.
  const Value wanted = is_any(home, context);
  Frame inner = frame;
  const Value all = fetched(element, loops, 0, wanted, inner, home);
  const bool for_inner_loop = loops.size() > 1;
  const Value& rows = for_inner_loop ? all.elements() : all;
  const Value starts = Value::scalar(v_.offsets(rows.var), home);
  FetchedRead result;
  result.element = &element;
  result.starts = for_inner_loop ? bring(Value::sequence(all.var, starts, home), context) : starts;
  result.elements = rows.elements();
  result.count = b_.variable(rows.var).total;
  return result;
}

/// The elements for all of the loops from `loops[k]` on; the first one is empty where not `wanted`.
/// Those of rows, row[j], are read as m[k][j] for all k.
Value Flattener::fetched(const Expr& element, const std::vector<Loop>& loops, std::size_t k,
                         const Value& wanted, Frame& frame, Context* context) {
  if (k == loops.size()) return expression(element, frame, context);
  const Expr& range = *loops[k].range;
  if (!counts(range)) {
    const Value rows = expression(range, frame, context);
    ValueId count = bring_scalar(Value::scalar(v_.lengths(rows.var), rows.context), context);
    if (k == 0) {
      const ValueId none = bring_scalar(Value::scalar(b_.int_constant(0), &serial_), context);
      count = b_.op(Op::Select, VectorType::Int, {wanted.var, count, none});
    }
    const ValueId descriptor = v_.descriptor_of(count);
    const Value numbers = Value::scalar(v_.positions(descriptor), context);
    Context* const each = for_each(context, descriptor, numbers);
    std::vector<ElementIndex> indices = indices_of(element, frame, each);
    indices.insert(indices.begin(), {in_context(numbers, each), origin_of(element, frame), true});
    const Value elements = element_of(*this, rows, std::move(indices), each);
    return Value::sequence(descriptor, bring(elements, each), context);
  }
  const Value numbers =
      bring(k == 0 ? range_if(range, wanted, frame, context) : expression(range, frame, context),
            context);
  Context* const each = for_each(context, numbers.var, numbers.elements());
  frame.locals[loops[k].variable] = in_context(numbers.elements(), each);
  const Value elements = fetched(element, loops, k + 1, wanted, frame, each);
  return Value::sequence(numbers.var, bring(elements, each), context);
}

/// The range, or an empty one where not `wanted`.
Value Flattener::range_if(const Expr& range, const Value& wanted, Frame& frame, Context* context) {
  const auto& call_node = std::get<Call>(range.node);
  Value argument = expression(*call_node.argument, frame, context);
  const auto end_where_wanted = [&](const Value& end, const Value& start) {
    return select(wanted, context, end, start);
  };
  if (primitive_operands(range, "iseq") != nullptr) {
    Value& rest = argument.parts[1];
    rest.parts[1] = end_where_wanted(rest.parts[1], argument.parts[0]);
  } else {
    argument = end_where_wanted(argument, Value::scalar(b_.int_constant(0), &serial_));
  }
  return call(substituted(call_node.callee->type, frame), Value::tuple({}), argument, context);
}

std::vector<FetchedRead> Flattener::fetched_reads(const Expr& expr, const ApplyToEach& node,
                                                  Frame& frame, Context* context) {
  std::vector<FetchedRead> result;
  const auto is_own = [&](const FetchedRead& read) { return read.loop == &node; };
  for (const FetchedRead& read : frame.reads) {
    if (is_own(read)) result.push_back(read);
  }
  std::erase_if(frame.reads, is_own);
  const std::vector<Loop> own = counting(node);
  for (const Loop& loop : own) frame.counters.push_back(loop.variable);
  if (!context->serial() && !in_both_arms_ && frame.observed == nullptr) {
    add_reads(expr, node, own, frame, context, result);
  }
  return result;
}

void Flattener::add_reads(const Expr& expr, const ApplyToEach& node, const std::vector<Loop>& own,
                          Frame& frame, Context* context, std::vector<FetchedRead>& result) {
  const auto add = [&](const ApplyToEach& loop, const Expr& element,
                       const std::vector<Loop>& loops) {
    const auto is_same = [&](const FetchedRead& read) { return read.element == &element; };
    if (std::any_of(result.begin(), result.end(), is_same)) return;
    if (auto read = fetched_before(expr, element, loops, frame, context)) {
      read->loop = &loop;
      result.push_back(std::move(*read));
    }
  };
  for (const Expr* element : elements_read(node)) {
    for (const Loop& loop : own) {
      if (!counts_a_few(*loop.range)) add(node, *element, {loop});
    }
  }
  for (const Loop& loop : rows(node)) {
    for (const Expr* element : elements_of(loop.variable, node)) add(node, *element, {loop});
  }
  for_each_in_body(node, [&](const Expr& part) {
    const auto* inner = std::get_if<ApplyToEach>(&part.node);
    if (inner == nullptr) return Visit::Below;
    const std::vector<Loop> inner_loops = counting_many(*inner);
    const std::vector<const Expr*> read = elements_read(*inner);
    const std::vector<Loop> over_rows = rows(*inner);
    for (const Loop& outer_loop : own) {
      for (const Expr* element : read) {
        for (const Loop& inner_loop : inner_loops) {
          add(*inner, *element, {outer_loop, inner_loop});
        }
      }
      for (const Loop& inner_loop : over_rows) {
        for (const Expr* element : elements_of(inner_loop.variable, *inner)) {
          add(*inner, *element, {outer_loop, inner_loop});
        }
      }
    }
    return Visit::Below;
  });
}

void Flattener::bind_read(const FetchedRead& read, const ApplyToEach& node, Frame& frame,
                          Context* each) {
  if (read.loop == &node) {
    const ValueId places = v_.ranges(bring_scalar(read.starts, each->parent), each->descriptor);
    frame.known[read.element] = in_context(v_.gather(read.elements, read.count, places), each);
    return;
  }
  FetchedRead inner = read;
  inner.starts = in_context(read.starts.elements(), each);
  b_.equate(b_.variable(read.starts.var).total, each->count);
  frame.reads.push_back(std::move(inner));
}

}  // namespace neslc
