// Reduction kernels for rows: short segments of equal length. Each is combined from left to right,
// and several side by side, so that no combination waits for the one before.

#include <cstring>

#include "cvl-cpu/kernels/fold_rows.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

// Two combinations of FLOATs can begin in each cycle and take four cycles: eight are on their way.
constexpr std::int64_t kSideBySide = 8;

/// The totals of so many rows of n elements each, one behind the other.
template <std::int64_t kRows, class Op, class T>
CVL_FN void reduce_side_by_side(T* totals, const T* x, std::int64_t n) {
  T sums[kRows];
  for (std::int64_t r = 0; r < kRows; ++r) sums[r] = ops::fold_start<Op, T>();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t r = 0; r < kRows; ++r) sums[r] = Op::apply(sums[r], x[r * n + i]);
  }
  std::memcpy(totals, sums, sizeof sums);
}

template <class Op, class T>
void reduce_rows(void* out, const void* in, std::int64_t count, std::int64_t n) {
  auto* totals = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(in);
  std::int64_t r = 0;
  for (; r + kSideBySide <= count; r += kSideBySide) {
    reduce_side_by_side<kSideBySide, Op>(totals + r, x + r * n, n);
  }
  for (; r < count; ++r) reduce_side_by_side<1, Op>(totals + r, x + r * n, n);
}

}  // namespace

void add_row_reduce_kernels(Kernels& kernels, Widths widths) {
  for_widths(widths, [&]<class I, class F>() {
    for_reductions<I, F>(kernels, []<class Op, class T>(ReduceKernels& entry) {
      entry.rows = reduce_rows<Op, T>;
      const T start = ops::fold_start<Op, T>();
      std::memcpy(entry.start, &start, sizeof start);
    });
  });
}

}  // namespace cvl::cpu::CVL_ISA
