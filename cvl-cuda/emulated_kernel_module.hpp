// Generated passes that the host compiler has translated for the emulated device.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cvl-cuda/kernels/generated.hpp"
#include "cvl-cuda/launch.hpp"

namespace cvl::cuda::emulated {

using LaunchPass = void (*)(Device& device, std::int64_t blocks,
                            const std::vector<std::byte>& parameters);

template <class Pass>
void launch_pass(Device& device, std::int64_t blocks, const std::vector<std::byte>& parameters) {
  if (parameters.size() != sizeof(Pass)) {
    std::fprintf(stderr, "a pass takes %zu bytes of parameters, not %zu\n", sizeof(Pass),
                 parameters.size());
    std::abort();
  }
  PassKernel<Pass> kernel;
  std::memcpy(static_cast<void*>(&kernel), parameters.data(), parameters.size());
  launch(device, blocks, kernel);
}

/// Makes passes known under the text that they were compiled from.
struct EmulatedKernel {
  EmulatedKernel(const std::string& text, std::vector<LaunchPass> passes);
};

}  // namespace cvl::cuda::emulated
