// Elementwise kernels whose vector form computes otherwise than the scalar functor reads: division
// of INT in FLOAT registers, and SELECT block by block.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/cpu_backend.hpp"

namespace {

using cvl::Type;
using cvl::Value;
using cvl::Vector;
using cvl::cpu::CpuBackend;
using cvl::cpu::CpuOptions;
using vcode::Op;

CpuBackend backend(cvl::cpu::Isa isa) {
  CpuOptions options;
  options.isa = isa;
  options.threads = 1;
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
      CpuOptions options;
      options.isa = isa;
      options.threads = 1;
      options.widths.float_bytes = sizeof(T);
      CpuBackend cpu(options);
      const auto found = run<T>(cpu, Op::Exp, Type::Int, {upload(cpu, Type::Float, arguments)});
      REQUIRE(found.size() == arguments.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        const T expected = std::exp(arguments[i]);
        const T least = std::numeric_limits<T>::denorm_min();
        CAPTURE(arguments[i], found[i], expected);
        REQUIRE((found[i] == expected ||
                 std::abs(found[i] - expected) <=
                     std::max(4 * least, 8 * std::numeric_limits<T>::epsilon() * expected)));
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
