// How tests get the CUDA library on an emulated device: the host code and the kernel bodies of the
// library, run by plain loops, or, in programs that link the device of test/cuda/ptx instead, from
// their PTX.
#pragma once

#include <memory>

#include "cvl-cuda/make_backend.hpp"

namespace cvl::cuda {

enum class BlockOrder { Ascending, Descending, Shuffled };

/// How the device runs its kernels.
struct EmulationOptions {
  BlockOrder order = BlockOrder::Shuffled;
  int threads = 1;  // of loops; PTX is run by one
  /// Work that may wait until the host does: few, because copies of uploads wait with it.
  std::size_t queued = 64;
  bool absent = false;  // there is no device: opening it fails
};

std::unique_ptr<Backend> make_emulated_backend(const CudaOptions& options,
                                               const EmulationOptions& emulation = {});

}  // namespace cvl::cuda
