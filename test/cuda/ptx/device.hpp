// What launches need of the device that runs PTX; cvl-cuda/device.hpp is what the library sees of
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/ptx/kernel.hpp"
#include "cvl-cuda/device.hpp"

namespace cvl::cuda::ptx {

/// The memory of all devices of the program: one, so that a kernel is decoded once for all of them.
ptx_machine::Memory& device_memory();

/// Queues a kernel, which must live as long as the program.
void enqueue_kernel(Device& device, ptx_machine::Kernel& kernel, std::int64_t blocks, int threads,
                    std::vector<std::byte> parameters);
/// Queues work of the host on device memory.
void enqueue(Device& device, std::function<void()> work);

/// A folder for what kernels cost and for the PTX of generated ones; null: nobody asks.
const char* costs_folder();

/// Calls `work`. What a device does not forgive ends the program with a message.
void or_abort(const std::function<void()>& work);

}  // namespace cvl::cuda::ptx
