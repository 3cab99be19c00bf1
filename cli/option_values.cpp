#include "cli/option_values.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "cli/options.hpp"
#include "fcode-opt/pass_table.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/keywords.hpp"

namespace vinterp {
namespace {

/// Reads a number at the front of `text` and removes it; false if there is none or it is too large.
template <class T>
bool take_number(std::string_view& text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

[[noreturn]] void bad_argument(std::string_view option, const std::string& text,
                               std::string_view wanted) {
  throw UsageError(fmt::format("`{}` needs {}, not `{}`", option, wanted, vcode::escaped(text)));
}

}  // namespace

std::uint64_t parse_count(std::string_view option, const std::string& text, std::uint64_t least) {
  std::string_view rest = text;
  std::uint64_t number = 0;
  if (!take_number(rest, number) || !rest.empty() || number < least) {
    bad_argument(option, text, fmt::format("a whole number from {} on", least));
  }
  return number;
}

std::size_t parse_size(std::string_view option, const std::string& text) {
  constexpr std::string_view kUnits = "KMGT";
  std::string_view rest = text;
  std::size_t number = 0;
  bool valid = take_number(rest, number) && number > 0 && rest.size() <= 1;
  unsigned shift = 0;
  if (valid && !rest.empty()) {
    const std::size_t unit = kUnits.find(rest[0]);
    valid = unit != std::string_view::npos;
    shift = 10 * (static_cast<unsigned>(unit) + 1);
  }
  if (!valid || number > (std::numeric_limits<std::size_t>::max() >> shift)) {
    bad_argument(option, text, "a size such as 500M or 16G");
  }
  return number << shift;
}

int parse_capability(std::string_view option, const std::string& text) {
  constexpr int kLeast = 50, kGreatest = 999;
  std::string_view rest = text;
  int number = 0;
  if (!take_number(rest, number) || !rest.empty() || number < kLeast || number > kGreatest) {
    bad_argument(option, text, "a compute capability such as 90");
  }
  return number;
}

double parse_seconds(std::string_view option, const std::string& text) {
  constexpr double kLongest = 1e9;
  std::string_view rest = text;
  double seconds = 0;
  if (!take_number(rest, seconds) || !rest.empty() || !(seconds > 0) || seconds > kLongest) {
    bad_argument(option, text, "a positive number of seconds");
  }
  return seconds;
}

std::size_t parse_choice(std::string_view option, const std::string& text,
                         std::string_view choices) {
  vcode::NearestWord nearest(text);
  for (std::size_t position = 0, begin = 0; begin <= choices.size(); ++position) {
    const std::size_t end = std::min(choices.find('|', begin), choices.size());
    const std::string_view choice = choices.substr(begin, end - begin);
    if (choice == text) return position;
    nearest.consider(choice);
    begin = end + 1;
  }
  std::string wanted;
  for (const char c : choices) wanted += c == '|' ? std::string(", ") : std::string(1, c);
  const std::string message =
      fmt::format("`{}` takes one of {}, not `{}`", option, wanted, vcode::escaped(text));
  if (nearest.best().empty()) throw UsageError(message);
  throw UsageError(message, fmt::format("did you mean `{}`?", nearest.best()));
}

std::string parse_pass(std::string_view option, const std::string& text) {
  if (fcode::is_pass(text)) return text;
  vcode::NearestWord nearest(text);
  for (const fcode::Pass& pass : fcode::pass_table()) nearest.consider(pass.name);
  throw UsageError(
      fmt::format("`{}` needs the name of a pass, not `{}`", option, vcode::escaped(text)),
      nearest.best().empty() ? std::string("see `fcode-opt --list-passes`")
                             : fmt::format("did you mean `{}`?", nearest.best()));
}

int parse_level(const std::string& text) {
  if (text.empty()) return fcode::kHighestLevel;
  return static_cast<int>(parse_choice("-O", text, "0|1|2|3"));
}

}  // namespace vinterp
