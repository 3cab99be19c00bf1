#include "neslc/command/describe.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "neslc/front/lower_case.hpp"
#include "vcode/keywords.hpp"

namespace neslc {
namespace {

std::string indented(std::string_view text) {
  std::string result = "  ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result;
}

std::string interface_text(const Definition& definition) {
  if (!definition.form) return definition.name;
  const auto* function = std::get_if<ast::FunctionForm>(&definition.form->node);
  if (function == nullptr) return definition.name;
  const std::string argument = ast::pattern_text(*function->argument);
  const bool parenthesised = argument.starts_with('(');
  return fmt::format(fmt::runtime(parenthesised ? "{}{}" : "{}({})"), definition.name, argument);
}

constexpr std::string_view kExample = "Example: ";

/// Documentation without the indentation of its lines in the text of the program.
std::string outdented(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] != '\n') continue;
    while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
  }
  return result;
}

/// The documentation before its example.
std::string explanation(const Definition& definition) {
  std::string text = outdented(definition.documentation);
  text.erase(std::min(text.size(), text.find(kExample)));
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string section(std::string_view title, std::string_view text) {
  return text.empty() ? std::string() : fmt::format("{}:\n{}\n", title, indented(text));
}

}  // namespace

std::string example(const Definition& definition) {
  std::string text = outdented(definition.documentation);
  const std::size_t begin = text.find(kExample);
  if (begin == std::string::npos) return {};
  text.erase(0, begin + kExample.size());
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string code_text(const Definition& definition) {
  if (!definition.form) return {};
  const bool body = definition.body != nullptr || definition.kind == DefinitionKind::Constructor;
  return body ? std::string(definition.form->text()) : std::string();
}

std::string describe(const Definition& definition) {
  std::string kind = definition.kind == DefinitionKind::Variable      ? "variable"
                     : definition.kind == DefinitionKind::Constructor ? "constructor"
                                                                      : "function";
  kind += definition.library ? " of the library" : "";
  std::string code = code_text(definition);
  if (definition.is_primitive()) code = "built in";
  if (definition.is_forward()) code = "declared only, no code yet";
  return section("INTERFACE", fmt::format("{} ({})", interface_text(definition), kind)) +
         section("TYPE", scheme_text(definition.scheme)) +
         section("DOCUMENTATION", explanation(definition)) +
         section("EXAMPLE", example(definition)) + section("CODE", code);
}

std::string apropos(Session& session, std::string_view word) {
  const std::string wanted = lower_case(word);
  std::string text;
  for (const Definition* definition : session.definitions()) {
    const bool fits = definition->name.find(wanted) != std::string::npos ||
                      lower_case(definition->documentation).find(wanted) != std::string::npos;
    if (fits) text += fmt::format("{} : {}\n", definition->name, scheme_text(definition->scheme));
  }
  return text;
}

std::string nearest_name(Session& session, std::string_view name) {
  vcode::NearestWord nearest(name);
  for (const Definition* definition : session.definitions()) nearest.consider(definition->name);
  return std::string(nearest.best());
}

}  // namespace neslc
