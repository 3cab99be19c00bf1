// Columns are put between each other to rows of a few elements.

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/kernels/widths.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

template <class E, int kCount>
CVL_FN void interleave_some(E* __restrict out, const std::byte* const* columns,
                            std::int64_t distance, std::int64_t n) {
  const E* from[kCount];
  for (int k = 0; k < kCount; ++k) from[k] = reinterpret_cast<const E*>(columns[k]);
  if (distance == kCount) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (int k = 0; k < kCount; ++k) out[i * kCount + k] = from[k][i];
    }
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < kCount; ++k) out[i * distance + k] = from[k][i];
  }
}

template <class E>
void interleave(void* out, const std::byte* const* columns, std::int64_t count,
                std::int64_t distance, std::int64_t n) {
  auto* const r = static_cast<E*>(out);
  switch (count) {
    case 2:
      return interleave_some<E, 2>(r, columns, distance, n);
    case 3:
      return interleave_some<E, 3>(r, columns, distance, n);
    case 4:
      return interleave_some<E, 4>(r, columns, distance, n);
    case 5:
      return interleave_some<E, 5>(r, columns, distance, n);
    case 6:
      return interleave_some<E, 6>(r, columns, distance, n);
    case 7:
      return interleave_some<E, 7>(r, columns, distance, n);
    default:
      return interleave_some<E, 8>(r, columns, distance, n);
  }
}

template <class I, class F>
void add_for_widths(Kernels& kernels) {
  kernels.interleave[static_cast<std::size_t>(Type::Int)] = interleave<std::make_unsigned_t<I>>;
  kernels.interleave[static_cast<std::size_t>(Type::Bool)] = interleave<std::uint8_t>;
  kernels.interleave[static_cast<std::size_t>(Type::Float)] = interleave<F>;
}

}  // namespace

void add_interleave_kernels(Kernels& kernels, Widths widths) {
  for_element_sizes(widths, [&]<class I, class F>() { add_for_widths<I, F>(kernels); });
}

}  // namespace cvl::cpu::CVL_ISA
