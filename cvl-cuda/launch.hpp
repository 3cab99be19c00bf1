// Gives a kernel to a device.
//
// A kernel is a plain struct: its members are the parameters, kThreads is the size of a block,
// Shared what the threads of a block share (contents undefined at first), and operator() the body
// (see block.hpp).
#pragma once

#include <cstdint>

#include "cvl-cuda/block.hpp"
#include "cvl-cuda/device.hpp"
#include "cvl-cuda/shapes.hpp"

#if defined(CVL_CUDA_EMULATED)
#include "cvl-cuda/emulated_device.hpp"
#elif defined(CVL_CUDA_PTX)
#include <typeinfo>
#elif defined(CVL_CUDA_THREADS)
#include "cuda/threads/thread_block.hpp"
#else
#include "cvl-cuda/cuda_call.hpp"
#endif

namespace cvl::cuda::CVL_CUDA_TARGET {

#if defined(CVL_CUDA_EMULATED)

template <class Kernel>
void launch(Device& device, std::int64_t blocks, const Kernel& kernel) {
  if (blocks == 0) return;
  device.count_launches(1);
  enqueue(device, blocks, [kernel](std::int64_t index) {
    const auto shared = garbage_shared<typename Kernel::Shared>();
    HostBlock<Kernel::kThreads> block(index);
    kernel(block, *shared);
  });
}

#elif defined(CVL_CUDA_PTX)

/// Finds the kernel in the PTX of the library by its type. Defined by the device (test/cuda/ptx).
void launch_by_type(Device& device, const std::type_info& kernel, std::int64_t blocks, int threads,
                    const void* parameters, std::size_t bytes);

template <class Kernel>
void launch(Device& device, std::int64_t blocks, const Kernel& kernel) {
  if (blocks == 0) return;
  device.count_launches(1);
  launch_by_type(device, typeid(Kernel), blocks, Kernel::kThreads, &kernel, sizeof kernel);
}

#elif defined(CVL_CUDA_THREADS)

template <class Kernel>
void launch(Device& device, std::int64_t blocks, const Kernel& kernel) {
  if (blocks == 0) return;
  device.count_launches(1);
  run_on_threads(blocks, Kernel::kThreads, sizeof(typename Kernel::Shared),
                 [&kernel](const ThreadPlace& place) {
                   ThreadBlock<Kernel::kThreads> block(place);
                   kernel(block, *static_cast<typename Kernel::Shared*>(place.shared));
                 });
}

#else

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, shape::kBlocks)
    run_kernel(const __grid_constant__ Kernel kernel) {
  __shared__ typename Kernel::Shared shared;
  DeviceBlock<Kernel::kThreads> block;
  kernel(block, shared);
}

template <class Kernel>
void launch(Device& device, std::int64_t blocks, const Kernel& kernel) {
  if (blocks == 0) return;
  device.count_launches(1);
  run_kernel<<<static_cast<unsigned>(blocks), Kernel::kThreads, 0, stream_of(device)>>>(kernel);
  CUDA_CALL(cudaGetLastError());
}

#endif

}  // namespace cvl::cuda::CVL_CUDA_TARGET
