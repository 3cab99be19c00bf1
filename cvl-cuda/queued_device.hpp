// What the devices of the tests have in common: work that waits in a queue, on memory of the host.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cvl-cuda/emulated_device.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// Each device of the tests derives its own, which it must drain() before it goes.
struct Device::State {
  virtual ~State() = default;
  virtual std::string description() const = 0;
  virtual MemorySource& memory() = 0;
  virtual MemorySource& mapped_memory() = 0;
  /// Before memory of the device is read or written in the host's name.
  virtual void check_read(const void* /*data*/, std::size_t /*bytes*/) {}
  virtual void check_write(void* /*data*/, std::size_t /*bytes*/) {}
  /// Calls `work`, which is queued work or a check.
  virtual void attempt(const std::function<void()>& work) { work(); }

  /// Queues work; does all that is queued once enough has gathered.
  void push(std::function<void()> work);
  void drain();
  /// The blocks of a launch in the order in which they begin.
  std::vector<std::int64_t> block_order(std::int64_t blocks);

  EmulationOptions options = emulation_options();
  std::deque<std::function<void()>> queue;
  std::mt19937_64 random{1};
  std::size_t pinned_bytes = 0;  // that mapped_memory() has acquired
};

/// Defined by each device.
std::unique_ptr<Device::State> make_state();

}  // namespace cvl::cuda::CVL_CUDA_TARGET
