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

/// The plan of the program's first kernel, as text.
std::string plan_of(const std::string& text) {
  vcode::Diagnostics diagnostics;
  const auto program =
      vcode::parse(std::make_shared<vcode::Source>("kernel.fcode", text), diagnostics);
  REQUIRE(program);
  const std::optional<KernelPlan> plan = plan_kernel(program->kernels[0]);
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

}  // namespace
}  // namespace cvl
