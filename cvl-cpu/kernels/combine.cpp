// Combining elements into the places of a table: bound by the latency of memory and, where one
// place is met again at once, by that of the operator and of a store that is read back.

#include "cvl-cpu/kernels/fold_rows.hpp"
#include "cvl-cpu/kernels/lanes.hpp"

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

/// One element for all places.
template <class T>
struct EqualValues {
  CVL_FN explicit EqualValues(const void* values) : value(*static_cast<const T*>(values)) {}
  CVL_FN T operator[](std::int64_t) const { return value; }
  T value;
};
/// One for each.
template <class T>
struct GivenValues {
  CVL_FN explicit GivenValues(const void* given) : values(static_cast<const T*>(given)) {}
  CVL_FN T operator[](std::int64_t i) const { return values[i]; }
  const T* values;
};

/// The loops for positions of type P.
template <class Op, class T, class P>
struct Loops {
  template <class Values>
  static CVL_FN void combine_all(T* cells, const Values x, const P* positions, std::int64_t n,
                                 bool prefetch) {
    std::int64_t i = 0;
    if (prefetch) {
      for (; i + kPrefetchDistance < n; ++i) {
        __builtin_prefetch(cells + positions[i + kPrefetchDistance], 1);
        meet<Op>(cells[positions[i]], x[i]);
      }
    }
    for (; i < n; ++i) meet<Op>(cells[positions[i]], x[i]);
  }
  static void combine(void* table, const void* values, bool equal, const void* positions,
                      std::int64_t n, bool prefetch) {
    auto* cells = static_cast<T*>(table);
    const auto* places = static_cast<const P*>(positions);
    if (equal) {
      combine_all(cells, EqualValues<T>(values), places, n, prefetch);
    } else {
      combine_all(cells, GivenValues<T>(values), places, n, prefetch);
    }
  }

  template <class Values>
  static CVL_FN void combine_turns(T* first, std::int64_t stride, const Values x,
                                   const P* positions, std::int64_t n) {
    static_assert(kCombineLanes == 4);
    T* second = first + stride;
    T* third = second + stride;
    T* fourth = third + stride;
    const auto turn = [&](std::int64_t i) __attribute__((always_inline)) {
      meet<Op>(first[positions[i]], x[i]);
      meet<Op>(second[positions[i + 1]], x[i + 1]);
      meet<Op>(third[positions[i + 2]], x[i + 2]);
      meet<Op>(fourth[positions[i + 3]], x[i + 3]);
    };
    constexpr std::int64_t kLine = 64 / sizeof(P);
    std::int64_t i = 0;
    for (; i + kLine <= n; i += kLine) {
      // Elements are looked at before they are combined; the next ones come meanwhile.
      prefetch_ahead(positions + i);
      for (std::int64_t k = 0; k < kLine; k += kCombineLanes) turn(i + k);
    }
    for (; i + kCombineLanes <= n; i += kCombineLanes) turn(i);
    for (; i < n; ++i) meet<Op>(first[positions[i]], x[i]);
  }
  static void combine_in_lanes(void* tables, std::int64_t stride, const void* values, bool equal,
                               const void* positions, std::int64_t n) {
    auto* first = static_cast<T*>(tables);
    const auto* places = static_cast<const P*>(positions);
    if (equal) {
      combine_turns(first, stride, EqualValues<T>(values), places, n);
    } else {
      combine_turns(first, stride, GivenValues<T>(values), places, n);
    }
  }

  template <class Values>
  static CVL_FN void combine_some(T* cells, const Values x, const P* positions, std::int64_t n,
                                  std::uint64_t begin, std::uint64_t end) {
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
  static void combine_in_range(void* table, const void* values, bool equal, const void* positions,
                               std::int64_t n, std::uint64_t begin, std::uint64_t end) {
    auto* cells = static_cast<T*>(table);
    const auto* places = static_cast<const P*>(positions);
    if (equal) {
      combine_some(cells, EqualValues<T>(values), places, n, begin, end);
    } else {
      combine_some(cells, GivenValues<T>(values), places, n, begin, end);
    }
  }

  static constexpr CombineLoops all() { return {combine, combine_in_lanes, combine_in_range}; }
};

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
      entry.by_position = Loops<Op, T, std::uint64_t>::all();
      entry.by_index = Loops<Op, T, std::make_unsigned_t<I>>::all();
      entry.join = join<Op, T>;
      entry.finish = finish<Op, T>;
    });
  });
}

}  // namespace cvl::cpu::CVL_ISA
