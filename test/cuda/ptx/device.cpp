#include "cuda/ptx/device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cuda/ptx/fault.hpp"
#include "cuda/ptx/library_kernels.hpp"
#include "cuda/ptx/machine.hpp"
#include "cvl-cuda/queued_device.hpp"

namespace cvl::cuda::ptx {
namespace {

using ptx_machine::Kernel;
using ptx_machine::Machine;
using ptx_machine::Memory;

std::uint64_t all_instructions = 0;

/// NESL_PTX_WARPS=locked in the environment asks for them.
Machine::Warps warps() {
  const char* text = std::getenv("NESL_PTX_WARPS");
  return text != nullptr && std::string_view(text) == "locked" ? Machine::Warps::Locked
                                                               : Machine::Warps::Free;
}

}  // namespace

Memory& device_memory() {
  // Never destroyed: tests have static backends, which give their memory back at the very end.
  static Memory& memory = *new Memory;
  return memory;
}

std::uint64_t instructions_run() {
  return all_instructions;
}

const char* costs_folder() {
  return std::getenv("NESL_PTX_COSTS");
}

void or_abort(const std::function<void()>& work) {
  try {
    work();
  } catch (const ptx_machine::Fault& fault) {
    std::fprintf(stderr, "the PTX device stops: %s\n", fault.what());
    std::abort();
  }
}

namespace {

/// Memory that is told what comes into use and goes out of it, in the order of the stream.
class Source final : public MemorySource {
 public:
  Source(Device::State& state, bool mapped) : state_(state), mapped_(mapped) {}
  void* acquire(std::size_t bytes) noexcept override {
    if (mapped_) state_.pinned_bytes += bytes;
    return device_memory().acquire(bytes);
  }
  void release(void* data, std::size_t bytes) noexcept override {
    state_.drain();  // what is queued may still use it
    device_memory().release(static_cast<std::byte*>(data), bytes);
    if (mapped_) state_.pinned_bytes -= bytes;
  }
  std::size_t region_bytes() const noexcept override {
    return mapped_ ? kMappedRegionBytes : MemorySource::region_bytes();
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
  Device::State& state_;
  bool mapped_;
};

/// What each kernel has cost, one a line in the order of their first launches, for
/// scripts/kernel-costs.
void write_costs(const std::string& folder, const std::vector<const Kernel*>& kernels) {
  std::ofstream out(folder + "/costs.tsv", std::ios::app);
  out << "kernel\tlaunches\tblocks\tthreads\tinstructions\tbarriers\tloads\tload_bytes\t"
         "load_sectors\tstores\tstore_bytes\tstore_sectors\twaits\tmost_loads\n";
  for (const Kernel* kernel : kernels) {
    const ptx_machine::Cost& cost = kernel->cost;
    out << fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", kernel->name,
                       cost.launches, cost.blocks, cost.threads, cost.instructions, cost.barriers,
                       cost.loads, cost.load_bytes, cost.load_sectors, cost.stores,
                       cost.store_bytes, cost.store_sectors, cost.waits, cost.most_loads);
  }
}

struct PtxState final : Device::State {
  PtxState() {
    if (costs_folder() != nullptr) machine_.count_costs();
  }
  ~PtxState() override {
    if (costs_folder() != nullptr) write_costs(costs_folder(), launched_);
  }
  std::string description() const override { return "device that runs PTX"; }
  MemorySource& memory() override { return memory_; }
  MemorySource& mapped_memory() override { return mapped_; }
  void check_read(const void* data, std::size_t bytes) override {
    device_memory().check_range_read(data, bytes);
  }
  void check_write(void* data, std::size_t bytes) override {
    device_memory().check_range_write(data, bytes);
  }
  void attempt(const std::function<void()>& work) override { or_abort(work); }

  void run(Kernel& kernel, std::int64_t blocks, int threads,
           const std::vector<std::byte>& parameters) {
    const std::uint64_t before = machine_.steps();
    machine_.run(kernel, block_order(blocks), static_cast<std::uint32_t>(threads), parameters);
    all_instructions += machine_.steps() - before;
    if (std::find(launched_.begin(), launched_.end(), &kernel) == launched_.end()) {
      launched_.push_back(&kernel);
    }
  }

 private:
  Source memory_{*this, false}, mapped_{*this, true};
  Machine machine_{device_memory(), 1, warps()};
  std::vector<const Kernel*> launched_;  // in the order of their first launches
};

}  // namespace

std::unique_ptr<Device::State> make_state() {
  return std::make_unique<PtxState>();
}

void enqueue_kernel(Device& device, Kernel& kernel, std::int64_t blocks, int threads,
                    std::vector<std::byte> parameters) {
  auto& state = static_cast<PtxState&>(device.state());
  state.push([&state, &kernel, blocks, threads, parameters = std::move(parameters)] {
    state.run(kernel, blocks, threads, parameters);
  });
}

void enqueue(Device& device, std::function<void()> work) {
  device.state().push(std::move(work));
}

}  // namespace cvl::cuda::ptx
