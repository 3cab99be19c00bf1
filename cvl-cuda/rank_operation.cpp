// RANK_UP and RANK_DOWN: one block for few elements, else one stable sort of all segments together.

#include <bit>
#include <limits>

#include "cvl-cuda/operations.hpp"
#include "cvl-cuda/primitives.hpp"
#include "cvl/failure.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

/// Keys and positions of one RANK, each twice.
class Sorter {
 public:
  Sorter(CudaBackend& cuda, std::int64_t length, std::size_t key_bytes, std::size_t position_bytes)
      : cuda_(cuda) {
    call_.length = length;
    call_.key_bytes = key_bytes;
    call_.value_bytes = position_bytes;
    const auto count = static_cast<std::size_t>(length);
    for (int k = 0; k < 2; ++k) {
      call_.buffers.keys[k] = cuda.keep(cuda.allocate(count * key_bytes));
      call_.buffers.values[k] = cuda.keep(cuda.allocate(count * position_bytes));
    }
  }

  void* keys() const { return call_.buffers.keys[0]; }
  void* positions() const { return call_.buffers.values[0]; }

  /// Keys and positions are then in order.
  void sort(int bits) {
    call_.key_bits = bits;
    const std::size_t bytes = sort_scratch_bytes(cuda_.device(), call_);
    std::byte* scratch = cuda_.keep(cuda_.allocate(bytes));
    if (sort_pairs(cuda_.device(), call_, scratch, bytes) == 1) {
      std::swap(call_.buffers.keys[0], call_.buffers.keys[1]);
      std::swap(call_.buffers.values[0], call_.buffers.values[1]);
    }
  }

  /// Goes on with keys of four bytes in place of those of the sort before.
  void use_narrow_keys() { call_.key_bytes = sizeof(std::uint32_t); }
  void* spare_keys() const { return call_.buffers.keys[1]; }

 private:
  CudaBackend& cuda_;
  SortCall call_;
};

void run_block_rank(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results) {
  BlockRankCall call;
  call.type = type;
  call.widths = cuda.widths();
  call.descending = op == vcode::Op::RankDown;
  call.operand = cuda.source(operands[0].vector());
  call.segments = cuda.segments(operands[1].segdes());
  Vector result = cuda.new_result(Type::Int, operands[0].vector().length);
  call.ranks = result.buffer->data;
  launch_block_rank(cuda.device(), call);
  results[0] = std::move(result);
}

/// RANK of any number of elements by a sort of the whole device.
void run_sorting_rank(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results) {
  const Vector& operand = operands[0].vector();
  const Segdes& segdes = operands[1].segdes();
  constexpr std::int64_t kMostSegments = std::int64_t{1} << 32;  // keys hold 32 bits of a segment
  if (segdes.count > kMostSegments) {
    throw Failure(vcode::ErrorCode::CountOverflow, "ranks of more than 2^32 segments at once");
  }
  const std::size_t element_bytes = cuda.element_bytes(type);
  const int element_bits = static_cast<int>(element_bytes) * 8;
  const int segment_bits = std::bit_width(static_cast<std::uint64_t>(segdes.count - 1));
  const bool segmented = segdes.count > 1;
  // Four bytes of key leave room for the segment in the same word; longer keys are sorted first,
  // then, stably, the segments.
  const bool together = segmented && element_bytes == 4;

  RankKeysCall keys;
  keys.type = type;
  keys.widths = cuda.widths();
  keys.descending = op == vcode::Op::RankDown;
  keys.operand = cuda.source(operand);
  keys.segments = cuda.segments(segdes);
  keys.with_segment = together;
  keys.key_bytes = together ? 8 : element_bytes;
  keys.position_bytes = operand.length <= tuning.narrow_positions ? 4 : 8;
  Sorter sorter(cuda, operand.length, keys.key_bytes, keys.position_bytes);
  keys.keys = sorter.keys();
  keys.positions = sorter.positions();
  launch_rank_keys(cuda.device(), keys);
  sorter.sort(together ? element_bits + segment_bits : element_bits);
  if (segmented && !together) {
    launch_segment_keys(cuda.device(), keys.segments, keys.position_bytes, sorter.positions(),
                        static_cast<std::uint32_t*>(sorter.spare_keys()),
                        static_cast<std::uint32_t*>(sorter.keys()));
    sorter.use_narrow_keys();
    sorter.sort(segment_bits);
  }
  Vector result = cuda.new_result(Type::Int, operand.length);
  launch_rank_places(cuda.device(), keys.widths, keys.segments, keys.position_bytes,
                     sorter.positions(), result.buffer->data);
  results[0] = std::move(result);
}

}  // namespace

void run_rank(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results) {
  const Segdes segdes = operands[1].segdes();
  if (segdes.total == 0) {
    results[0] = cuda.new_result(Type::Int, 0);
    return;
  }
  const bool one_block =
      segdes.total <= tuning.block_rank && segdes.count <= tuning.block_rank - segdes.total;
  (one_block ? run_block_rank : run_sorting_rank)(cuda, op, type, operands, results);
  cuda.last_rank() = {results[0].vector().buffer, segdes};
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
