#include "neslc/ast.hpp"

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

}  // namespace

std::string pattern_text(const Pattern& pattern) {
  std::string text;
  append(pattern, text);
  return text;
}

}  // namespace neslc::ast
