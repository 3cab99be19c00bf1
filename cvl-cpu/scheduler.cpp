#include "cvl-cpu/scheduler.hpp"

#include <algorithm>
#include <sched.h>
#include <thread>

namespace cvl::cpu {
namespace {

int usable_processors() {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) == 0) return CPU_COUNT(&processors);
  return static_cast<int>(std::thread::hardware_concurrency());  // GCOVR_EXCL_LINE: system refused
}

}  // namespace

Scheduler::Scheduler(int threads)
    : threads_(threads > 0 ? threads : std::max(1, usable_processors())) {}

ThreadPool& Scheduler::pool() {
  if (!pool_) {
    pool_.emplace(threads_);
    threads_ = pool_->threads();
  }
  return *pool_;
}

void Scheduler::run(std::int64_t count, std::int64_t step, bool shared, TileBody body) {
  if (shared && count > 1) return pool().run(0, count, step, body);
  for (std::int64_t index = 0; index < count; ++index) body(index);
}

void Scheduler::for_tiles(std::int64_t tiles, std::int64_t bytes, TileBody body) {
  // Neighbours together, for the sake of the hardware's prefetching; small shares, because threads
  // are not equally fast.
  constexpr std::int64_t kShares = 8;
  run(tiles, std::max<std::int64_t>(1, tiles / (kShares * threads_)), worth_sharing(bytes), body);
}

void Scheduler::for_tiles_in_order(std::int64_t tiles, std::int64_t bytes, TileBody body) {
  run(tiles, 1, worth_sharing(bytes), body);
}

int Scheduler::parts(std::int64_t bytes) {
  return worth_sharing(bytes) ? pool().threads() : 1;
}

void Scheduler::for_parts(int parts, TileBody body) {
  run(parts, 1, true, body);
}

}  // namespace cvl::cpu
