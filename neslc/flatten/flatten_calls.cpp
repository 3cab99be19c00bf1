// Calls: what is called is known from the type (reference 3.5), and how from the context.
#include <fmt/format.h>

#include "neslc/flatten/effects.hpp"
#include "neslc/flatten/flattener.hpp"
#include "neslc/flatten/primitives.hpp"
#include "neslc/flatten/streams.hpp"
#include "neslc/front/free_variables.hpp"

namespace neslc {

using ir::ValueId;
using ir::ValueList;
using VectorType = vcode::Type;

void Flattener::append_parts(const Expr& expr, Frame& frame, Context* context,
                             std::vector<Value>& parts) {
  std::vector<const Expr*> pending = {&expr};
  while (!pending.empty()) {
    const Expr& next = *pending.back();
    pending.pop_back();
    const Pair* operands = primitive_operands(next, "append");
    // What is the same for all instances is put together by itself, and once.
    const bool alone = !context->serial() && compiler_.free_variables().of(next).empty();
    if (operands == nullptr || alone) {
      parts.push_back(expression(next, frame, context));
    } else {
      pending.push_back(operands->second.get());
      pending.push_back(operands->first.get());
    }
  }
}

/// a[i][j] ...
Value Flattener::nested_element(const Expr& expr, Frame& frame, Context* context) {
  const Value sequence = expression(indexed_sequence(expr), frame, context);
  return element_of(*this, sequence, indices_of(expr, frame, context), context);
}

/// i and j of v[i][j].
std::vector<ElementIndex> Flattener::indices_of(const Expr& element, Frame& frame,
                                                Context* context) {
  std::vector<const Expr*> path;  // from the outermost element inward
  for (const Expr* part = &element; const Pair* operands = primitive_operands(*part, "elt");
       part = operands->first.get()) {
    path.push_back(part);
  }
  std::vector<ElementIndex> indices;
  for (auto part = path.rbegin(); part != path.rend(); ++part) {
    const Expr& index = *primitive_operands(**part, "elt")->second;
    indices.push_back({expression(index, frame, context), origin_of(**part, frame)});
  }
  return indices;
}

/// The first operand where the expression is a call, by its name, of a function of several
/// arguments; null otherwise, and for `++` and nested elements, which are made in one step.
const Expr* Flattener::first_operand(const Expr& expr) const {
  const auto* call_node = std::get_if<Call>(&expr.node);
  if (call_node == nullptr || primitive_operands(expr, "append") != nullptr ||
      is_nested_element(expr)) {
    return nullptr;
  }
  const auto* callee = std::get_if<GlobalRef>(&call_node->callee->node);
  const auto* operands = std::get_if<Pair>(&call_node->argument->node);
  const bool named = callee != nullptr && callee->definition->kind != DefinitionKind::Variable;
  return named && operands != nullptr ? operands->first.get() : nullptr;
}

/// The call whose first operand has that value.
Value Flattener::call_with_first(const Expr& expr, Value first, Frame& frame, Context* context) {
  const auto& call_node = std::get<Call>(expr.node);
  Value second = expression(*std::get<Pair>(call_node.argument->node).second, frame, context);
  return call(substituted(call_node.callee->type, frame), Value::tuple({}),
              Value::tuple({std::move(first), std::move(second)}), context);
}

bool Flattener::is_nested_element(const Expr& expr) const {
  const Pair* const operands = primitive_operands(expr, "elt");
  return operands != nullptr && primitive_operands(*operands->first, "elt") != nullptr;
}

Value Flattener::call_expression(const Expr& expr, Frame& frame, Context* context) {
  if (is_nested_element(expr)) return nested_element(expr, frame, context);
  if (const Pair* operands = primitive_operands(expr, "append")) {
    // a ++ b ++ c is put together in one step.
    std::vector<Value> parts;
    append_parts(*operands->first, frame, context, parts);
    append_parts(*operands->second, frame, context, parts);
    for (Value& part : parts) part = streams_->settled(part);
    return appended(*this, parts, context);
  }
  const auto& call_node = std::get<Call>(expr.node);
  const Value function = expression(*call_node.callee, frame, context);
  const Value argument = expression(*call_node.argument, frame, context);
  return call(substituted(call_node.callee->type, frame), function, argument, context);
}

Value Flattener::call(TypePtr function_type, const Value& function, const Value& argument,
                      Context* context) {
  const TypePtr identity = function_type->identity();
  switch (identity->kind) {
    case TypeKind::FunctionIdentity:
      return call_definition(*identity->function, identity->arguments, function_type, argument,
                             context);
    case TypeKind::PartialIdentity:
      return call(identity->arguments[0], function.parts[0],
                  Value::tuple({function.parts[1], argument}), context);
    case TypeKind::LambdaIdentity: {
      Version version;
      version.lambda = identity->lambda;
      version.instantiation = identity->arguments;
      version.argument_type = function_type->argument();
      version.result_type = function_type->result();
      version.captured_type = function_type;
      return call_code(version, function, argument, context);
    }
    default:  // of no function, as in {g(1) : g in [] (int -> int)}; only specialisation shows it
      throw CompileError{Category::Type, {}};
  }
}

Value Flattener::call_library(const std::string& name, const std::vector<TypePtr>& type_arguments,
                              const Value& argument, Context* context) {
  const Definition& definition = *compiler_.session().find(name);
  const TypePtr type = types().substitute(definition.scheme.type, type_arguments);
  return call_definition(definition, type_arguments, type, argument, context);
}

Value Flattener::call_definition(const Definition& definition,
                                 const std::vector<TypePtr>& type_arguments, TypePtr function_type,
                                 const Value& argument, Context* context) {
  if (definition.kind == DefinitionKind::Constructor) return argument;
  // Handed to a function that applies it in parallel: only specialisation shows it.
  if (definition.serial_only && !context->serial()) {
    throw CompileError{Category::SerialOnly, definition.name};
  }
  if (!definition.body) {
    const Primitive primitive = definition.library ? find_primitive(definition.name) : nullptr;
    if (primitive == nullptr) throw CompileError{Category::NoBody, definition.name};
    const CallSite site{&definition, &type_arguments, function_type->argument(),
                        function_type->result(), context};
    if (definition.name.starts_with("stream.")) return primitive(*this, site, argument);
    // What has effects comes behind what stands before it.
    const bool has_effects = definition.serial_only || prints(definition);
    if (has_effects && context->serial()) streams_->settle_all();
    if (context->serial() && !has_effects && holds_pending(argument) && !holds_stream(argument)) {
      return streams_->later(argument, [=, this, &definition](const Value& value) {
        return call_definition(definition, type_arguments, function_type, value, context);
      });
    }
    const Value settled = streams_->settled(argument);
    if (holds_stream(settled)) {
      streams_->fail(b_.origin, fmt::format("`{}` needs a sequence, not a stream", definition.name),
                     "`collect(s)` keeps all elements of a stream in memory");
    }
    return primitive(*this, site, settled);
  }
  Version version;
  version.definition = &definition;
  version.instantiation = type_arguments;
  version.argument_type = function_type->argument();
  version.result_type = function_type->result();
  return call_code(version, Value(), argument, context);
}

Value Flattener::inlined(const Version& version, std::uint32_t scope, const Value& captured,
                         const Value& argument, Context* context) {
  Frame frame;
  frame.instantiation = version.instantiation;
  frame.scope = scope;
  frame.definition = version.definition;
  if (version.lambda != nullptr) {
    for (std::size_t i = 0; i < version.lambda->captures.size(); ++i) {
      frame.locals[version.lambda->captures[i]] = captured.parts[i];
    }
  }
  bind(version.parameter(), argument, frame);
  // To show what a stream gives would be its only traversal.
  if (!holds_stream(argument)) frame.observed = compiler_.observed(version.definition);
  if (frame.observed != nullptr) return observed_call(version, frame, context);
  return joined(code_of(version.body()), frame, context);
}

ir::Origin Flattener::origin_of(const Expr& expr, const Frame& frame) {
  return {expr.span, scope_of(expr.inlined, frame)};
}

std::uint32_t Flattener::scope_of(const InlinedCall* call, const Frame& frame) {
  if (call == nullptr) return frame.scope;
  const auto [scope, is_new] = inlined_scopes_.try_emplace({call, frame.scope});
  if (is_new) {
    Version version;
    version.definition = call->function;
    const ir::Origin origin = {call->span, scope_of(call->of, frame)};
    scope->second = compiler_.add_scope(version, origin);
  }
  return scope->second;
}

Value Flattener::inlined_with_streams(const Version& called, const Value& captured,
                                      const Value& argument, Context* context) {
  constexpr int kDeepest = 50;
  if (stream_calls_ == kDeepest) {
    streams_->fail(
        b_.origin, "a function with streams calls itself",
        "what a stream is made of must be known when the program is compiled: reduce it, "
        "or `collect(s)` it, before the recursion");
  }
  ++stream_calls_;
  Value result =
      inlined(called, compiler_.add_scope(called, b_.origin), captured, argument, context);
  --stream_calls_;
  return result;
}

/// Appends, for each leaf of the value, whether it is a sequence of which nothing but elements is
/// read where the pattern binds it.
void Flattener::append_indexed(const Pattern& pattern, const Value& value, const Expr& code,
                               std::vector<bool>& result) {
  if (pattern.kind == Pattern::Kind::Pair) {
    append_indexed(*pattern.first, value.parts[0], code, result);
    append_indexed(*pattern.second, value.parts[1], code, result);
  } else if (pattern.kind == Pattern::Kind::Record) {
    append_indexed(*pattern.first, value, code, result);
  } else {
    const bool indexed =
        value.is_sequence() && compiler_.indexed_variables().only_indexed(code, pattern.local);
    for_each_leaf(value, [&](const Value&) { result.push_back(indexed); });
  }
}

/// Of each instance of the context, the number of the one of `home` that it lies in.
ValueId Flattener::numbers_in(Context* home, Context* context) {
  if (context->kind == Context::Kind::Fetch && context->parent == home) return context->positions;
  return bring_scalar(Value::scalar(v_.iota(instances(home)), home), context);
}

Value Flattener::call_code(const Version& called, const Value& captured, const Value& argument,
                           Context* context) {
  if (in_both_arms_ || compiler_.inline_call(called)) {
    return inlined(called, compiler_.add_scope(called, b_.origin), captured, argument, context);
  }
  if (context->serial() &&
      (holds_stream(captured) || holds_stream(argument) || contains_stream(called.result_type))) {
    return inlined_with_streams(called, captured, argument, context);
  }
  Version version = called;
  version.lifted = !context->serial();
  version.apart = apart_ && !version.lifted && version.definition != nullptr &&
                  compiler_.calls_itself(*version.definition);
  const Value captured_value = streams_->settled(captured);
  const Value argument_value = streams_->settled(argument);
  const bool may_be_loop = version.lifted && compiler_.may_be_loop(called);
  std::vector<bool> indexed;
  for_each_leaf(captured_value, [&](const Value&) { indexed.push_back(false); });
  append_indexed(called.parameter(), argument_value, called.body(), indexed);
  std::size_t leaf_number = 0;
  Context* home = nullptr;  // of sequences of which each instance fetches its own
  ValueList operands;
  const auto pass = [&](const Value& part) {
    for_each_leaf(part, [&](const Value& leaf) {
      if (!version.lifted) return append_vars(bring(leaf, context), operands);
      Version::Passed passed = Version::Passed::Each;
      const bool reads_elements = may_be_loop || indexed[leaf_number];
      ++leaf_number;
      if (leaf.context->serial()) {
        // What is the same for all instances stays so inside the function.
        passed = Version::Passed::Uniform;
      } else if (reads_elements && leaf.is_sequence() && leaf.context != context &&
                 (home == nullptr || home == leaf.context)) {
        passed = Version::Passed::Fetched;
        home = leaf.context;
      }
      version.passed.push_back(passed);
      const bool stays = passed != Version::Passed::Each && !leaf.is_stream();
      append_vars(stays ? leaf : bring(leaf, context), operands);
    });
  };
  pass(captured_value);
  pass(argument_value);
  if (home != nullptr) {
    operands.push_back(numbers_in(home, context));
  }
  if (version.lifted) operands.push_back(instances(context));
  std::vector<VectorType> result_types;
  append_types(types(), version.result_type, result_types);
  const ValueList results = b_.call(compiler_.function(version), std::move(operands), result_types);
  std::size_t next = 0;
  const Value result = make_value(types(), version.result_type, results, next, context);
  for_each_leaf(result, [&](const Value& leaf) { v_.set_length(leaf, context->count); });
  return result;
}

}  // namespace neslc
