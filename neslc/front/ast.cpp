#include "neslc/front/ast.hpp"

#include <algorithm>

namespace neslc::ast {
namespace {

void append(const Pattern& pattern, std::string& text) {
  switch (pattern.kind) {
    case Pattern::Kind::Name:
    case Pattern::Kind::Constant:
    case Pattern::Kind::Default:
      text += pattern.name;
      break;
    case Pattern::Kind::Pair: {
      text += '(';
      const Pattern* at = &pattern;
      for (; at->kind == Pattern::Kind::Pair; at = at->second.get()) {
        append(*at->first, text);
        text += ", ";
      }
      append(*at, text);
      text += ')';
      break;
    }
    case Pattern::Kind::Record:
      text += pattern.name;
      if (pattern.first->kind == Pattern::Kind::Pair) {
        append(*pattern.first, text);
      } else {
        text += '(';
        append(*pattern.first, text);
        text += ')';
      }
      break;
    case Pattern::Kind::Other:
      text += '?';
      break;
  }
}

// The names that a pattern binds, from left to right.
void collect(const Pattern& pattern, std::vector<DefinedName>& names) {
  if (pattern.kind == Pattern::Kind::Name || pattern.kind == Pattern::Kind::Default) {
    names.push_back({pattern.name, pattern.span.line});
  }
  if (pattern.first) collect(*pattern.first, names);
  if (pattern.second) collect(*pattern.second, names);
}

}  // namespace

std::string pattern_text(const Pattern& pattern) {
  std::string text;
  append(pattern, text);
  return text;
}

bool binds(const Pattern& pattern, std::string_view name) {
  std::vector<DefinedName> names;
  collect(pattern, names);
  return std::any_of(names.begin(), names.end(),
                     [&](const DefinedName& bound) { return bound.name == name; });
}

std::vector<DefinedName> defined_names(const Form& form) {
  std::vector<DefinedName> names;
  if (const auto* function = std::get_if<FunctionForm>(&form.node)) {
    names.push_back({function->name, function->name_span.line});
  } else if (const auto* datatype = std::get_if<DatatypeForm>(&form.node)) {
    names.push_back({datatype->name, datatype->name_span.line});
  } else if (const auto* binding = std::get_if<BindingForm>(&form.node)) {
    collect(*binding->pattern, names);
  }
  return names;
}

}  // namespace neslc::ast
