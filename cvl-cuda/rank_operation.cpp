// RANK_UP and RANK_DOWN: one block for few elements, else one stable sort of all segments together.

#include <algorithm>
#include <bit>
#include <optional>

#include "cvl-cuda/operations.hpp"
#include "cvl-cuda/primitives.hpp"
#include "cvl/failure.hpp"
#include "cvl/sort_key.hpp"

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
  call.operand = cuda.source(operands[0].vector(), operands[0].vector().length);
  call.segments = cuda.segments(operands[1].segdes());
  Vector result = cuda.new_result(Type::Int, operands[0].vector().length);
  call.ranks = result.buffer->data;
  launch_block_rank(cuda.device(), call);
  results[0] = std::move(result);
}

/// What the keys of elements are counted from, and how many bits are left then.
struct KeyRange {
  std::uint64_t least = 0;
  int bits;
};

/// REQUIRES: least <= greatest.
KeyRange key_range(CudaBackend& cuda, bool descending, std::int64_t least, std::int64_t greatest) {
  const auto key = [&](std::int64_t element) -> std::uint64_t {
    if (cuda.widths().int_bytes == 8) {
      const auto bits = sort_key<std::uint64_t, false>(static_cast<std::uint64_t>(element));
      return descending ? ~bits : bits;
    }
    const auto bits = sort_key<std::uint32_t, false>(static_cast<std::uint32_t>(element));
    return descending ? ~bits : bits;
  };
  const std::uint64_t low = key(descending ? greatest : least);
  const std::uint64_t high = key(descending ? least : greatest);
  return {low, std::max(static_cast<int>(std::bit_width(high - low)), 1)};
}

/// The range of the keys of INTs. Waits for it.
KeyRange find_key_range(CudaBackend& cuda, bool descending, const Vector& operand) {
  const Segdes all = Segdes::single(operand.length);
  const Value ends[] = {apply(cuda, vcode::Op::MinReduce, Type::Int, operand, all),
                        apply(cuda, vcode::Op::MaxReduce, Type::Int, operand, all)};
  std::int64_t found[2];
  for (int k = 0; k < 2; ++k) {
    std::int32_t narrow = 0;
    if (cuda.widths().int_bytes == 8) {
      cuda.download(ends[k].vector(), 0, 1, &found[k]);
    } else {
      cuda.download(ends[k].vector(), 0, 1, &narrow);
      found[k] = narrow;
    }
  }
  return key_range(cuda, descending, found[0], found[1]);
}

/// RANK of any number of elements by a sort of the whole device.
void run_sorting_rank(CudaBackend& cuda, vcode::Op op, Type type, const KeyRange& range,
                      Value* operands, Value* results) {
  const Vector& operand = operands[0].vector();
  const Segdes& segdes = operands[1].segdes();
  constexpr std::int64_t kMostSegments = std::int64_t{1} << 32;  // keys hold 32 bits of a segment
  if (segdes.count > kMostSegments) {
    throw Failure(vcode::ErrorCode::CountOverflow, "ranks of more than 2^32 segments at once");
  }
  const int segment_bits = std::bit_width(static_cast<std::uint64_t>(segdes.count - 1));
  const bool segmented = segdes.count > 1;
  // Where one word has room for key and segment they are sorted together; else the keys first,
  // then, stably, the segments.
  const bool together = segmented && range.bits + segment_bits <= 64;
  const int key_bits = together ? range.bits + segment_bits : range.bits;

  RankKeysCall keys;
  keys.type = type;
  keys.widths = cuda.widths();
  keys.descending = op == vcode::Op::RankDown;
  keys.operand = cuda.source(operand, operand.length);
  keys.segments = cuda.segments(segdes);
  keys.least = range.least;
  keys.element_bits = range.bits;
  keys.with_segment = together;
  keys.key_bytes = key_bits <= 32 ? 4 : 8;
  keys.position_bytes = operand.length <= tuning.narrow_positions ? 4 : 8;
  Sorter sorter(cuda, operand.length, keys.key_bytes, keys.position_bytes);
  keys.keys = sorter.keys();
  keys.positions = sorter.positions();
  launch_rank_keys(cuda.device(), keys);
  sorter.sort(key_bits);
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

/// RANK, given what is known of the keys; if nothing is, and it pays, finds out.
void rank(CudaBackend& cuda, vcode::Op op, Type type, std::optional<KeyRange> range,
          Value* operands, Value* results) {
  const Segdes segdes = operands[1].segdes();
  if (segdes.total == 0) {
    results[0] = cuda.new_result(Type::Int, 0);
    return;
  }
  const bool one_block =
      segdes.total <= tuning.block_rank && segdes.count <= tuning.block_rank - segdes.total;
  if (one_block) {
    run_block_rank(cuda, op, type, operands, results);
  } else {
    if (!range && type == Type::Int && segdes.total >= tuning.narrowed_keys) {
      range = find_key_range(cuda, op == vcode::Op::RankDown, operands[0].vector());
    }
    const int all_bits = static_cast<int>(cuda.element_bytes(type)) * 8;
    run_sorting_rank(cuda, op, type, range.value_or(KeyRange{0, all_bits}), operands, results);
  }
  cuda.last_rank() = {results[0].vector().buffer, segdes};
}

}  // namespace

void run_rank(CudaBackend& cuda, vcode::Op op, Type type, Value* operands, Value* results) {
  rank(cuda, op, type, std::nullopt, operands, results);
}

Value rank_of_places(CudaBackend& cuda, const Vector& places, std::int64_t end) {
  Value operands[] = {places, Segdes::single(places.length)};
  Value result;
  rank(cuda, vcode::Op::RankUp, Type::Int, key_range(cuda, false, 0, end - 1), operands, &result);
  return result;
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
