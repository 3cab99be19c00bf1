#include "neslc/front/operand_hints.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "neslc/front/hints.hpp"
#include "neslc/front/inference.hpp"
#include "neslc/front/operators.hpp"
#include "neslc/front/type_words.hpp"

namespace neslc {
namespace {

bool is(TypePtr type, TypeKind kind) {
  return resolved(type)->kind == kind;
}
bool is_sequence(TypePtr type) {
  return is(type, TypeKind::Sequence);
}
bool is_sequence_of(TypePtr type, TypeKind kind) {
  return is_sequence(type) && is(resolved(type)->element(), kind);
}
bool is_text(TypePtr type) {
  return is_sequence_of(type, TypeKind::Char);
}
bool is_number(TypePtr type) {
  return is(type, TypeKind::Int) || is(type, TypeKind::Float);
}
bool has_type(const Operand& operand, TypeKind kind) {
  return is(operand.type, kind);
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}
bool is_comparison(std::string_view function) {
  return is_one_of(function, {"==", "/=", "<", ">", "<=", ">="});
}
bool is_arithmetic(std::string_view function) {
  return is_one_of(function, {"+", "-", "*", "/"});
}

// The text where an operand of a prefix operator may stand.
std::string closed(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}
// The text without parentheses around it.
std::string bare(const std::string& text) {
  const bool enclosed = text.starts_with('(') && text.find(')') == text.size() - 1;
  return enclosed ? text.substr(1, text.size() - 2) : text;
}
std::string as_text(const Operand& operand) {
  return is_text(operand.type) ? operand.text : "@" + closed(operand.text);
}

std::string float_hint(const std::string& text) {
  const bool literal = text.find_first_not_of("0123456789") == std::string::npos;
  if (literal) return fmt::format("`float({0})`, or `{0}.0`, is a float", text);
  return fmt::format("`float({})` makes a float of it", text);
}

// ---- By the two operands

std::string hint_for_comparison(std::string_view function, const Operand& first,
                                const Operand& second) {
  if (has_type(first, TypeKind::Bool) && is_number(second.type)) {
    return "comparisons cannot be chained: write `a < b and b < c`";
  }
  if (is_text(first.type) != is_text(second.type) &&
      (has_type(first, TypeKind::Char) || has_type(second, TypeKind::Char))) {
    return "double quotes make a string; a character has one backquote in front: `a";
  }
  const bool equality = function == "==" || function == "/=";
  if (equality && resolved(first.type)->kind == resolved(second.type)->kind) {
    const std::string call = fmt::format("eql({}, {})", first.text, second.text);
    return fmt::format("`{}` compares values of any type",
                       function == "==" ? call : "not(" + call + ")");
  }
  return {};
}

std::string hint_for_append(const Operand& first, const Operand& second) {
  if (is_sequence_of(first.type, TypeKind::Int) && is_sequence_of(second.type, TypeKind::Float)) {
    return fmt::format("`{{float(x) : x in {}}}` makes floats of its elements", first.text);
  }
  if (is_sequence(first.type) && is_sequence(second.type)) {
    for (const auto& [shallow, deep] : {std::pair(first, second), std::pair(second, first)}) {
      const TypePtr element = resolved(resolved(deep.type)->element());
      if (is_sequence(element) && in_words(element) == in_words(shallow.type)) {
        return fmt::format("`[{}]` is a sequence of one element", shallow.text);
      }
    }
    return {};
  }
  const auto may_be_sequence = [](const Operand& operand) {
    return is_sequence(operand.type) || has_type(operand, TypeKind::Variable);
  };
  if (may_be_sequence(first) == may_be_sequence(second)) return {};
  const Operand& single = may_be_sequence(first) ? second : first;
  const bool text = is_text(first.type) || is_text(second.type);
  if (text && !has_type(single, TypeKind::Char)) {
    return fmt::format("`{}` makes text of it", as_text(single));
  }
  return fmt::format("`[{}]` is a {} of one {}", single.text, text ? "string" : "sequence",
                     text ? "character" : "element");
}

std::string hint_for_arithmetic(std::string_view function, const Operand& first,
                                const Operand& second) {
  if (function == "+" && (is_text(first.type) || is_text(second.type))) {
    return fmt::format("`{} ++ {}` joins strings", as_text(first), as_text(second));
  }
  if (is_sequence(first.type) && is_sequence(second.type)) {
    const std::string each =
        fmt::format("`{{x {} y : x in {}; y in {}}}`", function, first.text, second.text);
    if (function != "+") return each + " takes them element by element";
    return fmt::format("`{} ++ {}` joins them; {} adds element by element", first.text, second.text,
                       each);
  }
  if (is_sequence(first.type) && is_number(second.type)) {
    return fmt::format("`{{x {} {} : x in {}}}` takes each element", function, second.text,
                       first.text);
  }
  if (is_number(first.type) && is_sequence(second.type)) {
    return fmt::format("`{{{} {} x : x in {}}}` takes each element", first.text, function,
                       second.text);
  }
  return {};
}

// What an operand is that no arithmetic takes.
std::string hint_for_operand(const Operand& operand) {
  switch (resolved(operand.type)->kind) {
    case TypeKind::Function:
      return fmt::format("`{0}` is a function: give it its argument, as in `{0}(x)`", operand.text);
    case TypeKind::Bool:
      return fmt::format("`btoi({})` makes 1 or 0 of a bool", bare(operand.text));
    case TypeKind::Char:
      return fmt::format("`char_code({})` is the number of a character", operand.text);
    case TypeKind::Pair:
      return "a pattern takes a tuple apart: `let (a, b) = pair in a + b`";
    case TypeKind::Record: {
      const std::string& name = resolved(operand.type)->datatype->name;
      return fmt::format("a pattern takes it apart: `let {}(a, b) = ... in ...`", name);
    }
    default:
      return {};
  }
}

// ---- By what is wanted

// `v[i]`.
std::string hint_for_index(const std::vector<Operand>& operands) {
  if (operands.size() < 2) return {};
  const Operand &sequence = operands[0], &index = operands[1];
  if (has_type(sequence, TypeKind::Function)) {
    return fmt::format("`{0}` is a function: its argument stands in parentheses, `{0}([{1}])`",
                       sequence.text, index.text);
  }
  if (has_type(sequence, TypeKind::Pair)) {
    return fmt::format("a pattern takes a tuple apart: `let (a, b) = {} in ...`", sequence.text);
  }
  if (is_sequence(sequence.type) && has_type(index, TypeKind::Pair)) {
    return fmt::format("an element of an element is `{}[i][j]`", sequence.text);
  }
  return {};
}

// A declared type that the program does not define is a type of its own.
std::string hint_for_opaque(std::string_view name) {
  if (std::string hint = hint_for_type(name); !hint.empty()) return hint;
  return fmt::format(
      "there is no type `{0}`; a type variable is declared, as in `{0} -> {0} :: "
      "({0} in any)`",
      name);
}

// Each element of a single operand would do.
std::string hint_for_elements(std::string_view function, TypePtr wanted, const Operand& given) {
  if (function.empty() || !is_sequence(given.type)) return {};
  wanted = resolved(wanted);
  const bool scalar = !is_sequence(wanted) && wanted->kind != TypeKind::Variable;
  const bool flat = is_sequence(wanted) && !is_sequence(resolved(wanted)->element()) &&
                    is_sequence(resolved(given.type)->element());
  if (!scalar && !flat) return {};
  return fmt::format("`{{{}(x) : x in {}}}` takes each element", function, given.text);
}

}  // namespace

std::string hint_for_value(TypePtr wanted, const Operand& given) {
  wanted = resolved(wanted);
  const TypePtr type = resolved(given.type);
  if (is(wanted, TypeKind::Float) && is(type, TypeKind::Int)) return float_hint(given.text);
  if (is(wanted, TypeKind::Int) && is(type, TypeKind::Float)) {
    return fmt::format("`trunc({0})` and `round({0})` make an int of it", given.text);
  }
  if (wanted->kind == TypeKind::Opaque) return hint_for_opaque(wanted->name);
  if (type->kind == TypeKind::Opaque) return hint_for_opaque(type->name);
  const bool words =
      given.text.starts_with('"') && given.text.find_first_of("0123456789") == std::string::npos;
  if (words && is(wanted, TypeKind::Bool)) return "the constants are `t` and `f`";
  if (words && !is_text(wanted)) return {};
  if (is(wanted, TypeKind::Float) && is_text(type)) {
    return fmt::format("`first(parse_float({}))` reads a float from a string", given.text);
  }
  if (is(wanted, TypeKind::Int) && is_text(type)) {
    return fmt::format("`first(parse_int({}))` reads an int from a string", given.text);
  }
  if (is(wanted, TypeKind::Bool) && is(type, TypeKind::Int)) {
    const bool literal = given.text == "0" || given.text == "1";
    return literal ? "the constants are `t` and `f`"
                   : fmt::format("`{} /= 0` is a bool", closed(given.text));
  }
  if (is_text(wanted) && is(type, TypeKind::Pair)) {
    std::string joined;
    for (TypePtr part : components(type)) {
      if (!joined.empty()) joined += " ++ ";
      joined += is_text(part) ? "\"text\"" : "@x";
    }
    return fmt::format("`{}` joins several into one string", joined);
  }
  if (is_text(wanted) && !is_sequence(type)) {
    return fmt::format("`{}` makes text of it", as_text(given));
  }
  if (is_sequence_of(wanted, TypeKind::Float) && is_sequence_of(type, TypeKind::Int)) {
    return fmt::format("`{{float(x) : x in {}}}` makes floats of its elements", given.text);
  }
  if (wanted->kind == TypeKind::Record && type->kind == TypeKind::Pair) {
    return fmt::format("`{}({})` makes one", wanted->datatype->name, bare(given.text));
  }
  if (wanted->kind == TypeKind::Sequence && type->kind == TypeKind::Stream) {
    return fmt::format("`collect({})` keeps all elements of the stream in memory",
                       bare(given.text));
  }
  if (wanted->kind == TypeKind::Stream && type->kind == TypeKind::Sequence) {
    return fmt::format("`stream({})` makes a stream of it", bare(given.text));
  }
  return {};
}

std::string hint_for_unequal(const Operand& first, const Operand& second) {
  for (const auto& [given, other] : {std::pair(first, second), std::pair(second, first)}) {
    if (has_type(given, TypeKind::Int) && has_type(other, TypeKind::Float)) {
      return float_hint(given.text);
    }
    if (is_text(other.type) && (is_number(given.type) || has_type(given, TypeKind::Bool))) {
      return fmt::format("`{}` makes text of it", as_text(given));
    }
    if (is_sequence(other.type) &&
        in_words(resolved(other.type)->element()) == in_words(given.type)) {
      return fmt::format("`[{}]` is a sequence of one element", given.text);
    }
  }
  return {};
}

std::string hint_for_operands(std::string_view function, const std::vector<TypePtr>& wanted,
                              const std::vector<Operand>& operands) {
  std::string hint;
  for (const Operand& operand : operands) {
    if (has_type(operand, TypeKind::Opaque)) return hint_for_opaque(resolved(operand.type)->name);
  }
  if (function == "write" && operands.size() == 2) {
    hint = is_number(operands[0].type)
               ? fmt::format("`<-` writes into a sequence; `{} < -{}` compares", operands[0].text,
                             operands[1].text)
               : "`v <- [(i, x)]` is `v` with `x` at `i`";
  }
  if (function == "elt") hint = hint_for_index(operands);
  if (function == "^" && has_type(operands.back(), TypeKind::Float)) {
    hint = "`expt(a, b)` is the power of two floats";
  }
  if (is_sequence(operands[0].type)) {
    if (function == "sort") hint = "`sorted(s)` sorts elements of any type";
    if (function == "rank") hint = "`ranks(s)` ranks elements of any type";
  }
  if (function == "sum" && is_sequence_of(operands[0].type, TypeKind::Bool)) {
    hint = fmt::format("`count({})` counts the true ones", operands[0].text);
  }
  if (operands.size() == 2) {
    if (is_comparison(function)) hint = hint_for_comparison(function, operands[0], operands[1]);
    if (is_arithmetic(function)) hint = hint_for_arithmetic(function, operands[0], operands[1]);
    if (function == "append") hint = hint_for_append(operands[0], operands[1]);
    if (function == "||" && has_type(operands[0], TypeKind::Bool)) hint = "the operator is `or`";
  }
  const bool counted = wanted.size() == operands.size();
  for (std::size_t i = 0; hint.empty() && counted && i < wanted.size(); ++i) {
    hint = hint_for_value(wanted[i], operands[i]);
  }
  const bool named = display_name(function) == function;
  if (hint.empty() && counted && wanted.size() == 1 && named) {
    hint = hint_for_elements(function, wanted[0], operands[0]);
  }
  const bool in_order = is_comparison(function) || is_arithmetic(function) || function == "negate";
  for (std::size_t i = 0; hint.empty() && in_order && i < operands.size(); ++i) {
    hint = hint_for_operand(operands[i]);
  }
  if (hint.empty() && operands.size() == 2 && counted && is_number(operands[0].type) &&
      is_number(operands[1].type)) {
    hint = hint_for_unequal(operands[0], operands[1]);
  }
  return hint;
}

}  // namespace neslc
