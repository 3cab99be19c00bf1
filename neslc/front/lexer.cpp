#include "neslc/front/lexer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "neslc/front/hints.hpp"
#include "neslc/front/lower_case.hpp"
#include "vcode/diagnostics.hpp"

namespace neslc {
namespace {

constexpr std::string_view kKeywords[] = {"function", "datatype", "let",  "in",     "if",
                                          "then",     "else",     "and",  "or",     "xor",
                                          "nor",      "nand",     "pair", "closure"};

constexpr std::string_view kPairs[] = {
    "->", "<-", "=>", "==", "/=", "<=", ">=", "++", "||", "::", ":=", ">>", "&=", "|="};

constexpr std::string_view kSpecial = "-+#&'()*,./:;<=>@[\\]^`{?|}!$";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

class Lexer {
 public:
  Lexer(const vcode::Source& source, LexerOptions options)
      : text_(source.text()), options_(options), line_(source.first_line()) {}

  std::vector<Token> all() {
    do {
      next();
    } while (tokens_.back().kind != Token::Kind::End);
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool at_end() const { return at_ >= text_.size(); }

  void advance(std::size_t count = 1) {
    for (; count > 0 && !at_end(); --count, ++at_) {
      if (text_[at_] == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
      }
    }
  }

  void start() {
    Token& token = tokens_.emplace_back();
    token.begin = at_;
    token.line = line_;
    token.column = static_cast<std::uint32_t>(at_ - line_begin_ + 1);
  }

  void finish(Token::Kind kind, std::string text) {
    tokens_.back().kind = kind;
    tokens_.back().text = std::move(text);
    tokens_.back().end = at_;
  }

  // A comment or string without end; what is in the lines below can be read all the same.
  void unclosed(std::string message, std::string hint) {
    const std::size_t end = std::min(text_.find('\n', tokens_.back().begin), text_.size());
    at_ = tokens_.back().begin;
    line_ = tokens_.back().line;
    line_begin_ = at_ + 1 - tokens_.back().column;
    advance(end - at_);
    finish(Token::Kind::Error, std::move(message));
    tokens_.back().hint = std::move(hint);
  }

  // True unless a comment has no end, which becomes an Error token.
  bool skip_blanks() {
    while (!at_end()) {
      if (is_blank(peek())) {
        advance();
      } else if (peek() == '%') {
        const std::size_t close = text_.find('%', at_ + 1);
        if (close == std::string_view::npos) {
          start();
          unclosed("this comment is never closed by a second `%`",
                   "`%` begins a comment; the remainder is `rem(a, b)`");
          return false;
        }
        advance(close + 1 - at_);
      } else {
        break;
      }
    }
    return true;
  }

  void next() {
    if (!skip_blanks()) return;
    start();
    if (at_end()) return finish(Token::Kind::End, "");
    const char c = peek();
    if (is_name_start(c)) return name();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '`') return character();
    if (c == '"') return string();
    if (kSpecial.find(c) != std::string_view::npos) return punctuation();
    // One token for a run of such characters, so that a character of several bytes is one error.
    const std::size_t begin = at_;
    const auto unknown = [this] {
      const char u = peek();
      return !at_end() && !is_blank(u) && !is_name_start(u) && !is_digit(u) && u != '%' &&
             u != '"' && kSpecial.find(u) == std::string_view::npos;
    };
    while (unknown()) advance();
    finish(
        Token::Kind::Error,
        fmt::format("`{}` has no meaning in NESL",
                    vcode::escaped(text_.substr(begin, std::min<std::size_t>(at_ - begin, 20)))));
    tokens_.back().hint = foreign_mark(text_.substr(begin)).hint;
  }

  void name() {
    std::string word;
    while (is_name_start(peek()) || is_digit(peek()) ||
           (options_.dotted_names && peek() == '.' && is_name_start(peek(1)))) {
      word += lower_case(peek());
      advance();
    }
    const bool keyword = is_keyword(word);
    finish(keyword ? Token::Kind::Keyword : Token::Kind::Name, std::move(word));
  }

  void number() {
    const std::size_t begin = at_;
    bool real = false;
    while (is_digit(peek())) advance();
    if (peek() == '.' && peek(1) != '.') {
      real = true;
      advance();
      while (is_digit(peek())) advance();
    }
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (is_digit(peek(1 + sign))) {
        real = true;
        advance(1 + sign);
        while (is_digit(peek())) advance();
      }
    }
    finish(real ? Token::Kind::Float : Token::Kind::Integer,
           std::string(text_.substr(begin, at_ - begin)));
  }

  void character() {
    advance();
    if (at_end()) return finish(Token::Kind::Error, "a backquote needs a character behind it");
    const vcode::ShownCharacter character = vcode::shown_character(text_.substr(at_));
    const std::string text(1, peek());
    const bool ascii = static_cast<unsigned char>(peek()) < 0x80;
    advance(character.bytes);
    if (ascii) return finish(Token::Kind::Character, text);
    finish(Token::Kind::Error,
           fmt::format("`{}` is outside of ASCII, which a character cannot be", character.text));
    tokens_.back().hint =
        "in a string it stands for the bytes of its UTF-8 form, one character each";
  }

  void string() {
    advance();
    std::string text;
    while (!at_end() && peek() != '"') {
      if (peek() == '\\' && at_ + 1 < text_.size()) advance();
      text += peek();
      advance();
    }
    if (at_end()) {
      return unclosed("this string is never closed by a second quote",
                      long_string_ == 0 ? std::string()
                                        : fmt::format("is the second quote of the string in line "
                                                      "{} missing?",
                                                      long_string_));
    }
    advance();
    if (line_ != tokens_.back().line) long_string_ = tokens_.back().line;
    finish(Token::Kind::String, std::move(text));
  }

  void punctuation() {
    const std::string_view two = text_.substr(at_, 2);
    const std::size_t length =
        std::find(std::begin(kPairs), std::end(kPairs), two) != std::end(kPairs) ? 2 : 1;
    std::string text(text_.substr(at_, length));
    advance(length);
    finish(Token::Kind::Punctuation, std::move(text));
  }

  std::string_view text_;
  LexerOptions options_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_;
  std::uint32_t long_string_ = 0;  // the line where the last string of several lines begins
};

}  // namespace

std::span<const std::string_view> keywords() {
  return kKeywords;
}

bool is_keyword(std::string_view word) {
  return std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords);
}

std::vector<Token> tokenize(const vcode::Source& source, LexerOptions options) {
  return Lexer(source, options).all();
}

}  // namespace neslc
