#include "cvl-cpu/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <sched.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "cvl-cpu/thread_sanitizer.hpp"

namespace cvl::cpu {

namespace tbb = oneapi::tbb;

namespace {

/// Stores that go around the cache are ordered by nothing that other threads wait for, and a fence
/// waits for memory: once per block instead of once per tile it takes a fifth of a FLOAT addition.
void order_streamed_stores() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/// What oneTBB would answer, but without starting it.
int usable_processors() {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) == 0) return CPU_COUNT(&processors);
  return tbb::info::default_concurrency();
}

}  // namespace

struct Scheduler::Arena {
  // More threads than processors are allowed: tests use them to provoke interleavings.
  explicit Arena(int threads)
      : control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena(threads) {}

  /// Calls body(index) for 0 <= index < count in tasks of the arena and waits for them.
  template <class Partitioner>
  void run(std::int64_t count, TileBody body, const Partitioner& partitioner) {
    HappensBefore begun;
    HappensBefore done;
    order_streamed_stores();
    begun.publish();
    arena.execute([&] {
      tbb::parallel_for(
          std::int64_t{0}, count,
          [&](std::int64_t index) {
            begun.observe();
            body(index);
            order_streamed_stores();
            done.publish();
          },
          partitioner);
    });
    done.observe();
  }

  tbb::global_control control;
  tbb::task_arena arena;
};

Scheduler::Scheduler(int threads)
    : threads_(threads > 0 ? threads : std::max(1, usable_processors())) {}

Scheduler::~Scheduler() = default;

Scheduler::Arena& Scheduler::arena() {
  if (arena_ == nullptr) arena_ = std::make_unique<Arena>(threads_);
  return *arena_;
}

void Scheduler::for_tiles(std::int64_t tiles, std::int64_t bytes, TileBody body) {
  if (tiles <= 1 || bytes < kSerialBytes || threads_ == 1) {
    for (std::int64_t tile = 0; tile < tiles; ++tile) body(tile);
    return;
  }
  arena().run(tiles, body, tbb::auto_partitioner{});
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
  arena().run(parts, body, tbb::simple_partitioner{});
}

}  // namespace cvl::cpu
