#include "neslc/front/expression_parser.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "neslc/front/operators.hpp"
#include "vcode/numbers.hpp"

namespace neslc {
namespace {

using ast::Expr;
using ast::ExprPtr;
using ast::Pattern;
using ast::PatternPtr;
using Kind = Token::Kind;

int depth(const ExprPtr& expression) {
  return expression ? expression->depth : 0;
}

template <typename... Children>
int deepest(const Children&... children) {
  return std::max({0, depth(children)...});
}

/// Of the left operand of an infix operator: a chain of these is one level.
int depth_of_chain(const ExprPtr& left) {
  const auto* operation = std::get_if<ast::Operation>(&left->node);
  return operation != nullptr && operation->left ? left->depth - 1 : left->depth;
}

int deepest(const std::vector<ast::Binding>& bindings) {
  int result = 0;
  for (const ast::Binding& binding : bindings) result = std::max(result, depth(binding.value));
  return result;
}

constexpr std::string_view kTooDeep = "this expression is nested too deeply";

PatternPtr make_pattern(Pattern::Kind kind, vcode::Span span, std::string name) {
  auto pattern = std::make_unique<Pattern>();
  pattern->kind = kind;
  pattern->span = span;
  pattern->name = std::move(name);
  return pattern;
}

}  // namespace

class ExpressionParser::Guard {
 public:
  explicit Guard(ExpressionParser& parser) : parser_(parser) {
    if (++parser_.depth_ > ast::kMaxDepth) {
      --parser_.depth_;
      parser_.tokens_.fail(parser_.tokens_.span_of(parser_.tokens_.peek()), std::string(kTooDeep));
    }
  }
  ~Guard() { --parser_.depth_; }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  ExpressionParser& parser_;
};

template <typename Node>
ExprPtr ExpressionParser::make(std::size_t first, int depth_below, Node node) const {
  const vcode::Span span = tokens_.span_from(first);
  if (depth_below >= ast::kMaxDepth) tokens_.fail(span, std::string(kTooDeep));
  auto expression = std::make_unique<Expr>();
  expression->span = span;
  expression->depth = depth_below + 1;
  expression->node = std::move(node);
  return expression;
}

PatternPtr ExpressionParser::to_pattern(ExprPtr expression) {
  const vcode::Span span = expression->span;
  if (auto* name = std::get_if<ast::Name>(&expression->node)) {
    return make_pattern(Pattern::Kind::Name, span, std::move(name->name));
  }
  if (const auto* constant = std::get_if<ast::BoolLiteral>(&expression->node)) {
    return make_pattern(Pattern::Kind::Constant, span, constant->value ? "t" : "f");
  }
  if (auto* tuple = std::get_if<ast::Tuple>(&expression->node)) {
    PatternPtr pattern = make_pattern(Pattern::Kind::Pair, span, {});
    pattern->first = to_pattern(std::move(tuple->first));
    pattern->second = to_pattern(std::move(tuple->second));
    return pattern;
  }
  if (auto* keyword = std::get_if<ast::KeywordArgument>(&expression->node)) {
    PatternPtr pattern = make_pattern(Pattern::Kind::Default, span, std::move(keyword->name));
    pattern->value = std::move(keyword->value);
    return pattern;
  }
  if (auto* call = std::get_if<ast::Call>(&expression->node)) {
    if (const auto* name = std::get_if<ast::Name>(&call->callee->node)) {
      PatternPtr pattern = make_pattern(Pattern::Kind::Record, span, name->name);
      pattern->first = to_pattern(std::move(call->argument));
      return pattern;
    }
  }
  PatternPtr pattern = make_pattern(Pattern::Kind::Other, span, {});
  pattern->value = std::move(expression);
  return pattern;
}

ExprPtr ExpressionParser::expression() {
  std::vector<std::size_t> starts = {tokens_.position()};
  std::vector<ExprPtr> parts;
  parts.push_back(element());
  while (tokens_.accept_mark(",")) {
    expect_after_comma();
    starts.push_back(tokens_.position());
    parts.push_back(element());
  }
  ExprPtr result = std::move(parts.back());
  for (std::size_t i = parts.size() - 1; i-- > 0;) {
    const int below = deepest(parts[i], result);
    result = make(starts[i], below, ast::Tuple{std::move(parts[i]), std::move(result)});
  }
  return result;
}

bool ExpressionParser::at_closing() const {
  return tokens_.at_form_end() || tokens_.at_closer() || tokens_.at_definition();
}

// Level 11: a lambda takes what is left of it as its pattern; its body stops at a comma.
ExprPtr ExpressionParser::element() {
  const std::size_t first = tokens_.position();
  ExprPtr left = infix(kLoosestLevel);
  if (tokens_.accept_mark("=>")) {
    const Guard guard(*this);
    ExprPtr body = element();
    const int below = deepest(left, body);
    return make(first, below, ast::Lambda{to_pattern(std::move(left)), std::move(body)});
  }
  if (tokens_.at_mark(":=")) {
    if (const auto* constant = std::get_if<ast::BoolLiteral>(&left->node)) {
      left->node = ast::Name{constant->value ? "t" : "f"};
    }
    const auto* name = std::get_if<ast::Name>(&left->node);
    if (name == nullptr) tokens_.fail(left->span, "only a name can stand left of `:=`");
    tokens_.take();
    const Guard guard(*this);
    ExprPtr value = element();
    const int below = deepest(value);
    return make(first, below, ast::KeywordArgument{name->name, std::move(value)});
  }
  return left;
}

ExprPtr ExpressionParser::infix(int level) {
  const Guard guard(*this);
  const std::size_t first = tokens_.position();
  ExprPtr left = unary();
  while (true) {
    const Token& token = tokens_.peek();
    const InfixOperator* infix_operator =
        token.kind == Kind::Punctuation || token.kind == Kind::Keyword
            ? find_infix_operator(token.text)
            : nullptr;
    if (infix_operator == nullptr || infix_operator->level > level) return left;
    tokens_.take();
    expect_operand();
    const bool right_associative = infix_operator->associativity == InfixOperator::Right;
    ExprPtr right = infix(right_associative ? infix_operator->level : infix_operator->level - 1);
    const int below = std::max(depth_of_chain(left), depth(right));
    left = make(
        first, below,
        ast::Operation{std::string(infix_operator->spelling), std::string(infix_operator->function),
                       std::move(left), std::move(right)});
  }
}

ExprPtr ExpressionParser::unary() {
  const PrefixOperator* prefix =
      tokens_.at(Kind::Punctuation) ? find_prefix_operator(tokens_.peek().text) : nullptr;
  if (prefix == nullptr || at_negative_number()) return postfix();
  const Guard guard(*this);
  const std::size_t first = tokens_.position();
  tokens_.take();
  expect_operand();
  ExprPtr operand = unary();
  const int below = deepest(operand);
  return make(first, below,
              ast::Operation{std::string(prefix->spelling), std::string(prefix->function), nullptr,
                             std::move(operand)});
}

/// A number with its sign is one literal: the least one has no positive counterpart.
bool ExpressionParser::at_negative_number() const {
  return tokens_.at_mark("-") && tokens_.peek(1).kind == Kind::Integer;
}

bool ExpressionParser::at_juxtaposed() const {
  switch (tokens_.peek().kind) {
    case Kind::Name:
    case Kind::Integer:
    case Kind::Float:
    case Kind::Character:
    case Kind::String:
      return true;
    case Kind::Keyword:
      return tokens_.at_word("if") || tokens_.at_word("let") || tokens_.at_word("closure");
    case Kind::Punctuation:
      return tokens_.at_mark("{") || tokens_.at_mark("#") || tokens_.at_mark("@");
    case Kind::Error:
    case Kind::End:
      return false;
  }
  return false;
}

ExprPtr ExpressionParser::postfix() {
  const std::size_t first = tokens_.position();
  ExprPtr left = primary();
  while (true) {
    if (tokens_.accept_mark("(")) {
      const std::size_t opener = tokens_.position() - 1;
      if (tokens_.accept_mark(")")) {
        tokens_.fail(tokens_.span_from(opener), "this call has no argument",
                     "every function has at least one argument");
      }
      ExprPtr argument = expression();
      tokens_.expect_close(")", opener, "after the argument of a call");
      const int below = deepest(left, argument);
      left = make(first, below, ast::Call{std::move(left), std::move(argument)});
    } else if (tokens_.accept_mark("[")) {
      const std::size_t opener = tokens_.position() - 1;
      ExprPtr position = expression();
      if (tokens_.at_mark(":")) {
        tokens_.fail_expected("`]` after an index",
                              "a part of a sequence is `subseq(v, start, end)`, `take(v, n)` or "
                              "`drop(v, n)`");
      }
      tokens_.expect_close("]", opener, "after an index");
      const int below = deepest(left, position);
      left = make(first, below, ast::Index{std::move(left), std::move(position)});
    } else if (tokens_.accept_mark(".")) {
      if (!tokens_.at(Kind::Name)) {
        tokens_.fail_expected("the name of a field", "`p.x` is the field `x` of the record `p`");
      }
      const Token& name = tokens_.take();
      const int below = deepest(left);
      left = make(first, below, ast::Field{std::move(left), name.text, tokens_.span_of(name)});
    } else if (at_juxtaposed()) {
      const bool prefixed = tokens_.at_mark("#") || tokens_.at_mark("@");
      ExprPtr argument = prefixed ? unary() : primary();
      const int below = deepest(left, argument);
      left = make(first, below, ast::Call{std::move(left), std::move(argument)});
    } else {
      return left;
    }
  }
}

ExprPtr ExpressionParser::primary() {
  if (tokens_.at_word("if")) return conditional();
  if (tokens_.at_word("let")) return let();
  if (tokens_.at_word("closure")) return closure();
  if (tokens_.at_mark("{")) return apply_to_each();
  if (tokens_.at_mark("[")) return bracket();
  if (tokens_.accept_mark("(")) {
    const std::size_t first = tokens_.position() - 1;
    ExprPtr inner = expression();
    tokens_.expect_close(")", first, "after the expression in parentheses");
    inner->span = tokens_.span_from(first);
    return inner;
  }
  return literal();
}

ExprPtr ExpressionParser::literal() {
  const std::size_t first = tokens_.position();
  const std::string sign = at_negative_number() ? tokens_.take().text : "";
  const Token& token = tokens_.peek();
  if (first > 0 && at_closing()) fail_missing_expression();
  switch (token.kind) {
    case Kind::Name:
      if (token.text == "time" && tokens_.peek(1).is(Kind::Punctuation, "(")) return time();
      tokens_.take();
      if (token.text == "t" || token.text == "f") {
        return make(first, 0, ast::BoolLiteral{token.text == "t"});
      }
      return make(first, 0, ast::Name{token.text});
    case Kind::Integer: {
      tokens_.take();
      const std::optional<std::int64_t> value = vcode::read_integer(sign + token.text);
      if (!value) tokens_.fail(tokens_.span_from(first), "this number does not fit in 64 bits");
      return make(first, 0, ast::IntLiteral{*value});
    }
    case Kind::Float:
      tokens_.take();
      return make(first, 0, ast::FloatLiteral{vcode::read_real(token.text)});
    case Kind::Character:
      tokens_.take();
      return make(first, 0, ast::CharLiteral{static_cast<unsigned char>(token.text[0])});
    case Kind::String:
      tokens_.take();
      return make(first, 0, ast::StringLiteral{token.text});
    case Kind::Keyword:
      tokens_.fail_expected("an expression",
                            fmt::format("`{}` is a word of the language, not a name", token.text));
    case Kind::Punctuation:
      tokens_.fail_expected("an expression",
                            token.text == "+" ? "there is no `+` in front of a number" : "");
    case Kind::Error:
    case Kind::End:
      break;
  }
  tokens_.fail_expected("an expression");
}

ExprPtr ExpressionParser::time() {
  const std::size_t first = tokens_.position();
  tokens_.take();
  tokens_.take();
  ExprPtr body = expression();
  tokens_.expect_close(")", first + 1, "after the argument of `time`");
  const int below = deepest(body);
  return make(first, below, ast::Time{std::move(body)});
}

ExprPtr ExpressionParser::conditional() {
  const std::size_t first = tokens_.position();
  tokens_.take();
  ExprPtr condition = expression();
  if (!tokens_.accept_word("then")) fail_no_then(first);
  const std::size_t branch = tokens_.position();
  ExprPtr then_branch = expression();
  if (!tokens_.accept_word("else")) fail_no_else(first, branch);
  ExprPtr else_branch = expression();
  const int below = deepest(condition, then_branch, else_branch);
  return make(first, below,
              ast::If{std::move(condition), std::move(then_branch), std::move(else_branch)});
}

ExprPtr ExpressionParser::let() {
  const std::size_t first = tokens_.position();
  tokens_.take();
  ast::Let result;
  std::size_t begin = first;  // of the last binding
  try {
    do {
      begin = tokens_.position();
      result.bindings.push_back(binding());
    } while (tokens_.accept_mark(";") && !tokens_.at_word("in"));
    if (tokens_.at_mark("=")) fail_separator("bindings of `let` are separated by `;`");
    tokens_.expect_word("in", "after the bindings of `let`");
  } catch (const Failure&) {
    fail_without_in(first, begin);
    throw;
  }
  result.body = expression();
  const int below = std::max(deepest(result.bindings), deepest(result.body));
  return make(first, below, std::move(result));
}

ast::Binding ExpressionParser::binding() {
  if (tokens_.at_definition()) {
    const Token& word = tokens_.take();
    tokens_.fail(tokens_.span_of(word), fmt::format("`{}` stands inside a `let`", word.text),
                 "functions and datatypes are defined at the top level; a small function can be "
                 "bound: `sq = (x => x * x)`");
  }
  ExprPtr left = expression();
  if (!tokens_.at_mark("=")) {
    const auto* operation = std::get_if<ast::Operation>(&left->node);
    const bool equality = operation != nullptr && operation->spelling == "==";
    const bool keyword = std::holds_alternative<ast::KeywordArgument>(left->node);
    if (equality || keyword) {
      tokens_.fail(left->span, fmt::format("`{}` in a binding of `let`", equality ? "==" : ":="),
                   "a binding is written with `=`: `let y = 3 in y`");
    }
    if (tokens_.at_mark(":")) {
      tokens_.fail_expected("`=` in a binding of `let`", "a binding has no type: `let x = 3 in x`");
    }
  }
  if (!tokens_.accept_mark("=")) {
    tokens_.fail_expected("`=` in a binding of `let`", "a binding reads `name = value`");
  }
  ExprPtr value = expression();
  return {to_pattern(std::move(left)), std::move(value)};
}

ExprPtr ExpressionParser::closure() {
  const std::size_t first = tokens_.position();
  tokens_.take();
  const std::size_t opener = tokens_.position();
  tokens_.expect_mark("(", "after `closure`");
  ExprPtr function = element();
  tokens_.expect_mark(",", "between the function and its first argument");
  ExprPtr value = expression();
  tokens_.expect_close(")", opener, "after the arguments of `closure`");
  const int below = deepest(function, value);
  return make(first, below, ast::Closure{std::move(function), std::move(value)});
}

// `left`, which begins at `first`, is what stands before `in`, or the name that stands for `a in
// a`.
ast::Binding ExpressionParser::generator(std::size_t first, ExprPtr left) {
  if (tokens_.accept_word("in")) {
    ExprPtr value = expression();
    return {to_pattern(std::move(left)), std::move(value)};
  }
  const auto* name = std::get_if<ast::Name>(&left->node);
  const bool ends = tokens_.at_mark(";") || tokens_.at_mark("|") || tokens_.at_mark("}");
  if (name == nullptr || !ends) fail_no_in(first, *left);
  auto value = std::make_unique<Expr>();
  value->span = left->span;
  value->node = *name;
  return {to_pattern(std::move(left)), std::move(value)};
}

/// A pattern as the expression that has its value.
ExprPtr ExpressionParser::pattern_value(std::size_t first, const ast::Pattern& pattern) {
  using PatternKind = ast::Pattern::Kind;
  const auto name = [&] { return make(first, 0, ast::Name{pattern.name}); };
  if (pattern.kind == PatternKind::Pair) {
    return make(
        first, 0,
        ast::Tuple{pattern_value(first, *pattern.first), pattern_value(first, *pattern.second)});
  }
  if (pattern.kind == PatternKind::Record) {
    return make(first, 0, ast::Call{name(), pattern_value(first, *pattern.first)});
  }
  return name();
}

/// `{* body : p in s; q in u | c}`: the function (p, q) => (body, c) applied to one element of
/// zip(s, u) after another; then what the sieve lets through.
ExprPtr ExpressionParser::serial_each(std::size_t first, int below, ast::ApplyToEach each) {
  const auto operation = [&](const char* name, ExprPtr left, ExprPtr right) {
    return make(first, below + 1, ast::Operation{name, name, std::move(left), std::move(right)});
  };
  if (!each.body) each.body = pattern_value(first, *each.generators[0].pattern);
  const bool filtered = each.sieve != nullptr;
  if (filtered) {
    each.body = make(first, below, ast::Tuple{std::move(each.body), std::move(each.sieve)});
  }
  ast::Binding all = std::move(each.generators.back());
  for (std::size_t i = each.generators.size() - 1; i-- > 0;) {
    auto pattern = std::make_unique<ast::Pattern>();
    pattern->kind = ast::Pattern::Kind::Pair;
    pattern->span = each.generators[i].pattern->span;
    pattern->first = std::move(each.generators[i].pattern);
    pattern->second = std::move(all.pattern);
    all.pattern = std::move(pattern);
    all.value = operation("zip", std::move(each.generators[i].value), std::move(all.value));
  }
  ExprPtr function = make(first, below, ast::Lambda{std::move(all.pattern), std::move(each.body)});
  ExprPtr results = operation("{* }", std::move(function), std::move(all.value));
  return filtered ? operation("pack", nullptr, std::move(results)) : std::move(results);
}

ExprPtr ExpressionParser::apply_to_each() {
  const std::size_t first = tokens_.position();
  tokens_.take();
  ast::ApplyToEach result;
  const bool serial = tokens_.accept_mark("*");
  std::size_t begin = tokens_.position();  // of the last generator
  try {
    ExprPtr left = expression();
    if (tokens_.accept_mark(":")) {
      result.body = std::move(left);
      begin = tokens_.position();
      left = expression();
    }
    result.generators.push_back(generator(begin, std::move(left)));
    while (tokens_.accept_mark(";")) {
      begin = tokens_.position();
      result.generators.push_back(generator(begin, expression()));
    }
    if (tokens_.accept_mark("|")) result.sieve = expression();
    if (tokens_.at_word("in")) {
      tokens_.fail_expected("`}`", "generators are separated by `;`, not by `,`");
    }
    tokens_.expect_close("}", first, "after the generators of an apply-to-each");
  } catch (const Failure&) {
    if (tokens_.has_counterpart(first)) throw;
    resume_at(begin);
    tokens_.fail_open(first, "is never closed");
  }
  const int below = std::max(deepest(result.body, result.sieve), deepest(result.generators));
  if (serial) return serial_each(first, below, std::move(result));
  return make(first, below, std::move(result));
}

ExprPtr ExpressionParser::bracket() {
  const std::size_t first = tokens_.position();
  tokens_.take();
  if (tokens_.accept_mark("]")) {
    const bool typed = tokens_.at(Kind::Name) || tokens_.at_mark("[") || tokens_.at_mark("{") ||
                       tokens_.at_mark("(");
    if (!typed) {
      tokens_.fail_expected("an element type after `[]`",
                            "the empty sequence names its element type: `[] int`");
    }
    ast::TypeExprPtr element_type = atom_type();
    return make(first, 0, ast::EmptySequence{std::move(element_type)});
  }
  ExprPtr start = element();
  if (tokens_.accept_mark(":")) {
    ExprPtr last = element();
    ExprPtr stride = tokens_.accept_mark(":") ? element() : nullptr;
    tokens_.expect_close("]", first, "after a range");
    const int below = deepest(start, last, stride);
    return make(first, below, ast::Range{std::move(start), std::move(last), std::move(stride)});
  }
  ast::SequenceLiteral sequence;
  int below = deepest(start);
  sequence.elements.push_back(std::move(start));
  while (tokens_.accept_mark(",")) {
    expect_after_comma();
    sequence.elements.push_back(element());
    below = std::max(below, deepest(sequence.elements.back()));
  }
  if (tokens_.at_word("in")) {
    tokens_.fail_expected("`]`", "an apply-to-each stands in braces: `{x * x : x in v}`");
  }
  tokens_.expect_close("]", first, "after the elements of a sequence");
  if (sequence.elements.size() > ast::kMaxElements) {
    tokens_.fail(tokens_.span_from(first),
                 fmt::format("a sequence literal may have at most {} elements, this one has {}",
                             ast::kMaxElements, sequence.elements.size()));
  }
  return make(first, below, std::move(sequence));
}

// ---- Types

ast::TypeExprPtr ExpressionParser::make_type(ast::TypeExpr::Kind kind, std::size_t first,
                                             ast::TypeExprPtr left, ast::TypeExprPtr right) {
  auto result = std::make_unique<ast::TypeExpr>();
  result->kind = kind;
  result->first = std::move(left);
  result->second = std::move(right);
  result->span = tokens_.span_from(first);
  return result;
}

ast::TypeExprPtr ExpressionParser::type() {
  const Guard guard(*this);
  const std::size_t first = tokens_.position();
  ast::TypeExprPtr left = arrow_type();
  if (!tokens_.accept_mark(",")) return left;
  ast::TypeExprPtr right = type();
  return make_type(ast::TypeExpr::Kind::Pair, first, std::move(left), std::move(right));
}

ast::TypeExprPtr ExpressionParser::arrow_type() {
  const Guard guard(*this);
  const std::size_t first = tokens_.position();
  ast::TypeExprPtr left = atom_type();
  if (!tokens_.accept_mark("->")) return left;
  ast::TypeExprPtr right = arrow_type();
  return make_type(ast::TypeExpr::Kind::Arrow, first, std::move(left), std::move(right));
}

ast::TypeExprPtr ExpressionParser::atom_type() {
  const std::size_t first = tokens_.position();
  if (tokens_.accept_mark("(")) {
    ast::TypeExprPtr inner = type();
    tokens_.expect_close(")", first, "after the type in parentheses");
    inner->span = tokens_.span_from(first);
    return inner;
  }
  if (tokens_.accept_mark("[")) {
    ast::TypeExprPtr inner = type();
    tokens_.expect_close("]", first, "after the element type");
    return make_type(ast::TypeExpr::Kind::Sequence, first, std::move(inner), nullptr);
  }
  if (tokens_.accept_mark("{")) {
    ast::TypeExprPtr inner = type();
    tokens_.expect_close("}", first, "after the element type");
    return make_type(ast::TypeExpr::Kind::Stream, first, std::move(inner), nullptr);
  }
  if (!tokens_.at(Kind::Name)) tokens_.fail_expected("a type");
  const std::string name = tokens_.take().text;
  ast::TypeExprPtr argument;
  if (tokens_.accept_mark("(")) {
    argument = type();
    tokens_.expect_mark(")", "after the arguments of a datatype");
  }
  const auto kind = argument ? ast::TypeExpr::Kind::Apply : ast::TypeExpr::Kind::Name;
  ast::TypeExprPtr result = make_type(kind, first, std::move(argument), nullptr);
  result->name = name;
  return result;
}

ast::TypeDef ExpressionParser::record_definition(
    std::vector<ast::DatatypeForm::FieldName>& fields) {
  const bool named = tokens_.at_mark("(") && tokens_.peek(1).kind == Kind::Name &&
                     tokens_.peek(2).is(Kind::Punctuation, ":");
  if (!named) return type_definition();
  const std::size_t first = tokens_.position();
  tokens_.take();
  std::vector<ast::TypeExprPtr> types;
  do {
    if (!tokens_.at(Kind::Name)) tokens_.fail_expected("the name of a field");
    const Token& name = tokens_.take();
    fields.push_back({name.text, tokens_.span_of(name)});
    if (!tokens_.accept_mark(":")) {
      tokens_.fail_expected("`:` and the type of the field",
                            "either all fields have names, or none has one");
    }
    types.push_back(arrow_type());
  } while (tokens_.accept_mark(","));
  tokens_.expect_close(")", first, "after the fields of a datatype");
  ast::TypeDef result;
  result.type = std::move(types.back());
  for (std::size_t i = types.size() - 1; i-- > 0;) {
    result.type =
        make_type(ast::TypeExpr::Kind::Pair, first, std::move(types[i]), std::move(result.type));
  }
  if (tokens_.accept_mark("::")) context(result);
  return result;
}

ast::TypeDef ExpressionParser::type_definition() {
  ast::TypeDef result;
  result.type = type();
  if (tokens_.accept_mark("::")) context(result);
  return result;
}

void ExpressionParser::context(ast::TypeDef& definition) {
  const bool parenthesised = tokens_.accept_mark("(");
  // Without parentheses a `;` may also end the form: what follows tells.
  const auto goes_on = [&] {
    return tokens_.at_mark(";") && tokens_.peek(1).kind == Kind::Name &&
           tokens_.peek(2).is(Kind::Keyword, "in");
  };
  while (true) {
    const std::size_t first = tokens_.position();
    if (!tokens_.at(Kind::Name)) tokens_.fail_expected("a type variable");
    const std::string variable = tokens_.take().text;
    tokens_.expect_word("in", "after a type variable");
    if (!tokens_.at(Kind::Name)) tokens_.fail_expected("a class of types");
    const std::string type_class = tokens_.take().text;
    definition.context.push_back({variable, type_class, tokens_.span_from(first)});
    if (!goes_on()) break;
    tokens_.take();
  }
  if (parenthesised) tokens_.expect_mark(")", "after the context of a type");
}

}  // namespace neslc
