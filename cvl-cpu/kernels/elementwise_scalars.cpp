// Elementwise kernels some of whose operands are one element for all. What a kernel of FCODE
// broadcasts is never written out.

#include <type_traits>

#include "cvl-cpu/kernels/elementwise_rows.hpp"
#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/kernels/select_kernel.hpp"
#include "cvl-cpu/kernels/widths.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

/// Operand `which` of a loop; bit `which` of `scalars` says that it has one element only.
template <unsigned scalars, unsigned which, class T>
class Operand {
 public:
  CVL_FN explicit Operand(const void* elements)
      : elements_(static_cast<const T*>(elements)), first_(*elements_) {}
  CVL_FN T operator[](std::int64_t i) const {
    return (scalars >> which & 1) != 0 ? first_ : elements_[i];
  }

 private:
  const T* elements_;
  T first_;
};

template <unsigned scalars, class Op, class R, class A, class B>
bool binary(void* out, const void* a, const void* b, const void*, std::int64_t n) {
  auto* r = static_cast<R*>(out);
  const Operand<scalars, 0, A> x(a);
  const Operand<scalars, 1, B> y(b);
  bool failed = false;
#pragma omp simd reduction(| : failed)
  for (std::int64_t i = 0; i < n; ++i) {
    failed |= failure<Op>(x[i], y[i]);
    r[i] = evaluate<Op, R>(x[i], y[i]);
  }
  return failed;
}

/// Division of INT by the same number, without division instructions where that can be had. Index
/// arithmetic divides by the number of columns of a record all the time.
template <class Op, class T>
bool divide_by_one(void* out, const void* a, const void* b, const void* c, std::int64_t n) {
  constexpr bool kQuotient = std::is_same_v<Op, ops::Divide>;
  auto* r = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(a);
  const T divisor = *static_cast<const T*>(b);
  if (divisor > 0 && (divisor & (divisor - 1)) == 0) {
    const int shift = __builtin_ctzll(static_cast<unsigned long long>(divisor));
    const T below = divisor - 1;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
      // Towards zero: what is added makes the shift round negative numbers up.
      const T sign = x[i] >> (8 * static_cast<int>(sizeof(T)) - 1);
      const T quotient = ops::Add::apply(x[i], static_cast<T>(sign & below)) >> shift;
      r[i] = kQuotient ? quotient
                       : ops::Subtract::apply(x[i], ops::Multiply::apply(quotient, divisor));
    }
    return false;
  }
  if (sizeof(T) == 4 && divisor != 0 && divisor != -1) {
    // 53 bits are enough for the quotient of 32-bit numbers to be rounded towards zero exactly.
    const double by = static_cast<double>(divisor);
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
      const auto quotient = static_cast<T>(static_cast<double>(x[i]) / by);
      r[i] = kQuotient ? quotient
                       : ops::Subtract::apply(x[i], ops::Multiply::apply(quotient, divisor));
    }
    return false;
  }
  return binary<2, Op, T, T, T>(out, a, b, c, n);
}

template <class Op, class T>
constexpr bool kDivides = std::is_integral_v<T> &&
                          (std::is_same_v<Op, ops::Divide> || std::is_same_v<Op, ops::Modulo>);

template <class Op, Letters in, Letters out, class T, class I, class F>
void add_variants(ElementwiseKernel* variants) {
  using R = TypeOf<out.text[0], T, I, F>;
  if constexpr (in.size == 2) {
    using A = TypeOf<in.text[0], T, I, F>;
    using B = TypeOf<in.text[1], T, I, F>;
    variants[1] = binary<1, Op, R, A, B>;
    if constexpr (kDivides<Op, R>) {
      variants[2] = divide_by_one<Op, R>;
    } else {
      variants[2] = binary<2, Op, R, A, B>;
    }
  } else if constexpr (in.size == 3) {
    static_assert(std::is_same_v<Op, ops::Select>);
    variants[2] = select_kernel<2, R>;
    variants[4] = select_kernel<4, R>;
    variants[6] = select_kernel<6, R>;
  }
}

template <class Op, Argument types, Letters in, Letters out, class I, class F>
void add_row(ElementwiseKernel (*row)[kScalarVariants]) {
  if constexpr (in.size > 1) {
    add_variants<Op, in, out, I, I, F>(row[static_cast<std::size_t>(Type::Int)]);
    if constexpr (types == Argument::Number || types == Argument::Data) {
      add_variants<Op, in, out, F, I, F>(row[static_cast<std::size_t>(Type::Float)]);
    }
    if constexpr (types == Argument::Logic || types == Argument::Data) {
      add_variants<Op, in, out, Bool, I, F>(row[static_cast<std::size_t>(Type::Bool)]);
    }
  }
}

}  // namespace

void add_scalar_operand_kernels(Kernels& kernels, Widths widths) {
  for_widths(widths, [&]<class I, class F>() {
#define ELEMENTWISE(id, text, types, in, out, doc)  \
  add_row<ops::id, Argument::types, in, out, I, F>( \
      kernels.with_scalars[static_cast<std::size_t>(vcode::Op::id)]);
#include "vcode/opcodes.def"
  });
}

}  // namespace cvl::cpu::CVL_ISA
