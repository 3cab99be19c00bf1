#include "neslc/value_text.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "neslc/session.hpp"
#include "neslc/value.hpp"

namespace neslc {
namespace {

template <class Host, class Element>
std::vector<Host> elements_of(cvl::Backend& backend, const cvl::Vector& vector) {
  std::vector<Element> elements(static_cast<std::size_t>(vector.length));
  backend.download(vector, 0, vector.length, elements.data());
  return std::vector<Host>(elements.begin(), elements.end());
}

/// Walks through the columns of a value, element by element.
class Writer {
 public:
  Writer(TypeTable& types, const std::vector<Column>& columns, const TextOptions& options)
      : types_(types), columns_(columns), options_(options) {
    for (const Column& column : columns) {
      auto& starts = starts_.emplace_back();
      if (const auto* lengths = std::get_if<std::vector<std::int64_t>>(&column)) {
        // Needed of descriptors only; of other columns it is not looked at.
        starts.resize(lengths->size());
        std::int64_t next = 0;
        for (std::size_t i = 0; i < lengths->size(); ++i) {
          starts[i] = next;
          next += (*lengths)[i];
        }
      }
    }
  }

  void write(TypePtr type, std::size_t column, std::size_t at) {
    switch (type->kind) {
      case TypeKind::Int:
        text += std::to_string(ints(column)[at]);
        break;
      case TypeKind::Float:
        text += float_text(std::get<std::vector<double>>(columns_[column])[at]);
        break;
      case TypeKind::Bool:
        text += std::get<std::vector<std::uint8_t>>(columns_[column])[at] != 0 ? 'T' : 'F';
        break;
      case TypeKind::Char:
        text += '`';
        write_character(ints(column)[at], false);
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
  const std::vector<std::int64_t>& ints(std::size_t column) const {
    return std::get<std::vector<std::int64_t>>(columns_[column]);
  }

  std::size_t width(TypePtr type) {
    std::vector<vcode::Type> column_types;
    append_types(types_, type, column_types);
    return column_types.size();
  }

  /// The parts of a right-nested tuple, or the only part.
  void write_parts(TypePtr type, std::size_t column, std::size_t at) {
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

  void write_sequence(TypePtr element, std::size_t column, std::size_t at) {
    const auto length = static_cast<std::size_t>(ints(column)[at]);
    const auto start = static_cast<std::size_t>(starts_[column][at]);
    if (element->kind == TypeKind::Char) {
      text += '"';
      for (std::size_t i = 0; i < length; ++i) {
        write_character(ints(column + 1)[start + i], true);
      }
      text += '"';
      return;
    }
    text += '[';
    for (std::size_t i = 0; i < length; ++i) {
      if (i == options_.print_length) {
        text += i == 0 ? "..." : ",...";
        break;
      }
      if (i > 0) text += ", ";
      write(element, column + 1, start + i);
    }
    text += ']';
  }

  TypeTable& types_;
  const std::vector<Column>& columns_;
  const TextOptions& options_;
  std::vector<std::vector<std::int64_t>> starts_;
};

}  // namespace

Column download(cvl::Backend& backend, const cvl::Value& value) {
  const cvl::Widths widths = backend.widths();
  const auto ints = [&](const cvl::Vector& vector) -> Column {
    return widths.int_bytes == 8 ? elements_of<std::int64_t, std::int64_t>(backend, vector)
                                 : elements_of<std::int64_t, std::int32_t>(backend, vector);
  };
  if (value.type() == vcode::Type::Segdes) {
    return ints(cvl::segdes_lengths(backend, value.segdes()));
  }
  const cvl::Vector& vector = value.vector();
  if (vector.type == vcode::Type::Int) return ints(vector);
  if (vector.type == vcode::Type::Bool) {
    return elements_of<std::uint8_t, std::uint8_t>(backend, vector);
  }
  return widths.float_bytes == 8 ? elements_of<double, double>(backend, vector)
                                 : elements_of<double, float>(backend, vector);
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

std::string value_text(TypeTable& types, TypePtr type, const std::vector<Column>& columns,
                       const TextOptions& options) {
  Writer writer(types, columns, options);
  writer.write(type, 0, 0);
  return std::move(writer.text);
}

}  // namespace neslc
