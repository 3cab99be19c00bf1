// A device without a queue: a launch runs at once, on threads of its own.
#include "cvl-cuda/device.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "cuda/threads/thread_block.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

constexpr int kResident = 3;  // blocks at a time: one more than cores, so that some wait
constexpr std::size_t kAlignment = 64;
constexpr int kGarbage = 0xA5;

std::vector<std::int64_t> random_order(std::int64_t blocks) {
  static std::mt19937_64 random(1);
  std::vector<std::int64_t> order(static_cast<std::size_t>(blocks));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

/// Runs one block after the other, as a multiprocessor does.
class Slot {
 public:
  Slot(int threads, std::size_t shared_bytes)
      : barrier_(threads),
        shared_bytes_((shared_bytes + kAlignment - 1) / kAlignment * kAlignment),
        shared_(std::aligned_alloc(kAlignment, shared_bytes_)) {}

  /// On each thread of the slot.
  void run(int thread, const std::vector<std::int64_t>& order, std::atomic<std::size_t>& next,
           const std::function<void(const ThreadPlace&)>& body) {
    for (;;) {
      if (thread == 0) {
        at_ = next.fetch_add(1, std::memory_order_relaxed);
        std::memset(shared_.get(), kGarbage, shared_bytes_);
      }
      barrier_.arrive_and_wait();
      if (at_ >= order.size()) return;
      body({order[at_], thread, &barrier_, shared_.get()});
      barrier_.arrive_and_wait();
    }
  }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  std::barrier<> barrier_;
  std::size_t shared_bytes_;
  std::unique_ptr<void, Free> shared_;
  std::size_t at_ = 0;
};

}  // namespace

void run_on_threads(std::int64_t blocks, int threads, std::size_t shared_bytes,
                    const std::function<void(const ThreadPlace&)>& body) {
  const std::vector<std::int64_t> order = random_order(blocks);
  std::atomic<std::size_t> next{0};
  std::vector<std::unique_ptr<Slot>> slots;
  std::vector<std::thread> running;
  for (std::int64_t k = 0; k < std::min<std::int64_t>(kResident, blocks); ++k) {
    Slot& slot = *slots.emplace_back(std::make_unique<Slot>(threads, shared_bytes));
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] { slot.run(thread, order, next, body); });
    }
  }
  for (std::thread& thread : running) thread.join();
}

struct Device::State {};
Device::Device(int) {}
Device::~Device() = default;

}  // namespace cvl::cuda::CVL_CUDA_TARGET
