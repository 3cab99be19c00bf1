#include "neslc/front/token_stream.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "neslc/front/hints.hpp"

namespace neslc {
namespace {

using Kind = Token::Kind;

std::string described(const Token& token, const vcode::Source& source) {
  if (token.kind == Kind::End) return "the end of the text";
  if (token.kind == Kind::String) return "a string";
  const std::string_view text = source.text().substr(token.begin, token.end - token.begin);
  return fmt::format("`{}`", vcode::escaped(text.substr(0, 40)));
}

}  // namespace

TokenStream::TokenStream(std::shared_ptr<const vcode::Source> source, LexerOptions options)
    : source_(std::move(source)), tokens_(tokenize(*source_, options)) {}

const Token& TokenStream::peek(std::size_t ahead) const {
  return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}

const Token& TokenStream::take() {
  const Token& token = peek();
  if (token.kind == Kind::Error) fail(span_of(token), token.text, token.hint);
  if (token.kind != Kind::End) ++position_;
  return token;
}

bool TokenStream::accept_mark(std::string_view text) {
  if (!at_mark(text)) return false;
  ++position_;
  return true;
}

bool TokenStream::accept_word(std::string_view text) {
  if (!at_word(text)) return false;
  ++position_;
  return true;
}

void TokenStream::expect_mark(std::string_view text, std::string_view after) {
  if (!accept_mark(text)) fail_expected(fmt::format("`{}` {}", text, after));
}

void TokenStream::expect_word(std::string_view text, std::string_view after) {
  if (!accept_word(text)) fail_expected(fmt::format("`{}` {}", text, after));
}

void TokenStream::expect_close(std::string_view text, std::size_t opener, std::string_view after) {
  if (accept_mark(text)) return;
  if (at_form_end() || at_definition()) fail_open(opener, "is never closed");
  fail_expected(
      fmt::format("`{}` {}", text, after), {},
      {{fmt::format("it closes this `{}`", tokens_[opener].text), span_of(tokens_[opener])}});
}

bool TokenStream::starts_definition(const Token& token) {
  return token.is(Kind::Keyword, "function") || token.is(Kind::Keyword, "datatype");
}

bool TokenStream::at_form_end() const {
  return at_mark(";") || at_mark("$") || at(Kind::End);
}

namespace {

bool opens(const Token& token) {
  return token.is(Kind::Punctuation, "(") || token.is(Kind::Punctuation, "[") ||
         token.is(Kind::Punctuation, "{");
}
bool closes(const Token& token) {
  return token.is(Kind::Punctuation, ")") || token.is(Kind::Punctuation, "]") ||
         token.is(Kind::Punctuation, "}");
}
std::string_view closer_of(const Token& bracket) {
  return bracket.text == "(" ? ")" : bracket.text == "[" ? "]" : "}";
}

}  // namespace

bool TokenStream::at_closer() const {
  return closes(peek());
}

bool TokenStream::has_counterpart(std::size_t opener) {
  if (counterparts_.empty()) find_counterparts();
  return counterparts_[opener];
}

void TokenStream::find_counterparts() {
  counterparts_.assign(tokens_.size(), false);
  std::vector<std::size_t> open;
  const auto is_let = [&](std::size_t opener) { return tokens_[opener].is(Kind::Keyword, "let"); };
  const auto closes_this = [&](const Token& token, std::size_t opener) {
    return !is_let(opener) && token.text == closer_of(tokens_[opener]);
  };
  const auto end_form = [&] {
    // A bracket that is never closed is the error where there is one, not the `let` around it.
    bool bracket = false;
    for (; !open.empty(); open.pop_back()) {
      if (is_let(open.back()))
        counterparts_[open.back()] = bracket;
      else
        bracket = true;
    }
  };
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    const bool begins_form =
        i > 0 && starts_definition(token) && tokens_[i - 1].is(Kind::Punctuation, ";");
    if (begins_form || token.is(Kind::Punctuation, "$")) end_form();
    if (opens(token) || token.is(Kind::Keyword, "let")) {
      open.push_back(i);
    } else if (token.is(Kind::Keyword, "in") && !open.empty() && is_let(open.back())) {
      counterparts_[open.back()] = true;
      open.pop_back();
    } else if (closes(token)) {
      // A bracket that is missing inside does not hide the one that closes what is around it.
      while (!open.empty() && !closes_this(token, open.back())) open.pop_back();
      if (open.empty()) continue;
      counterparts_[open.back()] = true;
      open.pop_back();
    }
  }
  end_form();
}

std::size_t TokenStream::after_group(std::size_t first) const {
  std::size_t at = first, open = 0;
  do {
    if (opens(tokens_[at])) ++open;
    if (closes(tokens_[at])) --open;
    ++at;
  } while (open > 0 && at + 1 < tokens_.size());
  return at;
}

std::size_t TokenStream::left_side() const {
  std::size_t at = position_ - 1, open = 0;
  while (at > 0) {
    if (closes(tokens_[at])) ++open;
    if (opens(tokens_[at])) --open;
    if (open == 0) break;
    --at;
  }
  return at;
}

vcode::Span TokenStream::span_between(const Token& first, const Token& last) const {
  if (first.kind == Kind::End) return {first.line, first.column, 1};
  const std::string_view line = source_->line(first.line);
  const std::size_t begin = first.column - 1;
  // What follows in later lines is left out, and so are the blanks before the line's end.
  std::size_t length = std::max(last.end, first.end) - first.begin;
  if (begin + length > line.size()) {
    length = line.size() - std::min(line.size(), begin);
    while (length > 1 && (line[begin + length - 1] == ' ' || line[begin + length - 1] == '\t' ||
                          line[begin + length - 1] == '\r')) {
      --length;
    }
  }
  return {first.line, first.column, static_cast<std::uint32_t>(std::max<std::size_t>(length, 1))};
}

vcode::Span TokenStream::span_of(const Token& token) const {
  return span_between(token, token);
}

vcode::Span TokenStream::span_from(std::size_t first) const {
  const std::size_t last = position_ > first ? position_ - 1 : first;
  return span_between(tokens_[first], tokens_[last]);
}

void TokenStream::fail(vcode::Span span, std::string message, std::string hint,
                       std::vector<vcode::Note> notes) const {
  StaticError error;
  error.category = Category::Syntax;
  error.source = source_;
  error.diagnostic.code = error_code(Category::Syntax);
  error.diagnostic.message = std::move(message);
  error.diagnostic.span = span;
  error.diagnostic.hint = std::move(hint);
  error.diagnostic.notes = std::move(notes);
  throw Failure{std::move(error)};
}

void TokenStream::fail_open(std::size_t opener, std::string_view problem, std::string hint) const {
  // A comment or string without end, in the same form, has taken the counterpart with it.
  for (std::size_t i = opener + 1; i < tokens_.size() && !starts_definition(tokens_[i]); ++i) {
    const Token& token = tokens_[i];
    if (token.kind == Kind::Error) fail(span_of(token), token.text, token.hint);
    if (token.is(Kind::Punctuation, ";") && tokens_[i + 1].line > token.line) break;
  }
  fail(span_of(tokens_[opener]), fmt::format("this `{}` {}", tokens_[opener].text, problem),
       std::move(hint));
}

void TokenStream::fail_missing_end(std::size_t next, std::string hint) const {
  const Token& last = tokens_[next - 1];
  const vcode::Span span = span_of(last);
  fail({span.line, span.column + span.length, 1}, "a `;` is missing here", std::move(hint));
}

// Fails if the current token belongs to a mark of another language, which may begin up to two
// tokens before.
void TokenStream::fail_foreign_mark() const {
  const Token& token = peek();
  // `..10` is a point and a number.
  const bool number = token.kind == Kind::Float && token.text.starts_with('.');
  if (token.kind != Kind::Punctuation && !number) return;
  std::size_t first = position_;
  while (first > 0 && position_ - first < 2 && tokens_[first - 1].kind == Kind::Punctuation &&
         tokens_[first - 1].end == tokens_[first].begin) {
    --first;
  }
  for (; first <= position_; ++first) {
    const Token& begin = tokens_[first];
    const ForeignMark found = foreign_mark(source_->text().substr(begin.begin));
    if (begin.begin + found.mark.size() <= token.begin) continue;
    fail({begin.line, begin.column, static_cast<std::uint32_t>(found.mark.size())},
         fmt::format("NESL has no `{}`", found.mark), std::string(found.hint));
  }
}

void TokenStream::fail_expected(std::string_view expected, std::string hint,
                                std::vector<vcode::Note> notes) const {
  const Token& token = peek();
  if (token.kind == Kind::Error) fail(span_of(token), token.text, token.hint);
  const bool in_name = position_ > 0 && tokens_[position_ - 1].kind == Kind::Name &&
                       tokens_[position_ - 1].end == token.begin;
  if (token.is(Kind::Punctuation, "'") && in_name) {
    fail(span_of(token), "a name has no `'`", "names are made of letters, digits and `_`");
  }
  fail_foreign_mark();
  if (hint.empty() && token.is(Kind::Punctuation, "=")) {
    hint = "`==` compares; `=` stands in definitions";
  }
  fail(span_of(token),
       fmt::format("{} where {} was expected", described(token, *source_), expected),
       std::move(hint), std::move(notes));
}

}  // namespace neslc
