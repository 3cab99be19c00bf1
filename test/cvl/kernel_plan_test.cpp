// What kernels compute once.
#include "cvl/kernel_plan.hpp"

#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "occurrences.hpp"
#include "vcode/parser.hpp"

namespace cvl {
namespace {

using ::testing::occurrences;

/// A program with a kernel.
vcode::Program parsed(const std::string& text) {
  vcode::Diagnostics diagnostics;
  auto program = vcode::parse(std::make_shared<vcode::Source>("kernel.fcode", text), diagnostics);
  REQUIRE(program);
  return *std::move(program);
}

/// The plan of the program's first kernel, as text.
std::string plan_of(const std::string& text) {
  const vcode::Program program = parsed(text);
  const std::optional<KernelPlan> plan = plan_kernel(program.kernels[0]);
  REQUIRE(plan);
  return describe(*plan);
}

// Each of three functions of a loop reads the element under a condition of its own.
TEST_CASE("an element is read once by all functions of a loop where its index is compared") {
  const std::string element = "(IF (AND BOOL (>= INT a 0) (< INT a m)) v[a] 0)";
  const std::string condition = "(AND BOOL (> INT b 0) (> INT " + element + " 1))";
  const std::string kernel =
      "FCODE 3\nWIDTH INT ANY\nWIDTH FLOAT ANY\n"
      "KERNEL walk\n"
      "IN x : VEC INT n,\n   v : VEC INT m\n"
      "OUT y : VEC INT n\n"
      "DO\n"
      "  y, z = ITERATE n ( i => x[i], 9 ) WHILE ( a, b => (> INT b 0) )\n"
      "    DO ( a, b => (IF (= INT b 1) " +
      element + " a), (- INT b 1) ) PUSH ( a, b => " + condition +
      ", a ) POP ( a, b => (NOT BOOL " + condition +
      ") ) DEPTH 10 ROUNDS 100\n"
      "SPEC\n"
      "END\n"
      "FUNC MAIN RET\n";
  CHECK(occurrences(plan_of(kernel), "= v[") == 1);
}

/// Passes over index spaces of a kernel that asserts something about one position.
std::size_t launches(const std::string& asserted, const PlanOptions& options) {
  const vcode::Program program = parsed(
      "FCODE 3\nWIDTH INT ANY\nWIDTH FLOAT ANY\n"
      "KERNEL k\n"
      "IN x : VEC INT 1,\n   v : VEC INT n\n"
      "OUT y : VEC INT 1,\n   z : VEC INT n\n"
      "DO\n"
      "  ASSERT 1 ( i => (< INT " +
      asserted +
      " n) ) \"outside\"\n"
      "  y = ONCE (+ INT x[0] 1)\n"
      "  z = MAP n ( i => (+ INT v[i] x[0]) )\n"
      "SPEC\n"
      "END\n"
      "FUNC MAIN RET\n");
  const std::optional<KernelPlan> plan = plan_kernel(program.kernels[0], options);
  REQUIRE(plan);
  return plan->launches();
}

TEST_CASE("assertions about one position need no pass of their own") {
  CHECK(launches("x[0]", {}) == 2);
  CHECK(launches("x[0]", {.asserts_once = true}) == 1);
  CHECK(launches("x[i]", {.asserts_once = true}) == 2);
}

}  // namespace
}  // namespace cvl
