#include "vcode/origin.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "vcode/diagnostics.hpp"

namespace vcode {
namespace {

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return number;
}

/// `FILE:LINE:COLUMN FUNCTION`
std::optional<Origin> parse_comment(std::string_view text) {
  std::size_t blank = text.rfind(' ');
  // A blank in the name of the file.
  if (blank != std::string_view::npos && text.find(':', blank) != std::string_view::npos) {
    blank = std::string_view::npos;
  }
  const std::string_view place = text.substr(0, std::min(blank, text.size()));
  const std::size_t second = place.rfind(':');
  if (second == std::string_view::npos || second == 0) return {};
  const std::size_t first = place.rfind(':', second - 1);
  if (first == std::string_view::npos) return {};
  const auto line = number_of(place.substr(first + 1, second - first - 1));
  const auto column = number_of(place.substr(second + 1));
  if (!line || !column) return {};
  Origin origin{std::string(place.substr(0, first)), *line, *column, {}};
  if (blank != std::string_view::npos) origin.function = text.substr(blank + 1);
  return origin;
}

/// The comment that ends a line.
std::optional<Origin> origin_in(std::string_view line) {
  if (!line.ends_with(" }")) return {};
  const std::size_t open = line.rfind("{ ");
  if (open == std::string_view::npos || open + 4 > line.size()) return {};
  return parse_comment(line.substr(open + 2, line.size() - open - 4));
}

}  // namespace

std::string origin_comment(const Origin& origin) {
  std::string file = escaped(origin.file);
  std::replace_if(
      file.begin(), file.end(), [](char c) { return c == '{' || c == '}'; }, '_');
  std::string function = origin.function;
  std::replace(function.begin(), function.end(), ' ', '_');
  return fmt::format("{}:{}:{}{}{}", file, origin.line, origin.column, function.empty() ? "" : " ",
                     function);
}

std::optional<Origin> origin_of(const Source& source, std::uint32_t number) {
  for (; number > 0; --number) {
    const std::string_view line = source.line(number);
    if (auto origin = origin_in(line)) return origin;
    if (line.starts_with("FUNC")) break;
  }
  return {};
}

}  // namespace vcode
