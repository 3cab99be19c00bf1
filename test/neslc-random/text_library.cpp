// Strings (reference, 6.13).
#include <cctype>

#include "interpreter.hpp"

namespace neslc::direct {
namespace {

using C = const LibraryCall&;
using V = const Value&;

std::string printed(const Value& v) {
  if (v.is<std::int64_t>()) return std::to_string(v.as_int());
  if (v.is<bool>()) return v.as_bool() ? "t" : "f";
  if (v.is<unsigned char>()) return std::string("`") + static_cast<char>(v.as_char());
  if (v.is<double>()) throw Unspecified("the text of a float");
  std::string text;
  if (v.is<std::shared_ptr<const Sequence>>()) {
    for (const Value& element : v.as_sequence()) {
      if (!text.empty()) text += ", ";
      text += printed(element);
    }
    return "[" + text + "]";
  }
  if (v.parts().empty()) return "function";
  const Value* rest = &v;
  while (rest->is<std::shared_ptr<const Tuple>>()) {
    text += printed(rest->first()) + ", ";
    rest = &rest->second();
  }
  return "(" + text + printed(*rest) + ")";
}

Value pieces(const std::string& text, const char* separators, bool words) {
  Sequence result;
  std::string piece;
  const auto finish = [&](bool last) {
    if (!piece.empty() || !(words || last)) result.push_back(make_string(piece));
    piece.clear();
  };
  for (const char c : text) {
    if (std::string(separators).find(c) == std::string::npos) {
      piece += c;
    } else {
      finish(false);
    }
  }
  finish(true);
  return make_sequence(std::move(result));
}

Value padded(C call, V v) {
  const std::int64_t length = v.second().as_int();
  std::string text = string_of(v.first());
  const std::int64_t wanted = length < 0 ? -length : length;
  if (wanted > 1000) throw Unspecified("a long string");
  call.interpreter.spend(wanted);
  const auto missing = wanted - static_cast<std::int64_t>(text.size());
  if (missing > 0) {
    const std::string blanks(static_cast<std::size_t>(missing), ' ');
    text = length < 0 ? blanks + text : text + blanks;
  }
  return make_string(text);
}

Value parsed_int(C, V v) {
  const std::string text = string_of(v);
  const bool sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  std::size_t at = sign ? 1 : 0;
  std::int64_t value = 0;
  for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0; ++at) {
    value = make_int(value * 10 + (text[at] - '0')).as_int();
  }
  return make_pair(make_int(sign && text[0] == '-' ? -value : value),
                   make_bool(at == text.size() && !text.empty()));
}

Value folded(const Value& v, int (*convert)(int)) {
  return make_char(static_cast<unsigned char>(convert(v.as_char())));
}

}  // namespace

LibraryTable text_functions() {
  return {
      {"string", [](C, V v) { return make_string(printed(v)); }},
      {"||", padded},
      {"linify", [](C, V v) { return pieces(string_of(v), "\n", false); }},
      {"wordify", [](C, V v) { return pieces(string_of(v), " \t\n", true); }},
      {"lowercase", [](C, V v) { return folded(v, std::tolower); }},
      {"uppercase", [](C, V v) { return folded(v, std::toupper); }},
      {"string_eql",
       [](C, V v) {
         std::string texts[2] = {string_of(v.first()), string_of(v.second())};
         for (std::string& text : texts) {
           for (char& c : text) c = static_cast<char>(std::tolower(c));
         }
         return make_bool(texts[0] == texts[1]);
       }},
      {"digitp", [](C, V v) { return make_bool(v.as_char() >= '0' && v.as_char() <= '9'); }},
      {"parse_int", parsed_int},
  };
}

}  // namespace neslc::direct
