#include "neslc/lsp/json.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "neslc/lsp/unicode.hpp"

namespace neslc::lsp {
namespace {

/// Thrown where the text is not JSON.
struct Malformed {};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Json whole() {
    Json result = value(0);
    skip_blanks();
    if (at_ != text_.size()) throw Malformed();
    return result;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
  }

  void expect(std::string_view wanted) {
    if (!text_.substr(at_).starts_with(wanted)) throw Malformed();
    at_ += wanted.size();
  }

  /// Is it the next character, blanks aside? Then it is read.
  bool take(char wanted) {
    skip_blanks();
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  Json value(int depth) {
    if (depth > Json::kMaxDepth) throw Malformed();
    skip_blanks();
    switch (peek()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return string();
      case 't':
        return expect("true"), Json(true);
      case 'f':
        return expect("false"), Json(false);
      case 'n':
        return expect("null"), Json();
      default:
        return number();
    }
  }

  Json object(int depth) {
    Json::Object members;
    expect("{");
    if (take('}')) return members;
    do {
      skip_blanks();
      std::string name = string();
      if (!take(':')) throw Malformed();
      members.insert_or_assign(std::move(name), value(depth + 1));
    } while (take(','));
    if (!take('}')) throw Malformed();
    return members;
  }

  Json array(int depth) {
    Json::Array elements;
    expect("[");
    if (take(']')) return elements;
    do {
      elements.push_back(value(depth + 1));
    } while (take(','));
    if (!take(']')) throw Malformed();
    return elements;
  }

  void digits() {
    const std::size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    if (at_ == begin) throw Malformed();
  }

  Json number() {
    const std::size_t begin = at_;
    if (peek() == '-') ++at_;
    const bool zero = peek() == '0';
    const std::size_t first = at_;
    digits();
    if (zero && at_ - first > 1) throw Malformed();
    bool whole = true;
    if (peek() == '.') {
      whole = false;
      ++at_;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      whole = false;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      digits();
    }
    const char* const from = text_.data() + begin;
    const char* const to = text_.data() + at_;
    std::int64_t integer = 0;
    if (whole && std::from_chars(from, to, integer).ec == std::errc()) return integer;
    double real = 0;
    if (std::from_chars(from, to, real).ec != std::errc()) throw Malformed();
    return real;
  }

  char32_t unit() {
    std::uint32_t code = 0;
    const std::string_view hex = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    if (error != std::errc() || hex.size() < 4 || end != hex.data() + 4) throw Malformed();
    at_ += 4;
    return code;
  }

  /// What follows `\u`.
  char32_t escaped_character() {
    const char32_t first = unit();
    const bool high = first >= 0xd800 && first < 0xdc00;
    if (high && text_.substr(at_).starts_with("\\u")) {
      const std::size_t before = at_;
      at_ += 2;
      const char32_t second = unit();
      if (second >= 0xdc00 && second < 0xe000) {
        return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
      }
      at_ = before;
    }
    return first >= 0xd800 && first < 0xe000 ? kReplacement : first;
  }

  std::string string() {
    expect("\"");
    std::string result;
    while (true) {
      if (at_ == text_.size() || static_cast<unsigned char>(peek()) < 0x20) throw Malformed();
      if (peek() == '"') break;
      if (peek() != '\\') {
        append_utf8(result, next_character(text_, at_));
        continue;
      }
      ++at_;
      constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
      const char letter = peek();
      ++at_;
      if (letter == 'u') {
        append_utf8(result, escaped_character());
      } else if (const std::size_t k = kLetters.find(letter); k != std::string_view::npos) {
        result += kMeant[k];
      } else {
        throw Malformed();
      }
    }
    ++at_;
    return result;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void append_string(std::string& text, std::string_view value) {
  text += '"';
  for (std::size_t at = 0; at < value.size();) {
    const char32_t c = next_character(value, at);
    if (c == '"' || c == '\\') text += '\\';
    if (c < 0x20 || c == 0x7f) {
      text += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    } else {
      append_utf8(text, c);
    }
  }
  text += '"';
}

}  // namespace

std::optional<Json> Json::parse(std::string_view text) {
  try {
    return Reader(text).whole();
  } catch (const Malformed&) {
    return std::nullopt;
  }
}

const Json& Json::operator[](std::string_view name) const {
  static const Json null;
  const auto* object = std::get_if<Object>(&value_);
  if (object == nullptr) return null;
  const auto found = object->find(name);
  return found == object->end() ? null : found->second;
}

std::string Json::text() const {
  std::string result;
  append(result);
  return result;
}

void Json::append(std::string& text) const {
  struct Writer {
    std::string& text;
    void operator()(std::nullptr_t) const { text += "null"; }
    void operator()(bool value) const { text += value ? "true" : "false"; }
    void operator()(std::int64_t value) const { text += std::to_string(value); }
    // JSON has neither infinities nor NaN.
    void operator()(double value) const {
      text += std::isfinite(value) ? fmt::format("{}", value) : "null";
    }
    void operator()(const std::string& value) const { append_string(text, value); }
    void operator()(const Array& elements) const {
      text += '[';
      for (const Json& element : elements) {
        if (&element != &elements.front()) text += ',';
        element.append(text);
      }
      text += ']';
    }
    void operator()(const Object& members) const {
      text += '{';
      bool first = true;
      for (const auto& [name, value] : members) {
        if (!first) text += ',';
        first = false;
        append_string(text, name);
        text += ':';
        value.append(text);
      }
      text += '}';
    }
  };
  std::visit(Writer{text}, value_);
}

}  // namespace neslc::lsp
