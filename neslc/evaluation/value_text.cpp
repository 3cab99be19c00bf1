#include "neslc/evaluation/value_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "neslc/flatten/value.hpp"
#include "neslc/front/session.hpp"
#include "vcode/diagnostics.hpp"

namespace neslc {
namespace {

template <class Host, class Element>
std::vector<Host> elements_of(cvl::Backend& backend, const cvl::Vector& vector, std::int64_t most) {
  const std::int64_t count = std::min(vector.length, most);
  std::vector<Element> elements(static_cast<std::size_t>(count));
  backend.download(vector, 0, count, elements.data());
  return std::vector<Host>(elements.begin(), elements.end());
}

cvl::Vector elements_or_lengths(cvl::Backend& backend, const cvl::Value& value) {
  return value.type() == vcode::Type::Segdes ? cvl::segdes_lengths(backend, value.segdes())
                                             : value.vector();
}

/// One vector of a value, of a descriptor its lengths, fetched piece by piece.
class ColumnReader {
 public:
  ColumnReader(cvl::Backend& backend, const cvl::Value& value)
      : backend_(backend),
        vector_(elements_or_lengths(backend, value)),
        width_(backend.widths().element_bytes(vector_.type)) {}

  std::int64_t integer(std::int64_t at) {
    return width_ == 8 ? element<std::int64_t>(at) : element<std::int32_t>(at);
  }
  double real(std::int64_t at) { return width_ == 8 ? element<double>(at) : element<float>(at); }
  bool flag(std::int64_t at) { return element<std::uint8_t>(at) != 0; }

  /// Where a segment begins. Segments are asked for in ascending order.
  std::int64_t start(std::int64_t segment) {
    while (segment_ < segment) start_ += integer(segment_++);
    return start_;
  }

 private:
  static constexpr std::int64_t kPiece = 4096;

  template <class Element>
  Element element(std::int64_t at) {
    if (at < begin_ || at >= end_) fetch(at);
    Element element;
    std::memcpy(&element, piece_.data() + static_cast<std::size_t>(at - begin_) * width_,
                sizeof element);
    return element;
  }

  void fetch(std::int64_t at) {
    begin_ = at;
    end_ = std::min(at + kPiece, vector_.length);
    piece_.resize(static_cast<std::size_t>(end_ - begin_) * width_);
    backend_.download(vector_, begin_, end_ - begin_, piece_.data());
  }

  cvl::Backend& backend_;
  cvl::Vector vector_;
  std::size_t width_;
  std::vector<std::byte> piece_;  // elements [begin_, end_)
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  std::int64_t segment_ = 0;
  std::int64_t start_ = 0;  // of segment_
};

/// Walks through the columns of a value, element by element.
class Writer {
 public:
  Writer(TypeTable& types, cvl::Backend& backend, const std::vector<cvl::Value>& values,
         const TextOptions& options, const vinterp::TextSink& sink)
      : types_(types), options_(options), sink_(sink) {
    for (const cvl::Value& value : values) columns_.emplace_back(backend, value);
  }

  void write(TypePtr type, std::size_t column, std::int64_t at) {
    switch (type->kind) {
      case TypeKind::Int:
        text_ += std::to_string(columns_[column].integer(at));
        break;
      case TypeKind::Float:
        text_ += float_text(columns_[column].real(at), options_.exact_floats);
        break;
      case TypeKind::Bool:
        text_ += columns_[column].flag(at) ? 'T' : 'F';
        break;
      case TypeKind::Char:
        text_ += '`';
        write_character(columns_[column].integer(at));
        break;
      case TypeKind::Sequence:
      case TypeKind::Stream:
        write_sequence(type->element(), column, at);
        break;
      case TypeKind::Pair:
        text_ += '(';
        write_parts(type, column, at);
        text_ += ')';
        break;
      case TypeKind::Record:
        text_ += type->datatype->name;
        text_ += '(';
        write_parts(types_.fields_of(type), column, at);
        text_ += ')';
        break;
      default:
        text_ += "fn";
    }
  }

  void flush() {
    if (!text_.empty() && wanted_) wanted_ = sink_(text_);
    text_.clear();
  }

 private:
  std::size_t width(TypePtr type) {
    std::vector<vcode::Type> column_types;
    append_types(types_, type, column_types);
    return column_types.size();
  }

  /// The parts of a right-nested tuple, or the only part.
  void write_parts(TypePtr type, std::size_t column, std::int64_t at) {
    while (type->kind == TypeKind::Pair) {
      write(type->first(), column, at);
      text_ += ", ";
      column += width(type->first());
      type = type->second();
    }
    write(type, column, at);
  }

  /// A character by itself, which is one byte.
  void write_character(std::int64_t code) {
    const char c = static_cast<char>(code);
    if (is_plain(c)) {
      text_ += c;
    } else if (c == '\n' || c == '\t') {
      write_blank(c);
    } else {
      text_ += vcode::shown_character({&c, 1}).text;
    }
  }

  static bool is_plain(char c) { return c >= ' ' && c <= '~'; }

  void write_blank(char c) {
    if (options_.one_line) {
      text_ += c == '\n' ? "\\n" : "\\t";
    } else {
      text_ += c;
    }
  }

  /// Bytes that are characters of UTF-8 are shown as such.
  void write_string(std::size_t column, std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t kMostBytes = 4;
    const auto byte = [&](std::int64_t at) {
      return static_cast<char>(columns_[column].integer(at));
    };
    text_ += '"';
    for (std::int64_t at = begin; at < end && goes_on();) {
      const char c = byte(at);
      if (is_plain(c)) {
        if (c == '"' || c == '\\') text_ += '\\';
        text_ += c;
        ++at;
      } else if (c == '\n' || c == '\t') {
        write_blank(c);
        ++at;
      } else {
        std::string bytes;
        for (std::int64_t i = at; i < std::min(end, at + kMostBytes); ++i) bytes += byte(i);
        const vcode::ShownCharacter shown = vcode::shown_character(bytes);
        text_ += shown.text;
        at += static_cast<std::int64_t>(shown.bytes);
      }
    }
    text_ += '"';
  }

  /// Hands on what there is; false if no more is wanted.
  bool goes_on() {
    constexpr std::size_t kPiece = 1 << 15;
    if (text_.size() >= kPiece) flush();
    return wanted_;
  }

  void write_sequence(TypePtr element, std::size_t column, std::int64_t at) {
    const std::int64_t start = columns_[column].start(at);
    const std::int64_t length = columns_[column].integer(at);
    if (element->kind == TypeKind::Char) {
      write_string(column + 1, start, start + length);
      return;
    }
    text_ += '[';
    for (std::int64_t i = 0; i < length && goes_on(); ++i) {
      if (static_cast<std::size_t>(i) == options_.print_length) {
        text_ += i == 0 ? "..." : ",...";
        break;
      }
      if (i > 0) text_ += ", ";
      write(element, column + 1, start + i);
    }
    text_ += ']';
  }

  TypeTable& types_;
  std::vector<ColumnReader> columns_;
  const TextOptions& options_;
  const vinterp::TextSink& sink_;
  std::string text_;  // not handed on yet
  bool wanted_ = true;
};

}  // namespace

Column download(cvl::Backend& backend, const cvl::Value& value, std::int64_t most) {
  const cvl::Widths widths = backend.widths();
  const auto ints = [&](const cvl::Vector& vector) -> Column {
    return widths.int_bytes == 8 ? elements_of<std::int64_t, std::int64_t>(backend, vector, most)
                                 : elements_of<std::int64_t, std::int32_t>(backend, vector, most);
  };
  const cvl::Vector vector = elements_or_lengths(backend, value);
  if (vector.type == vcode::Type::Int) return ints(vector);
  if (vector.type == vcode::Type::Bool) {
    return elements_of<std::uint8_t, std::uint8_t>(backend, vector, most);
  }
  return widths.float_bytes == 8 ? elements_of<double, double>(backend, vector, most)
                                 : elements_of<double, float>(backend, vector, most);
}

vcode::Constant literal_of(cvl::Backend& backend, const cvl::Value& value) {
  vcode::Constant constant;
  constant.type = value.type();
  std::visit([&](auto&& elements) { constant.elements = std::move(elements); },
             download(backend, value));
  const bool scalar = constant.size() == 1;
  constant.form = scalar ? vcode::ConstantForm::Scalar : vcode::ConstantForm::Vector;
  return constant;
}

std::string float_text(double value, bool exact) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (!exact) {
    char rounded[64];
    std::snprintf(rounded, sizeof rounded, "%.14e", value);
    value = std::strtod(rounded, nullptr);
  }
  if (value == 0) return "0.0";
  char shortest[64];
  const auto end = std::to_chars(shortest, shortest + sizeof shortest, std::abs(value),
                                 std::chars_format::scientific)
                       .ptr;
  const std::string_view scientific(shortest, static_cast<std::size_t>(end - shortest));
  const std::size_t mark = scientific.find('e');
  std::string digits;
  for (const char c : scientific.substr(0, mark)) {
    if (c != '.') digits += c;
  }
  const int exponent = std::atoi(std::string(scientific.substr(mark + 1)).c_str());
  std::string text = value < 0 ? "-" : "";
  const double magnitude = std::abs(value);
  if (magnitude < 0.001 || magnitude >= 1e7) {
    text += digits.substr(0, 1) + "." + (digits.size() > 1 ? digits.substr(1) : "0");
    return text + "E" + std::to_string(exponent);
  }
  if (exponent < 0) {
    return text + "0." + std::string(static_cast<std::size_t>(-1 - exponent), '0') + digits;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) digits.append(whole + 1 - digits.size(), '0');
  return text + digits.substr(0, whole) + "." + digits.substr(whole);
}

void write_value_text(TypeTable& types, TypePtr type, cvl::Backend& backend,
                      const std::vector<cvl::Value>& values, const TextOptions& options,
                      const vinterp::TextSink& sink) {
  Writer writer(types, backend, values, options, sink);
  writer.write(type, 0, 0);
  writer.flush();
}

}  // namespace neslc
