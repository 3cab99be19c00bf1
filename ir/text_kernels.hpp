// The kernels of the intermediate form as text: FCODE behind the functions.
#pragma once

#include <string>
#include <string_view>

#include "ir/module.hpp"

namespace ir {

/// The word at the begin of a line that the kernels stand behind.
inline constexpr std::string_view kKernelsWord = "KERNELS:";

/// The kernels of the module, the word in front of them; nothing if there are none.
std::string print_kernels(const Module& module);

/// Adds the kernels that print_kernels() has written, without its word, to the module. False if the
/// text is wrong.
bool parse_kernels(std::string text, Module& module);

}  // namespace ir
