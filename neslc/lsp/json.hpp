// Values of JSON (RFC 8259), read and written. Boost has a library for this from version 1.75 on
// only, and its property trees do not keep numbers and strings apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace neslc::lsp {

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json, std::less<>>;

  Json() = default;  // null
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(std::int64_t{value}) {}
  Json(std::uint32_t value) : value_(std::int64_t{value}) {}
  Json(std::int64_t value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  /// Objects and arrays may be nested as deep.
  static constexpr int kMaxDepth = 200;

  /// Nothing if the text is anything but one value. Strings are UTF-8; what is not, or stands for
  /// half of a surrogate pair, becomes U+FFFD. Of members with one name the last one counts.
  static std::optional<Json> parse(std::string_view text);
  /// Without line ends.
  std::string text() const;

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  const std::string* string() const { return std::get_if<std::string>(&value_); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&value_); }
  const Array* array() const { return std::get_if<Array>(&value_); }
  /// The member of an object; null if there is none, or if this is no object.
  const Json& operator[](std::string_view name) const;

  bool operator==(const Json&) const = default;

 private:
  void append(std::string& text) const;

  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value_ =
      nullptr;
};

}  // namespace neslc::lsp
