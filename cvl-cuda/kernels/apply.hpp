// Application of an elementwise functor whose operands' types are known.
#pragma once

#include "cvl-cuda/target.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// `R` is the type of the result: conversions must be told, the others find it out.
template <class Functor, class R, class... Operands>
KERNEL_FN R apply_functor(Operands... operands) {
  if constexpr (ops::FindsOutResult<Functor, Operands...>) {
    return Functor::apply(operands...);
  } else {
    // With the types of the operands, so that no functor but a conversion compiles here: `R` alone
    // would be taken for the type of the operands, which would then be cut to it.
    return Functor::template apply<R, Operands...>(operands...);
  }
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
