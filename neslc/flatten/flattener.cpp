#include "neslc/flatten/flattener.hpp"

#include <algorithm>
#include <utility>

#include "neslc/flatten/literals.hpp"
#include "neslc/flatten/primitives.hpp"
#include "neslc/flatten/streams.hpp"

namespace neslc {

using ir::ValueId;
using ir::ValueList;
using vcode::Op;
using VectorType = vcode::Type;

Flattener::Flattener(Compiler& compiler)
    : compiler_(compiler),
      b_(compiler.module(), compiler.pool()),
      v_(b_, compiler.options().for_optimizer),
      streams_(std::make_unique<Streams>(*this)) {}

Flattener::~Flattener() = default;

ir::Function Flattener::flatten_expression(const Body& body) {
  const ValueList variables = compute_variables(body);
  Frame frame;
  const Value value = expression(code_of(*body.expression), frame, &serial_);
  const Value result = bring(collected(value, body.expression->type), &serial_);
  streams_->settle_effects();
  ValueList results = vars_of(result);
  results.insert(results.end(), variables.begin(), variables.end());
  return b_.finish("MAIN", {}, std::move(results));
}

/// The values of variables that the program computes once, in their order.
ValueList Flattener::compute_variables(const Body& body) {
  ValueList all;
  // Several variables may stand in one pattern.
  std::vector<std::pair<const Body*, Frame>> evaluated;
  for (const Definition* const variable : variables_needed(body)) {
    if (compiler_.values_of_run().first_component(*variable) >= 0) continue;
    const Body* const own = variable->body.get();
    const auto is_own = [&](const auto& one) { return one.first == own; };
    auto at = std::find_if(evaluated.begin(), evaluated.end(), is_own);
    Value value;
    if (at == evaluated.end()) {
      Frame frame;
      frame.scope = compiler_.add_scope(*variable, b_.origin);
      value = expression(code_of(*own->expression), frame, &serial_);
      value = bring(collected(value, own->expression->type), &serial_);
      if (own->parameter) bind(*own->parameter, value, frame);
      evaluated.emplace_back(own, std::move(frame));
      at = std::prev(evaluated.end());
    }
    if (own->parameter) value = named_in(*own->parameter, at->second, variable->name);
    const ValueList components = vars_of(value);
    compiler_.computed_variables().add_values(compiler_.first_component(*variable),
                                              components.size());
    all.insert(all.end(), components.begin(), components.end());
  }
  streams_->settle_effects();
  return all;
}

/// What a pattern has bound to a name.
Value Flattener::named_in(const Pattern& pattern, const Frame& frame, const std::string& name) {
  std::vector<const Local*> locals;
  append_locals(pattern, locals);
  const auto named = std::find_if(locals.begin(), locals.end(),
                                  [&](const Local* local) { return local->name == name; });
  return frame.locals.at(*named);
}

Value Flattener::collected(Value value, TypePtr type) {
  if (value.is_stream()) {
    return streams_->settled(call_library("stream.collect", {type->element()}, value, &serial_));
  }
  if (type->kind == TypeKind::Record) type = types().fields_of(type);
  if (!value.is_tuple() || type->kind != TypeKind::Pair) {
    return streams_->settled(std::move(value));
  }
  value.parts[0] = collected(std::move(value.parts[0]), type->first());
  value.parts[1] = collected(std::move(value.parts[1]), type->second());
  return value;
}

ir::Function Flattener::flatten_version(const Version& version, std::string name) {
  apart_ = version.apart;
  std::vector<VectorType> parameter_types;
  if (version.captured_type != nullptr) {
    append_types(types(), version.captured_type, parameter_types);
  }
  append_types(types(), version.argument_type, parameter_types);
  ValueList parameters;
  for (const VectorType type : parameter_types) parameters.push_back(b_.parameter(type));

  Context* root = &serial_;
  const ValueId own = version.fetches() ? b_.parameter(VectorType::Int) : ir::kNoValue;
  Context* home = nullptr;  // of sequences of which each instance fetches its own
  if (version.lifted) {
    root = &contexts_.emplace_back();
    root->kind = Context::Kind::Lifted;
    root->parent = &serial_;
    root->count = b_.new_length();
    if (version.fetches()) {
      home = &contexts_.emplace_back(*root);
      home->count = b_.new_length();
      root->kind = Context::Kind::Fetch;
      root->parent = home;
      root->positions = root->sample = own;
      b_.set_length(own, root->count);
    }
    const ValueId instances = b_.parameter(VectorType::Segdes);
    b_.set_length(instances, ir::kOne);
    b_.set_total(instances, root->count);
    b_.remember_single(root->count, instances);
  }
  std::size_t next = 0;
  std::vector<Value> parts;
  if (version.captured_type != nullptr) {
    parts.push_back(make_value(types(), version.captured_type, parameters, next, root));
  }
  parts.push_back(make_value(types(), version.argument_type, parameters, next, root));
  std::size_t leaf_number = 0;
  for (Value& part : parts) {
    for_each_leaf(part, [&](Value& leaf) {
      const Version::Passed passed =
          version.lifted ? version.passed[leaf_number++] : Version::Passed::Each;
      if (passed == Version::Passed::Uniform) leaf.context = &serial_;
      if (passed == Version::Passed::Fetched) leaf.context = home;
      v_.set_length(leaf, leaf.context->count);
      if (leaf.context == home && home != nullptr) home->sample = v_.lengths(leaf.var);
    });
  }
  const vcode::Span span =
      version.lambda != nullptr ? version.lambda->span : version.definition->span;
  const ir::Origin origin{span, compiler_.add_scope(version)};
  b_.origin = origin;
  const Value captured = version.captured_type != nullptr ? parts[0] : Value();
  const auto body = [&] {
    const Value value = bring(inlined(version, origin.scope, captured, parts.back(), root), root);
    streams_->settle_effects();
    return value;
  };
  const bool endless = version.lifted && version.definition != nullptr &&
                       compiler_.recurs_unconditionally(*version.definition);
  const Value result = endless ? unless_empty(root, body) : body();
  return b_.finish(std::move(name), origin, vars_of(result));
}

// ---- Contexts

ValueId Flattener::instances(Context* context) {
  if (context->serial()) return b_.single_constant(1);
  if (b_.knows_single(context->count) || context->sample != ir::kNoValue) {
    return b_.single(context->count, context->sample);
  }
  return v_.flat(context->descriptor, Value::tuple({}));
}

Context* Flattener::for_each(Context* parent, ValueId descriptor, const Value& elements) {
  Context& context = contexts_.emplace_back();
  context.kind = Context::Kind::ForEach;
  context.parent = parent;
  context.descriptor = descriptor;
  context.count = b_.variable(descriptor).total;
  const ValueList vars = vars_of(elements);
  if (!vars.empty() && b_.variable(vars[0]).type != VectorType::Segdes) context.sample = vars[0];
  return &context;
}

Value Flattener::step_into(const Value& value, Context* context) {
  Value result = context->kind == Context::Kind::ForEach
                     ? v_.distribute(value, context->parent->count, context->descriptor)
                     : v_.gather(value, context->parent->count, context->positions);
  return in_context(std::move(result), context);
}

Value Flattener::bring(const Value& value, Context* context) {
  if (value.is_tuple()) {
    std::vector<Value> parts;
    for (const Value& part : value.parts) parts.push_back(bring(part, context));
    return Value::tuple(std::move(parts));
  }
  if (value.is_pending()) return bring(streams_->settled(value), context);
  if (value.is_stream()) {
    streams_->fail(b_.origin, "a stream is used where all of its elements would be needed at once",
                   "inside an apply-to-each over a sequence, and as an element, only sequences can "
                   "be used: `collect(s)` keeps all elements in memory");
  }
  if (value.context == context) return value;
  if (value.context->serial()) {
    return in_context(v_.distribute(value, ir::kOne, instances(context)), context);
  }
  return step_into(bring(value, context->parent), context);
}

ValueId Flattener::between(Context* outer, Context* inner) {
  if (outer->serial()) return instances(inner);
  std::vector<Context*> path;
  for (Context* step = inner; step != outer; step = step->parent) path.push_back(step);
  std::reverse(path.begin(), path.end());
  ValueId result = ir::kNoValue;
  for (const Context* step : path) {
    if (step->kind == Context::Kind::ForEach) {
      result = result == ir::kNoValue ? step->descriptor
                                      : v_.descriptor_of(v_.composed(result, step->descriptor));
    } else {
      const ValueId ones = b_.op(Op::BoolToInt, VectorType::Int, {step->flags});
      result = v_.descriptor_of(
          result == ir::kNoValue ? ones : b_.op(Op::AddReduce, VectorType::Int, {ones, result}));
    }
    b_.set_total(result, step->count);
  }
  return result;
}

// ---- Checks

void Flattener::check(const Value& violations, Context* context, const std::string& message,
                      const Details& details) {
  if (!compiler_.options().argument_checks) return;
  if (violations.context->serial() && b_.known_bool(violations.var) == false) return;
  const LateCheck found{where_wanted(violations, context), context, message, details, b_.origin};
  if (late_checks_ != nullptr && late_checks_->block == b_.block()) {
    late_checks_->checks.push_back(found);
  } else {
    check_now(found);
  }
}

void Flattener::check_now(const LateCheck& found) {
  const ir::Origin outer = std::exchange(b_.origin, found.origin);
  check(
      v_.any(found.flags.var, instances(found.flags.context)), [&] { return found.flags; },
      found.context, found.message, found.details);
  b_.origin = outer;
}

void Flattener::check(ValueId scalar_flag, const std::function<Value()>& violations,
                      Context* context, const std::string& message, const Details& details) {
  if (!compiler_.options().argument_checks || b_.known_bool(scalar_flag) == false) return;
  b_.conditional(
      scalar_flag,
      [&] {
        std::vector<ir::Builder::Written> written = first_details(violations(), context, details);
        written.insert(written.begin(), {"\nRUNTIME ERROR: " + message + "\n"});
        b_.fail(written);
        return ValueList();
      },
      [] { return ValueList(); });
}

/// The values of the first instance whose flag is set.
std::vector<ir::Builder::Written> Flattener::first_details(const Value& violations,
                                                           Context* context,
                                                           const Details& details) {
  std::vector<ir::Builder::Written> values;
  for (const Detail& detail : details) {
    if (detail.value.context->serial()) {
      values.push_back({detail.label + " ", detail.value.var});
      continue;
    }
    const ValueId all = bring_scalar(detail.value, context);
    const VectorType type = b_.variable(all).type;
    const ValueList packed =
        b_.operation(Op::Pack, type, {all, bring_scalar(violations, context), instances(context)});
    values.push_back(
        {detail.label + " ", b_.op(Op::Extract, type, {packed[0], b_.int_constant(0), packed[1]})});
  }
  return values;
}

void Flattener::check_lengths(const Value& first, const Value& other, Context* context,
                              const std::string& message) {
  const auto lengths = [&](const Value& sequence) {
    return Value::scalar(v_.lengths(sequence.var), sequence.context);
  };
  check_equal_lengths(lengths(first), lengths(other), context, message);
}

void Flattener::check_equal_lengths(const Value& first, const Value& other, Context* context,
                                    const std::string& message) {
  const ValueId differs = b_.op(Op::NotEqual, VectorType::Int,
                                {bring_scalar(first, context), bring_scalar(other, context)});
  check(Value::scalar(differs, context), context, message, {{"lengths", first}, {"and", other}});
}

void Flattener::equate_lengths(const std::vector<Value>& sequences, Context* context,
                               const std::string& message) {
  for (const Value& other : sequences) {
    if (other.var == sequences[0].var) continue;
    check_lengths(sequences[0], other, context, message);
    b_.equate(b_.variable(sequences[0].var).total, b_.variable(other.var).total);
  }
}

void Flattener::check_range(ValueId index, Context* each, const Value& limit,
                            const std::string& message) {
  if (!compiler_.options().argument_checks) return;
  // The extremes of the indices are compared where that can be done with scalars. Those of no index
  // are in every range.
  const auto extreme = [&](Op reduction) {
    return each->serial() ? index : b_.op(reduction, VectorType::Int, {index, instances(each)});
  };
  const auto too_large = [&] {
    return b_.op(Op::GreaterEqual, VectorType::Int, {index, bring_scalar(limit, each)});
  };
  const ValueId below =
      b_.op(Op::Less, VectorType::Int, {extreme(Op::MinReduce), b_.int_constant(0)});
  const ValueId above = limit.context->serial() ? b_.op(Op::GreaterEqual, VectorType::Int,
                                                        {extreme(Op::MaxReduce), limit.var})
                                                : v_.any(too_large(), instances(each));
  const auto violations = [&] {
    const ValueId zero = bring_scalar(Value::scalar(b_.int_constant(0), &serial_), each);
    const ValueId negative = b_.op(Op::Less, VectorType::Int, {index, zero});
    return Value::scalar(b_.op(Op::Or, VectorType::Bool, {negative, too_large()}), each);
  };
  check(b_.op(Op::Or, VectorType::Bool, {below, above}), violations, each, message,
        {{"index", Value::scalar(index, each)}, {"length", limit}});
}

// ---- Expressions

Value Flattener::expression(const Expr& expr, Frame& frame, Context* context) {
  const ir::Origin outer = b_.origin;
  // A chain of operators may be long: its calls, from the outermost one inward, are gone through
  // without recursion.
  struct Step {
    const Expr* call;
    Context* context;
  };
  std::vector<Step> calls;
  const Expr* innermost = &expr;
  auto known = frame.known.end();
  Context* home = context;
  while (true) {
    known = frame.known.find(innermost);
    if (known != frame.known.end()) break;
    // What has no free local variables is evaluated once (reference, section 4).
    // A stream is whole in this context, and only here.
    if (!context->serial() && compiler_.free_variables().of(*innermost).empty() &&
        !contains_stream(substituted(innermost->type, frame))) {
      context = &serial_;
    }
    home = home_of(*innermost, frame, context);
    const Expr* const first = first_operand(*innermost);
    if (home != context || first == nullptr) break;
    calls.push_back({innermost, context});
    innermost = first;
  }
  b_.origin = origin_of(*innermost, frame);
  Value result = known != frame.known.end() ? known->second
                 : home != context          ? computed_once(*innermost, frame, home, context)
                                            : evaluated(*innermost, frame, context);
  for (auto step = calls.rbegin(); step != calls.rend(); ++step) {
    b_.origin = origin_of(*step->call, frame);
    result = call_with_first(*step->call, std::move(result), frame, step->context);
  }
  b_.origin = outer;
  return result;
}

Value Flattener::evaluated(const Expr& expr, Frame& frame, Context* context) {
  struct Visitor {
    Flattener& self;
    const Expr& expr;
    Frame& frame;
    Context* context;

    Value literal() { return literal_value(self.b_, self.types(), expr, expr.type, &self.serial_); }
    Value operator()(const IntLiteral&) { return literal(); }
    Value operator()(const FloatLiteral&) { return literal(); }
    Value operator()(const CharLiteral&) { return literal(); }
    Value operator()(const StringLiteral&) { return literal(); }
    Value operator()(const BoolLiteral&) { return literal(); }
    Value operator()(const LocalRef& node) { return frame.locals.at(node.local); }
    Value operator()(const GlobalRef& node) { return self.global(expr, node); }
    Value operator()(const Pair& node) {
      std::vector<Value> parts;  // moved here: tuples of many are pairs in pairs
      parts.push_back(self.expression(*node.first, frame, context));
      parts.push_back(self.expression(*node.second, frame, context));
      return Value::tuple(std::move(parts));
    }
    Value operator()(const Call&) { return self.call_expression(expr, frame, context); }
    Value operator()(const If& node) { return self.if_expression(expr, node, frame, context); }
    Value operator()(const Let& node) { return self.let_expression(node, frame, context); }
    Value operator()(const ApplyToEach& node) {
      return self.apply_to_each(expr, node, frame, context);
    }
    Value operator()(const SequenceLiteral& node) {
      return self.literal_sequence(expr, node, frame, context);
    }
    Value operator()(const EmptySequence&) {
      return empty_sequence(self.b_, self.types(), self.substituted(expr.type, frame),
                            &self.serial_);
    }
    Value operator()(const LambdaRef& node) {
      std::vector<Value> captured;
      for (const Local* local : node.lambda->captures) {
        captured.push_back(frame.locals.at(local));
      }
      return Value::tuple(std::move(captured));
    }
    Value operator()(const Partial& node) {
      Value function = self.expression(*node.function, frame, context);
      Value value = self.expression(*node.value, frame, context);
      return Value::tuple({std::move(function), std::move(value)});
    }
    Value operator()(const Time& node) { return self.timed(node, frame, context); }
  };
  return std::visit(Visitor{*this, expr, frame, context}, expr.node);
}

Value Flattener::global(const Expr& expr, const GlobalRef& reference) {
  const Definition& definition = *reference.definition;
  if (definition.kind != DefinitionKind::Variable) return Value::tuple({});
  const std::int64_t component = compiler_.first_component(definition);
  if (component < 0) {
    Frame frame;
    frame.scope = compiler_.add_scope(definition, b_.origin);
    const Value value = expression(code_of(*definition.body->expression), frame, &serial_);
    const Pattern* const pattern = definition.body->parameter.get();
    if (pattern == nullptr) return value;
    bind(*pattern, value, frame);
    return named_in(*pattern, frame, definition.name);
  }
  std::vector<VectorType> component_types;
  append_types(types(), expr.type, component_types);
  ValueList vars;
  for (std::size_t i = 0; i < component_types.size(); ++i) {
    vars.push_back(b_.given_constant(component + static_cast<std::int64_t>(i), component_types[i]));
  }
  std::size_t next = 0;
  const Value result = make_value(types(), expr.type, vars, next, &serial_);
  for_each_leaf(result, [&](const Value& leaf) { v_.set_length(leaf, ir::kOne); });
  return as_streams(result, expr.type);
}

Value Flattener::as_streams(const Value& value, TypePtr type) {
  if (!contains_stream(type)) return value;
  if (type->kind == TypeKind::Stream) {
    return call_library("stream.of", {type->element()}, value, &serial_);
  }
  if (type->kind == TypeKind::Record) type = types().fields_of(type);
  if (type->kind != TypeKind::Pair) return value;
  return Value::tuple(
      {as_streams(value.parts[0], type->first()), as_streams(value.parts[1], type->second())});
}

std::vector<const Local*> Flattener::known_variables(const Expr& expr, const Frame& frame) {
  std::vector<const Local*> known = compiler_.free_variables().of(expr);
  std::erase_if(known, [&](const Local* local) { return !frame.locals.contains(local); });
  return known;
}

void Flattener::bind(const Pattern& pattern, const Value& value, Frame& frame) {
  if (value.is_pending() && pattern.kind != Pattern::Kind::Variable) {
    bind(pattern, streams_->settled(value), frame);
    return;
  }
  switch (pattern.kind) {
    case Pattern::Kind::Variable:
      frame.locals[pattern.local] = value;
      break;
    case Pattern::Kind::Pair:
      bind(*pattern.first, value.parts[0], frame);
      bind(*pattern.second, value.parts[1], frame);
      break;
    case Pattern::Kind::Record:
      bind(*pattern.first, value, frame);
      break;
  }
}

Value Flattener::timed(const Time& node, Frame& frame, Context* context) {
  b_.operation(Op::StartTimer, VectorType::Int, {});
  Value value = streams_->settled(expression(*node.body, frame, context));
  const ValueId seconds = b_.operation(Op::StopTimer, VectorType::Int, {})[0];
  return Value::tuple({std::move(value), Value::scalar(seconds, &serial_)});
}

Value Flattener::string_constant(const std::string& text) {
  return string_value(b_, text, &serial_);
}

// ---- Sequences

Value Flattener::map(const Value& sequence, Context* context,
                     const std::function<Value(const Value&, Context*)>& body) {
  const Value here = bring(sequence, context);
  Context* const each = for_each(context, here.var, here.elements());
  const Value result = bring(body(in_context(here.elements(), each), each), each);
  return Value::sequence(here.var, result, context);
}

Value Flattener::apply_to_each(const Expr& expr, const ApplyToEach& node, Frame& frame,
                               Context* context) {
  std::vector<Value> generators;
  for (const Binding& generator : node.generators) {
    generators.push_back(expression(*generator.value, frame, context));
  }
  if (generators[0].is_stream() && context->serial()) {
    const TypePtr type = substituted(expr.type, frame);
    return streams_->each(node, std::move(generators), frame, type->element());
  }
  if (context->serial()) streams_->settle(known_variables(expr, frame), frame);
  if (context->serial() && may_need_pieces(node, frame)) {
    return each_in_pieces(expr, node, std::move(generators), frame);
  }
  return each_of(node, std::move(generators), fetched_reads(expr, node, frame, context), frame,
                 context);
}

Value Flattener::each_of(const ApplyToEach& node, const std::vector<Value>& sequences,
                         const std::vector<FetchedRead>& reads, Frame& frame, Context* context) {
  std::vector<Value> generators;
  for (const Value& sequence : sequences) generators.push_back(bring(sequence, context));
  const ValueId descriptor = generators[0].var;
  equate_lengths(generators, context, kEachMessage);
  std::vector<Value> elements;
  for (const Value& generator : generators) elements.push_back(generator.elements());
  Context* const each = for_each(context, descriptor, Value::tuple(elements));
  for (std::size_t i = 0; i < generators.size(); ++i) {
    bind(*node.generators[i].pattern, in_context(elements[i], each), frame);
    if (multiplies(sequences[i].context, context)) {
      remember_rows(sequences[i], generators[i], each);
    }
  }
  for (const FetchedRead& read : reads) bind_read(read, node, frame, each);
  const Value body = joined(*node.body, frame, each);
  const Value sieve = node.sieve ? expression(*node.sieve, frame, each) : Value();
  for (const FetchedRead& read : reads) frame.known.erase(read.element);
  if (!node.sieve) return Value::sequence(descriptor, bring(body, each), context);
  return filtered(body, sieve, descriptor, each, context);
}

/// Whoever reads {r[j] : r in m} for many j does not want as many copies of m. Those that are made
/// for other uses of r are dead where there are none.
void Flattener::remember_rows(const Value& sequence, const Value& copied, Context* each) {
  const Value &elements = sequence.elements(), &copies = copied.elements();
  if (elements.is_sequence()) {
    rows_[vars_of(copies)] = {sequence, Value::scalar(v_.positions(each->descriptor), each)};
  }
  if (!elements.is_tuple()) return;
  for (std::size_t k = 0; k < elements.parts.size(); ++k) {
    remember_rows(Value::sequence(sequence.var, elements.parts[k], sequence.context),
                  Value::sequence(copied.var, copies.parts[k], copied.context), each);
  }
}

const RowOf* Flattener::row_of(const Value& sequence) const {
  const auto found = rows_.find(vars_of(sequence));
  return found == rows_.end() ? nullptr : &found->second;
}

Value Flattener::filtered(const Value& body, const Value& sieve, ValueId descriptor, Context* each,
                          Context* context) {
  const Value values = bring(body, each);
  const ValueId flags = bring_scalar(sieve, each);
  const ValueId kept = v_.packed_descriptor(values, flags, descriptor);
  return Value::sequence(kept, v_.pack(values, flags, descriptor), context);
}

Value Flattener::literal_sequence(const Expr& expr, const SequenceLiteral& node, Frame& frame,
                                  Context* context) {
  if (is_literal(expr)) {
    return literal_value(b_, types(), expr, substituted(expr.type, frame), &serial_);
  }
  std::vector<Value> elements;
  for (const ExprPtr& element : node.elements) {
    elements.push_back(expression(*element, frame, context));
  }
  return built_sequence(elements);
}

Value Flattener::built_sequence(const std::vector<Value>& elements) {
  // As far out as all elements allow.
  Context* place = &serial_;
  for (const Value& element : elements) {
    for_each_leaf(element, [&](const Value& leaf) { place = deeper(place, leaf.context); });
  }
  std::vector<Value> here;
  for (const Value& element : elements) here.push_back(bring(element, place));
  return sequence_of(*this, here, place);
}

}  // namespace neslc
