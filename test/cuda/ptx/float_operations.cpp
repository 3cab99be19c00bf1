// Arithmetic and comparisons of floating-point numbers.
//
// Operations with a rounding are the host's, which rounds alike. Approximations (`.approx`) are not
// those of any device: they are exact results, rounded to as many bits as a device promises, so
// what is built on them must hold for them as well.
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "cuda/ptx/operation_table.hpp"

namespace ptx_machine {
namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
template <class T>
constexpr BitsOf<T> kSignBit = BitsOf<T>{1} << (8 * sizeof(T) - 1);

/// Rounds as the mode of <cfenv> says, until it goes.
class RoundingMode {
 public:
  explicit RoundingMode(int mode) { std::fesetround(mode); }
  ~RoundingMode() { std::fesetround(FE_TONEAREST); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;
};

enum class Arithmetic { Add, Subtract, Multiply, Divide, MultiplyAdd, SquareRoot };

template <class T, Arithmetic kOperation>
T compute(T a, T b, T c) {
  switch (kOperation) {
    case Arithmetic::Add:
      return a + b;
    case Arithmetic::Subtract:
      return a - b;
    case Arithmetic::Multiply:
      return a * b;
    case Arithmetic::Divide:
      return a / b;
    case Arithmetic::MultiplyAdd:
      return std::fma(a, b, c);
    case Arithmetic::SquareRoot:
      return std::sqrt(a);
  }
}

template <class T, Arithmetic kOperation, int kMode>
void arithmetic(const Instruction& i, Thread& t) {
  const T a = t.get<T>(i.r[1]), b = t.get<T>(i.r[2]), c = t.get<T>(i.r[3]);
  if constexpr (kMode == FE_TONEAREST) {
    t.set(i.r[0], result_of(compute<T, kOperation>(a, b, c)));
  } else {
    // What is volatile is computed between the changes of the mode and nowhere else.
    const RoundingMode mode(kMode);
    volatile T x = a, y = b, z = c;
    volatile T result = compute<T, kOperation>(x, y, z);
    t.set(i.r[0], result_of<T>(result));
  }
}

template <class T, int kMode>
void add_rounded(OperationTable& table, const std::string& mode) {
  const std::string suffix = "." + mode + "." + type_name<T>();
  table.add("add" + suffix, arithmetic<T, Arithmetic::Add, kMode>);
  table.add("sub" + suffix, arithmetic<T, Arithmetic::Subtract, kMode>);
  table.add("mul" + suffix, arithmetic<T, Arithmetic::Multiply, kMode>);
  table.add("div" + suffix, arithmetic<T, Arithmetic::Divide, kMode>);
  table.add("fma" + suffix, arithmetic<T, Arithmetic::MultiplyAdd, kMode>);
  table.add("sqrt" + suffix, arithmetic<T, Arithmetic::SquareRoot, kMode>);
}

/// The other operand for a NaN; -0 is less than +0.
template <class T>
T lesser(T a, T b) {
  if (std::isnan(a)) return result_of(b);
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T greater(T a, T b) {
  if (std::isnan(a)) return result_of(b);
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <class T>
T with_sign(T sign, T magnitude) {
  return std::bit_cast<T>((std::bit_cast<BitsOf<T>>(sign) & kSignBit<T>) |
                          (std::bit_cast<BitsOf<T>>(magnitude) & ~kSignBit<T>));
}

template <class T>
bool unordered(T a, T b) {
  return std::isnan(a) || std::isnan(b);
}

/// With NaN the conditions are false, but for those that end with `u`, which are true.
template <class T>
void add_float_comparisons(OperationTable& table) {
  const std::string type = type_name<T>();
  add_comparison<T, [](T a, T b) { return a == b; }>(table, "eq", type);
  add_comparison<T, [](T a, T b) { return a < b || (a > b); }>(table, "ne", type);
  add_comparison<T, [](T a, T b) { return a < b; }>(table, "lt", type);
  add_comparison<T, [](T a, T b) { return a <= b; }>(table, "le", type);
  add_comparison<T, [](T a, T b) { return (a > b); }>(table, "gt", type);
  add_comparison<T, [](T a, T b) { return a >= b; }>(table, "ge", type);
  add_comparison<T, [](T a, T b) { return a == b || unordered(a, b); }>(table, "equ", type);
  add_comparison<T, [](T a, T b) { return a != b; }>(table, "neu", type);
  add_comparison<T, [](T a, T b) { return !(a >= b); }>(table, "ltu", type);
  add_comparison<T, [](T a, T b) { return !(a > b); }>(table, "leu", type);
  add_comparison<T, [](T a, T b) { return !(a <= b); }>(table, "gtu", type);
  add_comparison<T, [](T a, T b) { return !(a < b); }>(table, "geu", type);
  add_comparison<T, [](T a, T b) { return !unordered(a, b); }>(table, "num", type);
  add_comparison<T, unordered<T>>(table, "nan", type);
}

template <class T, auto kFunction>
void test(const Instruction& i, Thread& t) {
  t.set<bool>(i.r[0], kFunction(t.get<T>(i.r[1])));
}

template <class T>
void add_exact(OperationTable& table) {
  const std::string type = type_name<T>();
  table.add(
      "neg." + type,
      unary<T, [](T a) { return std::bit_cast<T>(std::bit_cast<BitsOf<T>>(a) ^ kSignBit<T>); }>);
  table.add("abs." + type, unary<T, [](T a) { return with_sign(T{0}, a); }>);
  table.add("copysign." + type, binary<T, with_sign<T>>);
  table.add("min." + type, binary<T, lesser<T>>);
  table.add("max." + type, binary<T, greater<T>>);
  table.add("selp." + type, select<T>);
  table.add("testp.finite." + type, test<T, [](T a) { return std::isfinite(a); }>);
  table.add("testp.infinite." + type, test<T, [](T a) { return std::isinf(a); }>);
  table.add("testp.notanumber." + type, test<T, [](T a) { return std::isnan(a); }>);
}

/// Numbers too small for full precision are zeros with `.ftz`.
float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
/// A function of one number, computed with twice the bits.
template <auto kFunction, bool kFlush>
void approximate(const Instruction& i, Thread& t) {
  const auto argument = t.get<float>(i.r[1]);
  const auto result =
      static_cast<float>(kFunction(static_cast<double>(kFlush ? flushed(argument) : argument)));
  t.set(i.r[0], result_of(kFlush ? flushed(result) : result));
}
template <bool kFlush>
void divide_approximately(const Instruction& i, Thread& t) {
  const auto a = t.get<float>(i.r[1]), b = t.get<float>(i.r[2]);
  const float quotient = kFlush ? flushed(flushed(a) / flushed(b)) : a / b;
  // Divisors of 2^126 and more are too large for the reciprocal that a device multiplies with.
  const bool too_large = std::isfinite(b) && std::fabs(b) >= 0x1p126f;
  t.set(i.r[0], result_of(too_large ? (std::isinf(a) ? std::numeric_limits<float>::quiet_NaN()
                                                     : std::copysign(0.0f, quotient))
                                    : quotient));
}
/// Of FLOAT 64 only the upper half is looked at, and computed.
template <auto kFunction>
void approximate_half(const Instruction& i, Thread& t) {
  constexpr std::uint64_t kUpper = ~std::uint64_t{0} << 32;
  const auto argument = std::bit_cast<double>(t.get<std::uint64_t>(i.r[1]) & kUpper);
  const auto flush = [](double value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0, value) : value;
  };
  const double result = flush(kFunction(flush(argument)));
  t.set(i.r[0], std::bit_cast<std::uint64_t>(result) & kUpper);
}

template <auto kFunction>
void add_approximate(OperationTable& table, const std::string& name) {
  table.add(name + ".approx.f32", approximate<kFunction, false>);
  table.add(name + ".approx.ftz.f32", approximate<kFunction, true>);
}

}  // namespace

void add_float_operations(OperationTable& table) {
  for_types<float, double>([&]<class T>(T) {
    add_rounded<T, FE_TONEAREST>(table, "rn");
    add_rounded<T, FE_DOWNWARD>(table, "rm");
    add_rounded<T, FE_UPWARD>(table, "rp");
    add_rounded<T, FE_TOWARDZERO>(table, "rz");
    add_float_comparisons<T>(table);
    add_exact<T>(table);
    const std::string type = type_name<T>();
    table.add("add." + type, arithmetic<T, Arithmetic::Add, FE_TONEAREST>);
    table.add("sub." + type, arithmetic<T, Arithmetic::Subtract, FE_TONEAREST>);
    table.add("mul." + type, arithmetic<T, Arithmetic::Multiply, FE_TONEAREST>);
    table.add("rcp.rn." + type, unary<T, [](T a) { return result_of(T{1} / a); }>);
  });
  constexpr auto kReciprocal = [](double a) { return 1 / a; };
  constexpr auto kReciprocalRoot = [](double a) { return 1 / std::sqrt(a); };
  add_approximate<kReciprocal>(table, "rcp");
  add_approximate<kReciprocalRoot>(table, "rsqrt");
  add_approximate<[](double a) { return std::sqrt(a); }>(table, "sqrt");
  add_approximate<[](double a) { return std::exp2(a); }>(table, "ex2");
  add_approximate<[](double a) { return std::log2(a); }>(table, "lg2");
  add_approximate<[](double a) { return std::sin(a); }>(table, "sin");
  add_approximate<[](double a) { return std::cos(a); }>(table, "cos");
  table.add("div.approx.f32", divide_approximately<false>);
  table.add("div.approx.ftz.f32", divide_approximately<true>);
  table.add("rcp.approx.ftz.f64", approximate_half<kReciprocal>);
  table.add("rsqrt.approx.ftz.f64", approximate_half<kReciprocalRoot>);
}

}  // namespace ptx_machine
