// The elementwise operations from FLOAT to FLOAT.
#include "cvl-cuda/kernels.hpp"
#include "cvl-cuda/kernels/elementwise.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

void launch_elementwise_math(Device& device, const ElementwiseCall& call) {
  switch (call.op) {
#define ELEMENTWISE(id, ...)                                           \
  case Op::id:                                                         \
    if constexpr (kIsMath<id##Row>) launch_row<id##Row>(device, call); \
    break;
#include "vcode/opcodes.def"
    default:
      break;
  }
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
