#include "interpreter.hpp"

#include <functional>

#include "neslc/front/free_variables.hpp"

namespace neslc::direct {
namespace {

constexpr int kDeepest = 400;

}  // namespace

Value Interpreter::evaluate(const Body& body) {
  Frame frame;
  return expression(*body.expression, frame);
}

void Interpreter::spend(std::int64_t steps) {
  steps_ -= steps;
  if (steps_ < 0) throw Unspecified("too many steps");
}

void Interpreter::bind(const Pattern& pattern, const Value& value, Frame& frame) {
  switch (pattern.kind) {
    case Pattern::Kind::Variable:
      frame.locals[pattern.local] = value;
      break;
    case Pattern::Kind::Pair:
      bind(*pattern.first, value.first(), frame);
      bind(*pattern.second, value.second(), frame);
      break;
    case Pattern::Kind::Record:
      bind(*pattern.first, value, frame);
      break;
  }
}

Value Interpreter::expression(const Expr& expr, Frame& frame) {
  spend(1);
  struct Visitor {
    Interpreter& self;
    const Expr& expr;
    Frame& frame;

    Value operator()(const IntLiteral& node) { return make_int(node.value); }
    Value operator()(const FloatLiteral& node) { return make_float(node.value); }
    Value operator()(const CharLiteral& node) { return make_char(node.value); }
    Value operator()(const StringLiteral& node) { return make_string(node.text); }
    Value operator()(const BoolLiteral& node) { return make_bool(node.value); }
    Value operator()(const LocalRef& node) { return frame.locals.at(node.local); }
    Value operator()(const GlobalRef& node) {
      if (node.definition->kind != DefinitionKind::Variable) return make_tuple({});
      return self.evaluate(*node.definition->body);
    }
    Value operator()(const Pair& node) {
      Value first = self.expression(*node.first, frame);
      return make_pair(std::move(first), self.expression(*node.second, frame));
    }
    Value operator()(const Call& node) { return self.call_expression(node, frame); }
    Value operator()(const If& node) {
      const bool holds = self.expression(*node.condition, frame).as_bool();
      return self.expression(holds ? *node.then_branch : *node.else_branch, frame);
    }
    Value operator()(const Let& node) {
      for (const Binding& binding : node.bindings) {
        self.bind(*binding.pattern, self.expression(*binding.value, frame), frame);
      }
      return self.expression(*node.body, frame);
    }
    Value operator()(const ApplyToEach& node) { return self.apply_to_each(node, frame); }
    Value operator()(const SequenceLiteral& node) {
      Sequence elements;
      for (const ExprPtr& element : node.elements) {
        elements.push_back(self.expression(*element, frame));
      }
      return make_sequence(std::move(elements));
    }
    Value operator()(const EmptySequence&) { return make_sequence({}); }
    Value operator()(const LambdaRef& node) {
      std::vector<Value> captured;
      for (const Local* local : node.lambda->captures) captured.push_back(frame.locals.at(local));
      return make_tuple(std::move(captured));
    }
    Value operator()(const Partial& node) {
      Value function = self.expression(*node.function, frame);
      return make_pair(std::move(function), self.expression(*node.value, frame));
    }
    Value operator()(const Time& node) {
      return make_pair(self.expression(*node.body, frame), make_float(0));
    }
  };
  return std::visit(Visitor{*this, expr, frame}, expr.node);
}

// ---- Calls

Value Interpreter::call_expression(const Call& node, Frame& frame) {
  const Value function = expression(*node.callee, frame);
  const Value argument = expression(*node.argument, frame);
  return call(substituted(node.callee->type, frame.instantiation), function, argument);
}

Value Interpreter::call(TypePtr function_type, const Value& function, const Value& argument) {
  const TypePtr identity = function_type->identity();
  if (identity->kind == TypeKind::FunctionIdentity) {
    return call_definition(*identity->function, identity->arguments, function_type, argument);
  }
  if (identity->kind == TypeKind::PartialIdentity) {
    return call(identity->arguments[0], function.first(), make_pair(function.second(), argument));
  }
  const Lambda& lambda = *identity->lambda;
  Frame inner;
  inner.instantiation = identity->arguments;
  for (std::size_t i = 0; i < lambda.captures.size(); ++i) {
    inner.locals[lambda.captures[i]] = function.parts()[i];
  }
  bind(*lambda.parameter, argument, inner);
  return expression(*lambda.body, inner);
}

Value Interpreter::call_definition(const Definition& definition,
                                   const std::vector<TypePtr>& instantiation, TypePtr function_type,
                                   const Value& argument) {
  if (definition.kind == DefinitionKind::Constructor) return argument;
  if (definition.library) {
    if (const LibraryFunction function = find_library_function(definition.name)) {
      return function({*this, function_type->argument(), function_type->result()}, argument);
    }
  }
  if (!definition.body) throw Unspecified("the library has no " + definition.name);
  if (++depth_ > kDeepest) throw Unspecified("too deep a recursion");
  Frame inner;
  inner.instantiation = instantiation;
  bind(*definition.body->parameter, argument, inner);
  Value result = expression(*definition.body->expression, inner);
  --depth_;
  return result;
}

// ---- Apply-to-each

Value Interpreter::apply_to_each(const ApplyToEach& node, Frame& frame) {
  std::vector<Value> sources;
  for (const Binding& generator : node.generators) {
    sources.push_back(expression(*generator.value, frame));
  }
  const std::size_t count = sources[0].as_sequence().size();
  for (const Value& source : sources) {
    if (source.as_sequence().size() != count)
      throw RuntimeError("Length mismatch in an apply-to-each.");
  }
  if (count == 0) {
    constant_parts(*node.body, frame.instantiation);
    if (node.sieve) constant_parts(*node.sieve, frame.instantiation);
  }
  Sequence result;
  std::optional<RuntimeError> stopped;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t g = 0; g < sources.size(); ++g) {
      bind(*node.generators[g].pattern, sources[g].as_sequence()[i], frame);
    }
    try {
      Value element = expression(*node.body, frame);
      if (node.sieve && !expression(*node.sieve, frame).as_bool()) continue;
      result.push_back(std::move(element));
    } catch (const RuntimeError& error) {
      // Another instance may be the one that the compiled program tells of.
      if (!stopped) stopped = error;
      stopped->messages.insert(error.messages.begin(), error.messages.end());
    }
  }
  if (stopped) throw *stopped;
  return make_sequence(std::move(result));
}

/// Has it no free local variables at all? What it binds itself does not count.
bool Interpreter::is_constant(const Expr& expr) {
  if (const auto found = constant_.find(&expr); found != constant_.end()) return found->second;
  std::vector<const Local*> bound;
  std::vector<const Local*> used;
  const std::function<void(const Expr&)> collect = [&](const Expr& part) {
    if (const auto* reference = std::get_if<LocalRef>(&part.node)) {
      used.push_back(reference->local);
    }
    if (const auto* lambda = std::get_if<LambdaRef>(&part.node)) {
      used.insert(used.end(), lambda->lambda->captures.begin(), lambda->lambda->captures.end());
    }
    if (const auto* let = std::get_if<Let>(&part.node)) {
      for (const Binding& binding : let->bindings) append_locals(*binding.pattern, bound);
    }
    if (const auto* each = std::get_if<ApplyToEach>(&part.node)) {
      for (const Binding& generator : each->generators) append_locals(*generator.pattern, bound);
    }
    for (const Expr* child : children_of(part)) collect(*child);
  };
  collect(expr);
  bool result = true;
  for (const Local* local : used) {
    bool own = false;
    for (const Local* other : bound) own = own || other == local;
    result = result && own;
  }
  return constant_[&expr] = result;
}

/// Evaluates what an apply-to-each evaluates even without instances (reference, section 4).
void Interpreter::constant_parts(const Expr& expr, const std::vector<TypePtr>& instantiation) {
  spend(1);
  if (is_constant(expr)) {
    Frame frame;
    frame.instantiation = instantiation;
    expression(expr, frame);
    return;
  }
  if (const auto* node = std::get_if<If>(&expr.node)) {
    constant_parts(*node->condition, instantiation);
    return;
  }
  for (const Expr* part : children_of(expr)) constant_parts(*part, instantiation);
  if (const auto* node = std::get_if<Call>(&expr.node)) {
    constant_parts_of_call(*node, instantiation);
  }
}

void Interpreter::constant_parts_of_call(const Call& node,
                                         const std::vector<TypePtr>& instantiation) {
  const TypePtr type = substituted(node.callee->type, instantiation);
  const TypePtr identity = type->identity();
  if (identity->kind == TypeKind::LambdaIdentity) {
    constant_parts(*identity->lambda->body, identity->arguments);
  }
  if (identity->kind != TypeKind::FunctionIdentity) return;
  const Definition& definition = *identity->function;
  if (definition.library || !definition.body) return;
  if (++depth_ > kDeepest) throw Unspecified("too deep a recursion");
  constant_parts(*definition.body->expression, identity->arguments);
  --depth_;
}

LibraryFunction find_library_function(const std::string& name) {
  static const LibraryTable kTable = [] {
    LibraryTable table;
    for (const auto& part : {scalar_functions(), sequence_functions(), selection_functions(),
                             larger_functions(), text_functions()}) {
      table.insert(part.begin(), part.end());
    }
    return table;
  }();
  const auto found = kTable.find(name);
  return found == kTable.end() ? nullptr : found->second;
}

}  // namespace neslc::direct
