#include "reference/value.hpp"

#include <cmath>
#include <cstdio>
#include <numeric>

namespace reference {
namespace {

const char* type_word(Type type) {
  switch (type) {
    case Type::Int:
      return "Int";
    case Type::Bool:
      return "Bool";
    case Type::Float:
      return "Float";
    case Type::Segdes:
      return "Segdes";
    default:
      return "Pair";
  }
}

std::string format_float(double number) {
  if (std::isnan(number)) return "nan";
  char text[40];
  std::snprintf(text, sizeof text, "%.14e", number);
  return text;
}

std::string format_ints(const std::vector<std::int64_t>& numbers, char open, char close) {
  std::string line(1, open);
  for (const std::int64_t number : numbers) line += " " + std::to_string(number);
  return line + " " + close + "\n";
}

}  // namespace

std::int64_t Segdes::total() const {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

std::vector<std::int64_t> Segdes::starts() const {
  std::vector<std::int64_t> result;
  result.reserve(lengths.size());
  std::int64_t start = 0;
  for (const std::int64_t length : lengths) {
    result.push_back(start);
    start += length;
  }
  return result;
}

Type type_of(const Value& value) {
  constexpr Type kTypes[] = {Type::Int, Type::Float, Type::Bool, Type::Segdes, Type::Pair};
  return kTypes[value.index()];
}

std::int64_t length_of(const Value& value) {
  if (const auto* ints = std::get_if<Ints>(&value)) return static_cast<std::int64_t>(ints->size());
  if (const auto* floats = std::get_if<Floats>(&value)) {
    return static_cast<std::int64_t>(floats->size());
  }
  if (const auto* bools = std::get_if<Bools>(&value)) {
    return static_cast<std::int64_t>(bools->size());
  }
  return std::get<Segdes>(value).count();
}

std::int64_t Widths::wrap(std::uint64_t number) const {
  if (int_bits == 64) return static_cast<std::int64_t>(number);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(number));
}

std::int64_t Widths::least_int() const {
  return int_bits == 64 ? INT64_MIN : std::int64_t{INT32_MIN};
}

std::int64_t Widths::greatest_int() const {
  return int_bits == 64 ? INT64_MAX : std::int64_t{INT32_MAX};
}

double Widths::round(double number) const {
  return float_bits == 64 ? number : static_cast<double>(static_cast<float>(number));
}

std::string format(const Value& value) {
  switch (type_of(value)) {
    case Type::Int:
      return format_ints(std::get<Ints>(value), '(', ')');
    case Type::Segdes:
      return format_ints(std::get<Segdes>(value).lengths, '[', ']');
    case Type::Bool: {
      std::string line = "(";
      for (const std::uint8_t flag : std::get<Bools>(value)) line += flag != 0 ? " T" : " F";
      return line + " )\n";
    }
    case Type::Float: {
      std::string line = "(";
      for (const double number : std::get<Floats>(value)) line += " " + format_float(number);
      return line + " )\n";
    }
    default: {
      const PairNode& node = *std::get<Pair>(value);
      return std::string("pair(") + type_word(type_of(node.first)) + "," +
             type_word(type_of(node.second)) + ") \n";
    }
  }
}

}  // namespace reference
