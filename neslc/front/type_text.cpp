#include "neslc/front/type_text.hpp"

#include <cstddef>

#include <fmt/format.h>

#include "neslc/front/inference.hpp"

namespace neslc {
namespace {

// Longer types than this are cut: nobody reads them, and shared parts make huge ones possible.
constexpr std::size_t kLongest = 2000;

std::string variable_name(std::size_t number, bool few) {
  return few && number < 26 ? std::string(1, static_cast<char>('a' + number))
                            : fmt::format("a{}", number);
}

}  // namespace

std::string TypePrinter::name_of(TypePtr variable) {
  const auto [entry, is_new] = names_.try_emplace(variable);
  if (is_new) {
    entry->second = variable_name(names_.size() - 1, few_);
    if (variable->kind == TypeKind::Variable && variable->variable->type_class != TypeClass::Any) {
      if (!restrictions_.empty()) restrictions_ += "; ";
      restrictions_ += entry->second + " in " + class_name(variable->variable->type_class);
    }
  }
  return entry->second;
}

std::string TypePrinter::restrictions() const {
  return restrictions_;
}

void TypePrinter::append_operand(TypePtr type, bool functions_too, std::string& text) {
  const TypePtr known = resolved(type);
  const bool parentheses =
      known->kind == TypeKind::Pair || (functions_too && known->kind == TypeKind::Function);
  if (parentheses) text += '(';
  append(known, text);
  if (parentheses) text += ')';
}

void TypePrinter::append(TypePtr unresolved, std::string& text) {
  if (text.size() > kLongest) return;
  const TypePtr type = resolved(unresolved);
  switch (type->kind) {
    case TypeKind::Int:
      text += "int";
      break;
    case TypeKind::Float:
      text += "float";
      break;
    case TypeKind::Bool:
      text += "bool";
      break;
    case TypeKind::Char:
      text += "char";
      break;
    case TypeKind::Sequence:
      text += '[';
      append_operand(type->element(), false, text);
      text += ']';
      break;
    case TypeKind::Stream:
      text += '{';
      append_operand(type->element(), false, text);
      text += '}';
      break;
    case TypeKind::Pair:
      append_operand(type->first(), false, text);
      text += ", ";
      append(type->second(), text);
      break;
    case TypeKind::Record:
      text += type->datatype->name;
      if (type->arguments.empty()) break;
      text += '(';
      for (std::size_t i = 0; i < type->arguments.size(); ++i) {
        if (i > 0) text += ", ";
        append_operand(type->arguments[i], false, text);
      }
      text += ')';
      break;
    case TypeKind::Function:
      append_operand(type->argument(), true, text);
      text += " -> ";
      append_operand(type->result(), false, text);
      break;
    case TypeKind::FunctionIdentity:
    case TypeKind::LambdaIdentity:
    case TypeKind::PartialIdentity:
      text += "function";
      break;
    case TypeKind::Opaque:
      text += type->name;
      break;
    case TypeKind::Generic:
    case TypeKind::Variable:
      text += name_of(type);
      break;
  }
}

std::string TypePrinter::text(TypePtr type) {
  std::string result;
  append(type, result);
  if (result.size() > kLongest) result = result.substr(0, kLongest) + "...";
  return result;
}

std::string type_text(TypePtr type) {
  return TypePrinter().text(type);
}

// Generics are numbered as they are first shown, so number i has the i-th name; those that are only
// in identities come last and appear in the context alone.
std::string scheme_text(const Scheme& scheme) {
  constexpr std::size_t kFew = 5;
  const bool few = scheme.variables.size() <= kFew;
  std::string result = TypePrinter(few).text(scheme.type);
  for (std::size_t i = 0; i < scheme.variables.size(); ++i) {
    result += i == 0 ? " :: (" : "; ";
    result += variable_name(i, few);
    result += " in ";
    result += class_name(scheme.variables[i]);
  }
  if (!scheme.variables.empty()) result += ')';
  return result;
}

}  // namespace neslc
