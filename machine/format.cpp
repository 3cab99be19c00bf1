#include "machine/format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <vector>

#include "machine/tuning.hpp"

namespace vinterp {
namespace {

constexpr std::size_t kLongestElement = 32;  // " -1.1234567890123456e-308" has 25 characters
constexpr std::int64_t kNoLimit = INT64_MAX;

/// Text on its way to a sink, in a buffer of fixed size.
class TextBuffer {
 public:
  explicit TextBuffer(const TextSink& sink)
      : sink_(sink), text_(std::make_unique_for_overwrite<char[]>(room_)) {}

  void append(std::string_view text) {
    for (const char c : text) append(c);
  }
  void append(char c) {
    if (used_ == room_) flush();
    text_[used_++] = c;
  }
  /// Room for one more element; `advance` says how far it was filled.
  char* room() {
    if (used_ + kLongestElement > room_) flush();
    return text_.get() + used_;
  }
  void advance(const char* end) { used_ = static_cast<std::size_t>(end - text_.get()); }
  bool flush() {
    if (used_ > 0 && !refused_) refused_ = !sink_({text_.get(), used_});
    used_ = 0;
    return !refused_;
  }
  bool refused() const { return refused_; }

 private:
  const TextSink& sink_;
  const std::size_t room_ = static_cast<std::size_t>(tuning.text_per_piece);
  std::unique_ptr<char[]> text_;
  std::size_t used_ = 0;
  bool refused_ = false;
};

char* format_element(char* at, std::int64_t number, Digits) {
  return std::to_chars(at, at + kLongestElement, number).ptr;
}

char* format_element(char* at, double number, Digits digits) {
  const auto put = [&](std::string_view text) { return std::copy(text.begin(), text.end(), at); };
  if (std::isnan(number)) return put("nan");
  if (std::isinf(number)) return put(number < 0 ? "-inf" : "inf");
  constexpr auto kForm = std::chars_format::scientific;
  char* const end = std::to_chars(at, at + kLongestElement, number, kForm, 14).ptr;
  if (digits == Digits::Classic) return end;
  double read = 0;
  std::from_chars(at, end, read);
  return read == number ? end : std::to_chars(at, at + kLongestElement, number, kForm).ptr;
}

char* format_element(char* at, std::uint8_t flag, Digits) {
  *at = flag != 0 ? 'T' : 'F';
  return at + 1;
}

/// Fetches elements [0, count) piece by piece and hands each piece to `use(elements, count)`, which
/// returns false to stop.
template <class Element, class Use>
void for_each_piece(cvl::Backend& backend, const cvl::Vector& vector, std::int64_t count, Use use) {
  std::vector<Element> elements(
      static_cast<std::size_t>(std::min<std::int64_t>(count, tuning.elements_per_piece)));
  for (std::int64_t begin = 0; begin < count; begin += tuning.elements_per_piece) {
    const std::int64_t length = std::min<std::int64_t>(count - begin, tuning.elements_per_piece);
    backend.download(vector, begin, length, elements.data());
    if (!use(elements.data(), length)) return;
  }
}

/// Calls for_each_piece with the element type that the vector has in this run.
template <class Use>
void for_each_piece(cvl::Backend& backend, const cvl::Vector& vector, std::int64_t count, Use use) {
  const cvl::Widths widths = backend.widths();
  if (vector.type == cvl::Type::Bool) {
    for_each_piece<std::uint8_t>(backend, vector, count, use);
  } else if (vector.type == cvl::Type::Int) {
    if (widths.int_bytes == 8) {
      for_each_piece<std::int64_t>(backend, vector, count, use);
    } else {
      for_each_piece<std::int32_t>(backend, vector, count, use);
    }
  } else if (widths.float_bytes == 8) {
    for_each_piece<double>(backend, vector, count, use);
  } else {
    for_each_piece<float>(backend, vector, count, use);
  }
}

/// What elements are formatted as: the widest type of their kind.
std::int64_t widened(std::int64_t number) {
  return number;
}
std::int64_t widened(std::int32_t number) {
  return number;
}
double widened(double number) {
  return number;
}
double widened(float number) {
  return number;
}
std::uint8_t widened(std::uint8_t flag) {
  return flag;
}

void put_elements(cvl::Backend& backend, const cvl::Vector& vector, std::int64_t count,
                  TextBuffer& text, Digits digits) {
  for_each_piece(backend, vector, count, [&](const auto* elements, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i) {
      char* at = text.room();
      *at++ = ' ';
      text.advance(format_element(at, widened(elements[i]), digits));
    }
    return !text.refused();
  });
}

void put_lengths(cvl::Backend& backend, const cvl::Segdes& segdes, std::int64_t count,
                 TextBuffer& text) {
  if (!segdes.uniform)
    return put_elements(backend, cvl::segdes_lengths(backend, segdes), count, text,
                        Digits::Classic);
  std::array<char, kLongestElement> one;
  one[0] = ' ';
  const char* end = format_element(one.data() + 1, segdes.uniform_length, Digits::Classic);
  const std::string_view element(one.data(), static_cast<std::size_t>(end - one.data()));
  for (std::int64_t i = 0; i < count && !text.refused(); ++i) text.append(element);
}

void put_value(cvl::Backend& backend, const cvl::Value& value, std::int64_t limit, Digits digits,
               TextBuffer& text) {
  if (value.type() == cvl::Type::Pair) {
    const cvl::PairNode& node = *value.pair().node;
    text.append("pair(");
    text.append(display_name(node.first.type()));
    text.append(',');
    text.append(display_name(node.second.type()));
    return text.append(") ");
  }
  const bool is_vector = value.is_vector();
  const std::int64_t length = is_vector ? value.vector().length : value.segdes().count;
  const std::int64_t shown = std::min(length, limit);
  text.append(is_vector ? '(' : '[');
  if (is_vector) {
    put_elements(backend, value.vector(), shown, text, digits);
  } else {
    put_lengths(backend, value.segdes(), shown, text);
  }
  if (shown < length) {
    text.append(" ... ");
    text.append(std::to_string(length));
    text.append(is_vector ? " elements" : " segments");
  }
  text.append(is_vector ? " )" : " ]");
}

}  // namespace

bool write_value(cvl::Backend& backend, const cvl::Value& value, const TextSink& sink,
                 Digits digits) {
  TextBuffer text(sink);
  put_value(backend, value, kNoLimit, digits, text);
  text.append('\n');
  return text.flush();
}

bool write_characters(cvl::Backend& backend, const cvl::Vector& codes, const TextSink& sink) {
  std::vector<char> text(
      static_cast<std::size_t>(std::min<std::int64_t>(codes.length, tuning.elements_per_piece)));
  bool taken = true;
  for_each_piece(backend, codes, codes.length, [&](const auto* elements, std::int64_t length) {
    std::transform(elements, elements + length, text.begin(),
                   [](auto code) { return static_cast<char>(static_cast<std::uint8_t>(code)); });
    taken = sink({text.data(), static_cast<std::size_t>(length)});
    return taken;
  });
  return taken;
}

std::string shortened(cvl::Backend& backend, const cvl::Value& value, std::int64_t limit) {
  std::string result;
  const TextSink sink = [&](std::string_view text) {
    result += text;
    return true;
  };
  TextBuffer text(sink);
  put_value(backend, value, limit, Digits::Classic, text);
  text.flush();
  return result;
}

std::string_view display_name(vcode::Type type) {
  constexpr std::array<std::string_view, 6> kNames = {"Int",    "Bool", "Float",
                                                      "Segdes", "Char", "Pair"};
  return kNames[static_cast<std::size_t>(type)];
}

}  // namespace vinterp
