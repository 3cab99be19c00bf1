#include "cuda/ptx/device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>
#include <utility>

#include "cuda/ptx/fault.hpp"
#include "cuda/ptx/library_kernels.hpp"
#include "cuda/ptx/machine.hpp"
#include "cvl-cuda/emulated_device.hpp"

namespace cvl::cuda::ptx {
namespace {

using ptx_machine::Kernel;
using ptx_machine::Machine;
using ptx_machine::Memory;

std::uint64_t all_instructions = 0;

}  // namespace

EmulationOptions& emulation_options() {
  static EmulationOptions options;
  return options;
}

Memory& device_memory() {
  // Never destroyed: tests have static backends, which give their memory back at the very end.
  static Memory& memory = *new Memory;
  return memory;
}

std::uint64_t instructions_run() {
  return all_instructions;
}

void or_abort(const std::function<void()>& work) {
  try {
    work();
  } catch (const ptx_machine::Fault& fault) {
    std::fprintf(stderr, "the PTX device stops: %s\n", fault.what());
    std::abort();
  }
}

struct Device::State {
  /// Memory that is told what comes into use and goes out of it, in the order of the stream.
  class Source final : public MemorySource {
   public:
    Source(State& state, bool mapped) : state_(state), mapped_(mapped) {}
    void* acquire(std::size_t bytes) noexcept override { return device_memory().acquire(bytes); }
    void release(void* data, std::size_t bytes) noexcept override {
      state_.drain();  // what is queued may still use it
      device_memory().release(static_cast<std::byte*>(data), bytes);
    }
    bool watches() const noexcept override { return true; }
    void begin_use(void* data, std::size_t bytes) noexcept override {
      state_.queue.push_back([this, data, bytes] {
        // The host writes to mapped memory as it likes, so all of it counts as written.
        if (mapped_) {
          device_memory().set_written(data, bytes);
        } else {
          device_memory().begin_use(static_cast<std::byte*>(data), bytes);
        }
      });
    }
    void end_use(void* data, std::size_t bytes) noexcept override {
      state_.queue.push_back(
          [data, bytes] { device_memory().end_use(static_cast<std::byte*>(data), bytes); });
    }

   private:
    State& state_;
    bool mapped_;
  };

  void push(std::function<void()> work) {
    queue.push_back(std::move(work));
    if (queue.size() >= options.queued) drain();
  }
  void drain() {
    or_abort([this] {
      while (!queue.empty()) {
        const std::function<void()> work = std::move(queue.front());
        queue.pop_front();
        work();
      }
    });
  }
  void run(Kernel& kernel, std::int64_t blocks, int threads,
           const std::vector<std::byte>& parameters) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(blocks));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    if (options.order == BlockOrder::Descending) std::reverse(order.begin(), order.end());
    if (options.order == BlockOrder::Shuffled) std::shuffle(order.begin(), order.end(), random);
    const std::uint64_t before = machine.steps();
    machine.run(kernel, order, static_cast<std::uint32_t>(threads), parameters);
    all_instructions += machine.steps() - before;
  }

  EmulationOptions options = emulation_options();
  std::deque<std::function<void()>> queue;
  Source memory{*this, false}, mapped{*this, true};
  std::mt19937_64 random{1};
  Machine machine{device_memory(), 1};
};

void enqueue_kernel(Device& device, Kernel& kernel, std::int64_t blocks, int threads,
                    std::vector<std::byte> parameters) {
  Device::State& state = device.state();
  state.push([&state, &kernel, blocks, threads, parameters = std::move(parameters)] {
    state.run(kernel, blocks, threads, parameters);
  });
}

void enqueue(Device& device, std::function<void()> work) {
  device.state().push(std::move(work));
}

Device::Device(int) : state_(std::make_unique<State>()) {}
Device::~Device() {
  state_->drain();
}

std::string Device::description() const {
  return "device that runs PTX";
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
    device_memory().check_range_write(target, staged.size());
    std::copy(staged.begin(), staged.end(), static_cast<std::byte*>(target));
  });
}

void Device::download(void* target, const void* source, std::size_t bytes) {
  counters_.downloads += 1;
  counters_.download_bytes += bytes;
  wait();
  if (bytes == 0) return;
  or_abort([&] { device_memory().check_range_read(source, bytes); });
  std::memcpy(target, source, bytes);
}

void Device::copy(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  idle_ = false;
  state_->push([=] {
    device_memory().check_range_read(source, bytes);
    device_memory().check_range_write(target, bytes);
    std::memcpy(target, source, bytes);
  });
}

void Device::fill(void* target, std::uint8_t byte, std::size_t bytes) {
  if (bytes == 0) return;
  idle_ = false;
  state_->push([=] {
    device_memory().check_range_write(target, bytes);
    std::memset(target, byte, bytes);
  });
}

void Device::wait() {
  counters_.waits += 1;
  state_->drain();
  idle_ = true;
}

}  // namespace cvl::cuda::ptx
