#include "cvl-cpu/scheduler.hpp"

#include <algorithm>
#include <atomic>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace cvl::cpu {

namespace tbb = oneapi::tbb;

struct Scheduler::Arena {
  explicit Arena(int threads)
      : control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena(threads) {}
  // More threads than processors are allowed: tests use them to provoke interleavings.
  tbb::global_control control;
  tbb::task_arena arena;
};

Scheduler::Scheduler(int threads)
    : threads_(threads > 0 ? threads : std::max(1, tbb::info::default_concurrency())) {
  if (threads_ > 1) arena_ = std::make_unique<Arena>(threads_);
}

Scheduler::~Scheduler() = default;

void Scheduler::for_tiles(std::int64_t tiles, std::int64_t bytes, TileBody body) {
  if (tiles <= 1 || bytes < kSerialBytes || threads_ == 1) {
    for (std::int64_t tile = 0; tile < tiles; ++tile) body(tile);
    return;
  }
  arena_->arena.execute(
      [&] { tbb::parallel_for(std::int64_t{0}, tiles, [&](std::int64_t tile) { body(tile); }); });
}

void Scheduler::for_tiles_in_order(std::int64_t tiles, std::int64_t bytes, TileBody body) {
  if (tiles <= 1 || bytes < kSerialBytes || threads_ == 1) {
    for (std::int64_t tile = 0; tile < tiles; ++tile) body(tile);
    return;
  }
  std::atomic<std::int64_t> next{0};
  auto share = [&](std::int64_t) {
    for (std::int64_t tile = next.fetch_add(1); tile < tiles; tile = next.fetch_add(1)) body(tile);
  };
  for_parts(threads_, share);
}

void Scheduler::for_parts(int parts, TileBody body) {
  if (parts <= 1 || threads_ == 1) {
    for (int part = 0; part < parts; ++part) body(part);
    return;
  }
  arena_->arena.execute([&] {
    tbb::parallel_for(
        0, parts, [&](int part) { body(part); }, tbb::simple_partitioner{});
  });
}

}  // namespace cvl::cpu
