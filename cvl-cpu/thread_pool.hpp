// Threads that wait for work which one thread, their owner, hands out.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cvl::cpu {

/// A plain reference to a callable, valid during the call that it is passed to.
class TileBody {
 public:
  template <class F>
  TileBody(F& body)  // NOLINT: implicit, so that lambdas can be passed
      : object_(&body),
        call_([](void* object, std::int64_t tile) { (*static_cast<F*>(object))(tile); }) {}
  void operator()(std::int64_t tile) const { call_(object_, tile); }

 private:
  void* object_;
  void (*call_)(void*, std::int64_t);
};

/// All members are for the owner's thread, which takes part in the work. A body must not call them.
class ThreadPool {
 public:
  /// Starts threads - 1 threads; fewer where the system gives no more.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Those of the pool and the owner's.
  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(index) for 0 <= index < count, each once, and waits for all. Each thread has a
  /// share of neighbouring indices, about the same one for any count, so that what one work leaves
  /// in the cache of a thread's processor, the next one finds there; whoever is done helps the
  /// others (affinity scheduling: Markatos and LeBlanc, 1994). Threads take `step` indices at a
  /// time. What a body writes, with stores that go around the cache too, is there for the caller
  /// and for all later bodies. The first exception that a body throws reaches the caller, after all
  /// that have begun have ended; the others are left out.
  void run(std::int64_t count, std::int64_t step, TileBody body);

  /// The same, but indices are begun in ascending order, on any thread: a body may wait for the one
  /// before it.
  void run_in_order(std::int64_t count, TileBody body);

 private:
  /// Indices that have not been begun, in a cache line to themselves: one thread takes most of
  /// them.
  struct alignas(64) Share {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;

    bool is_done() const { return next.load(std::memory_order_relaxed) >= end; }
  };
  struct Work {
    TileBody body;
    std::int64_t step;
    std::exception_ptr failure;  // guarded by mutex_
  };

  void wait_for_work(std::size_t thread);
  /// Hands out what is in the shares, takes part, and waits.
  void run_shares(std::int64_t step, TileBody body);
  void take_part(Work& work, std::size_t thread);

  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable ended_;
  Work* work_ = nullptr;  // guarded by mutex_, like the two below
  bool closing_ = false;
  std::atomic<int> taking_part_{0};  // of the workers; changed under mutex_ only
  /// Counts what has been handed out, for those who look before they sleep.
  std::atomic<std::uint64_t> round_{0};
  /// Of the work, for each thread one, for the owner the first; set while nobody takes part.
  std::vector<Share> shares_;
  std::vector<std::thread> workers_;
};

}  // namespace cvl::cpu
