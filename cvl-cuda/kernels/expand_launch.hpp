// Launches of the expand skeleton.
#pragma once

#include "cvl-cuda/kernels/expand.hpp"
#include "cvl-cuda/launch.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

template <class Body>
void launch_expand(Device& device, const Segments& segments, const Body& body) {
  if (segments.total == 0) return;
  if (!segments.offsets) {
    using Kernel = UniformExpandKernel<Body>;
    launch(device, blocks_for(segments.total, Kernel::kTile),
           Kernel{body, segments.total, segments.uniform_length});
    return;
  }
  using Kernel = ExpandKernel<Body>;
  const std::int64_t items = segments.total + segments.count;
  launch(device, blocks_for(items, Kernel::kTile), Kernel{body, segments, items});
}

template <class Body>
void launch_plain(Device& device, std::int64_t count, const Body& body) {
  using Kernel = PlainKernel<Body>;
  launch(device, blocks_for(count, Kernel::kThreads), Kernel{body, count});
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
