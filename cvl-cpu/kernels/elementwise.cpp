// Elementwise kernels, one for each row of the operation table and each type that it takes, and the
// fills and copies that they are surrounded by.

#include <cmath>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "cvl-cpu/kernels/elementwise_rows.hpp"
#include "cvl-cpu/kernels/hyperbolic.hpp"
#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/kernels/select_kernel.hpp"
#include "cvl-cpu/kernels/widths.hpp"
#include "cvl/scalar_ops.hpp"

// The C library has vector forms of the math functions but declares them only under -ffast-math,
// which would also break NaN and infinity. Declaring them here makes `omp simd` loops use them:
// those of g++, that is.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define CVL_VECTOR_MATH(name)                                                          \
  extern "C" __attribute__((simd("notinbranch"), const)) double name(double) noexcept; \
  extern "C" __attribute__((simd("notinbranch"), const)) float name##f(float) noexcept;
CVL_VECTOR_MATH(log)
CVL_VECTOR_MATH(exp)
CVL_VECTOR_MATH(sin)
CVL_VECTOR_MATH(cos)
CVL_VECTOR_MATH(tan)
CVL_VECTOR_MATH(asin)
CVL_VECTOR_MATH(acos)
CVL_VECTOR_MATH(atan)
CVL_VECTOR_MATH(sinh)
CVL_VECTOR_MATH(cosh)
CVL_VECTOR_MATH(tanh)
#undef CVL_VECTOR_MATH
#endif

namespace cvl::cpu::CVL_ISA {
namespace {

template <class Op, class R, class A>
bool unary(void* out, const void* a, const void*, const void*, std::int64_t n) {
  auto* r = static_cast<R*>(out);
  const auto* x = static_cast<const A*>(a);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) r[i] = evaluate<Op, R>(x[i]);
  return false;
}

template <class Op, class R, class A, class B>
bool binary(void* out, const void* a, const void* b, const void*, std::int64_t n) {
  auto* r = static_cast<R*>(out);
  const auto* x = static_cast<const A*>(a);
  const auto* y = static_cast<const B*>(b);
  bool failed = false;
#pragma omp simd reduction(| : failed)
  for (std::int64_t i = 0; i < n; ++i) {
    failed |= failure<Op>(x[i], y[i]);
    r[i] = evaluate<Op, R>(x[i], y[i]);
  }
  return failed;
}

/// Quotients and remainders of 32-bit INT. Quotients of such numbers have so few bits that the
/// division of FLOATs, rounded towards zero, gives them exactly; it works on whole registers.
template <class Op>
bool divide_words(void* out, const void* a, const void* b, const void*, std::int64_t n) {
  using I = std::int32_t;
  auto* r = static_cast<I*>(out);
  const auto* x = static_cast<const I*>(a);
  const auto* y = static_cast<const I*>(b);
  I failed = 0;  // as wide as the operands, so that the loop has one width
#pragma omp simd reduction(| : failed)
  for (std::int64_t i = 0; i < n; ++i) {
    failed |= Op::fails(x[i], y[i]) ? 1 : 0;
    // The least INT divided by -1 fits no INT, and 0 divides nothing.
    const I divisor = static_cast<std::uint32_t>(y[i]) + 1 <= 1 ? 1 : y[i];
    const auto quotient = static_cast<I>(static_cast<double>(x[i]) / static_cast<double>(divisor));
    if constexpr (std::is_same_v<Op, ops::Divide>) {
      r[i] = y[i] == -1 ? ops::Subtract::apply(0, x[i]) : quotient;
    } else {
      r[i] = ops::Subtract::apply(x[i], ops::Multiply::apply(quotient, divisor));
    }
  }
  return failed != 0;
}
template <class Op, class T>
constexpr bool kDividesWords = std::is_same_v<T, std::int32_t> &&
                               (std::is_same_v<Op, ops::Divide> || std::is_same_v<Op, ops::Modulo>);

/// Math functions always run in groups of this many elements, the last one padded, so that every
/// element goes through the same vector code wherever a range is cut.
constexpr std::int64_t kMathGroup = 16;

template <class Op, class T>
CVL_FN void math_group(T* r, const T* x) {
#pragma omp simd
  for (std::int64_t i = 0; i < kMathGroup; ++i) r[i] = Op::apply(x[i]);
}

/// Below this the exponential is 0.
template <class T>
constexpr T kVanishes = sizeof(T) == 8 ? T(-745.2) : T(-104);

/// The vector form calls the scalar one for each element whose result is not normal, which takes
/// many times as long; sums of squares give many distant ones.
template <class T>
CVL_FN void exponentials(T* r, const T* x) {
  T near[kMathGroup];
#pragma omp simd
  for (std::int64_t i = 0; i < kMathGroup; ++i) near[i] = x[i] < kVanishes<T> ? T(0) : x[i];
  math_group<ops::Exp>(near, near);
#pragma omp simd
  for (std::int64_t i = 0; i < kMathGroup; ++i) r[i] = x[i] < kVanishes<T> ? T(0) : near[i];
}

template <class Op, class T>
bool math(void* out, const void* a, const void*, const void*, std::int64_t n) {
  auto* r = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(a);
  std::int64_t i = 0;
  constexpr auto kGroup = std::is_same_v<Op, ops::Exp> ? exponentials<T> : math_group<Op, T>;
  for (; i + kMathGroup <= n; i += kMathGroup) kGroup(r + i, x + i);
  if (i < n) {
    T padded[kMathGroup];
    for (std::int64_t k = 0; k < kMathGroup; ++k) padded[k] = i + k < n ? x[i + k] : T(0.5);
    kGroup(padded, padded);
    for (std::int64_t k = 0; i + k < n; ++k) r[i + k] = padded[k];
  }
  return false;
}

template <class Op>
inline constexpr bool is_math =
    std::is_same_v<Op, ops::Log> || std::is_same_v<Op, ops::Exp> || std::is_same_v<Op, ops::Sin> ||
    std::is_same_v<Op, ops::Cos> || std::is_same_v<Op, ops::Tan> || std::is_same_v<Op, ops::Asin> ||
    std::is_same_v<Op, ops::Acos> || std::is_same_v<Op, ops::Atan> ||
    std::is_same_v<Op, ops::Sinh> || std::is_same_v<Op, ops::Cosh> || std::is_same_v<Op, ops::Tanh>;

/// Most math functions are the C library's; hyperbolic.hpp says why not all.
template <class Op, class T>
constexpr ElementwiseKernel math_kernel() {
#if defined(__FMA__)
  if constexpr (std::is_same_v<Op, ops::Sinh> && std::is_same_v<T, double>) {
    return unary<hyperbolic::Sinh, T, T>;
  }
  if constexpr (std::is_same_v<Op, ops::Tanh> && std::is_same_v<T, double>) {
    return unary<hyperbolic::Tanh, T, T>;
  }
#endif
  return math<Op, T>;
}

template <class Op, Letters in, Letters out, class T, class I, class F>
constexpr ElementwiseKernel kernel_for() {
  using R = TypeOf<out.text[0], T, I, F>;
  using A = TypeOf<in.text[0], T, I, F>;
  if constexpr (is_math<Op>) {
    return math_kernel<Op, R>();
  } else if constexpr (in.size == 1) {
    return unary<Op, R, A>;
  } else if constexpr (kDividesWords<Op, A>) {
    return divide_words<Op>;
  } else if constexpr (in.size == 2) {
    return binary<Op, R, A, TypeOf<in.text[1], T, I, F>>;
  } else {
    static_assert(std::is_same_v<Op, ops::Select>);
    return select_kernel<0, R>;
  }
}

template <class Op, Argument types, Letters in, Letters out, class I, class F>
void add_row(ElementwiseKernel* row) {
  constexpr auto kInt = static_cast<std::size_t>(Type::Int);
  constexpr auto kBool = static_cast<std::size_t>(Type::Bool);
  constexpr auto kFloat = static_cast<std::size_t>(Type::Float);
  row[kInt] = kernel_for<Op, in, out, I, I, F>();
  if constexpr (types == Argument::Number || types == Argument::Data) {
    row[kFloat] = kernel_for<Op, in, out, F, I, F>();
  }
  if constexpr (types == Argument::Logic || types == Argument::Data) {
    row[kBool] = kernel_for<Op, in, out, Bool, I, F>();
  }
}

template <class T>
void fill(void* out, const void* element, std::int64_t n) {
  auto* r = static_cast<T*>(out);
  const T value = *static_cast<const T*>(element);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) r[i] = value;
}

template <class I>
void progression(void* out, std::int64_t start, std::int64_t step, std::int64_t first,
                 std::int64_t n) {
  using U = std::make_unsigned_t<I>;
  auto* r = static_cast<I*>(out);
  const U base = static_cast<U>(start) + static_cast<U>(first) * static_cast<U>(step);
  const U stride = static_cast<U>(step);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) r[i] = static_cast<I>(base + static_cast<U>(i) * stride);
}

void stream(void* out, const void* in, std::int64_t bytes) {
#if defined(__x86_64__)
#if defined(__AVX512F__)
  constexpr std::int64_t kRegister = 64;
  const auto store = [](char* to, const char* from) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
  };
#elif defined(__AVX2__)
  constexpr std::int64_t kRegister = 32;
  const auto store = [](char* to, const char* from) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  };
#else
  constexpr std::int64_t kRegister = 16;
  const auto store = [](char* to, const char* from) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  };
#endif
  auto* to = static_cast<char*>(out);
  const auto* from = static_cast<const char*>(in);
  const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % 64);
  const std::int64_t head = misaligned == 0 ? 0 : 64 - misaligned;
  if (head + kRegister > bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  std::memcpy(to, from, static_cast<std::size_t>(head));
  std::int64_t i = head;
  for (; i + kRegister <= bytes; i += kRegister) store(to + i, from + i);
  std::memcpy(to + i, from + i, static_cast<std::size_t>(bytes - i));
#else
  std::memcpy(out, in, static_cast<std::size_t>(bytes));
#endif
}

template <class I, class F>
void add_for_widths(Kernels& kernels) {
#define ELEMENTWISE(id, text, types, in, out, doc)  \
  add_row<ops::id, Argument::types, in, out, I, F>( \
      kernels.elementwise[static_cast<std::size_t>(vcode::Op::id)]);
#include "vcode/opcodes.def"
  kernels.fill[static_cast<std::size_t>(Type::Int)] = fill<I>;
  kernels.fill[static_cast<std::size_t>(Type::Bool)] = fill<Bool>;
  kernels.fill[static_cast<std::size_t>(Type::Float)] = fill<F>;
  kernels.progression = progression<I>;
  kernels.stream = stream;
}

}  // namespace

void add_elementwise_kernels(Kernels& kernels, Widths widths) {
  for_widths(widths, [&]<class I, class F>() { add_for_widths<I, F>(kernels); });
}

}  // namespace cvl::cpu::CVL_ISA
