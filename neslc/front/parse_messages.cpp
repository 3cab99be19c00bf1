// Where an expression does not follow the grammar: which mistake it is, and what is said about it.
#include <fmt/format.h>

#include "neslc/front/expression_parser.hpp"
#include "neslc/front/hints.hpp"
#include "neslc/front/operators.hpp"

namespace neslc {

using Kind = Token::Kind;

// ---- Operands and elements

void ExpressionParser::expect_after_comma() const {
  if (!at_closing()) return;
  tokens_.fail(tokens_.span_of(tokens_.previous()), "nothing follows this comma",
               "a comma stands only between two elements");
}

// Behind a sign or word that an expression follows.
void ExpressionParser::fail_missing_expression() const {
  const Token& before = tokens_.previous();
  const bool follows = (before.kind == Kind::Punctuation || before.kind == Kind::Keyword) &&
                       !before.is(Kind::Punctuation, ";");
  if (!follows) tokens_.fail_expected("an expression");
  tokens_.fail(tokens_.span_of(before),
               fmt::format("an expression is missing behind `{}`", before.text));
}

// Fails unless an operand follows the operator that was taken.
void ExpressionParser::expect_operand() const {
  const Token& sign = tokens_.previous();
  if (at_closing()) {
    tokens_.fail(tokens_.span_of(sign), fmt::format("an operand is missing behind `{}`", sign.text),
                 std::string(foreign_mark(sign.text).hint));
  }
  const Token& next = tokens_.peek();
  const bool is_operator = next.kind == Kind::Punctuation || next.kind == Kind::Keyword;
  const bool apart = next.begin > sign.end;
  if (is_operator && apart && find_infix_operator(next.text) != nullptr &&
      find_prefix_operator(next.text) == nullptr) {
    tokens_.fail(tokens_.span_of(next),
                 fmt::format("an operand is missing between `{}` and `{}`", sign.text, next.text));
  }
}

// ---- Bindings, conditionals, generators

// At an `=` that begins a binding before the one in front has ended.
void ExpressionParser::fail_separator(const char* rule) const {
  const std::size_t left = tokens_.left_side();
  const Token& before = tokens_.tokens()[left - 1];
  if (before.is(Kind::Punctuation, ","))
    tokens_.fail(tokens_.span_of(before), "a `;` belongs here, not a `,`", rule);
  tokens_.fail_missing_end(left, rule);
}

void ExpressionParser::fail_no_then(std::size_t first) const {
  if (tokens_.at_mark("}")) {
    tokens_.fail_open(first, "has no `then`", "a condition on the elements stands behind `|`");
  }
  if (tokens_.at_form_end() || tokens_.at_word("else") || tokens_.at_definition()) {
    tokens_.fail_open(first, "has no `then`", "write `if c then a else b`");
  }
  tokens_.fail_expected(
      "`then` after the condition of `if`",
      tokens_.at_mark(":") ? "a conditional is written `if c then a else b`" : "");
}

// `branch` is where the branch behind `then` begins.
void ExpressionParser::fail_no_else(std::size_t first, std::size_t branch) {
  for (std::size_t i = branch; i < tokens_.position(); ++i) {
    const Token& token = tokens_.tokens()[i];
    if (token.kind != Kind::Name || !is_else_if(token.text)) continue;
    tokens_.fail(tokens_.span_of(token), fmt::format("NESL has no `{}`", token.text),
                 hint_for_name(token.text));
  }
  if (tokens_.at_mark(";") && tokens_.peek(1).is(Kind::Keyword, "else")) {
    const Token& end = tokens_.take();
    tokens_.fail(tokens_.span_of(end), "a `;` stands in front of `else`",
                 "leave it out: `;` ends a form");
  }
  constexpr const char* kBoth = "every `if` needs both `then` and `else`";
  if (tokens_.at_form_end() || tokens_.at_definition()) {
    tokens_.fail_open(first, "has no `else`", kBoth);
  }
  tokens_.fail_expected("`else`", kBoth);
}

// Says so if the `let` at `first`, in whose binding at `begin` an error was found, has no `in`. The
// rest of the form may be another one, which then is read by itself.
void ExpressionParser::fail_without_in(std::size_t first, std::size_t begin) {
  if (tokens_.has_counterpart(first)) return;
  resume_at(begin);
  const bool top = first == 0 || tokens_.tokens()[first - 1].is(Kind::Punctuation, ";");
  tokens_.fail_open(first, "has no `in`",
                    top ? "at the top level a binding needs no `let`: `x = 5;`"
                        : "the result stands behind the bindings: `let y = 1; z = 2 in y + z`");
}

// A part that begins in a line of its own, behind a `;`, belongs to the next form; but at the end
// of the text more of it may follow at a prompt.
void ExpressionParser::resume_at(std::size_t begin) {
  if (tokens_.at(Kind::End)) return;
  const std::vector<Token>& tokens = tokens_.tokens();
  const bool own_line = begin > 0 && tokens[begin - 1].is(Kind::Punctuation, ";") &&
                        tokens[begin].line > tokens[begin - 1].line;
  if (own_line) tokens_.skip_to(begin - 1);
}

// A generator without `in`.
void ExpressionParser::fail_no_in(std::size_t first, const ast::Expr& left) const {
  const vcode::Span all = tokens_.span_from(first);
  const Token& before = tokens_.tokens()[first - 1];
  if (const auto* operation = std::get_if<ast::Operation>(&left.node)) {
    if (operation->spelling == "<-") {
      tokens_.fail(all, "a generator is written with `in`, not with `<-`",
                   "an apply-to-each reads `{x * x : x in v}`");
    }
    if (before.is(Kind::Punctuation, ";")) {
      tokens_.fail(all, "this is not a generator", "a condition stands behind `|`, not behind `;`");
    }
  }
  const bool sequence_follows =
      std::holds_alternative<ast::Index>(left.node) || std::holds_alternative<ast::Call>(left.node);
  if (sequence_follows && before.is(Kind::Punctuation, ":")) {
    const std::size_t next = tokens_.after_group(first);
    tokens_.fail(tokens_.span_of(tokens_.tokens()[next]), "`in` is missing here",
                 "a generator reads `x in v`");
  }
  if (tokens_.at_mark("}") || tokens_.at_mark("|")) {
    tokens_.fail(all, "this apply-to-each has no `in`",
                 "it reads `{x * x : x in v}`; braces mean nothing else");
  }
  tokens_.fail_expected("`in` and a sequence", "a generator reads `pattern in sequence`");
}

}  // namespace neslc
