#include "cvl-cuda/emulated_device.hpp"

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "cvl-cuda/queued_device.hpp"

namespace cvl::cuda::emulated {
namespace {

constexpr std::uint8_t kGarbage = 0xC3;

class EmulatedMemory : public MemorySource {
 public:
  explicit EmulatedMemory(Device::State& state) : state_(state) {}

  void* acquire(std::size_t bytes) noexcept override {
    void* data = std::aligned_alloc(Heap::kAlignment, (bytes + 63) / 64 * 64);
    if (data != nullptr) std::memset(data, kGarbage, bytes);
    return data;
  }
  void release(void* data, std::size_t) noexcept override {
    state_.drain();  // what is queued may still use it
    std::free(data);
  }

 protected:
  Device::State& state_;
};

class EmulatedMappedMemory final : public EmulatedMemory {
 public:
  using EmulatedMemory::EmulatedMemory;

  void* acquire(std::size_t bytes) noexcept override {
    state_.pinned_bytes += bytes;
    return EmulatedMemory::acquire(bytes);
  }
  void release(void* data, std::size_t bytes) noexcept override {
    EmulatedMemory::release(data, bytes);
    state_.pinned_bytes -= bytes;
  }
  std::size_t region_bytes() const noexcept override { return kMappedRegionBytes; }
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

struct EmulatedState final : Device::State {
  std::string description() const override { return "emulated device"; }
  MemorySource& memory() override { return memory_; }
  MemorySource& mapped_memory() override { return mapped_; }

  void run_blocks(std::int64_t blocks, const std::function<void(std::int64_t)>& body) {
    const std::vector<std::int64_t> order = block_order(blocks);
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
    if (!crew_) crew_ = std::make_unique<Crew>(options.threads);
    crew_->run(work);
  }

 private:
  EmulatedMemory memory_{*this};
  EmulatedMappedMemory mapped_{*this};
  std::unique_ptr<Crew> crew_;  // from the first launch that needs it
};

}  // namespace

std::unique_ptr<Device::State> make_state() {
  return std::make_unique<EmulatedState>();
}

void enqueue(Device& device, std::int64_t blocks, std::function<void(std::int64_t)> body) {
  auto& state = static_cast<EmulatedState&>(device.state());
  state.push([&state, blocks, body = std::move(body)] { state.run_blocks(blocks, body); });
}

}  // namespace cvl::cuda::emulated
