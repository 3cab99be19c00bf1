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

ThreadPool::ThreadPool(int threads) : shares_(static_cast<std::size_t>(std::max(1, threads))) {
  workers_.reserve(shares_.size() - 1);
  try {
    for (std::size_t thread = 1; thread < shares_.size(); ++thread) {
      workers_.emplace_back([this, thread] { wait_for_work(thread); });
    }
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

void ThreadPool::wait_for_work(std::size_t thread) {
  std::uint64_t seen = 0;
  while (true) {
    const auto handed_out = [&] { return round_.load(std::memory_order_relaxed) != seen; };
    look_for(handed_out);
    std::unique_lock lock(mutex_);
    begun_.wait(lock, handed_out);
    if (closing_) return;
    seen = round_.load(std::memory_order_relaxed);
    // Whoever comes when nothing is left must not be waited for.
    const auto done = [](const Share& share) { return share.is_done(); };
    if (work_ == nullptr || std::all_of(shares_.begin(), shares_.end(), done)) continue;
    Work& work = *work_;
    ++taking_part_;
    lock.unlock();
    take_part(work, thread);
    lock.lock();
    if (--taking_part_ == 0) ended_.notify_one();
  }
}

void ThreadPool::take_part(Work& work, std::size_t thread) {
  const std::size_t threads = shares_.size();
  try {
    for (std::size_t k = 0; k < threads; ++k) {
      Share& share = shares_[(thread + k) % threads];
      while (!share.is_done()) {
        const std::int64_t begin = share.next.fetch_add(work.step, std::memory_order_relaxed);
        const std::int64_t end = std::min(begin + work.step, share.end);
        for (std::int64_t index = begin; index < end; ++index) work.body(index);
      }
    }
  } catch (...) {
    for (Share& share : shares_) share.next.store(share.end, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (work.failure == nullptr) work.failure = std::current_exception();
  }
  order_streamed_stores();
}

void ThreadPool::run(std::int64_t count, std::int64_t step, TileBody body) {
  const auto threads = static_cast<std::int64_t>(shares_.size());
  std::int64_t begin = 0;
  for (std::int64_t thread = 0; thread < threads; ++thread) {
    Share& share = shares_[static_cast<std::size_t>(thread)];
    share.next.store(begin, std::memory_order_relaxed);
    begin += count / threads + (thread < count % threads ? 1 : 0);
    share.end = begin;
  }
  run_shares(step, body);
}

void ThreadPool::run_in_order(std::int64_t count, TileBody body) {
  for (Share& share : shares_) {
    share.next.store(0, std::memory_order_relaxed);
    share.end = 0;
  }
  shares_.front().end = count;
  run_shares(1, body);
}

void ThreadPool::run_shares(std::int64_t step, TileBody body) {
  order_streamed_stores();
  Work work{body, step, nullptr};
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    round_.fetch_add(1, std::memory_order_relaxed);
  }
  begun_.notify_all();
  take_part(work, 0);
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
