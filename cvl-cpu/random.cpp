// Random numbers: counter based, so that any thread can draw any part of the stream.

#include <algorithm>
#include <atomic>
#include <limits>

#include "cvl-cpu/movement.hpp"
#include "cvl-cpu/operations.hpp"
#include "cvl/op_failure.hpp"

namespace cvl::cpu {
namespace {

/// Reports the first bound below 1. REQUIRES: there is one at or behind `begin`.
[[noreturn]] void report_first_failure(const CpuBackend& cpu, const Vector& bounds,
                                       std::int64_t begin) {
  std::int64_t position = begin;
  while (int_at(cpu, bounds, position) >= 1) ++position;
  throw random_range(position, int_at(cpu, bounds, position), bounds.length);
}

}  // namespace

void run_random(CpuBackend& cpu, vcode::Op, Type, Value* operands, Value* results) {
  Vector& bounds = operands[0].vector();
  const std::int64_t length = bounds.length;
  const std::int64_t width = cpu.widths().int_bytes;
  const RandomState state = cpu.random();
  const bool constant = bounds.form == Form::Constant;
  if (constant && length > 0 && int_at(cpu, bounds, 0) < 1) {
    throw random_range(0, int_at(cpu, bounds, 0), length);
  }
  Vector result = cpu.new_vector_over(Type::Int, length, bounds);
  auto* out = mutable_elements<std::byte>(result);
  const Window window(cpu, bounds);
  const bool in_place = bounds.form == Form::Dense && bounds.buffer.get() == result.buffer.get();
  const bool streamed = !in_place && cpu.streams(length * width);
  std::atomic<std::int64_t> failed{std::numeric_limits<std::int64_t>::max()};
  /// False if a bound is below 1.
  const auto draw_block = [&](std::byte* target, std::int64_t begin, std::int64_t count) {
    const std::uint64_t counter = state.drawn + static_cast<std::uint64_t>(begin);
    if (constant) {
      cpu.kernels().draw_below(target, bounds.payload, count, state.key, counter);
      return true;
    }
    return cpu.kernels().draw(target, window.at(begin, count, target), count, state.key, counter);
  };
  auto body = [&](std::int64_t tile) {
    alignas(64) std::byte buffer[LargestTuning::random_block * sizeof(std::int64_t)];
    const std::int64_t end = std::min((tile + 1) * tuning.random_tile, length);
    for (std::int64_t begin = tile * tuning.random_tile; begin < end;
         begin += tuning.random_block) {
      const std::int64_t count = std::min(tuning.random_block, end - begin);
      std::byte* target = out + begin * width;
      if (!draw_block(streamed ? buffer : target, begin, count)) {
        std::int64_t first = failed.load(std::memory_order_relaxed);
        while (begin < first && !failed.compare_exchange_weak(first, begin)) {
        }
        return;
      }
      if (streamed) cpu.kernels().stream(target, buffer, count * width);
    }
  };
  cpu.scheduler().for_tiles(tile_count(length, tuning.random_tile), 2 * width * length, body);
  // A block with a bad bound leaves its bounds as they are, in place or not.
  if (failed.load() < length) report_first_failure(cpu, bounds, failed.load());
  cpu.random().drawn += static_cast<std::uint64_t>(length);
  results[0] = std::move(result);
}

}  // namespace cvl::cpu
