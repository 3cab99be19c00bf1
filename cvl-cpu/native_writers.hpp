// Writers of machine code: each puts the function for its kind of loop into the holder, and returns
// in groups of how many elements that computes; 0 when no code could be made.
#pragma once

#include "cvl-cpu/native_values.hpp"

namespace cvl::cpu {

int write_loop(const NativeLoop& loop, asmjit::CodeHolder& code, Isa isa, Widths widths);
int write_rounds(const NativeRounds& rounds, asmjit::CodeHolder& code, Isa isa, Widths widths);
int write_serial_rounds(const NativeRounds& rounds, asmjit::CodeHolder& code, Isa isa,
                        Widths widths);
int write_pieces(const NativePieces& pieces, asmjit::CodeHolder& code, Isa isa, Widths widths);
int write_rows(const NativePieces& rows, asmjit::CodeHolder& code, Isa isa, Widths widths);

}  // namespace cvl::cpu
