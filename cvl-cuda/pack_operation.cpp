// PACK.

#include <utility>
#include <vector>

#include "cvl-cuda/operations.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

/// The descriptor whose starts are in `offsets`, which the device has written.
Segdes packed_segdes(CudaBackend& cuda, Ref<Buffer> offsets, std::int64_t count,
                     std::int64_t kept) {
  if (!cuda.is_small(count)) {
    Segdes result;
    result.uniform = false;
    result.count = count;
    result.total = kept;
    result.tables = Ref<SegdesTables>(new SegdesTables);  // LENGTHS makes the lengths if asked
    result.tables->device_offsets = std::move(offsets);
    return result;
  }
  // A small one is made on the host, in the memory of which its starts are.
  const auto* starts = offsets->as<std::int64_t>();
  std::vector<std::int64_t> wide(static_cast<std::size_t>(count));
  std::vector<std::int32_t> narrow(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) {
    const auto at = static_cast<std::size_t>(k);
    wide[at] = starts[k + 1] - starts[k];
    narrow[at] = static_cast<std::int32_t>(wide[at]);
  }
  const bool is_wide = cuda.widths().int_bytes == 8;
  const void* lengths = is_wide ? static_cast<const void*>(wide.data()) : narrow.data();
  Value operand(cuda.upload(Type::Int, lengths, count));
  Value result;
  cuda.run_on_host(vcode::Op::MakeSegdes, Type::Int, &operand, &result);
  return std::move(result.segdes());
}

}  // namespace

Vector trimmed(CudaBackend& cuda, Vector packed) {
  const std::size_t width = cuda.element_bytes(packed.type);
  const std::size_t bytes = static_cast<std::size_t>(packed.length) * width;
  const bool misplaced = cuda.is_small(packed.length) && packed.buffer->heap == &cuda.heap();
  if (!misplaced && packed.buffer->capacity / static_cast<std::size_t>(tuning.pack_slack) <=
                        bytes + Heap::kPadding) {
    return packed;
  }
  Vector result = cuda.new_result(packed.type, packed.length);
  if (packed.length > 0) {
    launch_write_out(cuda.device(), width, cuda.source(packed, packed.length), packed.length,
                     result.buffer->data);
  }
  return result;
}

Segdes selected_segdes(Vector lengths, std::int64_t count, std::int64_t total) {
  if (count <= 1) return Segdes::regular(count, total);
  Segdes result;
  result.uniform = false;
  result.count = count;
  result.total = total;
  result.tables = Ref<SegdesTables>(new SegdesTables);
  result.tables->lengths = std::move(lengths);
  return result;
}

void run_pack(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results) {
  const Vector& values = operands[0].vector();
  const Vector& flags = operands[1].vector();
  const Segdes& segdes = operands[2].segdes();
  if (values.length == 0) {
    if (segdes.uniform) return cuda.run_on_host(op, type, operands, results);
    results[0] = values;
    results[1] = Segdes::regular(segdes.count, 0);
    return;
  }
  PackCall call;
  call.element_bytes = cuda.element_bytes(type);
  call.values = cuda.source(values, values.length);
  call.flags = cuda.source(flags, values.length);
  call.segments = cuda.segments(segdes);
  Ref<Buffer> kept = cuda.allocate_mapped(sizeof(std::int64_t));
  call.kept = kept->as<std::int64_t>();
  Ref<Buffer> offsets;
  if (segdes.count != 1) {
    const std::size_t bytes = (static_cast<std::size_t>(segdes.count) + 1) * sizeof(std::int64_t);
    offsets = cuda.is_small(segdes.count) ? cuda.allocate_mapped(bytes) : cuda.allocate(bytes);
  }
  call.offsets = offsets ? offsets->as<std::int64_t>() : nullptr;

  // The components of a tuple are packed one after the other under the same flags.
  CudaBackend::LastPack& last = cuda.last_pack();
  const bool again = flags.form == Form::Dense && last.flags.get() == flags.buffer.get() &&
                     same_descriptor(last.segdes, segdes);
  // Until the number of kept elements is known there must be room for all of them.
  Vector packed = cuda.new_result(type, again ? last.result.total : values.length);
  if (packed.length > 0) {
    call.out = packed.buffer->data;
    call.room = packed.length;
    const std::int64_t tiles = fold_tiles(segdes.total, segdes.count);
    launch_pack(cuda.device(), call, cuda.workspace(scan_words(tiles), 0));
  }
  Segdes result;
  if (again) {
    result = last.result;
  } else {
    cuda.wait();
    packed.length = *call.kept;
    result = segdes.count == 1
                 ? Segdes::single(packed.length)
                 : packed_segdes(cuda, std::move(offsets), segdes.count, packed.length);
    packed = trimmed(cuda, std::move(packed));
    if (flags.form == Form::Dense) last = {flags.buffer, segdes, result};
  }
  results[0] = std::move(packed);
  results[1] = std::move(result);
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
