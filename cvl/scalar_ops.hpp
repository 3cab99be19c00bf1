// The meaning of every elementwise operator, combiner and identity, once.
//
// A functor is a struct with a static `apply`; it compiles for the host and for CUDA devices and is
// used by both vector libraries, by the constant folder and by generated kernels. INT is
// std::int32_t or std::int64_t, FLOAT is float or double, BOOL is std::uint8_t holding 0 or 1.
// An operator that can fail also has `fails(operands...)`; its `apply` must then still be defined
// for such operands (any result will do).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(__CUDACC__)
#define CVL_FN __host__ __device__ inline
#else
// Forced inlining keeps code that was compiled for one instruction set out of callers that were
// compiled for another, in unoptimized builds too.
#define CVL_FN inline __attribute__((always_inline))
#endif

namespace cvl::ops {

using Bool = std::uint8_t;

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T>;

// What a functor has. Ask by these names: asked in place, in an `if constexpr`, nvcc 13.0 and NVRTC
// may give the wrong answer. Assertions below hold every compiler to the right ones.

/// May it fail on such operands?
template <class Op, class... Operands>
concept CanFail = requires(Operands... operands) {
  Op::fails(operands...);
};

/// Do the operands tell the type of the result? Conversions must be told.
template <class Op, class... Operands>
concept FindsOutResult = requires(Operands... operands) {
  Op::apply(operands...);
};

/// As a combiner, does it begin with another element than its identity?
template <class Op, class T>
concept HasStart = requires {
  Op::template start<T>();
};

namespace detail {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

/// Truncating conversion as x86 does it: what does not fit gives the least INT.
template <class I, class F>
CVL_FN I to_int(F value) {
  // Both bounds are powers of two, hence exact; NaN fails the first comparison.
  constexpr F kLow = static_cast<F>(std::numeric_limits<I>::min());
  return value >= kLow && value < -kLow ? static_cast<I>(value) : std::numeric_limits<I>::min();
}

}  // namespace detail

struct Add {
  template <class T>
  static CVL_FN T apply(T a, T b) {
    if constexpr (is_float<T>) {
      return a + b;
    } else {
      return static_cast<T>(static_cast<detail::Unsigned<T>>(a) +
                            static_cast<detail::Unsigned<T>>(b));
    }
  }
  template <class T>
  static constexpr CVL_FN T identity() {
    return T{0};
  }
};

struct Subtract {
  template <class T>
  static CVL_FN T apply(T a, T b) {
    if constexpr (is_float<T>) {
      return a - b;
    } else {
      return static_cast<T>(static_cast<detail::Unsigned<T>>(a) -
                            static_cast<detail::Unsigned<T>>(b));
    }
  }
};

struct Multiply {
  template <class T>
  static CVL_FN T apply(T a, T b) {
    if constexpr (is_float<T>) {
      return a * b;
    } else {
      return static_cast<T>(static_cast<detail::Unsigned<T>>(a) *
                            static_cast<detail::Unsigned<T>>(b));
    }
  }
  template <class T>
  static constexpr CVL_FN T identity() {
    return T{1};
  }
};

struct Divide {
  template <class T>
  static CVL_FN T apply(T a, T b) {
    if constexpr (is_float<T>) {
      return a / b;
    } else {
      if (b == 0) return 0;
      if (b == -1) return Subtract::apply(T{0}, a);  // the least INT divided by -1 wraps
      return static_cast<T>(a / b);
    }
  }
  template <class T>
  static CVL_FN bool fails(T, T b) {
    if constexpr (is_float<T>) {
      return false;
    } else {
      return b == 0;
    }
  }
};

struct Modulo {
  template <class T>
  static CVL_FN T apply(T a, T b) {
    if (b == 0 || b == -1) return 0;
    return static_cast<T>(a % b);
  }
  template <class T>
  static CVL_FN bool fails(T, T b) {
    return b == 0;
  }
};

static_assert(CanFail<Divide, std::int32_t, std::int32_t> && CanFail<Divide, double, double> &&
              CanFail<Modulo, std::int64_t, std::int64_t> && !CanFail<Add, double, double>);

struct Less {
  template <class T>
  static CVL_FN Bool apply(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  static CVL_FN Bool apply(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  static CVL_FN Bool apply(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <class T>
  static CVL_FN Bool apply(T a, T b) {
    return a >= b;
  }
};
struct Equal {
  template <class T>
  static CVL_FN Bool apply(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  static CVL_FN Bool apply(T a, T b) {
    return a != b;
  }
};

struct ShiftLeft {
  template <class T>
  static CVL_FN T apply(T a, T count) {
    constexpr T kMask = std::numeric_limits<detail::Unsigned<T>>::digits - 1;
    return static_cast<T>(static_cast<detail::Unsigned<T>>(a) << (count & kMask));
  }
};
struct ShiftRight {
  template <class T>
  static CVL_FN T apply(T a, T count) {
    constexpr T kMask = std::numeric_limits<detail::Unsigned<T>>::digits - 1;
    return a >> (count & kMask);
  }
};

struct Not {
  template <class T>
  static CVL_FN T apply(T a) {
    if constexpr (std::is_same_v<T, Bool>) {
      return a ^ Bool { 1 };
    } else {
      return ~a;
    }
  }
};
struct And {
  template <class T>
  static CVL_FN T apply(T a, T b) {
    return a & b;
  }
  template <class T>
  static constexpr CVL_FN T identity() {
    return std::is_same_v<T, Bool> ? T{1} : static_cast<T>(-1);
  }
};
struct Or {
  template <class T>
  static CVL_FN T apply(T a, T b) {
    return a | b;
  }
  template <class T>
  static constexpr CVL_FN T identity() {
    return T{0};
  }
};
struct Xor {
  template <class T>
  static CVL_FN T apply(T a, T b) {
    return a ^ b;
  }
  template <class T>
  static constexpr CVL_FN T identity() {
    return T{0};
  }
};

/// Combiners of scans and reductions only. A NaN on either side gives NaN. `identity` is what an
/// empty segment and the first place of a scan yield; because it is a finite FLOAT it must not be
/// combined with data: fold non-empty data from `start`, which is neutral.
struct Max {
  template <class T>
  static CVL_FN T apply(T a, T b) {
    if constexpr (is_float<T>) {
      return a > b || a != a ? a : b;
    } else {
      return a > b ? a : b;
    }
  }
  template <class T>
  static constexpr CVL_FN T identity() {
    if constexpr (is_float<T>) {
      return static_cast<T>(-1e36f);
    } else {
      return std::numeric_limits<T>::min();
    }
  }
  template <class T>
  static constexpr CVL_FN T start() {
    if constexpr (is_float<T>) {
      return -std::numeric_limits<T>::infinity();
    } else {
      return std::numeric_limits<T>::min();
    }
  }
};
struct Min {
  template <class T>
  static CVL_FN T apply(T a, T b) {
    if constexpr (is_float<T>) {
      return a < b || a != a ? a : b;
    } else {
      return a < b ? a : b;
    }
  }
  template <class T>
  static constexpr CVL_FN T identity() {
    if constexpr (is_float<T>) {
      return static_cast<T>(1e36f);
    } else {
      return std::numeric_limits<T>::max();
    }
  }
  template <class T>
  static constexpr CVL_FN T start() {
    if constexpr (is_float<T>) {
      return std::numeric_limits<T>::infinity();
    } else {
      return std::numeric_limits<T>::max();
    }
  }
};

/// The neutral element that folding non-empty data may begin with; equals the identity except for
/// FLOAT Max and Min.
template <class Op, class T>
constexpr CVL_FN T fold_start() {
  if constexpr (HasStart<Op, T>) {
    return Op::template start<T>();
  } else {
    return Op::template identity<T>();
  }
}
static_assert(fold_start<Max, float>() < Max::identity<float>());
static_assert(fold_start<Min, double>() > Min::identity<double>());
static_assert(fold_start<Multiply, std::int32_t>() == 1);

struct Select {
  template <class T>
  static CVL_FN T apply(Bool flag, T a, T b) {
    return flag ? a : b;
  }
};

// Conversions: the result type cannot be seen from the operand and is the first template argument.
struct Floor {
  template <class R, class T>
  static CVL_FN R apply(T a) {
    return detail::to_int<R>(std::floor(a));
  }
};
struct Ceil {
  template <class R, class T>
  static CVL_FN R apply(T a) {
    return detail::to_int<R>(std::ceil(a));
  }
};
struct Trunc {
  template <class R, class T>
  static CVL_FN R apply(T a) {
    return detail::to_int<R>(a);
  }
};
/// Nearest, halves upwards. Adding 0.5 first would round 0.49999999999999994 up and lose odd
/// integers beyond 2^52, so the fraction is looked at instead.
struct Round {
  template <class R, class T>
  static CVL_FN R apply(T a) {
    const T below = std::floor(a);
    return detail::to_int<R>(a - below >= T(0.5) ? below + T(1) : below);
  }
};
struct IntToFloat {
  template <class R, class T>
  static CVL_FN R apply(T a) {
    return static_cast<R>(a);
  }
};
struct IntToBool {
  template <class T>
  static CVL_FN Bool apply(T a) {
    return a != 0;
  }
};
struct BoolToInt {
  template <class R, class T>
  static CVL_FN R apply(T a) {
    return static_cast<R>(a);
  }
};
static_assert(FindsOutResult<Less, double, double> && FindsOutResult<Equal, Bool, Bool> &&
              FindsOutResult<IntToBool, std::int32_t> &&
              FindsOutResult<Select, Bool, float, float>);
static_assert(!FindsOutResult<Floor, double> && !FindsOutResult<IntToFloat, std::int32_t> &&
              !FindsOutResult<BoolToInt, Bool>);

struct Sqrt {
  template <class T>
  static CVL_FN T apply(T a) {
    return std::sqrt(a);
  }
};

// Transcendental functions. The CPU library uses vector forms, most of them the C library's, for
// all lengths, the CUDA library the device's; both within 4 units in the last place of the true
// value.
#define CVL_MATH_FUNCTOR(Name, function) \
  struct Name {                          \
    template <class T>                   \
    static CVL_FN T apply(T a) {         \
      return std::function(a);           \
    }                                    \
  };
CVL_MATH_FUNCTOR(Log, log)
CVL_MATH_FUNCTOR(Exp, exp)
CVL_MATH_FUNCTOR(Sin, sin)
CVL_MATH_FUNCTOR(Cos, cos)
CVL_MATH_FUNCTOR(Tan, tan)
CVL_MATH_FUNCTOR(Asin, asin)
CVL_MATH_FUNCTOR(Acos, acos)
CVL_MATH_FUNCTOR(Atan, atan)
CVL_MATH_FUNCTOR(Sinh, sinh)
CVL_MATH_FUNCTOR(Cosh, cosh)
CVL_MATH_FUNCTOR(Tanh, tanh)
#undef CVL_MATH_FUNCTOR

}  // namespace cvl::ops
