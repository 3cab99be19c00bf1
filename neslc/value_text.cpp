#include "neslc/value_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "neslc/session.hpp"
#include "neslc/value.hpp"

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
         const TextOptions& options)
      : types_(types), options_(options) {
    for (const cvl::Value& value : values) columns_.emplace_back(backend, value);
  }

  void write(TypePtr type, std::size_t column, std::int64_t at) {
    switch (type->kind) {
      case TypeKind::Int:
        text += std::to_string(columns_[column].integer(at));
        break;
      case TypeKind::Float:
        text += float_text(columns_[column].real(at));
        break;
      case TypeKind::Bool:
        text += columns_[column].flag(at) ? 'T' : 'F';
        break;
      case TypeKind::Char:
        text += '`';
        write_character(columns_[column].integer(at), false);
        break;
      case TypeKind::Sequence:
        write_sequence(type->element(), column, at);
        break;
      case TypeKind::Pair:
        text += '(';
        write_parts(type, column, at);
        text += ')';
        break;
      case TypeKind::Record:
        text += type->datatype->name;
        text += '(';
        write_parts(types_.fields_of(type), column, at);
        text += ')';
        break;
      default:
        text += "fn";
    }
  }

  std::string text;

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
      text += ", ";
      column += width(type->first());
      type = type->second();
    }
    write(type, column, at);
  }

  void write_character(std::int64_t code, bool quoted) {
    const char c = static_cast<char>(code);
    if (quoted && (c == '"' || c == '\\')) text += '\\';
    if (options_.one_line && c == '\n') {
      text += "\\n";
    } else if (options_.one_line && c == '\t') {
      text += "\\t";
    } else {
      text += c;
    }
  }

  void write_sequence(TypePtr element, std::size_t column, std::int64_t at) {
    const std::int64_t start = columns_[column].start(at);
    const std::int64_t length = columns_[column].integer(at);
    if (element->kind == TypeKind::Char) {
      text += '"';
      for (std::int64_t i = 0; i < length; ++i) {
        write_character(columns_[column + 1].integer(start + i), true);
      }
      text += '"';
      return;
    }
    text += '[';
    for (std::int64_t i = 0; i < length; ++i) {
      if (static_cast<std::size_t>(i) == options_.print_length) {
        text += i == 0 ? "..." : ",...";
        break;
      }
      if (i > 0) text += ", ";
      write(element, column + 1, start + i);
    }
    text += ']';
  }

  TypeTable& types_;
  std::vector<ColumnReader> columns_;
  const TextOptions& options_;
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

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char rounded[64];
  std::snprintf(rounded, sizeof rounded, "%.14e", value);
  value = std::strtod(rounded, nullptr);
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

std::string value_text(TypeTable& types, TypePtr type, cvl::Backend& backend,
                       const std::vector<cvl::Value>& values, const TextOptions& options) {
  Writer writer(types, backend, values, options);
  writer.write(type, 0, 0);
  return std::move(writer.text);
}

}  // namespace neslc
