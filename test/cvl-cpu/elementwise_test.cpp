// Elementwise kernels whose vector form computes otherwise than the scalar functor reads: division
// of INT in FLOAT registers, SELECT block by block, and functions that are computed here.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl/failure.hpp"

namespace {

using cvl::Type;
using cvl::Value;
using cvl::Vector;
using cvl::cpu::CpuBackend;
using cvl::cpu::CpuOptions;
using vcode::Op;

CpuBackend backend(cvl::cpu::Isa isa, int float_bytes = 8) {
  CpuOptions options;
  options.isa = isa;
  options.threads = 1;
  options.widths.float_bytes = float_bytes;
  return CpuBackend(options);
}

template <class T>
Vector upload(CpuBackend& cpu, Type type, const std::vector<T>& elements) {
  return cpu.upload(type, elements.data(), static_cast<std::int64_t>(elements.size()));
}

template <class T>
std::vector<T> run(CpuBackend& cpu, Op op, Type type, std::vector<Value> operands) {
  Value result;
  cpu.execute(op, type, operands.data(), &result);
  std::vector<T> elements(static_cast<std::size_t>(result.vector().length));
  cpu.download(result.vector(), 0, result.vector().length, elements.data());
  return elements;
}

/// A function of FLOAT, and what it is to be, with more digits.
struct MathFunction {
  Op op;
  long double (*exact)(long double);
};
constexpr MathFunction kHyperbolic[] = {
    {Op::Sinh, std::sinh}, {Op::Cosh, std::cosh}, {Op::Tanh, std::tanh}};

template <class T>
std::vector<T> run(CpuBackend& cpu, Op op, const std::vector<T>& arguments) {
  return run<T>(cpu, op, Type::Int, {upload(cpu, Type::Float, arguments)});
}

/// How far `found` is from the truth, in distances between FLOATs there.
template <class T>
long double units_off(T found, long double exact) {
  const T nearest = static_cast<T>(exact);
  if (!std::isfinite(nearest) || !std::isfinite(found)) {
    return found == nearest ? 0 : std::numeric_limits<long double>::infinity();
  }
  const T magnitude = std::abs(nearest);
  const long double unit =
      std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
  return std::abs(found - exact) / (std::isfinite(unit) ? unit : exact);
}

template <class T>
void check_hyperbolic(long double most_units) {
  std::vector<T> arguments;
  const auto add = [&](double x) {
    arguments.push_back(static_cast<T>(x));
    arguments.push_back(static_cast<T>(-x));
  };
  constexpr double kMost = sizeof(T) == 8 ? 711 : 90;
  for (double x = 0; x < 3; x += 0x1.0001p-15) add(x);
  for (double x = 3; x < 45; x += 0x1.0001p-11) add(x);
  for (double x = 45; x < kMost; x += 0x1.0001p-8) add(x);
  // Beside the points where another power of two begins.
  for (int half = 1; half < 2100; half += 2) {
    for (const double beside : {-1e-15, 0.0, 1e-15}) {
      add(half * std::log(2) / 2 * (1 + beside));
      add(half * std::log(2) / 4 * (1 + beside));
    }
  }
  for (int exponent = 0; exponent < 1075; ++exponent) add(std::ldexp(1.3, -exponent));
  for (const cvl::cpu::Isa isa : cvl::cpu::usable_isas()) {
    CpuBackend cpu = backend(isa, sizeof(T));
    for (const auto& [op, exact] : kHyperbolic) {
      const std::vector<T> found = run(cpu, op, arguments);
      for (std::size_t i = 0; i < found.size(); ++i) {
        const long double off = units_off(found[i], exact(arguments[i]));
        if (off <= most_units) continue;
        CAPTURE(vcode::info(op).text, cvl::cpu::isa_name(isa), arguments[i], found[i], off);
        FAIL("inexact");
      }
    }
  }
}

template <class T>
void check_hyperbolic_ends() {
  using Limits = std::numeric_limits<T>;
  const T infinity = Limits::infinity();
  const T least = Limits::denorm_min();
  // The last argument whose sine is finite.
  const T last = sizeof(T) == 8 ? static_cast<T>(0x1.633ce8fb9f87dp+9) : T(0x1.65a9f8p+6F);
  const auto same = [](T a, T b) { return a == b && std::signbit(a) == std::signbit(b); };
  for (const cvl::cpu::Isa isa : cvl::cpu::usable_isas()) {
    CpuBackend cpu = backend(isa, sizeof(T));
    CAPTURE(cvl::cpu::isa_name(isa), sizeof(T));
    std::vector<T> arguments;
    for (const T x : {T(0), least, 3 * least, Limits::min() - least, Limits::min(), infinity,
                      Limits::max(), last, std::nextafter(last, infinity)}) {
      arguments.push_back(x);
      arguments.push_back(-x);
    }
    const std::vector<T> sine = run(cpu, Op::Sinh, arguments);
    const std::vector<T> tangent = run(cpu, Op::Tanh, arguments);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const T x = arguments[i];
      CAPTURE(x, sine[i], tangent[i]);
      const T most = std::copysign(infinity, x);
      if (std::abs(x) <= 1) {
        CHECK(same(sine[i], x));
        CHECK(same(tangent[i], x));
      } else {
        CHECK((std::abs(x) == last ? std::isfinite(sine[i]) : sine[i] == most));
        CHECK(tangent[i] == std::copysign(T(1), x));
      }
    }
    for (const auto& function : kHyperbolic) {
      CHECK(std::isnan(run(cpu, function.op, std::vector<T>{Limits::quiet_NaN()})[0]));
    }
  }
}

}  // namespace

TEST_CASE("quotients and remainders of INT are exact up to the ends of the range",
          "[elementwise]") {
  constexpr auto kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> numbers{0};
  for (int bit = 0; bit < 31; ++bit) {
    for (const int beside : {-1, 0, 1}) {
      const auto number = static_cast<std::int32_t>((std::int64_t{1} << bit) + beside);
      numbers.push_back(number);
      numbers.push_back(-number);
    }
  }
  numbers.insert(numbers.end(), {kLeast, kLeast + 1, kMost, kMost - 1, 1'000'003, -46'341, 10, -7});
  std::vector<std::int32_t> dividends, divisors, quotients, remainders;
  for (const std::int64_t x : numbers) {
    for (const std::int64_t y : numbers) {
      if (y == 0) continue;
      dividends.push_back(static_cast<std::int32_t>(x));
      divisors.push_back(static_cast<std::int32_t>(y));
      quotients.push_back(static_cast<std::int32_t>(x / y));  // the least INT / -1 wraps
      remainders.push_back(static_cast<std::int32_t>(x % y));
    }
  }
  for (const cvl::cpu::Isa isa : cvl::cpu::usable_isas()) {
    CpuBackend cpu = backend(isa);
    const Vector x = upload(cpu, Type::Int, dividends);
    const Vector y = upload(cpu, Type::Int, divisors);
    CHECK(run<std::int32_t>(cpu, Op::Divide, Type::Int, {x, y}) == quotients);
    CHECK(run<std::int32_t>(cpu, Op::Modulo, Type::Int, {x, y}) == remainders);
  }
}

TEST_CASE("one element for all fails as they would", "[elementwise]") {
  CpuBackend cpu = backend(cvl::cpu::usable_isas().back());
  const auto all = [&](std::int32_t number) {
    Value result;
    Value operands[] = {upload<std::int32_t>(cpu, Type::Int, {number}),
                        cvl::Segdes::regular(1, 1000)};
    cpu.execute(Op::Distribute, Type::Int, operands, &result);
    return result;
  };
  CHECK(run<std::int32_t>(cpu, Op::Divide, Type::Int, {all(42), all(5)}) ==
        std::vector<std::int32_t>(1000, 8));
  try {
    run<std::int32_t>(cpu, Op::Divide, Type::Int, {all(42), all(0)});
    FAIL("the operation did not fail");
  } catch (const cvl::Failure& failure) {
    CHECK(failure.code() == vcode::ErrorCode::DivisionByZero);
    CHECK(failure.notes().at(0).find("element 0 of the divisor is 0 (of 1000") == 0);
  }
}

TEST_CASE("SELECT takes each element from its side", "[elementwise]") {
  for (const cvl::cpu::Isa isa : cvl::cpu::usable_isas()) {
    CpuBackend cpu = backend(isa);
    for (const std::size_t n : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65},
                                std::size_t{1000}, std::size_t{4097}}) {
      std::vector<std::uint8_t> flags(n);
      std::vector<double> left(n), right(n), chosen(n);
      std::vector<std::int32_t> low(n), high(n), chosen_int(n);
      for (std::size_t i = 0; i < n; ++i) {
        flags[i] = (i * i / 3 + i / 64) % 2;
        left[i] = static_cast<double>(i) + 0.5;
        right[i] = -left[i];
        chosen[i] = flags[i] != 0 ? left[i] : right[i];
        low[i] = static_cast<std::int32_t>(i);
        high[i] = ~low[i];
        chosen_int[i] = flags[i] != 0 ? low[i] : high[i];
      }
      const Vector choice = upload(cpu, Type::Bool, flags);
      CHECK(run<double>(cpu, Op::Select, Type::Float,
                        {choice, upload(cpu, Type::Float, left),
                         upload(cpu, Type::Float, right)}) == chosen);
      CHECK(run<std::int32_t>(
                cpu, Op::Select, Type::Int,
                {choice, upload(cpu, Type::Int, low), upload(cpu, Type::Int, high)}) == chosen_int);
    }
  }
}

TEST_CASE("exponentials that are not normal numbers are right", "[elementwise]") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto check = [](auto zero, double step) {
    using T = decltype(zero);
    std::vector<T> arguments{T(-kInfinity), T(kInfinity), T(-1e30), T(-0.0)};
    for (double x = -800; x <= 800; x += step) arguments.push_back(static_cast<T>(x));
    for (const cvl::cpu::Isa isa : cvl::cpu::usable_isas()) {
      CpuBackend cpu = backend(isa, sizeof(T));
      const auto found = run<T>(cpu, Op::Exp, Type::Int, {upload(cpu, Type::Float, arguments)});
      REQUIRE(found.size() == arguments.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        const T expected = std::exp(arguments[i]);
        const T least = std::numeric_limits<T>::denorm_min();
        CAPTURE(arguments[i], found[i], expected);
        const T tolerance = std::max(4 * least, 8 * std::numeric_limits<T>::epsilon() * expected);
        REQUIRE((found[i] == expected ||
                 (std::isfinite(expected) && std::abs(found[i] - expected) <= tolerance)));
        REQUIRE((found[i] == 0) == (expected == 0));
      }
      const auto none =
          run<T>(cpu, Op::Exp, Type::Int,
                 {upload(cpu, Type::Float, std::vector<T>{std::numeric_limits<T>::quiet_NaN()})});
      REQUIRE(std::isnan(none[0]));
    }
  };
  check(double{}, 0.37);
  check(float{}, 0.11);
}

TEST_CASE("hyperbolic functions are right to some units in the last place", "[elementwise]") {
  check_hyperbolic<double>(3);
  check_hyperbolic<float>(4);
}

TEST_CASE("hyperbolic functions of least, greatest and no numbers", "[elementwise]") {
  check_hyperbolic_ends<double>();
  check_hyperbolic_ends<float>();
}

TEST_CASE("hyperbolic functions have the same bits wherever a vector is cut", "[elementwise]") {
  std::vector<double> all;
  for (int i = 0; i < 100; ++i) all.push_back((i - 50) * 0.37);
  for (const cvl::cpu::Isa isa : cvl::cpu::usable_isas()) {
    CpuBackend cpu = backend(isa);
    for (const auto& [op, exact] : kHyperbolic) {
      const std::vector<double> whole = run(cpu, op, all);
      for (std::size_t begin = 0; begin < all.size(); ++begin) {
        for (const std::size_t count : {std::size_t{1}, std::size_t{7}, all.size() - begin}) {
          const auto from = all.begin() + static_cast<std::ptrdiff_t>(begin);
          const std::size_t length = std::min(count, all.size() - begin);
          const auto part =
              run(cpu, op, std::vector<double>(from, from + static_cast<std::ptrdiff_t>(length)));
          CHECK(std::equal(part.begin(), part.end(),
                           whole.begin() + static_cast<std::ptrdiff_t>(begin)));
        }
      }
    }
  }
}
