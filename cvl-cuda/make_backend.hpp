// How the rest of the project gets a backend that runs on a GPU. Knows nothing of CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "cvl/backend.hpp"
#include "cvl/random.hpp"

namespace cvl::cuda {

struct CudaOptions {
  Widths widths;
  int threads = 0;                              // for small vectors, on the host; 0: one per core
  std::size_t memory_limit = Heap::kUnlimited;  // bytes, on the device
  std::uint64_t seed = kDefaultSeed;
  int ordinal = 0;  // which device
  /// Is the device opened at once, or else the backend not made? Without, the host computes until a
  /// vector is long enough to want a device (tuning.def), and goes on when none can be opened.
  bool required = true;
  /// Vectors up to this many elements stay on the host; negative: as tuning.def says.
  std::int64_t host_elements = -1;
};

/// Is the library for devices part of this program?
bool cuda_built();

/// Why no device can be used, in one sentence without a full stop; empty when one can.
std::string cuda_unavailable_reason();

/// Is it worth trying to open a device when one is wanted, that is, has the system a driver? Costs
/// next to nothing: nothing of CUDA is called.
bool cuda_by_default();

/// Throws Failure (NoBackend) with that reason where a device is required.
std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options);

}  // namespace cvl::cuda
