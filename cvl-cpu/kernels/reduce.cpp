// Reduction kernels without segments inside the range.
//
// The order of combination depends on the number of elements only: at most tuning.small_length
// elements from left to right; otherwise tiles (tuning.fold_tile_bytes), within a tile four blocks
// of 64 bytes that take in every fourth block of the data, which are then combined in order and
// their lanes by halving; tile totals from left to right.

#include "cvl-cpu/kernels/fold_rows.hpp"
#include "cvl-cpu/kernels/reduce_blocks.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

template <class Op, class T, class I>
void reduce_small(void* out, const void* in, const SegmentRun& segments) {
  auto* r = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(in);
  const auto* lengths = static_cast<const I*>(segments.lengths);
  std::int64_t i = segments.start;
  for (std::int64_t k = 0; k < segments.count; ++k) {
    const std::int64_t end = i + (lengths != nullptr ? lengths[k] : segments.uniform_length);
    T sum = i < end ? ops::fold_start<Op, T>() : Op::template identity<T>();
    for (; i < end; ++i) sum = Op::apply(sum, x[i]);
    r[k] = sum;
  }
}

template <class Op, class T>
void begin_reduction(void* state) {
  *static_cast<Accumulators<Op, T>*>(state) = Accumulators<Op, T>();
}
template <class Op, class T>
void accumulate(void* state, const void* in, std::int64_t n) {
  Accumulators<Op, T> sums = *static_cast<Accumulators<Op, T>*>(state);
  sums.add(static_cast<const T*>(in), n);
  *static_cast<Accumulators<Op, T>*>(state) = sums;
}
template <class Op, class T>
void finish_reduction(const void* state, void* out) {
  *static_cast<T*>(out) = static_cast<const Accumulators<Op, T>*>(state)->total();
}

template <class Op, class T>
void combine_elements(void* left, const void* right, std::int64_t n) {
  const auto* elements = static_cast<const T*>(right);
  T total = *static_cast<T*>(left);
  for (std::int64_t i = 0; i < n; ++i) total = Op::apply(total, elements[i]);
  *static_cast<T*>(left) = total;
}

/// Combines `count` copies of an element by doubling. REQUIRES: the operator is associative.
template <class Op, class T>
void repeat(void* element, std::int64_t count) {
  T power = *static_cast<T*>(element);
  T result = count > 0 ? ops::fold_start<Op, T>() : Op::template identity<T>();
  for (; count > 0; count >>= 1) {
    if (count & 1) result = Op::apply(result, power);
    power = Op::apply(power, power);
  }
  *static_cast<T*>(element) = result;
}

}  // namespace

void add_reduce_kernels(Kernels& kernels, Widths widths) {
  for_widths(widths, [&]<class I, class F>() {
    for_reductions<I, F>(kernels, []<class Op, class T>(ReduceKernels& entry) {
      static_assert(sizeof(Accumulators<Op, T>) == kReductionStateBytes);
      entry.small = reduce_small<Op, T, I>;
      entry.begin = begin_reduction<Op, T>;
      entry.accumulate = accumulate<Op, T>;
      entry.finish = finish_reduction<Op, T>;
      entry.combine = combine_elements<Op, T>;
      if constexpr (kAssociative<Op, T>) entry.repeat = repeat<Op, T>;
      const T identity = Op::template identity<T>();
      std::memcpy(entry.identity, &identity, sizeof identity);
    });
  });
}

}  // namespace cvl::cpu::CVL_ISA
