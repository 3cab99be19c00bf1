#include "neslc/front/type_words.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "neslc/front/inference.hpp"
#include "neslc/front/type_text.hpp"

namespace neslc {
namespace {

// Deeper types are shown as they are written.
constexpr int kDeepest = 3;
// Types of more parts than these are not shown.
constexpr int kMostParts = 100;

constexpr std::array<std::string_view, 7> kCounts = {"no",   "one",  "two", "three",
                                                     "four", "five", "six"};

enum class Number { One, Many };

std::string noun(TypePtr type, Number number, int depth);

std::string plural(std::string_view word, Number number) {
  return fmt::format("{}{}", word, number == Number::Many ? "s" : "");
}

std::string one(TypePtr type, int depth) {
  const std::string text = noun(type, Number::One, depth);
  return (text.starts_with("int") ? "an " : "a ") + text;
}

bool all_equal(const std::vector<TypePtr>& types, int depth) {
  const std::string first = noun(types[0], Number::One, depth);
  return std::all_of(types.begin() + 1, types.end(),
                     [&](TypePtr type) { return noun(type, Number::One, depth) == first; });
}

// Has the type more than `most` parts? These are counted down.
bool exceeds(TypePtr type, int& most) {
  const std::vector<TypePtr>& parts = resolved(type)->arguments;
  return --most < 0 ||
         std::any_of(parts.begin(), parts.end(), [&](TypePtr part) { return exceeds(part, most); });
}

bool is_large(TypePtr type) {
  int most = kMostParts;
  return exceeds(type, most);
}

std::vector<std::string> each_in_words(const std::vector<TypePtr>& types, int depth) {
  std::vector<std::string> words;
  for (TypePtr type : types) words.push_back(one(type, depth));
  return words;
}

std::string tuple(TypePtr type, Number number, int depth) {
  const std::vector<TypePtr> parts = components(type);
  const std::string name = plural(parts.size() == 2 ? "pair" : "tuple", number);
  if (all_equal(parts, depth) && parts.size() < kCounts.size()) {
    const std::string count =
        parts.size() == 2 ? std::string() : fmt::format("{} ", kCounts[parts.size()]);
    return fmt::format("{} of {}{}", name, count, noun(parts[0], Number::Many, depth));
  }
  return fmt::format("{} of {}", name, joined(each_in_words(parts, depth)));
}

std::string unknown(TypeClass type_class, Number number) {
  switch (type_class) {
    case TypeClass::Any:
      return plural("value", number);
    case TypeClass::Number:
      return plural("number", number);
    case TypeClass::Ordinal:
      return plural("number", number) + " or " + plural("character", number);
    case TypeClass::Logical:
      return plural("int", number) + " or " + plural("bool", number);
  }
  return {};
}

// Is a part of the type not known yet? What a function is does not matter.
bool is_open(TypePtr unresolved) {
  const TypePtr type = resolved(unresolved);
  if (type->kind == TypeKind::Variable) return true;
  if (type->kind == TypeKind::Function) {
    return is_open(type->argument()) || is_open(type->result());
  }
  return std::any_of(type->arguments.begin(), type->arguments.end(), is_open);
}

bool is_unknown(TypePtr type) {
  return type->kind == TypeKind::Variable && type->variable->type_class == TypeClass::Any;
}

std::string noun(TypePtr unresolved, Number number, int depth) {
  const TypePtr type = resolved(unresolved);
  if (is_large(type)) return plural("value", number) + " of a large type";
  if (depth > kDeepest) return plural("value", number) + " of type `" + type_text(type) + "`";
  switch (type->kind) {
    case TypeKind::Int:
      return plural("int", number);
    case TypeKind::Float:
      return plural("float", number);
    case TypeKind::Bool:
      return plural("bool", number);
    case TypeKind::Char:
      return plural("character", number);
    case TypeKind::Sequence: {
      const TypePtr element = resolved(type->element());
      if (element->kind == TypeKind::Char) return plural("string", number);
      if (is_unknown(element)) return plural("sequence", number);
      return plural("sequence", number) + " of " + noun(element, Number::Many, depth + 1);
    }
    case TypeKind::Stream:
      if (is_unknown(resolved(type->element()))) return plural("stream", number);
      return plural("stream", number) + " of " + noun(type->element(), Number::Many, depth + 1);
    case TypeKind::Pair:
      return tuple(type, number, depth + 1);
    case TypeKind::Record:
      return fmt::format("{}`{}`", number == Number::One ? "" : "values of type ",
                         type->datatype->name);
    case TypeKind::Opaque:
      return plural("value", number) + fmt::format(" of type `{}`", type->name);
    case TypeKind::Function:
      return plural("function", number);
    case TypeKind::Variable:
      return unknown(type->variable->type_class, number);
    case TypeKind::Generic:
      return unknown(TypeClass::Any, number);
    default:
      return fmt::format("`{}`", type_text(type));
  }
}

}  // namespace

std::string joined(const std::vector<std::string>& words) {
  std::string text = words.front();
  for (std::size_t i = 1; i < words.size(); ++i) {
    text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::vector<TypePtr> components(TypePtr type) {
  std::vector<TypePtr> result;
  for (type = resolved(type); type->kind == TypeKind::Pair; type = resolved(type->second())) {
    result.push_back(resolved(type->first()));
  }
  result.push_back(type);
  return result;
}

std::string in_words(TypePtr type) {
  return one(type, 0);
}

std::string operands_in_words(const std::vector<TypePtr>& parts) {
  if (parts.size() == 1) return in_words(parts[0]);
  if (parts.size() >= kCounts.size() || !all_equal(parts, 0)) {
    return joined(each_in_words(parts, 0));
  }
  bool linked = false;
  if (!is_large(parts[0]) && is_open(parts[0])) {
    TypePrinter printer;
    const std::string first = printer.text(parts[0]);
    linked = std::all_of(parts.begin(), parts.end(),
                         [&](TypePtr part) { return printer.text(part) == first; });
  }
  return fmt::format("{} {}{}", kCounts[parts.size()], noun(parts[0], Number::Many, 0),
                     linked ? " of the same type" : "");
}

}  // namespace neslc
