// Every operation with a result of type BOOL as the device compiler translates it, a kernel for
// each type of operands, for ptx_test.cpp.
#include <cstdint>

#include "cvl-cuda/kernels/elementwise.hpp"

namespace cvl::cuda::native {

#define KERNEL(name, functor, T, Second)                                                          \
  extern "C" __global__ void name(                                                                \
      const __grid_constant__ ElementwiseBody<ops::functor, ops::Bool, T, Second, Absent> body) { \
    body.store(threadIdx.x, body.load(threadIdx.x));                                              \
  }
#define COMPARISON(id)                             \
  KERNEL(id##_s32, id, std::int32_t, std::int32_t) \
  KERNEL(id##_s64, id, std::int64_t, std::int64_t) \
  KERNEL(id##_f32, id, float, float)               \
  KERNEL(id##_f64, id, double, double)

COMPARISON(Less)
COMPARISON(LessEqual)
COMPARISON(Greater)
COMPARISON(GreaterEqual)
COMPARISON(Equal)
COMPARISON(NotEqual)
KERNEL(IntToBool_s32, IntToBool, std::int32_t, Absent)
KERNEL(IntToBool_s64, IntToBool, std::int64_t, Absent)

}  // namespace cvl::cuda::native
