#include "cvl-cpu/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <sched.h>
#include <thread>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "cvl-cpu/thread_sanitizer.hpp"
#include "cvl-cpu/threads.hpp"

namespace cvl::cpu {

namespace {

/// Stores that go around the cache are ordered by nothing that other threads wait for, and a fence
/// waits for memory: once per block instead of once per tile it takes a fifth of a FLOAT addition.
void order_streamed_stores() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

int usable_processors() {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) == 0) return CPU_COUNT(&processors);
  return static_cast<int>(std::thread::hardware_concurrency());
}

/// The calls of a body on several threads. The first exception waits here for the caller's thread.
class SharedCalls {
 public:
  explicit SharedCalls(TileBody body) : body_(body) {
    order_streamed_stores();
    begun_.publish();
  }

  static void call(void* calls, std::int64_t index) {
    static_cast<SharedCalls*>(calls)->call(index);
  }

  /// After all calls have returned.
  void finish() {
    done_.observe();
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  void call(std::int64_t index) {
    begun_.observe();
    if (!failed_.load(std::memory_order_relaxed)) {
      try {
        body_(index);
      } catch (...) {
        if (!failed_.exchange(true)) failure_ = std::current_exception();
      }
    }
    order_streamed_stores();
    done_.publish();
  }

  TileBody body_;
  HappensBefore begun_;
  HappensBefore done_;
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;
};

}  // namespace

Scheduler::Scheduler(int threads)
    : threads_(threads > 0 ? threads : std::max(1, usable_processors())),
      cost_of_threads_(cost_of_threads()) {}

Scheduler::~Scheduler() {
  if (arena_ != nullptr) thread_library()->destroy(arena_);
}

bool Scheduler::worth_sharing(std::int64_t bytes) {
  if (bytes < kSerialBytes || threads_ == 1) return false;
  return (arena_ != nullptr || has_earned_threads(bytes)) && start();
}

// A program that runs on costs twice the least possible at worst, if threads are asked for when
// what they could have shared has taken as long as that costs (as one buys skis: when the rent has
// reached their price).
bool Scheduler::has_earned_threads(std::int64_t bytes) const {
  return alone_ >= cost_of_threads_ || bytes >= kBytesForThreads;
}

void Scheduler::call_alone(std::int64_t tiles, std::int64_t bytes, TileBody body) {
  using Clock = std::chrono::steady_clock;
  const bool shareable = bytes >= kSerialBytes && arena_ == nullptr;
  const Clock::time_point begin = shareable ? Clock::now() : Clock::time_point();
  for (std::int64_t tile = 0; tile < tiles; ++tile) body(tile);
  if (shareable) alone_ += Clock::now() - begin;
}

bool Scheduler::start() {
  if (threads_ == 1) return false;
  if (arena_ == nullptr) {
    if (const ThreadLibrary* library = thread_library()) arena_ = library->create(threads_);
    if (arena_ == nullptr) threads_ = 1;
  }
  return arena_ != nullptr;
}

void Scheduler::run(std::int64_t count, TileBody body, bool separate) {
  SharedCalls calls(body);
  const bool done = thread_library()->run(arena_, count, SharedCalls::call, &calls, separate);
  calls.finish();
  if (!done) throw std::bad_alloc();
}

void Scheduler::for_tiles(std::int64_t tiles, std::int64_t bytes, TileBody body) {
  if (tiles > 1 && worth_sharing(bytes)) return run(tiles, body, false);
  call_alone(tiles, bytes, body);
}

void Scheduler::for_tiles_in_order(std::int64_t tiles, std::int64_t bytes, TileBody body) {
  if (tiles <= 1 || !worth_sharing(bytes)) return call_alone(tiles, bytes, body);
  std::atomic<std::int64_t> next{0};
  auto share = [&](std::int64_t) {
    for (std::int64_t tile = next.fetch_add(1); tile < tiles; tile = next.fetch_add(1)) body(tile);
  };
  run(threads_, share, true);
}

void Scheduler::for_parts(int parts, TileBody body) {
  if (parts > 1 && start()) return run(parts, body, true);
  for (int part = 0; part < parts; ++part) body(part);
}

}  // namespace cvl::cpu
