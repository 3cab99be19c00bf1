// The families of operations, each in the file of its name. All have the signature of
// Backend::execute and run on the device, but for parts that need no work.
#pragma once

#include "cvl-cuda/cuda_backend.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

using Operation = void (*)(CudaBackend& cuda, vcode::Op op, Type type, Value* operands,
                           Value* results);

/// The first result of another operation.
template <class... Operands>
Value apply(CudaBackend& cuda, vcode::Op op, Type type, const Operands&... operand) {
  Value operands[] = {Value(operand)...};
  Value results[vcode::kMaxResults];
  cuda.execute(op, type, operands, results);
  return std::move(results[0]);
}

/// A vector of that many zeros, in compact form.
Vector zeros(CudaBackend& cuda, Type type, std::int64_t length);
/// Moves a packed vector out of a block that is much too large for it. Small ones go to mapped
/// memory.
Vector trimmed(CudaBackend& cuda, Vector packed);
/// The descriptor of `count` segments, of `total` elements together, whose lengths the device has
/// written.
Segdes selected_segdes(Vector lengths, std::int64_t count, std::int64_t total);
/// RANK_UP of INTs from 0 to `end` - 1 in one segment. REQUIRES: `end` > 0, and an operand.
Value rank_of_places(CudaBackend& cuda, const Vector& places, std::int64_t end);
/// What a reduction of `count` segments without elements gives.
Vector reduced_nothing(CudaBackend& cuda, vcode::Op op, Type type, std::int64_t count);

void run_elementwise(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_scan(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_reduce(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_combine(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_random(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_rank(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_sort(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_permute(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_extract(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_replace(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_distribute(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_index(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_pack(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_length(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_make_segdes(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);
void run_lengths(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results);

}  // namespace cvl::cuda::CVL_CUDA_TARGET
