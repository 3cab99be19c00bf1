// One device and its stream, as the host code of this library sees them: memory, copies, waiting,
// counting. There are two implementations: cuda_device.cpp, and for the tests queued_device.cpp, of
// which there are two forms: emulated_device.cpp and test/cuda/ptx/device.cpp.
//
// Everything that is given to a device happens later, in order. What a device is to write is known
// to the host only after wait().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cvl-cuda/target.hpp"
#include "cvl/backend.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// Blocks of `tile` elements that cover `length`.
constexpr std::int64_t blocks_for(std::int64_t length, std::int64_t tile) {
  return (length + tile - 1) / tile;
}

/// Mapped memory is pinned in pieces of so many bytes: only small results lie there, and pinning
/// the 64 MiB of other heaps takes longer than small programs run.
inline constexpr std::size_t kMappedRegionBytes = std::size_t{1} << 20;

class Device {
 public:
  /// Asks the system nothing: that is left to open().
  explicit Device(int ordinal);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// Before anything else is asked of it. Throws Failure (NoBackend) when there is no such device.
  void open();

  /// "NVIDIA H200, 139.8 GiB, compute capability 9.0".
  std::string description() const;

  /// Memory on the device, limited by what was free when it was opened, and memory on the host that
  /// the device can reach at the same address.
  MemorySource& memory();
  MemorySource& mapped_memory();

  /// Copies from host memory, which may be changed as soon as the call returns.
  void upload(void* target, const void* source, std::size_t bytes);
  /// Copies to host memory and waits for it.
  void download(void* target, const void* source, std::size_t bytes);
  /// Copies inside the device. The ranges must not overlap.
  void copy(void* target, const void* source, std::size_t bytes);
  void fill(void* target, std::uint8_t byte, std::size_t bytes);

  /// Waits until everything is done. Throws Failure (Internal) when the device broke down.
  void wait();
  /// Is there nothing to wait for?
  bool idle() const { return idle_; }

  const DeviceCounters& counters() const { return counters_; }
  /// Of memory of the host, now.
  std::size_t pinned_bytes() const;

  // For launch.hpp and the primitives.
  struct State;
  State& state() { return *state_; }
  void count_launches(std::uint64_t count) {
    counters_.launches += count;
    idle_ = false;
  }

 private:
  DeviceCounters counters_;
  bool idle_ = true;
  std::unique_ptr<State> state_;
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
