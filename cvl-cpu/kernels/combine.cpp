// Combining elements into the places of a table: bound by the latency of memory and, where one
// place is met again at once, by that of the operator and of a store that is read back.

#include "cvl-cpu/kernels/fold_rows.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

/// What a place of a table holds: the elements met so far, or that there were none.
template <class Op, class T>
struct Cell {
  static CVL_FN T empty() { return Op::template identity<T>(); }
  static CVL_FN T element(T value) { return value; }
  static CVL_FN T combined(T cell, T other) { return Op::apply(cell, other); }
  static CVL_FN T result(T cell) { return cell; }
};

/// FLOAT MAX and MIN begin with another element than their identity. There a place without elements
/// holds a NaN that no element is: those that are NaN all become another one.
template <class Op, class T>
requires ops::HasStart<Op, T> && ops::is_float<T>
struct Cell<Op, T> {
  static CVL_FN T empty() { return __builtin_bit_cast(T, kEmpty); }
  static CVL_FN T element(T value) { return value != value ? __builtin_bit_cast(T, kNan) : value; }
  static CVL_FN T combined(T cell, T other) {
    const T both = is_empty(other) ? cell : Op::apply(cell, other);
    return is_empty(cell) ? other : both;
  }
  static CVL_FN T result(T cell) { return is_empty(cell) ? Op::template identity<T>() : cell; }

 private:
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr Bits kNan =
      sizeof(T) == 4 ? Bits{0x7FC00000} : static_cast<Bits>(0x7FF8000000000000);
  static constexpr Bits kEmpty = kNan + 1;
  static CVL_FN bool is_empty(T cell) { return __builtin_bit_cast(Bits, cell) == kEmpty; }
};

template <class Op, class T>
CVL_FN void meet(T& cell, T value) {
  using C = Cell<Op, T>;
  cell = C::combined(cell, C::element(value));
}

template <class Op, class T>
void clear(void* table, std::int64_t n) {
  auto* cells = static_cast<T*>(table);
  const T empty = Cell<Op, T>::empty();
  for (std::int64_t i = 0; i < n; ++i) cells[i] = empty;
}

template <class Op, class T>
void combine(void* table, const void* values, const std::uint64_t* positions, std::int64_t n,
             bool prefetch) {
  auto* cells = static_cast<T*>(table);
  const auto* x = static_cast<const T*>(values);
  std::int64_t i = 0;
  if (prefetch) {
    for (; i + kPrefetchDistance < n; ++i) {
      __builtin_prefetch(cells + positions[i + kPrefetchDistance], 1);
      meet<Op>(cells[positions[i]], x[i]);
    }
  }
  for (; i < n; ++i) meet<Op>(cells[positions[i]], x[i]);
}

template <class Op, class T>
void combine_in_lanes(void* tables, std::int64_t stride, const void* values,
                      const std::uint64_t* positions, std::int64_t n) {
  static_assert(kCombineLanes == 4);
  auto* first = static_cast<T*>(tables);
  T* second = first + stride;
  T* third = second + stride;
  T* fourth = third + stride;
  const auto* x = static_cast<const T*>(values);
  std::int64_t i = 0;
  for (; i + kCombineLanes <= n; i += kCombineLanes) {
    meet<Op>(first[positions[i]], x[i]);
    meet<Op>(second[positions[i + 1]], x[i + 1]);
    meet<Op>(third[positions[i + 2]], x[i + 2]);
    meet<Op>(fourth[positions[i + 3]], x[i + 3]);
  }
  for (; i < n; ++i) meet<Op>(first[positions[i]], x[i]);
}

template <class Op, class T>
void combine_in_range(void* table, const void* values, const std::uint64_t* positions,
                      std::int64_t n, std::uint64_t begin, std::uint64_t end) {
  auto* cells = static_cast<T*>(table);
  const auto* x = static_cast<const T*>(values);
  // Whether an element is for this range cannot be predicted, so that those of other ranges are
  // combined, too, with what nobody reads. Many of these, so that none waits for the one before.
  constexpr std::int64_t kOthers = 64;
  T others[kOthers];
  for (T& other : others) other = Cell<Op, T>::empty();
  for (std::int64_t i = 0; i < n; ++i) {
    T* const other = others + i % kOthers;
    T* const cell = cells + positions[i];
    meet<Op>(*(positions[i] - begin < end - begin ? cell : other), x[i]);
  }
}

template <class Op, class T>
void join(void* left, const void* right, std::int64_t n) {
  auto* l = static_cast<T*>(left);
  const auto* r = static_cast<const T*>(right);
  for (std::int64_t i = 0; i < n; ++i) l[i] = Cell<Op, T>::combined(l[i], r[i]);
}

template <class Op, class T>
void finish(void* out, const void* table, std::int64_t n) {
  auto* r = static_cast<T*>(out);
  const auto* cells = static_cast<const T*>(table);
  for (std::int64_t i = 0; i < n; ++i) r[i] = Cell<Op, T>::result(cells[i]);
}

}  // namespace

void add_combine_kernels(Kernels& kernels, Widths widths) {
  for_widths(widths, [&]<class I, class F>() {
    for_combinations<I, F>(kernels, []<class Op, class T>(CombineKernels& entry) {
      entry.clear = clear<Op, T>;
      entry.combine = combine<Op, T>;
      entry.combine_in_lanes = combine_in_lanes<Op, T>;
      entry.combine_in_range = combine_in_range<Op, T>;
      entry.join = join<Op, T>;
      entry.finish = finish<Op, T>;
    });
  });
}

}  // namespace cvl::cpu::CVL_ISA
