#include "vcode/effects.hpp"

#include <bit>
#include <map>

#include <fmt/format.h>

namespace vcode {
namespace {

constexpr std::size_t kShown = 32;  // values of a list; the others are counted

// a, b, ... z, aa, ab, ...
std::string variable_name(std::size_t number) {
  std::string name;
  for (; number > 0; number = (number - 1) / 26) {
    name.insert(name.begin(), static_cast<char>('a' + (number - 1) % 26));
  }
  return name;
}

// Writes types; variables are named in the order in which they are shown.
class TypeWriter {
 public:
  std::string type(const ValueType& type) {
    if (!std::has_single_bit(type.expected)) {
      return variable_name(names_.try_emplace(type.variable, names_.size() + 1).first->second);
    }
    const auto known = static_cast<Type>(std::countr_zero(type.expected));
    if (type.components.empty()) return std::string(type_name(known));
    const std::string first = this->type(type.components[0]);
    return fmt::format("{}({}, {})", type_name(known), first, this->type(type.components[1]));
  }

  std::string list(const std::vector<ValueType>& types) {
    std::string text;
    const std::size_t hidden = types.size() > kShown ? types.size() - kShown : 0;
    if (hidden > 0) text += fmt::format("({} more) ", hidden);
    for (std::size_t i = hidden; i < types.size(); ++i) text += fmt::format("{} ", type(types[i]));
    return text;
  }

 private:
  std::map<std::uint32_t, std::size_t> names_;
};

}  // namespace

std::string type_text(const ValueType& type) {
  return TypeWriter().type(type);
}

std::string effect_text(std::string_view name, const FunctionEffect& effect) {
  if (!effect.complete) return fmt::format("{} ( ? -- ? )", name);
  TypeWriter writer;
  const std::string inputs = writer.list(effect.inputs);
  return fmt::format("{} ( {}-- {})", name, inputs,
                     effect.never_returns ? "never returns " : writer.list(effect.outputs));
}

}  // namespace vcode
