// Filling the kernel table for scans, reductions and combinations: every combiner with every type
// that it takes.
#pragma once

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/kernels/widths.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

/// Is the operator exactly associative, so that the order of combination cannot be seen?
template <class Op, class T>
constexpr bool kAssociative =
    !ops::is_float<T> || std::is_same_v<Op, ops::Max> || std::is_same_v<Op, ops::Min>;

/// Calls add.template operator()<Op, T>(row[type]) for the types of one row of the table.
template <class Op, vcode::Argument types, class I, class F, class Entry, class Add>
CVL_FN void for_types(Entry* row, Add add) {
  add.template operator()<Op, I>(row[static_cast<std::size_t>(Type::Int)]);
  if constexpr (types == vcode::Argument::Number) {
    add.template operator()<Op, F>(row[static_cast<std::size_t>(Type::Float)]);
  } else {
    add.template operator()<Op, ops::Bool>(row[static_cast<std::size_t>(Type::Bool)]);
  }
}

template <class I, class F, class Add>
CVL_FN void for_scans(Kernels& kernels, Add add) {
#define SCAN(id, text, types, combiner, doc)              \
  for_types<ops::combiner, vcode::Argument::types, I, F>( \
      kernels.scan[static_cast<std::size_t>(vcode::Op::id)], add);
#include "vcode/opcodes.def"
}

template <class I, class F, class Add>
CVL_FN void for_reductions(Kernels& kernels, Add add) {
#define REDUCE(id, text, types, combiner, doc)            \
  for_types<ops::combiner, vcode::Argument::types, I, F>( \
      kernels.reduce[static_cast<std::size_t>(vcode::Op::id)], add);
#include "vcode/opcodes.def"
}

template <class I, class F, class Add>
CVL_FN void for_combinations(Kernels& kernels, Add add) {
#define COMBINE(id, text, types, combiner, doc)           \
  for_types<ops::combiner, vcode::Argument::types, I, F>( \
      kernels.combine[static_cast<std::size_t>(vcode::Op::id)], add);
#include "vcode/opcodes.def"
}

}  // namespace
}  // namespace cvl::cpu::CVL_ISA
