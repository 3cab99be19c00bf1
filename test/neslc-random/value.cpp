#include "value.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace neslc::direct {

Value make_string(const std::string& text) {
  Sequence characters;
  for (const char c : text) characters.push_back(make_char(static_cast<unsigned char>(c)));
  return make_sequence(std::move(characters));
}

std::string string_of(const Value& value) {
  std::string text;
  for (const Value& c : value.as_sequence()) text += static_cast<char>(c.as_char());
  return text;
}

bool equal(const Value& a, const Value& b) {
  if (a.data.index() != b.data.index()) return false;
  const auto all_equal = [](const std::vector<Value>& left, const std::vector<Value>& right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), equal);
  };
  if (a.is<std::shared_ptr<const Sequence>>()) return all_equal(a.as_sequence(), b.as_sequence());
  if (a.is<std::shared_ptr<const Tuple>>()) return all_equal(a.parts(), b.parts());
  return a.data == b.data;
}

std::string text_of(const Value& value) {
  const auto list = [](const std::vector<Value>& parts, const char* open, const char* close) {
    std::string text = open;
    for (const Value& part : parts) {
      if (text.size() > 1) text += ", ";
      text += text_of(part);
    }
    return text + close;
  };
  struct Visitor {
    const decltype(list)& list_text;
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
    std::string operator()(bool v) const { return v ? "t" : "f"; }
    std::string operator()(unsigned char v) const { return fmt::format("`{:c}", v); }
    std::string operator()(const std::shared_ptr<const Sequence>& v) const {
      return list_text(*v, "[", "]");
    }
    std::string operator()(const std::shared_ptr<const Tuple>& v) const {
      return list_text(v->parts, "(", ")");
    }
  };
  return std::visit(Visitor{list}, value.data);
}

}  // namespace neslc::direct
