// What to do about operands whose types do not fit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neslc/front/types.hpp"

namespace neslc {

/// An operand of a call or an operator: its type, and its text as long as it is short, else a name
/// that stands for it.
struct Operand {
  TypePtr type = nullptr;
  std::string text;
};

/// `function` is the library's name of what was called, empty if the program defines it; `wanted`
/// are the types that it takes. One sentence, or empty if none helps.
std::string hint_for_operands(std::string_view function, const std::vector<TypePtr>& wanted,
                              const std::vector<Operand>& operands);

/// For two values that must have the same type: the branches of `if`, the elements of a sequence.
std::string hint_for_unequal(const Operand& first, const Operand& second);

/// For a value that must be of another type: what makes one of it.
std::string hint_for_value(TypePtr wanted, const Operand& given);

}  // namespace neslc
