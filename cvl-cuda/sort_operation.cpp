// SORT_UP, SORT_DOWN: ranks, and a permutation by them.

#include "cvl-cuda/operations.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

using vcode::Op;

void run_sort(CudaBackend& cuda, Op op, Type type, Value* operands, Value* results) {
  const Value& segdes = operands[1];
  const Value ranks =
      apply(cuda, op == Op::SortUp ? Op::RankUp : Op::RankDown, type, operands[0], segdes);
  results[0] = apply(cuda, Op::Permute, type, operands[0], ranks, segdes);
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
