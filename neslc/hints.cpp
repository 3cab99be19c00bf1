#include "neslc/hints.hpp"

#include <algorithm>
#include <utility>

namespace neslc {
namespace {

using Hint = std::pair<std::string_view, std::string_view>;

constexpr Hint kNames[] = {
    {"concat", "`a ++ b` joins two sequences, `flatten(s)` a sequence of them"},
    {"else_if", "write `else if`"},
    {"elif", "write `else if`"},
    {"false", "the constants are `t` and `f`"},
    {"filter", "`{x in v | x > 0}` keeps the elements for which a condition holds"},
    {"fold", "reductions are `sum`, `max_val`, `min_val`, `any`, `all`, `count`"},
    {"foldl", "reductions are `sum`, `max_val`, `min_val`, `any`, `all`, `count`"},
    {"foldr", "reductions are `sum`, `max_val`, `min_val`, `any`, `all`, `count`"},
    {"for", "`{f(x) : x in v}` applies to each element"},
    {"iota", "`[0:n]` or `index(n)` counts from 0 to n - 1"},
    {"len", "`#v` is the length of `v`"},
    {"none", "the empty sequence names its element type: `[] int`"},
    {"null", "the empty sequence names its element type: `[] int`"},
    {"pow", "`expt(a, b)` is the power of two floats"},
    {"power", "`expt(a, b)` is the power of two floats"},
    {"println", "`print_line(\"text\")` prints a line; `@x` is the text of a value"},
    {"range", "`[0:n]` counts from 0 to n - 1"},
    {"reduce", "reductions are `sum`, `max_val`, `min_val`, `any`, `all`, `count`"},
    {"return", "the value of a function is its body: `function f(x) = x + 1;`"},
    {"size", "`#v` is the length of `v`"},
    {"str", "`@x` is the text of a value"},
    {"to_string", "`@x` is the text of a value"},
    {"true", "the constants are `t` and `f`"},
    {"while", "what repeats is a function that calls itself"},
};

// Longer ones first.
constexpr Hint kMarks[] = {
    {"!=", "`/=` compares for being different"},
    {"&&", "the operator is `and`"},
    {"//", "`/` of two ints is the quotient without a fraction"},
    {"**", "`expt(a, b)` is the power of two floats"},
    {"!", "negation is `not(x)`"},
    {"&", "the operator is `and`"},
    {"'", "a character is written with one backquote before it: `a"},
    {"=", "`==` compares; `=` stands in definitions"},
};

template <std::size_t count>
std::string find(const Hint (&hints)[count], std::string_view text, bool prefix) {
  const auto found = std::find_if(std::begin(hints), std::end(hints), [&](const Hint& hint) {
    return prefix ? text.starts_with(hint.first) : text == hint.first;
  });
  return found == std::end(hints) ? std::string() : std::string(found->second);
}

bool is_sequence(TypePtr type) {
  return type != nullptr && type->kind == TypeKind::Sequence;
}
bool is_text(TypePtr type) {
  return is_sequence(type) && type->element()->kind == TypeKind::Char;
}
bool is_number(TypePtr type) {
  return type->kind == TypeKind::Int || type->kind == TypeKind::Float;
}

}  // namespace

std::string hint_for_name(std::string_view name) {
  return find(kNames, name, false);
}

std::string hint_for_mark(std::string_view text) {
  return find(kMarks, text, true);
}

std::string hint_for_operands(std::string_view function, TypePtr first, TypePtr second) {
  if (second == nullptr) {
    if (function == "sort" && is_sequence(first)) return "`sorted(s)` sorts elements of any type";
    if (function == "rank" && is_sequence(first)) return "`ranks(s)` ranks elements of any type";
    // A function of FLOAT that was given an INT.
    return first->kind == TypeKind::Int ? "`float(x)` makes a float of an int" : "";
  }
  if (is_number(first) && is_number(second) && first->kind != second->kind) {
    return "`float(x)` makes a float of an int";
  }
  if (is_sequence(first) && is_sequence(second)) {
    if (function == "==") return "`eql(a, b)` compares sequences";
    if (function == "/=") return "`not(eql(a, b))` compares sequences";
    if (function == "+") return "`a ++ b` joins sequences";
  }
  if (function == "append" && is_sequence(first) != is_sequence(second)) {
    const bool text = is_text(first) || is_text(second);
    return text ? "`@x` is the text of a value" : "`[x]` is a sequence of one element";
  }
  return "";
}

}  // namespace neslc
