#include "vcode/spec_check.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "vcode/token_reader.hpp"

namespace vcode {
namespace {

std::vector<Type> types_of(const Kernel& kernel, const std::vector<KernelParameter>& parameters) {
  std::vector<Type> types;
  types.reserve(parameters.size());
  for (KernelParameter parameter : parameters) types.push_back(parameter_type(kernel, parameter));
  return types;
}

std::string text(const std::vector<Type>& types) {
  std::string text;
  for (Type type : types) text += std::string(type_name(type)) + ' ';
  return text;
}

// What the SPEC leaves when it finds operands of these types; nothing if it cannot take them.
std::optional<std::vector<Type>> results_of(const FunctionEffect& effect,
                                            const std::vector<Type>& operands) {
  if (effect.inputs.size() > operands.size()) return std::nullopt;
  const std::size_t untouched = operands.size() - effect.inputs.size();
  std::vector<Type> results;
  results.reserve(untouched + effect.outputs.size());
  results.assign(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(untouched));
  std::map<std::uint32_t, Type> variables;
  for (std::size_t i = 0; i < effect.inputs.size(); ++i) {
    const Type type = operands[untouched + i];
    if ((effect.inputs[i].allowed & type_bit(type)) == 0) return std::nullopt;
    if (effect.inputs[i].variable != 0) variables.emplace(effect.inputs[i].variable, type);
  }
  for (const ValueType& output : effect.outputs) {
    const auto variable = variables.find(output.variable);
    if (output.variable != 0 && variable != variables.end()) {
      results.push_back(variable->second);
      continue;
    }
    Type type = Type::Pair;  // what no kernel can have
    for (Type candidate : {Type::Int, Type::Bool, Type::Float, Type::Segdes}) {
      if (output.allowed == type_bit(candidate)) type = candidate;
    }
    results.push_back(type);
  }
  return results;
}

}  // namespace

void check_spec(const LinkedKernel& kernel, const FunctionEffect& effect,
                Diagnostics& diagnostics) {
  if (!effect.complete || effect.never_returns) return;
  const Kernel& definition = kernel.definition;
  const std::vector<Type> operands = types_of(definition, definition.inputs);
  const std::vector<Type> wanted = types_of(definition, definition.outputs);
  const auto results = results_of(effect, operands);
  if (results == wanted) return;
  std::vector<Note> notes{
      {fmt::format("the kernel is ( {}-- {})", text(operands), text(wanted)), {}}};
  if (results) {
    notes.push_back({fmt::format("its SPEC leaves ( {})", text(*results)), {}});
  } else {
    notes.push_back({fmt::format("its SPEC is {}", effect_text("", effect)), {}});
  }
  diagnostics.add({.severity = Severity::Error,
                   .code = ErrorCode::KernelSpec,
                   .message = "the SPEC does something else to the stack than IN and OUT say",
                   .span = definition.name_span,
                   .function = shortened(definition.name),
                   .notes = std::move(notes),
                   .hint = {}});
}

std::string kernel_effect_text(const LinkedKernel& kernel) {
  const Kernel& definition = kernel.definition;
  return fmt::format(
      "KERNEL {} ( {}-- {}){}", definition.name, text(types_of(definition, definition.inputs)),
      text(types_of(definition, definition.outputs)), kernel.spec ? "" : "  without SPEC");
}

}  // namespace vcode
