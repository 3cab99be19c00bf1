#include "vcode/effects.hpp"

#include <bit>

#include <fmt/format.h>

namespace vcode {
namespace {

constexpr std::size_t kShown = 32;  // values of a list; the others are counted

// a, b, ... z, aa, ab, ...
std::string variable_name(std::uint32_t number) {
  std::string name;
  for (; number > 0; number = (number - 1) / 26) {
    name.insert(name.begin(), static_cast<char>('a' + (number - 1) % 26));
  }
  return name;
}

std::string list_text(const std::vector<ValueType>& types) {
  std::string text;
  const std::size_t hidden = types.size() > kShown ? types.size() - kShown : 0;
  if (hidden > 0) text += fmt::format("({} more) ", hidden);
  for (std::size_t i = hidden; i < types.size(); ++i)
    text += fmt::format("{} ", type_text(types[i]));
  return text;
}

}  // namespace

std::string type_text(const ValueType& type) {
  if (!std::has_single_bit(type.expected)) {
    return type.variable == 0 ? "?" : variable_name(type.variable);
  }
  std::string text(type_name(static_cast<Type>(std::countr_zero(type.expected))));
  if (!type.components.empty()) {
    text += fmt::format("({}, {})", type_text(type.components[0]), type_text(type.components[1]));
  }
  return text;
}

std::string effect_text(std::string_view name, const FunctionEffect& effect) {
  if (!effect.complete) return fmt::format("{} ( ? -- ? )", name);
  return fmt::format("{} ( {}-- {})", name, list_text(effect.inputs),
                     effect.never_returns ? "never returns " : list_text(effect.outputs));
}

}  // namespace vcode
