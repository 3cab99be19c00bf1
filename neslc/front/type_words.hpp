// Types in the words of a first course, for messages: "an int", "a sequence of strings".
#pragma once

#include <string>
#include <vector>

#include "neslc/front/types.hpp"

namespace neslc {

/// The components of a tuple from left to right; any other type is its own only one.
std::vector<TypePtr> components(TypePtr type);

/// "a, b and c"; at least one word.
std::string joined(const std::vector<std::string>& words);

/// "a float", "a sequence of pairs of ints". What is not known yet is "a value", or "a number"
/// if it must be one.
std::string in_words(TypePtr type);
/// Operands of a call: "an int and a float", "two strings", "two numbers of the same type".
std::string operands_in_words(const std::vector<TypePtr>& types);

}  // namespace neslc
