// Elementwise operations and RAND.

#include <algorithm>

#include "cvl-cuda/operations.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

void run_elementwise(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results) {
  const vcode::OpInfo& info = vcode::info(op);
  const std::size_t arity = info.operands.size();
  const std::int64_t length = operands[0].vector().length;
  const bool constant = std::all_of(operands, operands + arity, [](const Value& value) {
    return value.vector().form == Form::Constant;
  });
  // One element decides; and nothing at all is nothing.
  if (constant || length == 0) return cuda.run_on_host(op, type, operands, results);

  ElementwiseCall call;
  call.op = op;
  call.type = type;
  call.widths = cuda.widths();
  call.length = length;
  for (std::size_t k = 0; k < arity; ++k)
    call.operands[k] = cuda.source(operands[k].vector(), length);
  call.failures = cuda.failures(op, length);
  const Type result_type = *vcode::operand_type(info.results[0], type);
  Vector result;
  for (std::size_t k = 0; k < arity && result.form == Form::Inline; ++k) {
    Vector& operand = operands[k].vector();
    if (k + 1 == arity || (operand.form == Form::Dense && operand.buffer.unique())) {
      result = cuda.new_result_over(result_type, length, operand);
    }
  }
  call.out = result.buffer->data;
  launch_elementwise(cuda.device(), call);
  results[0] = std::move(result);
}

void run_random(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results) {
  Vector& bounds = operands[0].vector();
  if (bounds.length == 0) return cuda.run_on_host(op, type, operands, results);
  RandomCall call;
  call.widths = cuda.widths();
  call.bounds = cuda.source(bounds, bounds.length);
  call.length = bounds.length;
  call.state = cuda.random();
  call.failures = cuda.failures(op, bounds.length);
  Vector result = cuda.new_result_over(Type::Int, bounds.length, bounds);
  call.out = result.buffer->data;
  launch_random(cuda.device(), call);
  cuda.random().drawn += static_cast<std::uint64_t>(call.length);
  results[0] = std::move(result);
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
