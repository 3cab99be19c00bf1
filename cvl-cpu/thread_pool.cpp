#include "cvl-cpu/thread_pool.hpp"

#include <algorithm>
#include <new>
#include <system_error>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace cvl::cpu {
namespace {

/// How often a thread without work looks for some before it sleeps: for some 100 us, because being
/// woken takes as long, and programs hand out one operation shortly after the other. It lets others
/// have the processor soon.
constexpr int kPauses = 1000;
constexpr int kYields = 200;

template <class Condition>
void look_for(const Condition& condition) {
  for (int look = 0; look < kPauses && !condition(); ++look) {
#if defined(__SSE2__)
    _mm_pause();
#endif
  }
  for (int look = 0; look < kYields && !condition(); ++look) std::this_thread::yield();
}

/// Stores that go around the cache are ordered by nothing that other threads wait for.
void order_streamed_stores() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  const auto count = static_cast<std::size_t>(std::max(0, threads - 1));
  workers_.reserve(count);
  try {
    while (workers_.size() < count) workers_.emplace_back([this] { wait_for_work(); });
  } catch (const std::system_error&) {  // GCOVR_EXCL_LINE: the others are enough
  } catch (const std::bad_alloc&) {     // GCOVR_EXCL_LINE: as above
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    round_.fetch_add(1);
  }
  begun_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::wait_for_work() {
  std::uint64_t seen = 0;
  while (true) {
    const auto handed_out = [&] { return round_.load(std::memory_order_relaxed) != seen; };
    look_for(handed_out);
    std::unique_lock lock(mutex_);
    begun_.wait(lock, handed_out);
    if (closing_) return;
    seen = round_.load(std::memory_order_relaxed);
    // Whoever comes when nothing is left must not be waited for.
    if (work_ == nullptr || work_->next.load(std::memory_order_relaxed) >= work_->end) continue;
    Work& work = *work_;
    ++taking_part_;
    lock.unlock();
    take_part(work);
    lock.lock();
    if (--taking_part_ == 0) ended_.notify_one();
  }
}

void ThreadPool::take_part(Work& work) {
  try {
    while (true) {
      const std::int64_t begin = work.next.fetch_add(work.step, std::memory_order_relaxed);
      if (begin >= work.end) break;
      const std::int64_t end = std::min(begin + work.step, work.end);
      for (std::int64_t index = begin; index < end; ++index) work.body(index);
    }
  } catch (...) {
    work.next.store(work.end, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (work.failure == nullptr) work.failure = std::current_exception();
  }
  order_streamed_stores();
}

void ThreadPool::run(std::int64_t begin, std::int64_t end, std::int64_t step, TileBody body) {
  order_streamed_stores();
  Work work{body, end, step, begin, nullptr};
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    round_.fetch_add(1, std::memory_order_relaxed);
  }
  begun_.notify_all();
  take_part(work);
  const auto alone = [&] { return taking_part_.load(std::memory_order_relaxed) == 0; };
  look_for(alone);
  {
    std::unique_lock lock(mutex_);
    work_ = nullptr;  // whoever comes now comes too late
    ended_.wait(lock, alone);
  }
  if (work.failure != nullptr) std::rethrow_exception(work.failure);
}

}  // namespace cvl::cpu
