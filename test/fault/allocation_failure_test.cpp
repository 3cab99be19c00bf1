// Every allocation of vector memory fails once: each time the run must end with a clean error, hold
// no memory afterwards, and succeed with the same results when it is run again.
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "cvl-cpu/cpu_backend.hpp"
#include "vcode-smith/machine_runner.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"

namespace {

// No program below comes near this many; a count that is not reached means that all were failed.
constexpr std::uint64_t kMostAllocations = 5000;

/// 1000 numbers in `data`-like order and descriptors over them; every program begins with these:
/// (bottom) ints, floats, flags, cut into segments, (top).
const std::string kPrologue =
    "FUNC SETUP\n"
    "  CONST INT 0 CONST INT 7 CONST SEGDES 1000 INDEX\n"
    "  CONST INT 97 CONST SEGDES 1000 DIST INT %\n"
    "  COPY 1 0 I_TO_F\n"
    "  COPY 1 1 CONST INT 1 CONST SEGDES 1000 DIST INT AND INT I_TO_B\n"
    "  CONST SEGDES (100 0 1 399 500)\n"
    "RET\n";

vcode::LinkedProgram load(const std::string& body) {
  vcode::Diagnostics diagnostics;
  const auto source = std::make_shared<const vcode::Source>(
      "test", "FUNC MAIN CALL SETUP\n" + body + "\nRET\n" + kPrologue);
  auto program = vcode::parse(source, diagnostics);
  REQUIRE(program);
  auto linked = vcode::link(std::move(*program), diagnostics);
  REQUIRE(linked);
  return std::move(*linked);
}

/// Fails allocation 1, 2, 3, ... of a run until one goes through; returns how many there were.
std::uint64_t fail_each(const vcode::LinkedProgram& program, int threads) {
  cvl::cpu::CpuOptions options;
  options.threads = threads;
  cvl::cpu::CpuBackend backend(options);
  const smith::MachineRun expected = smith::run_on_machine(program, backend, true);
  INFO(expected.message);
  REQUIRE_FALSE(expected.failure);
  int call_stack_failures = 0;
  for (std::uint64_t n = 1; n < kMostAllocations; ++n) {
    INFO("allocation " << n);
    backend.heap().fail_at(n);
    const smith::MachineRun failed = smith::run_on_machine(program, backend, true);
    backend.heap().fail_at(0);
    CHECK(backend.heap().statistics().live_bytes == 0);
    CHECK(backend.heap().statistics().charged_bytes == 0);
    if (!failed.failure) {
      CHECK(failed.output == expected.output);
      return n - 1;
    }
    // The call stack names its own cause when it cannot grow, which happens once in these programs.
    const bool call_stack = *failed.failure == vcode::ErrorCode::CallDepth;
    if (call_stack) CHECK(++call_stack_failures == 1);
    REQUIRE((call_stack || *failed.failure == vcode::ErrorCode::OutOfMemory));
    const smith::MachineRun again = smith::run_on_machine(program, backend, true);
    REQUIRE_FALSE(again.failure);
    REQUIRE(again.output == expected.output);
  }
  FAIL("the run never goes through");
  return 0;
}

void check(const std::string& body) {
  const vcode::LinkedProgram program = load(body);
  for (const int threads : {1, 4}) CHECK(fail_each(program, threads) > 0);
}

}  // namespace

TEST_CASE("allocation failures in elementwise operations") {
  check(
      "COPY 1 3 COPY 1 4 * INT COPY 1 4 - INT COPY 1 3 SQRT COPY 1 4 + FLOAT ROUND + INT\n"
      "COPY 1 0 CONST INT 5 CONST SEGDES 1000 DIST INT < INT\n"
      "COPY 1 3 XOR BOOL COPY 1 5 COPY 1 6 SELECT INT");
}

TEST_CASE("allocation failures in scans and reductions") {
  check(
      "COPY 1 3 COPY 1 1 +_SCAN INT COPY 1 3 COPY 1 2 MAX_SCAN FLOAT COPY 1 3 COPY 1 3 OR_SCAN "
      "BOOL\n"
      "COPY 1 6 COPY 1 4 *_REDUCE INT COPY 1 6 COPY 1 5 +_REDUCE FLOAT\n"
      "COPY 1 6 COPY 1 6 AND_REDUCE BOOL");
}

TEST_CASE("allocation failures in ranks and permutations") {
  check(
      "COPY 1 2 COPY 1 1 RANK_UP FLOAT\n"
      "COPY 1 4 COPY 1 1 COPY 1 3 PERMUTE INT\n"
      "COPY 1 4 COPY 1 2 COPY 1 6 COPY 1 5 COPY 1 6 DPERMUTE FLOAT\n"
      "COPY 1 6 COPY 1 3 COPY 1 6 COPY 1 6 COPY 1 7 FPERMUTE INT\n"
      "COPY 1 7 COPY 1 4 COPY 1 6 COPY 1 7 BPERMUTE INT\n"
      "COPY 1 8 COPY 1 5 COPY 1 8 COPY 1 8 COPY 1 9 BFPERMUTE INT\n"
      "COPY 1 9 COPY 1 6 COPY 1 9 COPY 1 12 COPY 1 10 COPY 1 11 DFPERMUTE INT");
}

TEST_CASE("allocation failures in EXTRACT, REPLACE, PACK, RAND and descriptors") {
  check(
      "COPY 1 3 CONST INT (0 0 1 100 200) CONST SEGDES (100 1 100 299 500) EXTRACT INT\n"
      "COPY 1 4 CONST INT (0 0 1 100 200) CONST INT (1 2 3 4 5)\n"
      "CONST SEGDES (100 1 100 299 500) REPLACE INT\n"
      "COPY 1 5 COPY 1 4 COPY 1 4 PACK INT LENGTHS MAKE_SEGDES\n"
      "COPY 1 4 LENGTHS\n"
      "COPY 1 0 COPY 1 6 DIST INT RAND\n"
      "COPY 1 9 CONST INT 1 CONST SEGDES 1000 DIST INT OR INT RAND");
}

TEST_CASE("allocation failures in appends, of which the operands are read later, too") {
  check(
      "COPY 1 2 CONST INT 0 CONST INT 1 CONST SEGDES 1000 INDEX\n"
      "CONST FLOAT 0.5 CONST SEGDES 1700 DIST FLOAT\n"
      "CONST SEGDES 1000 CONST SEGDES 1700 DPERMUTE FLOAT\n"
      "CONST INT 0 CONST INT 1 CONST SEGDES 1700 INDEX\n"
      "CONST FLOAT 0.25 CONST SEGDES 9000 DIST FLOAT\n"
      "CONST SEGDES 1700 CONST SEGDES 9000 DPERMUTE FLOAT\n"
      "COPY 1 0 CONST INT 0 CONST INT 1 CONST SEGDES 9000 INDEX\n"
      "CONST FLOAT 0.125 CONST SEGDES 20000 DIST FLOAT\n"
      "CONST SEGDES 9000 CONST SEGDES 20000 DPERMUTE FLOAT");
}

TEST_CASE("allocation failures in pairs, output, recursion and long constants") {
  std::string constant = "CONST INT (";
  for (int i = 0; i < 500; ++i) constant += " " + std::to_string(i);
  check(constant +
        ")\n"
        "COPY 1 1 PAIR COPY 1 0 UNPAIR POP 1 0 COPY 1 0 CONST INT STDOUT FWRITE INT POP 2 0\n"
        "CONST INT 20 CALL DEEP\n"
        "RET\n"
        "FUNC DEEP\n"
        "  COPY 1 0 CONST INT 0 > INT IF\n"
        "    CPOP 1 1 COPY 1 0 + INT CPOP 1 1 CONST INT 1 - INT CALL DEEP\n"
        "  ENDIF");
}
