// What streams are made of, and made into; the library's functions over streams are written with
// these (library/streams.nesl). In an apply-to-each over a sequence a stream is a sequence too,
// and all of it is one piece.
#include <algorithm>

#include "neslc/flatten/literals.hpp"
#include "neslc/flatten/primitives.hpp"
#include "neslc/flatten/streams.hpp"

namespace neslc {
namespace {

using CallSite = Flattener::CallSite;
using Kind = StreamNode::Kind;

/// The type of one of `count` components of the argument.
TypePtr component_type(const CallSite& site, std::size_t count, std::size_t index) {
  TypePtr type = site.argument_type;
  for (std::size_t i = 0; i < index; ++i) type = type->second();
  return index + 1 < count ? type->first() : type;
}

Value boolean(Flattener& f, bool value) {
  return Value::scalar(f.builder().bool_constant(value), f.serial());
}

/// What has streams as operands is computed in pieces outside of every apply-to-each.
bool is_stream_here(const CallSite& site) {
  return site.context->serial();
}

/// (n, step)
Value counted(Flattener& f, const CallSite& site, const Value& argument) {
  const std::vector<Value> parts = components(argument, 2);
  const FunctionValue step{component_type(site, 2, 1), parts[1]};
  if (!is_stream_here(site)) {
    const Value begin = Value::scalar(f.builder().int_constant(0), f.serial());
    return f.call(step.type, step.value, Value::tuple({begin, parts[0]}), site.context);
  }
  StreamNode node;
  node.kind = Kind::Counted;
  node.element = site.result_type->element();
  node.initial = parts[0];
  node.step = step;
  return f.streams().add(std::move(node));
}

/// (initial, begin, step). Only serial functions have sources of this kind.
Value source(Flattener& f, const CallSite& site, const Value& argument) {
  const std::vector<Value> parts = components(argument, 3);
  StreamNode node;
  node.kind = Kind::Source;
  node.element = site.result_type->element();
  node.initial = parts[0];
  node.begin = {component_type(site, 3, 1), parts[1]};
  node.step = {component_type(site, 3, 2), parts[2]};
  return f.streams().add(std::move(node));
}

/// (stream, state, step)
template <Kind kKind, bool kSameLengths>
Value through(Flattener& f, const CallSite& site, const Value& argument) {
  const std::vector<Value> parts = components(argument, 3);
  const FunctionValue step{component_type(site, 3, 2), parts[2]};
  if (!is_stream_here(site)) {
    const Value piece = Value::tuple({f.bring(parts[0], site.context), boolean(f, true)});
    return f.call(step.type, step.value, Value::tuple({parts[1], piece}), site.context).parts[0];
  }
  StreamNode node;
  node.kind = kKind;
  node.element = site.result_type->element();
  node.inputs = {parts[0].stream};
  node.initial = parts[1];
  node.step = step;
  if (kSameLengths) node.clock = parts[0].stream->clock;
  return f.streams().add(std::move(node));
}

/// (stream, state, step, finish)
template <bool kMayEnd>
Value fold(Flattener& f, const CallSite& site, const Value& argument) {
  const std::vector<Value> parts = components(argument, 4);
  const FunctionValue step{component_type(site, 4, 2), parts[2]};
  const FunctionValue finish{component_type(site, 4, 3), parts[3]};
  if (!is_stream_here(site)) {
    const Value piece = f.bring(parts[0], site.context);
    Value state = f.call(step.type, step.value, Value::tuple({parts[1], piece}), site.context);
    if (kMayEnd) state = state.parts[0];
    return f.call(finish.type, finish.value, state, site.context);
  }
  StreamFold made;
  made.input = parts[0].stream;
  made.initial = parts[1];
  made.step = step;
  made.finish = finish;
  made.may_end = kMayEnd;
  return f.streams().add(std::move(made));
}

/// (stream, initial, begin, step, finish)
Value sink(Flattener& f, const CallSite& site, const Value& argument) {
  const std::vector<Value> parts = components(argument, 5);
  StreamFold made;
  made.input = parts[0].stream;
  made.initial = parts[1];
  made.begin = {component_type(site, 5, 2), parts[2]};
  made.step = {component_type(site, 5, 3), parts[3]};
  made.finish = {component_type(site, 5, 4), parts[4]};
  made.effects = true;
  return f.streams().add(std::move(made));
}

/// (first, second)
Value append_streams(Flattener& f, const CallSite& site, const Value& argument) {
  if (!is_stream_here(site)) {
    return appended(f, {argument.parts[0], argument.parts[1]}, site.context);
  }
  StreamNode node;
  node.kind = Kind::Append;
  node.element = site.result_type->element();
  node.inputs = {argument.parts[0].stream, argument.parts[1].stream};
  return f.streams().add(std::move(node));
}

/// The empty sequence of a stream's elements.
Value none(Flattener& f, const CallSite& site, const Value&) {
  return empty_sequence(f.builder(), f.types(), site.result_type, f.serial());
}

/// How many characters of a file are read at a time. Where shorter pieces are tried, not so few
/// that the time of reading them shows.
Value piece_length(Flattener& f, const CallSite&, const Value&) {
  constexpr std::int64_t kShortest = 1024;
  const CompileOptions& options = f.compiler().options();
  const std::int64_t length =
      options.in_pieces ? std::max(options.piece_length, kShortest) : options.piece_length;
  return Value::scalar(f.builder().int_constant(length), f.serial());
}

}  // namespace

std::vector<PrimitiveEntry> stream_primitives() {
  return {
      {"stream.counted", counted},
      {"stream.source", source},
      {"stream.through", through<Kind::Through, false>},
      {"stream.along", through<Kind::Through, true>},
      {"stream.until", through<Kind::Until, false>},
      {"stream.fold", fold<false>},
      {"stream.fold_until", fold<true>},
      {"stream.sink", sink},
      {"stream.append", append_streams},
      {"stream.none", none},
      {"stream.piece_length", piece_length},
  };
}

}  // namespace neslc
