// EXTRACT: one element of each segment.

#include <algorithm>
#include <atomic>
#include <utility>

#include "cvl-cpu/gather_scatter.hpp"
#include "cvl-cpu/operations.hpp"

namespace cvl::cpu {
namespace {

Vector extract_one(CpuBackend& cpu, vcode::Op op, const Vector& source, const Vector& index) {
  const std::int64_t at = int_at(cpu, index, 0);
  if (static_cast<std::uint64_t>(at) >= static_cast<std::uint64_t>(source.length)) {
    throw_index_failure(op, {0, at, 0, source.length});
  }
  Vector result;
  result.type = source.type;
  result.length = 1;
  cpu.download(source, at, 1, result.payload);
  return result;
}

}  // namespace

void run_extract(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results) {
  const Vector& source = operands[0].vector();
  const Vector& index = operands[1].vector();
  const Segdes& segdes = operands[2].segdes();
  if (segdes.count == 1) {
    results[0] = extract_one(cpu, op, source, index);
    return;
  }
  const Segments segments(cpu, segdes);
  const SegmentLocator locator(cpu, index, segments);
  const Source from(cpu, source);
  const std::int64_t width = static_cast<std::int64_t>(cpu.element_bytes(type));
  Vector result = cpu.new_vector(type, index.length);
  auto* out = mutable_elements<std::byte>(result);
  std::atomic<bool> failed{false};
  auto tile = [&](std::int64_t number) {
    alignas(64) std::uint64_t positions[kSegmentBlock];
    const std::int64_t end = std::min((number + 1) * tuning.move_tile, index.length);
    for (std::int64_t k = number * tuning.move_tile; k < end; k += tuning.segment_block) {
      const std::int64_t n = std::min(tuning.segment_block, end - k);
      if (!locator.locate(k, n, positions)) {
        failed.store(true, std::memory_order_relaxed);
        return;
      }
      from.fetch(out + k * width, positions, nullptr, n);
    }
  };
  cpu.scheduler().for_tiles(tile_count(index.length, tuning.move_tile), 10 * index.length * width,
                            tile);
  if (failed.load(std::memory_order_relaxed)) locator.fail(op);
  results[0] = std::move(result);
}

}  // namespace cvl::cpu
