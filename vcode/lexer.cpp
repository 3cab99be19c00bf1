#include "vcode/lexer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace vcode {
namespace {

enum class Class : std::uint8_t { Unexpected, Word, Blank, Newline, Paren, Kernel, Quote, Comment };

constexpr auto kClasses = [] {
  std::array<Class, 256> classes{};
  const auto set = [&](std::string_view characters, Class value) {
    for (char c : characters) classes[static_cast<unsigned char>(c)] = value;
  };
  set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-+*/%<>=!._", Class::Word);
  set(" \t\r\f\v", Class::Blank);
  set("\n", Class::Newline);
  set("()", Class::Paren);
  set("[],:", Class::Kernel);
  set("\"", Class::Quote);
  set("{", Class::Comment);
  return classes;
}();

Class class_of(char c) {
  return kClasses[static_cast<unsigned char>(c)];
}

/// The end of a run of characters of one class, which may be empty.
const char* end_of_run(const char* at, const char* end, Class kind) {
  while (at != end && class_of(*at) == kind) ++at;
  return at;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

const char* skip_digits(const char* at, const char* end) {
  while (at != end && is_digit(*at)) ++at;
  return at;
}

const char* skip_sign(const char* at, const char* end) {
  return at != end && (*at == '+' || *at == '-') ? at + 1 : at;
}

// Every number consists of word characters only, so the longest match is always the whole run of
// them, and a run is a number exactly if all of it has the form of one.
Token::Kind classify(const char* begin, const char* end) {
  if (*begin > '9') return Token::Kind::Word;  // in ASCII, what begins a number is not above
  const char* digits = skip_sign(begin, end);
  const char* at = skip_digits(digits, end);
  if (at == digits) return Token::Kind::Word;
  if (at == end) return Token::Kind::Integer;
  if (*at != '.') return Token::Kind::Word;
  at = skip_digits(at + 1, end);
  if (at != end && (*at == 'e' || *at == 'E')) {
    digits = skip_sign(at + 1, end);
    at = skip_digits(digits, end);
    if (at == digits) return Token::Kind::Word;
  }
  return at == end ? Token::Kind::Real : Token::Kind::Word;
}

Token::Kind punctuation(char c) {
  switch (c) {
    case '(':
      return Token::Kind::LeftParen;
    case ')':
      return Token::Kind::RightParen;
    case '[':
      return Token::Kind::LeftBracket;
    case ']':
      return Token::Kind::RightBracket;
    case ',':
      return Token::Kind::Comma;
    default:
      return Token::Kind::Colon;
  }
}

std::uint32_t saturate(std::ptrdiff_t value) {
  constexpr std::ptrdiff_t kMax = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(value, kMax));
}

}  // namespace

bool is_word(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return class_of(c) == Class::Word; }) &&
         classify(text.data(), text.data() + text.size()) == Token::Kind::Word;
}

Lexer::Lexer(const Source& source, Diagnostics& diagnostics)
    : diagnostics_(diagnostics),
      at_(source.text().data()),
      end_(source.text().data() + source.text().size()),
      line_begin_(at_) {}

Span Lexer::span(const char* begin, const char* end) const {
  return {line_, saturate(begin - line_begin_ + 1), saturate(end - begin)};
}

bool Lexer::is_unexpected(char c) const {
  const Class kind = class_of(c);
  return kind == Class::Unexpected || (kind == Class::Kernel && !in_kernel_);
}

Token Lexer::next() {
  while (true) {
    at_ = end_of_run(at_, end_, Class::Blank);
    if (at_ == end_) break;
    const char* const begin = at_;
    switch (class_of(*begin)) {
      case Class::Blank:
        break;  // not behind a run of blanks
      case Class::Newline:
        start_line_at(++at_);
        break;
      case Class::Word:
        at_ = end_of_run(begin, end_, Class::Word);
        return {
            classify(begin, at_), {begin, static_cast<std::size_t>(at_ - begin)}, span(begin, at_)};
      case Class::Kernel:
        if (!in_kernel_) {
          skip_unexpected();
          break;
        }
        [[fallthrough]];
      case Class::Paren:
        ++at_;
        return {punctuation(*begin), {begin, 1}, span(begin, at_)};
      case Class::Quote:
        return string();
      case Class::Comment:
        skip_comment();
        break;
      case Class::Unexpected:
        skip_unexpected();
        break;
    }
  }
  return {Token::Kind::End, {}, span(end_, end_)};
}

void Lexer::skip_to(const char* target) {
  const char* from = at_;
  while (const auto* newline = static_cast<const char*>(
             std::memchr(from, '\n', static_cast<std::size_t>(target - from)))) {
    from = newline + 1;
    start_line_at(from);
  }
  at_ = target;
}

// Moves behind the next `mark` and returns its place; null if there is none.
const char* Lexer::find_closing(char mark) {
  const char* const from = at_ + 1;
  const auto* closing =
      static_cast<const char*>(std::memchr(from, mark, static_cast<std::size_t>(end_ - from)));
  if (closing == nullptr) {
    at_ = end_;
    broken_ = true;
    return nullptr;
  }
  skip_to(closing + 1);
  return closing;
}

void Lexer::skip_comment() {
  const Span opening = span(at_, at_ + 1);
  if (find_closing('}') == nullptr) {
    fail(ErrorCode::UnterminatedComment, opening, "a comment that is never closed with `}`");
  }
}

Token Lexer::string() {
  const char* const begin = at_;
  Span place = span(begin, begin + 1);
  const char* const closing = find_closing('"');
  if (closing == nullptr) {
    fail(ErrorCode::UnterminatedString, place, "a string that is never closed with `\"`");
    return {Token::Kind::End, {}, span(end_, end_)};
  }
  const std::string_view content(begin + 1, static_cast<std::size_t>(closing - begin - 1));
  const std::size_t newline = content.find('\n');
  const bool one_line = newline == std::string_view::npos;
  place.length = saturate(one_line ? at_ - begin : static_cast<std::ptrdiff_t>(newline) + 1);
  return {Token::Kind::String, content, place};
}

// A run of such characters gives one warning: they may be the bytes of one character of another
// encoding, or a file that is no program at all.
void Lexer::skip_unexpected() {
  const char* const begin = at_;
  while (at_ != end_ && is_unexpected(*at_)) ++at_;
  if (!diagnostics_.keeps(Severity::Warning)) {
    diagnostics_.drop(Severity::Warning);
    return;
  }
  constexpr std::ptrdiff_t kShown = 16;
  const std::string_view shown(begin, static_cast<std::size_t>(std::min(at_ - begin, kShown)));
  diagnostics_.add({.severity = Severity::Warning,
                    .code = ErrorCode::UnexpectedCharacter,
                    .message = fmt::format("skipped `{}`{}, which has no meaning here",
                                           escaped(shown), at_ - begin > kShown ? "..." : ""),
                    .span = span(begin, at_),
                    .function = {},
                    .notes = {},
                    .hint = {}});
}

void Lexer::fail(ErrorCode code, Span span, std::string_view message) {
  diagnostics_.add({.severity = Severity::Error,
                    .code = code,
                    .message = std::string(message),
                    .span = span,
                    .function = {},
                    .notes = {},
                    .hint = {}});
}

}  // namespace vcode
