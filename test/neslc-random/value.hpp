// NESL values as the direct evaluator has them: trees, nothing flattened.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace neslc::direct {

struct Value;
using Sequence = std::vector<Value>;

/// Pairs, and the captured values of functions. A record is its fields.
struct Tuple {
  std::vector<Value> parts;
};

struct Value {
  std::variant<std::int64_t, double, bool, unsigned char, std::shared_ptr<const Sequence>,
               std::shared_ptr<const Tuple>>
      data;

  std::int64_t as_int() const { return std::get<std::int64_t>(data); }
  double as_float() const { return std::get<double>(data); }
  bool as_bool() const { return std::get<bool>(data); }
  unsigned char as_char() const { return std::get<unsigned char>(data); }
  const Sequence& as_sequence() const { return *std::get<std::shared_ptr<const Sequence>>(data); }
  const std::vector<Value>& parts() const {
    return std::get<std::shared_ptr<const Tuple>>(data)->parts;
  }
  const Value& first() const { return parts()[0]; }
  const Value& second() const { return parts()[1]; }
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(data);
  }
};

inline Value make_int(std::int64_t value) {
  return {static_cast<std::int64_t>(static_cast<std::int32_t>(value))};  // ints have 32 bits
}
inline Value make_float(double value) {
  return {value};
}
inline Value make_bool(bool value) {
  return {value};
}
inline Value make_char(unsigned char value) {
  return {value};
}
inline Value make_sequence(Sequence elements) {
  return {std::make_shared<const Sequence>(std::move(elements))};
}
inline Value make_tuple(std::vector<Value> parts) {
  return {std::make_shared<const Tuple>(Tuple{std::move(parts)})};
}
inline Value make_pair(Value first, Value second) {
  return make_tuple({std::move(first), std::move(second)});
}
Value make_string(const std::string& text);
std::string string_of(const Value& value);

bool equal(const Value& a, const Value& b);
std::string text_of(const Value& value);

/// The program ends itself: a run-time error of the language. Of several instances of an
/// apply-to-each that stop, any one tells why.
struct RuntimeError {
  explicit RuntimeError(std::string message) : messages{std::move(message)} {}
  std::set<std::string> messages;
};

/// The language does not say what happens, or the evaluation would take too long.
struct Unspecified : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace neslc::direct
