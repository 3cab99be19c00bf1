#include "cvl/check.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include <fmt/core.h>

#include "cvl/failure.hpp"

namespace cvl {
namespace {

using vcode::ErrorCode;
using vcode::OpInfo;

std::string spelled(const OpInfo& op, Type type) {
  if (!op.takes_type()) return std::string(op.text);
  return fmt::format("{} {}", op.text, vcode::type_name(type));
}

std::int64_t own_length(const Value& value) {
  return value.is_vector() ? value.vector().length : value.segdes().count;
}

std::int64_t term_value(const Value* operands, vcode::LengthTerm term) {
  const Value& operand = operands[term.operand];
  return term.described ? operand.segdes().total : own_length(operand);
}

std::string count(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

/// The word for a type with its article: "an INT", "a FLOAT".
std::string with_article(std::string_view type) {
  return fmt::format("{} {}", type == vcode::type_name(Type::Int) ? "an" : "a", type);
}

std::string describe(const Value& value) {
  switch (value.type()) {
    case Type::Segdes:
      return fmt::format("a SEGDES of {} over {}", count(value.segdes().count, "segment"),
                         count(value.segdes().total, "element"));
    case Type::Pair:
      return "a PAIR";
    default:
      return fmt::format("{} vector of {}", with_article(vcode::type_name(value.type())),
                         count(value.vector().length, "element"));
  }
}

std::vector<std::string> describe_all(const OpInfo& op, const Value* operands) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    notes.push_back(fmt::format("operand {} is {}", i, describe(operands[i])));
  }
  return notes;
}

[[noreturn]] void type_failure(const OpInfo& op, Type type, const Value* operands, std::size_t i,
                               std::string_view expected) {
  throw Failure(ErrorCode::TypeMismatch,
                fmt::format("`{}` needs {} as operand {}, found {}", spelled(op, type),
                            with_article(expected), i, vcode::type_name(operands[i].type())),
                describe_all(op, operands));
}

[[noreturn]] void length_failure(const OpInfo& op, Type type, const Value* operands,
                                 vcode::LengthRule rule) {
  const auto name = [](vcode::LengthTerm term, const Value& operand) {
    if (term.described) return fmt::format("the data length of operand {}", term.operand);
    return fmt::format("the {} of operand {}",
                       operand.is_vector() ? "length" : "number of segments", term.operand);
  };
  throw Failure(
      ErrorCode::LengthMismatch,
      fmt::format("lengths do not fit in `{}`: {} is {}, {} is {}", spelled(op, type),
                  name(rule.left, operands[rule.left.operand]), term_value(operands, rule.left),
                  name(rule.right, operands[rule.right.operand]), term_value(operands, rule.right)),
      describe_all(op, operands));
}

void check_types(const OpInfo& op, Type type, const Value* operands) {
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    if (const auto expected = vcode::operand_type(op.operands[i], type)) {
      if (operands[i].type() != *expected) {
        type_failure(op, type, operands, i, vcode::type_name(*expected));
      }
    } else if (!operands[i].is_vector()) {
      type_failure(op, type, operands, i, "vector");
    }
  }
}

void check_elementwise_lengths(const OpInfo& op, Type type, const Value* operands, bool strict) {
  const std::int64_t length = operands[0].vector().length;
  for (std::size_t i = 1; i < op.operands.size(); ++i) {
    const std::int64_t other = operands[i].vector().length;
    if (other == length || (other > length && !strict)) continue;
    length_failure(op, type, operands, {{static_cast<std::uint8_t>(i), false}, {0, false}});
  }
}

}  // namespace

void check_operands(const OpInfo& op, Type type, const Value* operands, bool strict) {
  check_types(op, type, operands);
  if (op.family == vcode::Family::Elementwise) {
    check_elementwise_lengths(op, type, operands, strict);
    return;
  }
  for (const vcode::LengthRule rule : vcode::length_rules(op.op)) {
    if (term_value(operands, rule.left) != term_value(operands, rule.right)) {
      length_failure(op, type, operands, rule);
    }
  }
  if (strict && op.family == vcode::Family::Length && operands[0].type() != type) {
    type_failure(op, type, operands, 0, vcode::type_name(type));
  }
}

void check_total(const Widths& widths, const Segdes& segdes) {
  if (widths.int_bytes == 8 || segdes.total <= std::numeric_limits<std::int32_t>::max()) return;
  throw Failure(
      ErrorCode::CountOverflow,
      fmt::format("a vector of {} elements: its length does not fit a 32-bit INT", segdes.total),
      {}, "run with --int=64");
}

}  // namespace cvl
