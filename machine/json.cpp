#include "machine/json.hpp"

#include <fmt/format.h>

namespace vinterp {

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte > 0x7e) {
      result += fmt::format("\\u{:04x}", byte);
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string json_line(const vcode::Diagnostic& diagnostic, const vcode::Source* source) {
  std::string notes;
  for (const vcode::Note& note : diagnostic.notes) {
    notes += fmt::format("{}{{\"text\":{},\"line\":{},\"column\":{}}}", notes.empty() ? "" : ",",
                         json_string(note.text), note.span.line, note.span.column);
  }
  return fmt::format(
      "{{\"file\":{},\"line\":{},\"column\":{},\"length\":{},\"severity\":\"{}\",\"code\":\"{}\","
      "\"message\":{},\"function\":{},\"notes\":[{}],\"help\":{}}}\n",
      json_string(source != nullptr ? source->name() : ""), diagnostic.span.line,
      diagnostic.span.column, diagnostic.span.length,
      diagnostic.severity == vcode::Severity::Error ? "error" : "warning",
      vcode::info(diagnostic.code).id, json_string(diagnostic.message),
      json_string(diagnostic.function), notes, json_string(diagnostic.hint));
}

}  // namespace vinterp
