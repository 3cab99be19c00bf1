// How tests get the CUDA library on an emulated device: the host code and the kernel bodies of the
// library, run by plain loops.
#pragma once

#include <memory>

#include "cvl-cuda/make_backend.hpp"

namespace cvl::cuda {

enum class BlockOrder { Ascending, Descending, Shuffled };

/// How the device runs its kernels.
struct EmulationOptions {
  BlockOrder order = BlockOrder::Shuffled;
  int threads = 1;
};

std::unique_ptr<Backend> make_emulated_backend(const CudaOptions& options,
                                               const EmulationOptions& emulation = {});

}  // namespace cvl::cuda
