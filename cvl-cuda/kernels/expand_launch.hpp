// Launches of the expand skeleton.
#pragma once

#include "cvl-cuda/kernels/expand.hpp"
#include "cvl-cuda/launch.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// Calls run(kernel, tiles) with the kernel that takes the steps of `body` for all elements.
template <class Body, class Run>
void with_expand_kernel(const Segments& segments, const Body& body, const Run& run) {
  if (segments.uniform) {
    using Kernel = PlaceKernel<Body, shape::kItems, UniformSegments>;
    run(Kernel{body, segments.total, {segments.total, segments.uniform_length}},
        blocks_for(segments.total, Kernel::kTile));
  } else {
    using Kernel = ExpandKernel<Body>;
    const std::int64_t items = segments.total + segments.count;
    run(Kernel{body, segments, items}, blocks_for(items, Kernel::kTile));
  }
}

template <class Body>
void launch_expand(Device& device, const Segments& segments, const Body& body) {
  if (segments.total == 0) return;
  with_expand_kernel(segments, body, [&](const auto& kernel, std::int64_t tiles) {
    launch(device, tiles, kernel);
  });
}

/// Takes the steps of `body` for `count` places.
template <class Body>
void launch_places(Device& device, std::int64_t count, const Body& body) {
  using Kernel = PlaceKernel<Body, 1>;
  launch(device, blocks_for(count, Kernel::kTile), Kernel{body, count, {}});
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
