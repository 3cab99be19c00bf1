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

void Scheduler::for_tiles(std::int64_t tiles, std::int64_t bytes, TileBody body) {
  // Neighbours together, for the sake of the hardware's prefetching; small parts, because threads
  // are not equally fast.
  constexpr std::int64_t kParts = 8;
  if (tiles > 1 && worth_sharing(bytes)) {
    return pool().run(tiles, std::max<std::int64_t>(1, tiles / (kParts * threads_)), body);
  }
  for (std::int64_t tile = 0; tile < tiles; ++tile) body(tile);
}

void Scheduler::for_tiles_in_order(std::int64_t tiles, std::int64_t bytes, TileBody body) {
  if (tiles > 1 && worth_sharing(bytes)) return pool().run_in_order(tiles, body);
  for (std::int64_t tile = 0; tile < tiles; ++tile) body(tile);
}

int Scheduler::parts(std::int64_t bytes) {
  return worth_sharing(bytes) ? pool().threads() : 1;
}

void Scheduler::for_parts(int parts, TileBody body) {
  if (parts > 1) return pool().run(parts, 1, body);
  if (parts == 1) body(0);
}

}  // namespace cvl::cpu
