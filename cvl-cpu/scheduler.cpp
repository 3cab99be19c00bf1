#include "cvl-cpu/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <sched.h>
#include <system_error>
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
  if (loader_.joinable()) loader_.join();
  if (void* arena = arena_.load()) thread_library()->destroy(arena);
}

int Scheduler::parts(std::int64_t bytes) {
  if (!worth_sharing(bytes)) return 1;
  if (!asked_ && bytes < tuning.threads_at_once_bytes) {
    alone_ += std::chrono::nanoseconds(bytes / kBytesPerNanosecond);
    if (alone_ <= cost_of_threads_) return 1;
  }
  ask_for_threads();
  return threads_;
}

/// Asks once; when that takes long, on another thread, so that this one goes on until others are
/// there.
void Scheduler::ask_for_threads() {
  if (asked_) return;
  asked_ = true;
  const auto create = [this] {
    try {
      const ThreadLibrary* library = thread_library();
      if (library != nullptr) arena_.store(library->create(threads_), std::memory_order_relaxed);
    } catch (const std::bad_alloc&) {  // then this thread goes on alone
    }
    answered_.store(true, std::memory_order_release);
  };
  if (cost_of_threads_ == Clock::duration::zero()) return create();
  try {
    loader_ = std::thread(create);
  } catch (const std::system_error&) {  // the system gives no thread: nor would it give others
    threads_ = 1;
  }
}

/// Are others there? If there will be none, that is the end of the matter.
bool Scheduler::has_threads() {
  if (threads_ == 1 || !answered_.load(std::memory_order_acquire)) return false;
  if (arena_.load(std::memory_order_relaxed) == nullptr) threads_ = 1;
  return threads_ > 1;
}

void Scheduler::run(std::int64_t count, TileBody body, bool separate) {
  SharedCalls calls(body);
  const bool done = thread_library()->run(arena_.load(std::memory_order_relaxed), count,
                                          SharedCalls::call, &calls, separate);
  calls.finish();
  if (!done) throw std::bad_alloc();
}

// A program that runs on costs twice the least possible at worst, if threads are asked for when
// what they could have shared has taken as long as that costs (as one buys skis: when the rent has
// reached their price).
std::int64_t Scheduler::call_alone(std::int64_t tiles, std::int64_t bytes, TileBody body) {
  const bool shares = tiles > 1 && worth_sharing(bytes);
  const auto have_earned = [&] {
    return alone_ >= cost_of_threads_ || bytes >= tuning.threads_at_once_bytes;
  };
  if (shares && have_earned()) ask_for_threads();
  std::int64_t tile = 0;
  for (; tile < tiles && !(shares && has_threads()); ++tile) {
    const bool timed = shares && !asked_;
    const Clock::time_point begin = timed ? Clock::now() : Clock::time_point();
    body(tile);
    if (!timed) continue;
    alone_ += Clock::now() - begin;
    if (have_earned()) ask_for_threads();
  }
  return tile;
}

void Scheduler::for_tiles(std::int64_t tiles, std::int64_t bytes, TileBody body) {
  const std::int64_t done = call_alone(tiles, bytes, body);
  if (done == tiles) return;
  auto rest = [&](std::int64_t k) { body(done + k); };
  run(tiles - done, rest, false);
}

void Scheduler::for_tiles_in_order(std::int64_t tiles, std::int64_t bytes, TileBody body) {
  const std::int64_t done = call_alone(tiles, bytes, body);
  if (done == tiles) return;
  std::atomic<std::int64_t> next{done};
  auto share = [&](std::int64_t) {
    for (std::int64_t tile = next.fetch_add(1); tile < tiles; tile = next.fetch_add(1)) body(tile);
  };
  run(threads_, share, true);
}

void Scheduler::for_parts(int parts, TileBody body) {
  if (parts > 1 && loader_.joinable()) loader_.join();
  if (parts > 1 && has_threads()) return run(parts, body, true);
  for (int part = 0; part < parts; ++part) body(part);
}

}  // namespace cvl::cpu
