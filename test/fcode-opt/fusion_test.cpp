// What becomes of programs: kernels, passes over memory, operations that are left.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "cvl/kernel_plan.hpp"
#include "fcode-opt/checks.hpp"
#include "fcode-opt/support.hpp"

namespace fcode::testing {
namespace {

struct Structure {
  std::string name;
  std::size_t operations, left, kernels, launches, conditionals;
};

// A lost fusion changes these numbers. Operations before; operations that stay, kernels, passes of
// the kernels and conditionals (places where the host waits) after.
const Structure kExamples[] = {
    {"dot-product", 4, 0, 1, 2, 0},
    {"fft", 50, 11, 4, 4, 1},
    {"fibonacci", 7, 7, 0, 0, 2},
    {"hello-world", 0, 0, 0, 0, 0},
    {"histogram", 33, 6, 3, 4, 0},
    {"line-fit", 18, 0, 1, 1, 0},
    {"mandelbrot-counts", 43, 18, 5, 7, 1},
    {"matrix-multiply", 18, 0, 2, 2, 0},
    {"mergesort", 44, 8, 5, 5, 2},
    {"monte-carlo-pi", 29, 3, 4, 4, 0},
    {"n-body-step", 42, 0, 3, 3, 0},
    {"primes", 23, 2, 3, 4, 1},
    {"quicksort", 52, 22, 7, 12, 1},
    {"read-and-write", 11, 6, 1, 1, 9},
    {"run-length-encode", 29, 10, 3, 3, 0},
    {"running-totals", 10, 0, 2, 2, 0},
    {"sparse-matrix-vector", 8, 0, 1, 1, 0},
    {"string-search", 25, 15, 1, 1, 1},
    {"word-count", 53, 10, 5, 6, 0},
};

TEST_CASE("the examples are fused as far as they were") {
  for (const Structure& expected : kExamples) {
    CAPTURE(expected.name);
    const std::filesystem::path path =
        std::filesystem::path(PROJECT_ROOT) / "nesl-examples/vcode" / (expected.name + ".vcode");
    OptimizerReport report;
    const vcode::Program program = optimize(parse(read_file(path)), {}, &report);
    std::size_t launches = 0;
    for (const vcode::Kernel& kernel : program.kernels) {
      const auto plan = cvl::plan_kernel(kernel);
      REQUIRE(plan);
      launches += plan->launches();
      CHECK(kernel.has_spec);
    }
    CHECK(report.before.vector_operations == expected.operations);
    CHECK(report.after.vector_operations == expected.left);
    CHECK(report.after.kernels == expected.kernels);
    CHECK(launches == expected.launches);
    CHECK(report.after.conditionals == expected.conditionals);
  }
}

vcode::Program optimized(const std::string& text) {
  return optimize(parse(text), {});
}

TEST_CASE("a map and a reduction over it are one pass") {
  const vcode::Program program = optimized(
      "FUNC MAIN CONST INT ( 1 2 3 ) RAND CONST INT ( 4 5 6 ) RAND * INT CONST INT 3 MAKE_SEGDES "
      "+_REDUCE INT RET");
  REQUIRE(program.kernels.size() == 1);
  const vcode::Kernel& kernel = program.kernels[0];
  REQUIRE(kernel.bindings.size() == 1);
  CHECK(kernel.bindings[0].kind == vcode::Binding::Kind::Reduce);
  CHECK(kernel.inputs.size() == 2);
}

TEST_CASE("equal kernels exist once") {
  const std::string square = "COPY 1 0 * INT COPY 1 0 * INT ";
  const vcode::Program program = optimized("FUNC MAIN CONST INT ( 1 2 3 ) RAND " + square +
                                           "START_TIMER " + square + "STOP_TIMER RET");
  CHECK(program.kernels.size() == 1);
}

// The check of a compiled division: n, the count c of zeros, n - c; nothing for n = 0.
std::string checked_division(const std::string& wrong_when) {
  return "FUNC MAIN CONST FLOAT 1.0 CONST INT ( 1 2 3 ) RAND I_TO_F COPY 1 0 LENGTH FLOAT MAKE_SEGDES "
         "CONST FLOAT 0.0 COPY 1 1 DIST FLOAT COPY 1 2 CPOP 1 1 = FLOAT B_TO_I COPY 1 1 "
         "+_REDUCE INT " +
         wrong_when +
         " IF CONST CHAR \"zero\" WRITE CHAR EXIT ELSE ENDIF CPOP 1 2 CPOP 1 1 DIST FLOAT CPOP 1 1 "
         "/ FLOAT RET";
}

TEST_CASE("a counting check becomes an assertion in the kernel of what it checks") {
  const vcode::Program program = optimized(checked_division("CONST INT 0 != INT"));
  REQUIRE(program.kernels.size() == 1);
  const std::vector<vcode::Binding>& bindings = program.kernels[0].bindings;
  const auto check = std::find_if(bindings.begin(), bindings.end(), [](const auto& binding) {
    return binding.kind == vcode::Binding::Kind::Assert;
  });
  REQUIRE(check != bindings.end());
  CHECK(check->message == "zero");
  // Over the elements, not over a count of them.
  CHECK(program.kernels[0].sizes[check->space.id].literal == 3);
}

TEST_CASE("a check that allows one bad element still counts") {
  const vcode::Program program = optimized(checked_division("CONST INT 1 > INT"));
  bool reduces = false;
  for (const vcode::Kernel& kernel : program.kernels) {
    for (const vcode::Binding& binding : kernel.bindings) {
      reduces |= binding.kind == vcode::Binding::Kind::Reduce;
    }
  }
  CHECK(reduces);
}

TEST_CASE("nothing is fused across output or timers") {
  const vcode::Program program = optimized(
      "FUNC MAIN CONST INT ( 1 2 3 ) RAND COPY 1 0 + INT CONST CHAR \"x\" WRITE CHAR POP 2 0 COPY 1 0 "
      "* INT START_TIMER COPY 1 0 - INT STOP_TIMER RET");
  CHECK(program.kernels.empty());
}

}  // namespace
}  // namespace fcode::testing
