// Narrow vectors that stay so: what only moves elements moves bytes, as it moves those of BOOLs.
#pragma once

#include "cvl-cpu/cpu_backend.hpp"

namespace cvl::cpu {

/// Does the operation only move elements of Narrow vectors, or of those that will make its result
/// one? Other operations widen what they read, block by block.
bool moves_narrow(const CpuBackend& cpu, vcode::Op op, const Value* operands);

/// Carries such an operation out. The result is Narrow, too, if it is long enough.
void move_narrow(CpuBackend& cpu, vcode::Op op, Value* operands, Value* results);

/// writable() of a Narrow vector, which stays so.
Vector writable_bytes(CpuBackend& cpu, Vector& dying);

/// out[i] = bytes[i] op number, or number op bytes[i]. REQUIRES: op is a comparison
void compare_bytes(const CpuBackend& cpu, vcode::Op op, bool number_first, std::int64_t number,
                   const std::byte* bytes, std::byte* out, std::int64_t n);

/// The same as bit masks, 64 to a word.
void compare_bytes(const CpuBackend& cpu, vcode::Op op, bool number_first, std::int64_t number,
                   const std::byte* bytes, std::uint64_t* masks, std::int64_t n);

/// PACK with a kernel for elements of the size that those of operand 0 have.
void pack(CpuBackend& cpu, CompressKernel compress, Value* operands, Value* results);

}  // namespace cvl::cpu
