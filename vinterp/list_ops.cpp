#include "vinterp/list_ops.hpp"

#include <vector>

#include <fmt/core.h>

#include "vcode/opcodes.hpp"

namespace vinterp {
namespace {

using vcode::Argument;
using vcode::OpInfo;
using vcode::Type;

constexpr Type kWritable[] = {Type::Int, Type::Bool, Type::Float, Type::Segdes, Type::Char};

/// What must follow the word: "INT FLOAT", "count start", ...
std::string argument_text(const OpInfo& op) {
  switch (op.argument) {
    case Argument::None:
      return "";
    case Argument::Counts:
      return "count start";
    case Argument::Name:
      return "name";
    case Argument::Constant:
      return "constant";
    default:
      break;
  }
  std::string text;
  for (const Type type : kWritable) {
    if (!op.allows(type)) continue;
    if (!text.empty()) text += ' ';
    text += vcode::type_name(type);
  }
  return text;
}

std::string_view letter_text(char letter) {
  switch (letter) {
    case 'I':
      return "INT";
    case 'B':
      return "BOOL";
    case 'F':
      return "FLOAT";
    case 'S':
      return "SEGDES";
    case 'P':
      return "PAIR";
    case 'T':
      return "T";
    case '?':
      return "vector";
    default:
      return "any";
  }
}

std::string effect_text(const OpInfo& op) {
  std::string text = "(";
  for (const char letter : op.operands) text += fmt::format(" {}", letter_text(letter));
  text += " --";
  for (const char letter : op.results) text += fmt::format(" {}", letter_text(letter));
  return text + " )";
}

std::string json_array(std::string_view letters) {
  std::string text = "[";
  for (std::size_t i = 0; i < letters.size(); ++i) {
    text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", letter_text(letters[i]));
  }
  return text + "]";
}

}  // namespace

std::string list_ops() {
  std::string text = fmt::format("{:<13}{:<28}{:<46}{}\n", "operation", "written after it",
                                 "stack, T the written type", "meaning");
  for (const OpInfo& op : vcode::all_ops()) {
    text +=
        fmt::format("{:<13}{:<28}{:<46}{}\n", op.text, argument_text(op), effect_text(op), op.doc);
  }
  return text;
}

std::string list_ops_markdown() {
  std::string text =
      "| operation | written after it | stack, T the written type | lengths | meaning |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const OpInfo& op : vcode::all_ops()) {
    const bool elementwise = op.family == vcode::Family::Elementwise && op.operands.size() > 1;
    text += fmt::format("| `{}` | {} | `{}` | {} | {} |\n", op.text, argument_text(op),
                        effect_text(op), elementwise ? "equal" : op.checks, op.doc);
  }
  return text;
}

std::string list_ops_json() {
  std::string text = "[";
  for (const OpInfo& op : vcode::all_ops()) {
    // No string of the table needs an escape: its words have neither quotes nor backslashes.
    text += fmt::format(
        "{}\n  {{\"operation\": \"{}\", \"argument\": \"{}\", \"operands\": {}, \"results\": {}, "
        "\"vector_operation\": {}, \"lengths\": \"{}\", \"meaning\": \"{}\"}}",
        text.size() == 1 ? "" : ",", op.text, argument_text(op), json_array(op.operands),
        json_array(op.results), op.is_vector_op(), op.checks, op.doc);
  }
  return text + "\n]\n";
}

}  // namespace vinterp
