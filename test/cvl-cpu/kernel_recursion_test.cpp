// ITERATE with stacks against recursion in C++: over tiles, with stacks that grow, that must not
// grow any more, and that are empty; round by round, and by machine code.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "cvl-cpu/kernel_support.hpp"
#include "tuned.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/parser.hpp"

namespace kernel_test {
namespace {

vcode::Kernel kernel_of(const std::string& text) {
  vcode::Diagnostics diagnostics;
  auto program = vcode::parse(std::make_shared<vcode::Source>("kernel.fcode", text), diagnostics);
  REQUIRE(program);
  return program->kernels[0];
}

/// Fibonacci numbers as fib(n) = fib(n - 1) + fib(n - 2), with a FLOAT and a BOOL that go along.
vcode::Kernel fibonacci(std::int64_t depth, std::int64_t rounds) {
  return kernel_of(fmt::format(R"(FCODE 3
KERNEL fib
IN  wanted : VEC INT n
OUT y : VEC INT n, z : VEC FLOAT n, place : VEC INT n
DO
  place, number, half, odd, first, y, z = ITERATE n ( i => 1, wanted[i], 1.0, F, 0, 0, 0.0 )
    WHILE ( p, m, h, o, r, u, w => (> INT p 0) )
    DO ( p, m, h, o, r, u, w =>
      1,
      (- INT m (IF (= INT p 1) 1 2)),
      (* FLOAT h 0.5),
      (NOT BOOL o),
      r,
      (IF (= INT p 1) m (+ INT r u)),
      (IF o (+ FLOAT w h) (- FLOAT w h)) )
    PUSH ( p, m, h, o, r, u, w =>
      (IF (= INT p 1) (>= INT m 2) (= INT p 2)),
      (+ INT 1 (IF (= INT p 1) 1 2)), m, h, o, (IF (= INT p 1) r u) )
    POP ( p, m, h, o, r, u, w => T )
    DEPTH {}
    ROUNDS {}
END
FUNC MAIN CONST INT 0 RET
)",
                               depth, rounds));
}

/// What the kernel computes, as a function in C++.
std::int64_t fib(std::int64_t n, double half, bool odd, double& sum) {
  const auto leave = [&] { sum = odd ? sum + half : sum - half; };
  if (n < 2) {
    leave();
    return n;
  }
  leave();
  const std::int64_t first = fib(n - 1, half * 0.5, !odd, sum);
  leave();
  const std::int64_t second = fib(n - 2, half * 0.5, !odd, sum);
  leave();
  return first + second;
}

std::vector<double> wanted(std::int64_t length) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < length; ++i) {
    result.push_back(static_cast<double>(i * 7919 % 101 == 0 ? 12 : i * 31 % 6));
  }
  return result;
}

void for_libraries(const std::function<void(CpuBackend&)>& test) {
  for_backends([&](CpuBackend& cpu) {
    if (cpu.runs_serial_loops()) test(cpu);
  });
  for (const char* setting : {"rounds_without_code=2,rounds_in_plain_code=3",
                              "rounds_without_code=2", "rounds_without_code=512"}) {
    CAPTURE(setting);
    const tuned::Scope scope(setting);
    for (const cvl::Widths widths : {cvl::Widths{4, 8}, cvl::Widths{8, 4}}) {
      CpuBackend cpu(options(widths, 2, cvl::cpu::usable_isas().back()));
      if (cpu.runs_serial_loops()) test(cpu);
    }
  }
}

TEST_CASE("states with stacks do what recursion does", "[native]") {
  const vcode::Kernel kernel = fibonacci(1000, 1'000'000'000);
  for_libraries([&](CpuBackend& cpu) {
    const auto prepared = cpu.prepare(kernel);
    REQUIRE(prepared != nullptr);
    for (const std::int64_t length : {0, 1, 2, 63, 64, 65, 200, 1000, 5000}) {
      const std::vector<double> numbers = wanted(length);
      std::vector<Value> operands{upload(cpu, Type::Int, numbers)};
      std::vector<Value> results(3);
      REQUIRE(cpu.run(*prepared, operands.data(), results.data()));
      std::vector<double> values, sums;
      for (const double number : numbers) {
        double sum = 0;
        values.push_back(
            static_cast<double>(fib(static_cast<std::int64_t>(number), 1.0, false, sum)));
        sums.push_back(sum);
      }
      CAPTURE(length);
      REQUIRE(bits(cpu, results[0]) == bits(cpu, Value(upload(cpu, Type::Int, values))));
      REQUIRE(bits(cpu, results[1]) == bits(cpu, Value(upload(cpu, Type::Float, sums))));
      const std::vector<double> ended(static_cast<std::size_t>(length));
      REQUIRE(bits(cpu, results[2]) == bits(cpu, Value(upload(cpu, Type::Int, ended))));
    }
  });
}

TEST_CASE("a library without code for single states leaves stacks to the SPEC") {
  CpuOptions without = options({4, 8}, 1, cvl::cpu::usable_isas().back());
  without.native = false;
  CpuBackend cpu(without);
  CHECK_FALSE(cpu.runs_serial_loops());
  const vcode::Kernel kernel = fibonacci(10, 10);
  CHECK(cpu.prepare(kernel) == nullptr);
}

TEST_CASE("states end where their rounds or frames do", "[native]") {
  // As many frames as fib(12) needs, one less, and as many rounds.
  double sum = 0;
  fib(12, 1.0, false, sum);
  constexpr std::int64_t kRounds = 3 * 232 + 233;  // of calls that make others, and of leaves
  struct Case {
    std::int64_t depth, rounds;
    bool ends;
  };
  for (const Case& one : {Case{11, kRounds, true},
                          {10, kRounds, false},
                          {0, kRounds, false},
                          {11, kRounds - 1, false},
                          {100, 1, false},
                          {100, 0, false}}) {
    CAPTURE(one.depth, one.rounds);
    const vcode::Kernel kernel = fibonacci(one.depth, one.rounds);
    for_libraries([&](CpuBackend& cpu) {
      const auto results = run(cpu, kernel, {upload(cpu, Type::Int, {12, 1, 12})});
      for (const std::int64_t at : {0, 2}) {
        CHECK((cvl::read_int(cpu, results[2].vector(), at) == 0) == one.ends);
        if (one.ends) CHECK(cvl::read_int(cpu, results[0].vector(), at) == 144);
      }
    });
  }
}

/// Counts down from `wanted`, putting each number on the stack, and then adds them up: it takes
/// numbers off until it meets the zero of an empty stack.
vcode::Kernel adding(std::int64_t depth) {
  return kernel_of(fmt::format(R"(FCODE 3
KERNEL add
IN  wanted : VEC INT n
OUT sum : VEC INT n, phase : VEC INT n
DO
  number, sum, phase = ITERATE n ( i => wanted[i], 0, 1 )
    WHILE ( x, s, p => (> INT p 0) )
    DO ( x, s, p =>
      (- INT x 1),
      (IF (= INT p 1) s (+ INT s x)),
      (IF (AND BOOL (= INT p 1) (> INT x 0)) 1 (IF (AND BOOL (= INT p 2) (= INT x 0)) 0 2)) )
    PUSH ( x, s, p => (AND BOOL (= INT p 1) (> INT x 0)), x )
    POP ( x, s, p => T )
    DEPTH {}
    ROUNDS 1000000000
END
FUNC MAIN CONST INT 0 RET
)",
                               depth));
}

TEST_CASE("stacks grow, and an empty one gives zeros", "[native]") {
  for_libraries([](CpuBackend& cpu) {
    const auto results =
        run(cpu, adding(1'000'000), {upload(cpu, Type::Int, {0, 1, 64, 65, 50'000, 3})});
    const std::vector<double> sums = {0, 1, 2080, 2145, 1'250'025'000, 6};
    CHECK(bits(cpu, results[0]) == bits(cpu, Value(upload(cpu, Type::Int, sums))));
    CHECK(bits(cpu, results[1]) == bits(cpu, Value(upload(cpu, Type::Int, Numbers(6)))));
  });
}

TEST_CASE("states with stacks end when the run is to end", "[native]") {
  for_libraries([](CpuBackend& cpu) {
    const vcode::Kernel kernel = fibonacci(1000, 1'000'000'000'000);
    const auto prepared = cpu.prepare(kernel);
    std::vector<Value> operands{upload(cpu, Type::Int, {60})};
    std::vector<Value> results(3);
    cpu.stop = [] { return true; };
    REQUIRE(cpu.run(*prepared, operands.data(), results.data()));
    cpu.stop = nullptr;
    CHECK(cvl::read_int(cpu, results[2].vector()) > 0);
  });
}

}  // namespace
}  // namespace kernel_test
