// Application of an elementwise functor whose operands' types are known.
#pragma once

#include "cvl-cuda/target.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// `R` is the type of the result: conversions must be told, the others find it out.
template <class Functor, class R, class... Operands>
KERNEL_FN R apply_functor(Operands... operands) {
  if constexpr (requires { Functor::apply(operands...); }) {
    return Functor::apply(operands...);
  } else {
    return Functor::template apply<R>(operands...);
  }
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
