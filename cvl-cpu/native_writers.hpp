// Writers of machine code: each puts the function for its kind of loop into the holder, and returns
// in groups of how many elements that computes; 0 when no code could be made.
#pragma once

#include "cvl-cpu/native_values.hpp"

namespace cvl::cpu {

int write_native(const NativeLoop& loop, asmjit::CodeHolder& code, Isa isa, Widths widths);
int write_native(const NativeRounds& rounds, asmjit::CodeHolder& code, Isa isa, Widths widths);
int write_native(const NativePieces& pieces, asmjit::CodeHolder& code, Isa isa, Widths widths);

}  // namespace cvl::cpu
