// What the examples execute, as compiled and optimized: a lost fusion changes these numbers.
#include <array>
#include <string>

#include <catch2/catch.hpp>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl/kernel_plan.hpp"
#include "fcode-opt/support.hpp"
#include "vcode-smith/machine_runner.hpp"
#include "vinterp/statistics.hpp"

namespace fcode::testing {
namespace {

struct Executed {
  // Vector operations and passes of kernels; bytes of their operands and results; IF, MAKE_SEGDES
  // and PACK as instructions, for which the host waits.
  std::int64_t launches = 0, bytes = 0, waits = 0;
  bool operator==(const Executed&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Executed& executed) {
  return out << '{' << executed.launches << ", " << executed.bytes << ", " << executed.waits << '}';
}

class Waits : public vinterp::Observer {
 public:
  void after(const vinterp::Step& step, double /*seconds*/) override {
    using vcode::Op;
    const Op op = step.op->op;
    count_ += op == Op::If || op == Op::MakeSegdes || op == Op::Pack;
  }
  std::int64_t count() const { return count_; }

 private:
  std::int64_t count_ = 0;
};

Executed executed(const vcode::Program& program) {
  cvl::cpu::CpuOptions options;
  options.threads = 1;
  cvl::cpu::CpuBackend backend(options);
  const vcode::LinkedProgram linked = link(program);
  for (const vcode::LinkedKernel& kernel : linked.kernels) {
    REQUIRE(cvl::plan_kernel(kernel.definition));
  }
  vinterp::Statistics statistics(linked);
  Waits waits;
  const smith::MachineRun run = smith::run_on_machine(
      linked, backend, false, vinterp::KernelUse::Always, {&statistics, &waits});
  REQUIRE_FALSE(run.failure);
  return {static_cast<std::int64_t>(statistics.launches()),
          static_cast<std::int64_t>(statistics.bytes()), waits.count()};
}

struct Example {
  std::string name;
  Executed compiled, optimized;
};

const Example kExamples[] = {
    {"dot-product", {8, 232, 2}, {2, 56, 0}},
    {"fft", {448, 31080, 94}, {16, 2040, 8}},
    {"fibonacci", {5052, 54582, 2014}, {4972, 54422, 2014}},
    {"histogram", {52, 2728, 13}, {8, 1352, 0}},
    {"line-fit", {27, 944, 4}, {1, 176, 0}},
    {"mandelbrot-counts", {573, 4350229, 65}, {70, 896359, 31}},
    {"matrix-multiply", {27, 1600, 9}, {2, 168, 0}},
    {"mergesort", {537, 48102, 111}, {77, 20482, 25}},
    {"monte-carlo-pi", {35, 7280171, 8}, {4, 1280003, 0}},
    {"n-body-step", {112, 8773, 24}, {3, 481, 0}},
    {"primes", {114, 3313, 33}, {22, 629, 5}},
    {"quicksort", {708, 68235, 158}, {136, 25289, 31}},
    {"run-length-encode", {46, 1949, 10}, {10, 969, 1}},
    {"running-totals", {10, 460, 2}, {2, 160, 0}},
    {"sparse-matrix-vector", {8, 608, 3}, {1, 196, 0}},
    {"string-search", {244, 7721, 86}, {39, 2077, 13}},
    {"word-count", {66, 4151, 17}, {11, 1540, 0}},
};

TEST_CASE("the examples launch, move and wait for as much as they did") {
  for (const Example& example : kExamples) {
    CAPTURE(example.name);
    const vcode::Program program = parse(example_of(example.name, {}));
    CHECK(executed(program) == example.compiled);
    CHECK(executed(optimize(program, {})) == example.optimized);
  }
}

}  // namespace
}  // namespace fcode::testing
