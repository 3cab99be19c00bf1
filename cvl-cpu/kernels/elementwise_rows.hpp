// Rows of the operation table as C++ types and calls, for files that make kernels from them.
#pragma once

#include <cstddef>
#include <type_traits>

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

using vcode::Argument;
using Bool = ops::Bool;

/// Text as a template argument: the signature columns of the operation table.
template <std::size_t N>
struct Letters {
  char text[N] = {};
  consteval Letters(const char (&from)[N]) {  // NOLINT: implicit, from a literal
    for (std::size_t i = 0; i < N; ++i) text[i] = from[i];
  }
  static constexpr std::size_t size = N - 1;
};

template <char Letter, class T, class I, class F>
using TypeOf = std::conditional_t<
    Letter == 'T', T,
    std::conditional_t<Letter == 'I', I, std::conditional_t<Letter == 'F', F, Bool>>>;

template <class Op, class R, class... Operands>
CVL_FN R evaluate(Operands... operands) {
  if constexpr (ops::FindsOutResult<Op, Operands...>) {
    return Op::apply(operands...);
  } else {
    return Op::template apply<R, Operands...>(operands...);
  }
}

template <class Op, class... Operands>
CVL_FN bool failure(Operands... operands) {
  if constexpr (ops::CanFail<Op, Operands...>) {
    return Op::fails(operands...);
  } else {
    return false;
  }
}

}  // namespace
}  // namespace cvl::cpu::CVL_ISA
