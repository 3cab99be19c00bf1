// Random numbers.

#include "cvl/random.hpp"

#include "cvl-cpu/kernels/fold_rows.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

template <class I>
bool draw_each(void* out, const void* bounds, std::int64_t n, std::uint64_t key,
               std::uint64_t counter) {
  const auto* bound = static_cast<const I*>(bounds);
  // All bounds are looked at before anything is written: `out` may lie over them.
  I fails = 0;  // as wide as the bounds, so that the loop has one width
#pragma omp simd reduction(| : fails)
  for (std::int64_t i = 0; i < n; ++i) fails |= bound[i] < 1 ? 1 : 0;
  if (fails != 0) return false;
  auto* r = static_cast<I*>(out);
  std::uint64_t point = stream_point(key, counter);
#pragma omp simd linear(point : kStreamStep)
  for (std::int64_t i = 0; i < n; ++i) {
    r[i] = static_cast<I>(draw_from(point, static_cast<std::make_unsigned_t<I>>(bound[i])));
    point += kStreamStep;
  }
  return true;
}

template <class I>
void draw_below(void* out, const void* bound, std::int64_t n, std::uint64_t key,
                std::uint64_t counter) {
  auto* r = static_cast<I*>(out);
  const auto below = static_cast<std::make_unsigned_t<I>>(*static_cast<const I*>(bound));
  std::uint64_t point = stream_point(key, counter);
#pragma omp simd linear(point : kStreamStep)
  for (std::int64_t i = 0; i < n; ++i) {
    r[i] = static_cast<I>(draw_from(point, below));
    point += kStreamStep;
  }
}

}  // namespace

void add_random_kernels(Kernels& kernels, Widths widths) {
  for_widths(widths, [&]<class I, class F>() {
    kernels.draw = draw_each<I>;
    kernels.draw_below = draw_below<I>;
  });
}

}  // namespace cvl::cpu::CVL_ISA
