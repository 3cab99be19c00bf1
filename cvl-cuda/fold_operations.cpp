// Scans and reductions.

#include "cvl-cuda/operations.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

FoldCall fold_call(CudaBackend& cuda, vcode::Op op, Type type, Value* operands) {
  FoldCall call;
  call.op = op;
  call.type = type;
  call.widths = cuda.widths();
  call.operand = cuda.source(operands[0].vector(), operands[0].vector().length);
  call.segments = cuda.segments(operands[1].segdes());
  return call;
}

std::int64_t tiles_of(const FoldCall& call) {
  return fold_tiles(call.segments.total, call.segments.count);
}

Vector empty_vector(Type type) {
  Vector result;
  result.type = type;
  return result;
}

}  // namespace

void run_scan(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results) {
  Vector& operand = operands[0].vector();
  if (operand.length == 0) {
    results[0] = empty_vector(type);
    return;
  }
  FoldCall call = fold_call(cuda, op, type, operands);
  Vector result = cuda.new_result_over(type, operand.length, operand);
  call.out = result.buffer->data;
  launch_scan(cuda.device(), call, cuda.workspace(scan_words(tiles_of(call)), 0));
  results[0] = std::move(result);
}

void run_reduce(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results) {
  const Segdes& segdes = operands[1].segdes();
  if (segdes.count == 0) {
    results[0] = empty_vector(type);
    return;
  }
  if (segdes.count == 1 && segdes.total == 0) {
    return cuda.run_on_host(op, type, operands, results);
  }
  FoldCall call = fold_call(cuda, op, type, operands);
  Vector result = cuda.new_result(type, segdes.count);
  call.out = result.buffer->data;
  launch_reduce(cuda.device(), call, cuda.workspace(0, reduce_bytes(call)));
  results[0] = std::move(result);
}

Vector reduced_nothing(CudaBackend& cuda, vcode::Op op, Type type, std::int64_t count) {
  const bool compact = !Vector::fits_inline(count, cuda.element_bytes(type));
  Value operands[] = {zeros(cuda, type, 0), Segdes::regular(compact ? 1 : count, 0)};
  Value result;
  cuda.run_on_host(op, type, operands, &result);
  if (!compact) return std::move(result.vector());
  Vector vector = result.vector();
  vector.form = Form::Constant;
  vector.length = count;
  return vector;
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
