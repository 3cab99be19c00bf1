// Functions that say what they do while they run: `set trace` and `set profile`.
#include <algorithm>
#include <cctype>

#include "neslc/flatten/flattener.hpp"
#include "neslc/flatten/streams.hpp"

namespace neslc {
namespace {

std::string capitals(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

std::string pattern_names(const Pattern& pattern) {
  switch (pattern.kind) {
    case Pattern::Kind::Variable:
      return capitals(pattern.local->name);
    case Pattern::Kind::Pair:
      return pattern_names(*pattern.first) + ", " + pattern_names(*pattern.second);
    default:
      return pattern_names(*pattern.first);
  }
}

bool shows_values(const ObservedFunction& observed) {
  return observed.trace == 2 || observed.trace == 4;
}

}  // namespace

void Flattener::print_text(const std::string& text) {
  call_library("print_string", {}, string_constant(text), &serial_);
}

/// In parallel code, the values of all instances as one sequence.
void Flattener::print_value(const std::string& name, TypePtr type, const Value& value,
                            Context* context) {
  if (holds_stream(value)) {
    print_text("  " + capitals(name) + " = a stream\n");
    return;
  }
  print_text("  " + capitals(name) + " = ");
  Value shown = value;
  if (!context->serial()) {
    shown = Value::sequence(instances(context), bring(value, context), &serial_);
    type = types().sequence(type);
  }
  call_library("print_string", {}, call_library("string", {type}, shown, &serial_), &serial_);
  print_text("\n");
}

void Flattener::print_variables(const Pattern& pattern, Frame& frame, Context* context) {
  if (pattern.kind == Pattern::Kind::Variable) {
    print_value(pattern.local->name, substituted(pattern.type, frame),
                frame.locals.at(pattern.local), context);
    return;
  }
  print_variables(*pattern.first, frame, context);
  if (pattern.kind == Pattern::Kind::Pair) print_variables(*pattern.second, frame, context);
}

/// The body of an observed function, whose parameter is bound.
Value Flattener::observed_call(const Version& version, Frame& frame, Context* context) {
  const ObservedFunction& observed = *frame.observed;
  const std::string name = capitals(version.definition->name);
  if (observed.trace > 0) print_text("Entering " + name + "\n");
  if (shows_values(observed)) print_variables(version.parameter(), frame, context);
  const bool has_bindings = std::holds_alternative<Let>(version.body().node);
  Value result = observed.profile && !has_bindings
                     ? timed_for_profile(version.body(), frame, context)
                     : expression(version.body(), frame, context);
  if (observed.trace > 0) print_text("Leaving " + name + "\n");
  if (shows_values(observed)) print_value("result", version.result_type, result, context);
  return result;
}

Value Flattener::observed_binding(const Binding& binding, Frame& frame, Context* context) {
  const ObservedFunction& observed = *frame.observed;
  Value value = observed.profile ? timed_for_profile(*binding.value, frame, context)
                                 : expression(*binding.value, frame, context);
  if (observed.trace == 3) print_text("  Binding " + pattern_names(*binding.pattern) + "\n");
  if (observed.trace == 4) {
    bind(*binding.pattern, value, frame);
    print_variables(*binding.pattern, frame, context);
  }
  return value;
}

Value Flattener::timed_for_profile(const Expr& expr, Frame& frame, Context* context) {
  b_.operation(vcode::Op::StartTimer, vcode::Type::Int, {});
  Value value = expression(expr, frame, context);
  const ir::ValueId seconds = b_.operation(vcode::Op::StopTimer, vcode::Type::Int, {})[0];
  const Value text =
      call_library("string", {types().float_type()}, Value::scalar(seconds, &serial_), &serial_);
  call_library("print_string", {}, text, &serial_);
  const ir::Module& module = compiler_.module();
  const vcode::Source& source = *module.scopes[frame.scope].source;
  print_text(" seconds for expression:\n      " + std::string(source.text(expr.span)) + "\n");
  return value;
}

}  // namespace neslc
