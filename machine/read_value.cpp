#include "machine/read_value.hpp"

#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "machine/character_block.hpp"
#include "machine/host_elements.hpp"
#include "machine/streams.hpp"

namespace vinterp {
namespace {

using vcode::Type;

/// The input does not have the form of a value; carries the text for the program.
struct FormError {
  std::string message;
};

bool is_blank(int c) {
  return c != InputBuffer::kEnd && std::isspace(c) != 0;
}
bool is_digit(int c) {
  return c >= '0' && c <= '9';
}
bool is_hex_digit(int c) {
  return c != InputBuffer::kEnd && std::isxdigit(c) != 0;
}

/// Uses up the offending character and reports it.
[[noreturn]] void reject(InputBuffer& input, const std::string& rule) {
  const int c = input.get();
  if (input.error() != 0) throw FormError{system_message(input.error())};
  std::string found;
  if (c == InputBuffer::kEnd) {
    found = "the end of the input";
  } else if (std::isgraph(c) != 0) {
    found = fmt::format("'{}'", static_cast<char>(c));
  } else {
    found = fmt::format("character {}", c);
  }
  throw FormError{fmt::format("input error: {}, found {}", rule, found)};
}

void skip_blanks(InputBuffer& input) {
  while (is_blank(input.peek())) input.get();
}

void expect_opening(InputBuffer& input, char bracket) {
  skip_blanks(input);
  if (input.peek() != bracket) reject(input, fmt::format("vector must start with {}", bracket));
  input.get();
}

/// Before an element: skips blanks and, at the closing bracket, uses it up and returns true.
bool at_closing(InputBuffer& input, char bracket) {
  skip_blanks(input);
  if (input.peek() != bracket) return false;
  input.get();
  return true;
}

/// After a number: a blank or the closing bracket must follow.
void expect_separator(InputBuffer& input, char closing) {
  const int c = input.peek();
  if (c != closing && !is_blank(c)) {
    reject(input, fmt::format("a number must be followed by a blank or {}", closing));
  }
}

std::string end_rule(char closing) {
  return fmt::format("vector must end with {}", closing);
}

/// [-+]?[0-9]+ modulo 2^64.
std::int64_t scan_int(InputBuffer& input, char closing) {
  const bool negative = input.peek() == '-';
  const bool has_sign = negative || input.peek() == '+';
  if (has_sign) input.get();
  if (!is_digit(input.peek())) {
    reject(input, has_sign ? "a sign must be followed by digits" : end_rule(closing));
  }
  std::uint64_t number = 0;
  while (is_digit(input.peek()))
    number = number * 10 + static_cast<std::uint64_t>(input.get() - '0');
  return static_cast<std::int64_t>(negative ? 0 - number : number);
}

/// Scans what scanf("%lf") takes, one character ahead, so that the offending character of a wrong
/// number is known.
class FloatScanner {
 public:
  FloatScanner(InputBuffer& input, cvl::Heap& heap) : input_(input), text_(heap) {}

  double scan() {
    text_.clear();
    first_ = true;
    if (input_.peek() == '-' || input_.peek() == '+') take();
    if (accept('i')) {
      expect_word("nf");
      if (accept('i')) expect_word("nity");
    } else if (accept('n')) {
      expect_word("an");
    } else {
      scan_digits();
    }
    return converted();
  }

 private:
  double converted() {
    double number = 0;
    const auto [end, error] = std::from_chars(text_.begin(), text_.end(), number);
    if (error == std::errc() && end == text_.end()) return number;
    // Plus signs, hexadecimal numbers and numbers out of range, which become 0 or infinity.
    text_.push_back('\0');
    return std::strtod(text_.data(), nullptr);
  }
  void take() {
    text_.push_back(static_cast<char>(input_.get()));
    first_ = false;
  }
  /// Takes the letter in either case.
  bool accept(char letter) {
    const int c = input_.peek();
    if (c == InputBuffer::kEnd || std::tolower(c) != letter) return false;
    take();
    return true;
  }
  void expect_word(const char* rest) {
    for (; *rest != '\0'; ++rest) {
      if (!accept(*rest)) fail();
    }
  }
  void scan_digits() {
    bool any = false;
    bool hex = false;
    if (input_.peek() == '0') {
      take();
      hex = accept('x');
      any = !hex;
    }
    const auto digits = [&] {
      while (hex ? is_hex_digit(input_.peek()) : is_digit(input_.peek())) {
        take();
        any = true;
      }
    };
    digits();
    if (accept('.')) digits();
    if (!any) fail();
    if (!accept(hex ? 'p' : 'e')) return;
    if (input_.peek() == '-' || input_.peek() == '+') take();
    if (!is_digit(input_.peek())) fail();
    while (is_digit(input_.peek())) take();
  }
  [[noreturn]] void fail() { reject(input_, first_ ? end_rule(')') : "a number is incomplete"); }

  InputBuffer& input_;
  HostElements<char> text_;
  bool first_ = true;
};

template <class Element>
cvl::Vector uploaded(cvl::Backend& backend, Type type, const HostElements<Element>& elements) {
  return backend.upload(type, elements.data(), elements.size());
}

template <class Int>
cvl::Vector read_ints(cvl::Backend& backend, InputBuffer& input) {
  HostElements<Int> elements(backend.heap());
  expect_opening(input, '(');
  while (!at_closing(input, ')')) {
    elements.push_back(static_cast<Int>(scan_int(input, ')')));
    expect_separator(input, ')');
  }
  return uploaded(backend, Type::Int, elements);
}

template <class Float>
cvl::Vector read_floats(cvl::Backend& backend, InputBuffer& input) {
  HostElements<Float> elements(backend.heap());
  FloatScanner scanner(input, backend.heap());
  expect_opening(input, '(');
  while (!at_closing(input, ')')) {
    elements.push_back(static_cast<Float>(scanner.scan()));
    expect_separator(input, ')');
  }
  return uploaded(backend, Type::Float, elements);
}

cvl::Vector read_bools(cvl::Backend& backend, InputBuffer& input) {
  HostElements<std::uint8_t> elements(backend.heap());
  expect_opening(input, '(');
  while (!at_closing(input, ')')) {
    const int c = input.peek();
    if (c != 'T' && c != 'F') reject(input, end_rule(')'));
    input.get();
    elements.push_back(c == 'T' ? 1 : 0);
  }
  return uploaded(backend, Type::Bool, elements);
}

/// A descriptor with an impossible length is read to its end, so that what follows stays in step,
/// and then refused.
template <class Int>
cvl::Segdes read_segdes(cvl::Backend& backend, InputBuffer& input) {
  HostElements<Int> lengths(backend.heap());
  std::int64_t total = 0;
  bool negative = false;
  bool too_large = false;
  expect_opening(input, '[');
  while (!at_closing(input, ']')) {
    const Int length = static_cast<Int>(scan_int(input, ']'));
    expect_separator(input, ']');
    lengths.push_back(length);
    if (length < 0) {
      negative = true;
    } else {
      too_large |= __builtin_add_overflow(total, static_cast<std::int64_t>(length), &total);
    }
  }
  if (negative) throw FormError{"input error: a segment length is negative"};
  if (too_large) throw FormError{"input error: the segment lengths add up to too many elements"};
  return cvl::make_segdes(backend, uploaded(backend, Type::Int, lengths));
}

cvl::Vector read_string(cvl::Backend& backend, InputBuffer& input) {
  CharacterBlock characters(backend);
  expect_opening(input, '"');
  for (;;) {
    const std::string_view ahead = input.ahead();
    if (ahead.empty()) reject(input, end_rule('"'));
    const std::size_t end = ahead.find('"');
    characters.append(ahead.substr(0, end));
    if (end != std::string_view::npos) {
      input.skip(end + 1);
      return characters.take();
    }
    input.skip(ahead.size());
  }
}

template <class Int, class Float>
cvl::Value read_any(cvl::Backend& backend, Type written, InputBuffer& input) {
  switch (written) {
    case Type::Bool:
      return read_bools(backend, input);
    case Type::Float:
      return read_floats<Float>(backend, input);
    case Type::Segdes:
      return read_segdes<Int>(backend, input);
    case Type::Char:
      return read_string(backend, input);
    default:
      return read_ints<Int>(backend, input);
  }
}

cvl::Value read_any(cvl::Backend& backend, Type written, InputBuffer& input) {
  const cvl::Widths widths = backend.widths();
  if (widths.int_bytes == 8) {
    return widths.float_bytes == 8 ? read_any<std::int64_t, double>(backend, written, input)
                                   : read_any<std::int64_t, float>(backend, written, input);
  }
  return widths.float_bytes == 8 ? read_any<std::int32_t, double>(backend, written, input)
                                 : read_any<std::int32_t, float>(backend, written, input);
}

}  // namespace

cvl::Value empty_value(cvl::Backend& backend, Type written) {
  if (written == Type::Segdes) return cvl::Segdes();
  return backend.upload(vcode::value_type(written), nullptr, 0);
}

ReadResult read_value(cvl::Backend& backend, Type written, InputBuffer& input) {
  input.begin();
  try {
    return {read_any(backend, written, input), {}};
  } catch (FormError& error) {
    return {empty_value(backend, written), std::move(error.message)};
  }
}

}  // namespace vinterp
