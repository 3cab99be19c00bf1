// What the examples execute, as compiled and optimized: a lost fusion changes these numbers.
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl/kernel_plan.hpp"
#include "fcode-opt/expected_table.hpp"
#include "fcode-opt/support.hpp"
#include "machine/statistics.hpp"
#include "vcode-smith/machine_runner.hpp"

namespace fcode::testing {
namespace {

struct Executed {
  // Vector operations and passes of kernels; bytes of their operands and results; IF, MAKE_SEGDES
  // and PACK as instructions, for which the host waits.
  std::int64_t launches = 0, bytes = 0, waits = 0;
};

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

// To write the numbers anew: NESL_UPDATE=1 fcode_opt_memory_tests "[table]"
TEST_CASE("the examples launch, move and wait for as much as they did", "[table]") {
  std::vector<TableRow> rows;
  for (const std::string& name : example_names()) {
    if (name == "read-and-write") continue;  // there is no input
    CAPTURE(name);
    const vcode::Program program = parse(example_of(name, {}));
    const Executed compiled = executed(program), optimized = executed(optimize(program, {}));
    rows.push_back({name,
                    {compiled.launches, compiled.bytes, compiled.waits, optimized.launches,
                     optimized.bytes, optimized.waits}});
  }
  check_table("executed.txt",
              {"example", "launches", "bytes", "waits", "launches -O", "bytes -O", "waits -O"},
              rows);
}

TEST_CASE("... and as much when no length is known before they run", "[table]") {
  std::vector<TableRow> rows;
  for (const std::string& name : example_names()) {
    if (name == "read-and-write") continue;
    CAPTURE(name);
    const FromOutside outside = from_outside(parse(example_of(name, {})));
    const Executed found = executed(optimized(outside));
    rows.push_back({name, {found.launches, found.bytes, found.waits}});
  }
  check_table("executed_unknown.txt", {"example", "launches -O", "bytes -O", "waits -O"}, rows);
}

}  // namespace
}  // namespace fcode::testing
