// MAKE_SEGDES, LENGTHS, LENGTH.

#include <utility>

#include "cvl-cuda/operations.hpp"
#include "cvl/op_failure.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

void run_make_segdes(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results) {
  Vector& lengths = operands[0].vector();
  if (const Segdes* known = cuda.find_by_lengths(lengths)) {
    results[0] = *known;
    return;
  }
  // What is small costs a wait but no launch, if the host does not know it yet. Of a constant one
  // element tells all.
  if (cuda.is_small(lengths.length) && !cuda.known_on_host(lengths)) cuda.wait();
  if ((cuda.is_small(lengths.length) && cuda.known_on_host(lengths)) || lengths.length == 0 ||
      lengths.form == Form::Constant) {
    return cuda.run_on_host(op, type, operands, results);
  }
  const std::int64_t count = lengths.length;
  Segdes result;
  result.uniform = false;
  result.count = count;
  result.tables = Ref<SegdesTables>(new SegdesTables);
  Ref<Buffer> offsets = cuda.allocate((static_cast<std::size_t>(count) + 1) * sizeof(std::int64_t));
  OffsetsCall call;
  call.widths = cuda.widths();
  call.lengths = cuda.source(lengths, lengths.length);
  call.count = count;
  call.offsets = offsets->as<std::int64_t>();
  call.total =
      reinterpret_cast<std::int64_t*>(cuda.keep(cuda.allocate_mapped(sizeof(std::int64_t))));
  call.failures = cuda.failures(op, count);
  launch_offsets(cuda.device(), call, cuda.workspace(scan_words(fold_tiles(count, 0)), 0));
  if (lengths.form == Form::Progression) {
    Vector written = cuda.new_result(Type::Int, count);
    launch_write_out(cuda.device(), cuda.element_bytes(Type::Int), call.lengths, count,
                     written.buffer->data);
    lengths = std::move(written);
  }
  cuda.wait();  // the lengths of vectors depend on the total
  if (*call.total < 0) throw total_overflow();
  if (count == 1) {
    results[0] = Segdes::single(*call.total);
    return;
  }
  result.total = *call.total;
  result.tables->lengths = std::move(lengths);
  result.tables->device_offsets = std::move(offsets);
  results[0] = std::move(result);
}

void run_lengths(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results) {
  const Segdes& segdes = operands[0].segdes();
  if (segdes.uniform) return cuda.run_on_host(op, type, operands, results);
  SegdesTables& tables = *segdes.tables;
  if (tables.lengths.length != segdes.count) {
    Vector lengths = cuda.new_result(Type::Int, segdes.count);
    launch_lengths(cuda.device(), cuda.widths(), tables.device_offsets->as<std::int64_t>(),
                   segdes.count, lengths.buffer->data);
    tables.lengths = std::move(lengths);
  }
  cuda.remember_lengths(segdes);
  results[0] = tables.lengths;
}

void run_length(CudaBackend& cuda, vcode::Op, Type, Value* operands, Value* results) {
  results[0] = make_int(cuda.widths(), operands[0].vector().length);
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
