// Elements from anywhere in a vector, for the lanes of registers in machine code.
#pragma once

#include <asmjit/x86.h>

#include "cvl-cpu/native_values.hpp"

namespace cvl::cpu {

/// Elements that lie one behind the other from `base` on.
struct GatheredVector {
  asmjit::x86::Gp base;
  /// What a register holds of them. Flag: they are read as I32 lanes that are 0 or 1.
  Lane lane = Lane::I32;
  bool bytes = false;  // they take one byte each: I32 and flags only; else as many as the lane
};

/// Fills `out` with the elements at `indices`, I32 or I64 lanes, where there are flags, and with 0
/// elsewhere, where nothing is read. Of bytes, as many are read as a lane has.
/// `flags`: a mask register with AVX-512, else lanes as wide as those of `out`; they are lost.
/// REQUIRES: `out` is no other operand.
void write_gather(asmjit::x86::Compiler& c, bool avx512, const asmjit::x86::Vec& out,
                  const GatheredVector& from, const asmjit::x86::Vec& indices, Lane index_lane,
                  const asmjit::x86::Reg& flags);

}  // namespace cvl::cpu
