// The examples with data from outside: what becomes of them if no length is known.
#include <cstddef>
#include <ostream>
#include <string>

#include <catch2/catch.hpp>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl/kernel_plan.hpp"
#include "fcode-opt/support.hpp"
#include "vcode-smith/machine_runner.hpp"

namespace fcode::testing {
namespace {

struct Structure {
  std::size_t left, kernels, launches, conditionals;
  bool operator==(const Structure&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Structure& structure) {
  return out << '{' << structure.left << ", " << structure.kernels << ", " << structure.launches
             << ", " << structure.conditionals << '}';
}

Structure structure_of(const vcode::Program& program) {
  const ProgramSize size = measure(program);
  Structure structure{size.vector_operations, size.kernels, 0, size.conditionals};
  for (const vcode::Kernel& kernel : program.kernels) {
    const auto plan = cvl::plan_kernel(kernel);
    REQUIRE(plan);
    structure.launches += plan->launches();
  }
  return structure;
}

struct Example {
  std::string name;
  Structure optimized;
};

// Operations that stay, among them the LENGTH and MAKE_SEGDES of what is given, kernels, their
// passes, and conditionals. A lost fusion changes these numbers.
const Example kExamples[] = {
    {"dot-product", {0, 1, 2, 0}},       {"fft", {2, 3, 5, 1}},
    {"histogram", {8, 4, 4, 0}},         {"line-fit", {0, 1, 1, 0}},
    {"mandelbrot-counts", {8, 4, 7, 1}}, {"matrix-multiply", {0, 2, 2, 0}},
    {"mergesort", {5, 6, 6, 2}},         {"monte-carlo-pi", {0, 4, 4, 0}},
    {"n-body-step", {0, 2, 3, 0}},       {"primes", {2, 3, 4, 1}},
    {"quicksort", {6, 9, 12, 1}},        {"run-length-encode", {6, 5, 6, 0}},
    {"running-totals", {1, 2, 2, 0}},    {"sparse-matrix-vector", {1, 1, 1, 0}},
    {"string-search", {9, 4, 1, 1}},     {"word-count", {7, 4, 6, 0}},
};

smith::MachineRun run(const vcode::Program& program) {
  cvl::cpu::CpuOptions options;
  options.threads = 1;
  cvl::cpu::CpuBackend backend(options);
  return smith::run_on_machine(link(program), backend, false);
}

TEST_CASE("the examples are fused when no length is known, and do the same") {
  for (const Example& example : kExamples) {
    CAPTURE(example.name);
    const vcode::Program program = parse(example_of(example.name, {}));
    const vcode::Program found = optimized(from_outside(program));
    CHECK(structure_of(found) == example.optimized);
    const smith::MachineRun expected = run(program);
    CHECK(smith::difference_in_output(expected.output, expected.error, run(found)) == "");
  }
}

}  // namespace
}  // namespace fcode::testing
