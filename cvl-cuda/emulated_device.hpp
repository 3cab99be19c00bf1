// Devices of the tests: memory and kernels of the host. There are two: one runs the kernel bodies
// as the host compiler translates them (emulated_device.cpp), one their PTX (test/cuda/ptx).
//
// Work is queued and runs only when the host waits (or when enough has gathered), so that host code
// that reads a result too early finds garbage. Blocks run in ascending, descending or shuffled
// order; those that the host compiler has translated on one thread or on several.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>

#include "cvl-cuda/device.hpp"
#include "cvl-cuda/make_emulated_backend.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// The options of devices that are made from now on (a device is made inside a backend).
EmulationOptions& emulation_options();

#if defined(CVL_CUDA_EMULATED)

/// Queues body(index) for 0 <= index < blocks.
void enqueue(Device& device, std::int64_t blocks, std::function<void(std::int64_t)> body);

/// Shared memory of a block, full of garbage.
template <class Shared>
std::unique_ptr<Shared> garbage_shared() {
  auto shared = std::make_unique<Shared>();
  std::memset(static_cast<void*>(shared.get()), 0xA5, sizeof(Shared));
  return shared;
}

#endif

}  // namespace cvl::cuda::CVL_CUDA_TARGET
