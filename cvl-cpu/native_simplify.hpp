// What is left out and put together in a loop before machine code is made of it.
#pragma once

#include "cvl-cpu/native_code.hpp"

namespace cvl::cpu {

/// Leaves out values that nobody reads and that cannot fail, and gives the others new numbers.
/// Where there are instructions for it, bitwise operations on INTs become functions of up to three
/// numbers, and shifts that are put together, rotations: NESL has none of its own. Not for rounds
/// of which it is known what is shared: that is told by the numbers.
void simplify(NativeLoop& loop, Isa isa, Widths widths);
void simplify(NativeRounds& rounds, Isa isa, Widths widths);
void simplify(NativePieces& pieces, Isa isa, Widths widths);

}  // namespace cvl::cpu
