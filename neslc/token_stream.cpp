#include "neslc/token_stream.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "neslc/hints.hpp"

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

bool TokenStream::at_form_end() const {
  return at_mark(";") || at_mark("$") || at(Kind::End);
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

void TokenStream::fail(vcode::Span span, std::string message, std::string hint) const {
  StaticError error;
  error.category = Category::Syntax;
  error.source = source_;
  error.diagnostic.code = error_code(Category::Syntax);
  error.diagnostic.message = std::move(message);
  error.diagnostic.span = span;
  error.diagnostic.hint = std::move(hint);
  throw Failure{std::move(error)};
}

// The text from the token on, or from the one before where they are written as one mark.
std::string_view TokenStream::mark_at(std::size_t position) const {
  std::size_t first = position;
  if (first > 0 && tokens_[first - 1].end == tokens_[first].begin &&
      tokens_[first - 1].kind == Kind::Punctuation &&
      tokens_[first - 1].text == tokens_[first].text) {
    --first;
  }
  return std::string_view(source_->text()).substr(tokens_[first].begin);
}

void TokenStream::fail_expected(std::string_view expected, std::string hint) const {
  const Token& token = peek();
  if (token.kind == Kind::Error) fail(span_of(token), token.text, token.hint);
  if (hint.empty()) hint = hint_for_mark(mark_at(position_));
  fail(span_of(token),
       fmt::format("{} where {} was expected", described(token, *source_), expected),
       std::move(hint));
}

}  // namespace neslc
