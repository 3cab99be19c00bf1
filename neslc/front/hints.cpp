#include "neslc/front/hints.hpp"

#include <algorithm>
#include <utility>

namespace neslc {
namespace {

using Hint = std::pair<std::string_view, std::string_view>;

constexpr std::string_view kReductions =
    "reductions are `sum`, `max_val`, `min_val`, `any`, `all`, `count`, and `reduce(g, id, v)`";
constexpr std::string_view kElseIf = "write `else if`";
constexpr std::string_view kNoBlock = "an expression ends by itself: leave the word out";
constexpr std::string_view kPower = "`expt(a, b)` is the power of two floats, `a ^ n` with an int";
constexpr std::string_view kLength = "`#v` is the length of `v`";
constexpr std::string_view kText = "`@x` is the text of a value";
constexpr std::string_view kConstants = "the constants are `t` and `f`";
constexpr std::string_view kEmpty = "the empty sequence names its element type: `[] int`";
constexpr std::string_view kEach = "`{f(x) : x in v}` applies to each element";
constexpr std::string_view kLoop = "what repeats is a function that calls itself";
constexpr std::string_view kLeave = "`exit;` leaves";
constexpr std::string_view kParse = "`first(parse_int(s))` reads an int from a string";
constexpr std::string_view kInclude = "`import \"file\";` reads the definitions of a file";
constexpr std::string_view kLambda = "a function without a name is written `x => x + 1`";
constexpr std::string_view kReturn =
    "the value of a function is its body: `function f(x) = x + 1;`";
constexpr std::string_view kDifferent = "`/=` compares for being different";
constexpr std::string_view kIf = "`if` chooses: `if x == 0 then a else if x == 1 then b else c`";
constexpr std::string_view kNoChange = "no value changes: give the new one a name of its own";
constexpr std::string_view kPrint =
    "`print_line(\"text\")` prints a line; `@x` is the text of a value";
constexpr std::string_view kQuotes = "strings stand between plain quotes: \"text\"";
constexpr std::string_view kPlainQuotes = "strings stand between plain double quotes: \"text\"";

constexpr Hint kNames[] = {
    {"append", "`a ++ b` joins two sequences"},
    {"array", "`dist(x, n)` is a sequence of n times `x`"},
    {"begin", kNoBlock},
    {"bye", kLeave},
    {"concat", "`a ++ b` joins two sequences, `flatten(s)` a sequence of them"},
    {"elif", kElseIf},
    {"else_if", kElseIf},
    {"elseif", kElseIf},
    {"elsif", kElseIf},
    {"end", kNoBlock},
    {"endif", kNoBlock},
    {"fi", kNoBlock},
    {"false", kConstants},
    {"filter", "`{x in v | x > 0}` keeps the elements for which a condition holds"},
    {"fold", kReductions},
    {"foldl", kReductions},
    {"foldr", kReductions},
    {"for", kEach},
    {"fst", "`first(p)` is the first part of a pair"},
    {"head", "`v[0]` is the first element"},
    {"import", "the name of a file stands between double quotes: `import \"file\";`"},
    {"include", kInclude},
    {"int", "`trunc(x)`, `round(x)`, `floor(x)` and `ceil(x)` make an int of a float"},
    {"iota", "`[0:n]` or `index(n)` counts from 0 to n - 1"},
    {"lambda", kLambda},
    {"last", "`v[#v - 1]` is the last element"},
    {"len", kLength},
    {"maximum", "`max_val(v)` is the largest element"},
    {"mean", "`sum(v) / float(#v)` is the mean of floats"},
    {"minimum", "`min_val(v)` is the smallest element"},
    {"nil", kEmpty},
    {"none", kEmpty},
    {"null", kEmpty},
    {"pow", kPower},
    {"power", kPower},
    {"printf", kPrint},
    {"println", kPrint},
    {"q", kLeave},
    {"quit", kLeave},
    {"range", "`[0:n]` counts from 0 to n - 1"},
    {"read_int", kParse},
    {"return", kReturn},
    {"size", kLength},
    {"snd", "`rest(p)` is the second part of a pair"},
    {"str", kText},
    {"str_to_int", kParse},
    {"tail", "`drop(v, 1)` is all but the first element"},
    {"to_int", kParse},
    {"to_string", kText},
    {"true", kConstants},
    {"while", kLoop},
};

constexpr std::string_view kInt = "the type is `int`";
constexpr std::string_view kFloat = "the type is `float`";
constexpr std::string_view kBool = "the type is `bool`";
constexpr std::string_view kString = "the type of strings is `[char]`";
constexpr std::string_view kSequence = "a sequence of ints is of type `[int]`";

constexpr Hint kTypes[] = {
    {"array", kSequence},    {"boolean", kBool}, {"character", "the type is `char`"},
    {"double", kFloat},      {"integer", kInt},  {"list", kSequence},
    {"logical", kBool},      {"long", kInt},     {"nat", kInt},
    {"number", kFloat},      {"real", kFloat},   {"seq", kSequence},
    {"sequence", kSequence}, {"short", kInt},    {"str", kString},
    {"string", kString},     {"text", kString},  {"vector", kSequence},
};

constexpr std::string_view kNoClass =
    "a record is a datatype, `datatype point (float, float);`, made by `point(1.0, 2.0)`";
constexpr std::string_view kFunction = "a function is defined by `function name(x) = x + 1;`";
constexpr std::string_view kBinding = "a variable is bound by `x = 5;`, without a type";

constexpr Hint kStatements[] = {
    {"case", kIf},
    {"class", kNoClass},
    {"def", kFunction},
    {"define", kFunction},
    {"do", kLoop},
    {"elif", kElseIf},
    {"elseif", kElseIf},
    {"elsif", kElseIf},
    {"for", kEach},
    {"fun", kFunction},
    {"func", kFunction},
    {"include", kInclude},
    {"lambda", kLambda},
    {"return", kReturn},
    {"struct", kNoClass},
    {"switch", kIf},
    {"where", "`let` binds in front: `let c = 3 in c * x`"},
    {"while", kLoop},
};

constexpr Hint kLeftWords[] = {
    {"auto", kBinding}, {"bool", kBinding},    {"char", kBinding},   {"const", kBinding},
    {"def", kFunction}, {"define", kFunction}, {"double", kBinding}, {"float", kBinding},
    {"fn", kFunction},  {"fun", kFunction},    {"func", kFunction},  {"int", kBinding},
    {"long", kBinding}, {"string", kBinding},  {"val", kBinding},    {"var", kBinding},
    {"while", kLoop},   {"for", kEach},
};

// Longer ones first.
constexpr Hint kMarks[] = {
    {"===", "`==` compares"},
    {"...", "`[1:10]` counts from 1 to 9"},
    {"!==", kDifferent},
    {"!=", kDifferent},
    {"<>", kDifferent},
    {"~=", kDifferent},
    {"=<", "`<=` is less or equal"},
    {"&&", "the operator is `and`"},
    {"//", "`/` of two ints is the quotient without a fraction; a comment is written % ... %"},
    {"/*", "a comment stands between two `%`: % ... %"},
    {"**", kPower},
    {"++", "`a ++ b` joins sequences; no value changes"},
    {"--", "no value changes; a comment stands between two `%`: % ... %"},
    {"+=", kNoChange},
    {"-=", kNoChange},
    {"*=", kNoChange},
    {"..", "`[1:10]` counts from 1 to 9"},
    {"!", "negation is `not(x)`"},
    {"&", "the operator is `and`"},
    {"~", "negation is `not(x)`, or `-x` of a number"},
    {"?", "a conditional is written `if c then a else b`"},
    {"\\", kLambda},
    {"\u201c", kQuotes},
    {"\u201d", kQuotes},
    {"\u2018", kPlainQuotes},
    {"\u2019", kPlainQuotes},
    {"\u2260", kDifferent},
    {"\u2264", "`<=` is less or equal"},
    {"\u2265", "`>=` is greater or equal"},
    {"\u2212", "the minus sign is `-`"},
    {"\u00d7", "`*` multiplies"},
    {"\u00b7", "`*` multiplies"},
    {"\u00f7", "`/` divides"},
};

template <std::size_t count>
std::string find(const Hint (&hints)[count], std::string_view text) {
  const auto found = std::find_if(std::begin(hints), std::end(hints),
                                  [&](const Hint& hint) { return text == hint.first; });
  return found == std::end(hints) ? std::string() : std::string(found->second);
}

// A quoted text, which NESL writes in another way.
std::string_view hint_for_quote(std::string_view text) {
  const bool one = text.size() > 2 && text[2] == '\'';
  return one ? "a character is written with one backquote before it: `a"
             : "strings stand between double quotes: \"text\"";
}

}  // namespace

std::string hint_for_name(std::string_view name) {
  return find(kNames, name);
}

bool is_else_if(std::string_view name) {
  return find(kNames, name) == kElseIf;
}

std::string hint_for_type(std::string_view name) {
  return find(kTypes, name);
}

std::string hint_for_statement(std::string_view word) {
  return find(kStatements, word);
}

std::string hint_for_left_word(std::string_view word) {
  return find(kLeftWords, word);
}

ForeignMark foreign_mark(std::string_view text) {
  if (text.starts_with('\'')) return {text.substr(0, 1), hint_for_quote(text)};
  for (const Hint& hint : kMarks) {
    if (text.starts_with(hint.first)) return {hint.first, hint.second};
  }
  return {};
}

}  // namespace neslc
