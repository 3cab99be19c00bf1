// REPLACE: a copy of a vector with one element of each segment replaced, or the vector itself when
// nobody else holds it.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "cvl-cpu/gather_scatter.hpp"
#include "cvl-cpu/operations.hpp"

namespace cvl::cpu {
namespace {

Vector replace_one(CpuBackend& cpu, vcode::Op op, Vector& vector, const Vector& index,
                   const Vector& value) {
  const std::int64_t at = int_at(cpu, index, 0);
  if (static_cast<std::uint64_t>(at) >= static_cast<std::uint64_t>(vector.length)) {
    throw_index_failure(op, {0, at, 0, vector.length});
  }
  Vector result = writable(cpu, vector);
  const std::size_t width = cpu.element_bytes(vector.type);
  std::memcpy(mutable_elements<std::byte>(result) + static_cast<std::size_t>(at) * width,
              value.payload, width);
  return result;
}

}  // namespace

void run_replace(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results) {
  Vector& vector = operands[0].vector();
  const Vector& index = operands[1].vector();
  const Vector& values = operands[2].vector();
  const Segdes& segdes = operands[3].segdes();
  if (segdes.count == 1) {
    results[0] = replace_one(cpu, op, vector, index, values);
    return;
  }
  const Segments segments(cpu, segdes);
  const SegmentLocator locator(cpu, index, segments);
  const Window from(cpu, values);
  Vector result = writable(cpu, vector);
  auto* out = mutable_elements<std::byte>(result);
  const bool prefetch = segdes.total * from.width() > tuning.prefetched_bytes;
  std::atomic<bool> failed{false};
  auto tile = [&](std::int64_t number) {
    alignas(64) std::uint64_t positions[kSegmentBlock];
    alignas(64) std::uint64_t values_buffer[kSegmentBlock];
    const std::int64_t end = std::min((number + 1) * tuning.move_tile, index.length);
    for (std::int64_t k = number * tuning.move_tile; k < end; k += tuning.segment_block) {
      const std::int64_t n = std::min(tuning.segment_block, end - k);
      if (!locator.locate(k, n, positions)) {
        failed.store(true, std::memory_order_relaxed);
        return;
      }
      cpu.kernels().scatter[type_index(type)](out, from.at(k, n, values_buffer), positions, n, 0,
                                              kNowhere, prefetch);
    }
  };
  cpu.scheduler().for_tiles(tile_count(index.length, tuning.move_tile),
                            10 * index.length * from.width(), tile);
  if (failed.load(std::memory_order_relaxed)) locator.fail(op);
  results[0] = std::move(result);
}

}  // namespace cvl::cpu
