// What is left out and put together in a loop before machine code is made of it.
#pragma once

#include <cstdint>
#include <vector>

#include "cvl-cpu/native_code.hpp"

namespace cvl::cpu {

/// Leaves out values that nobody reads and that cannot fail, and gives the others new numbers:
/// `wanted` are all numbers outside of `loop.values`. Where there are instructions for it, bitwise
/// operations on INTs become functions of up to three numbers.
void simplify(NativeLoop& loop, const std::vector<std::uint32_t*>& wanted, Isa isa);

}  // namespace cvl::cpu
