// +_COMBINE, MAX_COMBINE and the like: a stable sort by place, and a reduction of what lies
// together.

#include "cvl-cuda/operations.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

using vcode::Op;

Vector range(CudaBackend& cuda, std::int64_t first, std::int64_t length) {
  const Widths widths = cuda.widths();
  return apply(cuda, Op::Index, Type::Int, make_int(widths, first), make_int(widths, 1),
               Segdes::single(length))
      .vector();
}

/// The place in the result of each element, all segments together. Checks the indices.
Vector places_of(CudaBackend& cuda, Op op, const Vector& index, const Segdes& own,
                 const Segdes& target) {
  const Vector places = range(cuda, 0, target.total);
  MoveCall call;
  call.element_bytes = cuda.element_bytes(Type::Int);
  call.widths = cuda.widths();
  call.values = cuda.source(places, index.length);
  call.index = cuda.source(index, index.length);
  call.from = cuda.segments(target);
  call.to = cuda.segments(own);
  call.failures = cuda.failures(op, index.length);
  Vector result = cuda.new_result(Type::Int, index.length);
  call.out = result.buffer->data;
  launch_fetch(cuda.device(), call);
  return result;
}

/// How often each of `count` places occurs in a sorted vector.
Vector occurrences(CudaBackend& cuda, const Value& sorted, std::int64_t count) {
  const std::int64_t length = sorted.vector().length;
  const Segdes all = Segdes::single(count);
  const Vector zero = zeros(cuda, Type::Int, count);
  // The last one of each place tells where those of the next one begin.
  const Value ends = apply(cuda, Op::DPermute, Type::Int, range(cuda, 1, length), sorted, zero,
                           Segdes::single(length), all);
  const Value before = apply(cuda, Op::MaxScan, Type::Int, ends, all);
  const Value first = apply(cuda, Op::Less, Type::Int, before, zero);
  const Value starts = apply(cuda, Op::Select, Type::Int, first, zero, before);
  const Value none = apply(cuda, Op::Equal, Type::Int, ends, zero);
  const Value several = apply(cuda, Op::Subtract, Type::Int, ends, starts);
  return apply(cuda, Op::Select, Type::Int, none, zero, several).vector();
}

}  // namespace

void run_combine(CudaBackend& cuda, Op op, Type type, Value* operands, Value* results) {
  const Vector& values = operands[0].vector();
  const Segdes& target = operands[3].segdes();
  if (values.length == 0) {
    results[0] = reduced_nothing(cuda, vcode::reduction_of(op), type, target.total);
    return;
  }
  const Vector places = places_of(cuda, op, operands[1].vector(), operands[2].segdes(), target);
  if (target.total == 0) {  // no index is right
    results[0] = cuda.new_result(type, 0);
    return;
  }
  const Segdes all = Segdes::single(values.length);
  const Value ranks = rank_of_places(cuda, places, target.total);
  const Value sorted = apply(cuda, Op::Permute, Type::Int, places, ranks, all);
  const Value together = apply(cuda, Op::Permute, type, values, ranks, all);
  const Value segments =
      apply(cuda, Op::MakeSegdes, Type::Int, occurrences(cuda, sorted, target.total));
  results[0] = apply(cuda, vcode::reduction_of(op), type, together, segments);
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
