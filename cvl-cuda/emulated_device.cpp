#include "cvl-cuda/emulated_device.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <deque>
#include <numeric>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace cvl::cuda::emulated {
namespace {

constexpr std::uint8_t kGarbage = 0xC3;

class EmulatedMemory final : public MemorySource {
 public:
  explicit EmulatedMemory(std::function<void()> drain) : drain_(std::move(drain)) {}

  void* acquire(std::size_t bytes) noexcept override {
    void* data = std::aligned_alloc(Heap::kAlignment, (bytes + 63) / 64 * 64);
    if (data != nullptr) std::memset(data, kGarbage, bytes);
    return data;
  }
  void release(void* data, std::size_t) noexcept override {
    drain_();  // what is queued may still use it
    std::free(data);
  }

 private:
  std::function<void()> drain_;
};

/// Threads that are started once and work together whenever they are asked to: launches are many
/// and short.
class Crew {
 public:
  explicit Crew(int size) : start_(size), end_(size) {
    for (int k = 1; k < size; ++k) {
      others_.emplace_back([this] {
        for (start_.arrive_and_wait(); !ending_; start_.arrive_and_wait()) {
          (*work_)();
          end_.arrive_and_wait();
        }
      });
    }
  }
  ~Crew() {
    ending_ = true;
    start_.arrive_and_wait();
    for (std::thread& other : others_) other.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Calls `work` on every thread, the caller's included; returns when all calls have.
  void run(const std::function<void()>& work) {
    work_ = &work;
    start_.arrive_and_wait();
    work();
    end_.arrive_and_wait();
  }

 private:
  std::barrier<> start_, end_;
  std::vector<std::thread> others_;
  const std::function<void()>* work_ = nullptr;
  bool ending_ = false;
};

}  // namespace

EmulationOptions& emulation_options() {
  static EmulationOptions options;
  return options;
}

struct Device::State {
  EmulatedMemory memory{[this] { drain(); }};
  EmulatedMemory mapped{[this] { drain(); }};
  EmulationOptions options = emulation_options();
  std::deque<std::function<void()>> queue;
  std::mt19937_64 random{1};
  std::unique_ptr<Crew> crew;  // from the first launch that needs it

  void push(std::function<void()> work) {
    queue.push_back(std::move(work));
    if (queue.size() >= options.queued) drain();
  }
  void drain() {
    while (!queue.empty()) {
      queue.front()();
      queue.pop_front();
    }
  }
  void run_blocks(std::int64_t blocks, const std::function<void(std::int64_t)>& body) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(blocks));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    if (options.order == BlockOrder::Descending) std::reverse(order.begin(), order.end());
    if (options.order == BlockOrder::Shuffled) std::shuffle(order.begin(), order.end(), random);
    if (options.threads <= 1 || blocks == 1) {
      for (const std::int64_t index : order) body(index);
      return;
    }
    // Like a device: blocks begin in some order, and one that has begun keeps its place until it
    // ends, however long it waits for others.
    std::atomic<std::size_t> next{0};
    const std::function<void()> work = [&] {
      for (std::size_t at = next++; at < order.size(); at = next++) body(order[at]);
    };
    if (!crew) crew = std::make_unique<Crew>(options.threads);
    crew->run(work);
  }
};

void enqueue(Device& device, std::int64_t blocks, std::function<void(std::int64_t)> body) {
  Device::State& state = device.state();
  state.push([&state, blocks, body = std::move(body)] { state.run_blocks(blocks, body); });
}

Device::Device(int) : state_(std::make_unique<State>()) {}
Device::~Device() {
  state_->drain();
}

std::string Device::description() const {
  return "emulated device";
}
std::size_t Device::free_memory() const {
  return std::size_t{1} << 40;
}
MemorySource& Device::memory() {
  return state_->memory;
}
MemorySource& Device::mapped_memory() {
  return state_->mapped;
}

void Device::upload(void* target, const void* source, std::size_t bytes) {
  counters_.uploads += 1;
  counters_.upload_bytes += bytes;
  idle_ = false;
  const auto* begin = static_cast<const std::byte*>(source);
  state_->push([target, staged = std::vector<std::byte>(begin, begin + bytes)] {
    std::copy(staged.begin(), staged.end(), static_cast<std::byte*>(target));
  });
}

void Device::download(void* target, const void* source, std::size_t bytes) {
  counters_.downloads += 1;
  counters_.download_bytes += bytes;
  wait();
  if (bytes > 0) std::memcpy(target, source, bytes);
}

void Device::copy(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  idle_ = false;
  state_->push([=] { std::memcpy(target, source, bytes); });
}

void Device::fill(void* target, std::uint8_t byte, std::size_t bytes) {
  if (bytes == 0) return;
  idle_ = false;
  state_->push([=] { std::memset(target, byte, bytes); });
}

void Device::wait() {
  counters_.waits += 1;
  state_->drain();
  idle_ = true;
}

}  // namespace cvl::cuda::emulated
