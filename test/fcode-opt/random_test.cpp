// RAND in kernels: what draws where, in what order, and what it holds.
#include <algorithm>
#include <cmath>
#include <string>

#include <catch2/catch.hpp>

#include "cvl-cpu/cpu_backend.hpp"
#include "fcode-opt/support.hpp"
#include "vcode-smith/machine_runner.hpp"

namespace fcode::testing {
namespace {

using Kind = vcode::Binding::Kind;

struct Outcome {
  smith::MachineRun run;
  std::size_t peak = 0;
};

Outcome outcome(const vcode::Program& program, int threads = 1, cvl::Widths widths = {4, 8}) {
  cvl::cpu::CpuOptions options;
  options.widths = widths;
  options.threads = threads;
  cvl::cpu::CpuBackend backend(options);
  Outcome found{smith::run_on_machine(link(program), backend, false), 0};
  found.peak = backend.heap().statistics().peak_live_bytes;
  return found;
}

void check_same(const vcode::Program& before, const vcode::Program& after) {
  for (const cvl::Widths widths : {cvl::Widths{4, 8}, cvl::Widths{8, 8}}) {
    const Outcome expected = outcome(before, 1, widths);
    REQUIRE_FALSE(expected.run.failure);
    for (const int threads : {1, 3}) {
      const Outcome found = outcome(after, threads, widths);
      CAPTURE(threads, widths.int_bytes, vcode::print(after));
      CHECK(smith::difference_in_output(expected.run.output, expected.run.error, found.run) == "");
    }
  }
}

enum class Lengths { Known, FromOutside };

// The optimized program, which has written what the program writes, for both widths and several
// threads.
vcode::Program checked(const std::string& body, Lengths lengths = Lengths::Known) {
  CAPTURE(body);
  const vcode::Program before = parse("FUNC MAIN " + body + " RET");
  const FromOutside outside = from_outside(before);
  const vcode::Program after = optimize(before, {}), without_lengths = optimized(outside);
  check_same(before, after);
  check_same(outside.program, without_lengths);
  return lengths == Lengths::Known ? after : without_lengths;
}

std::string dist(int value, int length) {
  return "CONST INT " + std::to_string(value) + " CONST SEGDES " + std::to_string(length) +
         " DIST INT ";
}
std::string rand(int bound, int length) {
  return dist(bound, length) + "RAND ";
}
std::string sum(int length) {
  return "CONST SEGDES " + std::to_string(length) + " +_REDUCE INT ";
}

std::size_t draws(const vcode::Kernel& kernel) {
  return static_cast<std::size_t>(
      std::count_if(kernel.bindings.begin(), kernel.bindings.end(),
                    [](const vcode::Binding& binding) { return binding.kind == Kind::Random; }));
}

TEST_CASE("random numbers are drawn by the kernel that reads them") {
  const std::string bodies[] = {
      rand(100, 50000) + "COPY 1 0 * INT " + sum(50000),
      // Several draws in one pass.
      rand(100, 50000) + rand(7, 50000) + "* INT " + sum(50000),
      rand(100, 50000) +
          "CONST INT 0 CONST INT 1 CONST SEGDES 50000 INDEX + INT "
          "CONST SEGDES 50000 +_SCAN INT CONST SEGDES 50000 MAX_REDUCE INT",
      // A selection evaluates numbers twice and draws them once.
      rand(100, 50000) + "COPY 1 0 " + dist(50, 50000) +
          "< INT CONST SEGDES 50000 PACK INT POP 1 0 COPY 1 0 LENGTH INT",
  };
  for (const Lengths lengths : {Lengths::Known, Lengths::FromOutside}) {
    for (const std::string& body : bodies) {
      const vcode::Program program = checked(body + " " + rand(1000, 3), lengths);
      CAPTURE(vcode::print(program));
      const auto& code = program.functions[0].code;
      CHECK(std::none_of(code.begin(), code.end(),
                         [](const vcode::Instruction& i) { return i.op == Op::Rand; }));
      for (const vcode::Kernel& kernel : program.kernels) CHECK(kernel.has_spec);
      // Written once more, it stays as it is.
      CHECK(vcode::print(optimize(parse(vcode::print(program)), {})) == vcode::print(program));
    }
  }
}

TEST_CASE("a million points of a square take no memory") {
  const int n = 1'000'000;
  const std::string square = "COPY 1 0 * INT ";
  const vcode::Program program = checked(rand(1000, n) + square + rand(1000, n) + square +
                                         "+ INT " + dist(1'000'000, n) + "< INT B_TO_I " + sum(n));
  REQUIRE(program.kernels.size() == 1);
  CHECK(program.kernels[0].inputs.empty());
  CHECK(draws(program.kernels[0]) == 2);
  const Outcome found = outcome(program, 2);
  CHECK(found.peak < 64 * 1024);
  CHECK(std::abs(4e-6 * std::stod(found.run.output.substr(2)) - 3.14159265) < 0.01);
}

TEST_CASE("the stream goes on where the program says") {
  // Restarted in between: two kernels with the same numbers.
  const vcode::Program restarted =
      checked("CONST INT 5 SRAND INT POP 1 0 " + rand(100, 3000) + sum(3000) +
              "CONST INT 5 SRAND INT POP 1 0 " + rand(100, 3000) + sum(3000) + "COPY 2 0 = INT");
  CHECK(outcome(restarted).run.output.find("( T )") != std::string::npos);
  // Numbers that nobody reads are drawn all the same, at no cost.
  const vcode::Program dead = checked(rand(100, 3000) + "POP 1 0 " + rand(1000, 2));
  bool unread = false;
  for (const vcode::Kernel& kernel : dead.kernels) {
    unread |= kernel.outputs.empty() && draws(kernel) == 1;
  }
  CHECK((unread || draws(dead.kernels[0]) == 2));
  // A single number between vectors, and a vector that is read by two kernels.
  checked(rand(100, 3000) + "CONST INT 9 RAND CONST SEGDES 3000 DIST INT + INT " + rand(100, 3000) +
          "- INT START_TIMER " + sum(3000));
  checked(rand(100, 3000) + "COPY 1 0 " + sum(3000) + "CONST SEGDES 3000 DIST INT COPY 1 1 - INT " +
          sum(3000));
  // In one arm of a conditional only.
  checked("CONST INT 3 RAND CONST INT 7 < INT IF " + rand(100, 3000) + sum(3000) + "ELSE " +
          rand(10, 2000) + sum(2000) + "ENDIF " + rand(1000, 2));
  // Inside segments the numbers count from the first of all.
  checked("CONST SEGDES (1000 0 2000 5) COPY 1 0 " + rand(100, 3005) + "CPOP 1 1 +_REDUCE INT");
}

TEST_CASE("a bound below 1 fails as without optimization") {
  const std::string bodies[] = {
      "CONST INT 5 CONST INT -1 CONST SEGDES 9 INDEX\nRAND CONST SEGDES 9 +_REDUCE INT",
      // Nobody reads the numbers.
      "CONST INT 5 CONST INT -1 CONST SEGDES 9 INDEX\nRAND POP 1 0",
      // Behind and before other draws.
      rand(9, 9) + "CONST INT 5 CONST INT -1 CONST SEGDES 9 INDEX\nRAND + INT " + sum(9),
      "CONST INT 5 CONST INT -1 CONST SEGDES 9 INDEX\nRAND " + rand(9, 9) + "+ INT " + sum(9),
      // Of two that fail the first one is reported.
      "CONST INT 0 CONST SEGDES 30 DIST INT COPY 1 0\nRAND CPOP 1 1 RAND + INT " + sum(30),
  };
  for (const std::string& body : bodies) {
    const vcode::Program before = parse("FUNC MAIN " + body + " RET");
    const vcode::Program after = optimize(before, {});
    CAPTURE(body, vcode::print(after));
    const Outcome expected = outcome(before), found = outcome(after, 3);
    REQUIRE(expected.run.failure == vcode::ErrorCode::RandRange);
    CHECK(found.run.failure == expected.run.failure);
    CHECK(found.run.message == expected.run.message);
    const auto& code = after.functions[0].code;
    const auto runs = std::find_if(code.begin(), code.end(), [](const vcode::Instruction& i) {
      return i.op == Op::Run || i.op == Op::Rand;
    });
    REQUIRE(runs != code.end());
    CHECK(runs->span.line == 2);
    CHECK(runs->span.column == 1);
  }
}

TEST_CASE("kernels that draw survive as text of the form, and in the reports") {
  OptimizerOptions options;
  options.check = true;
  options.dump = "fuse";
  options.memory = true;
  OptimizerReport report;
  optimize(parse("FUNC MAIN " + rand(100, 3000) + sum(3000) + "CONST INT 9 RAND RET"), options,
           &report);
  std::string error;
  const auto read = parse_module(report.dump, error);
  REQUIRE(read);
  CHECK(print(*read) == report.dump);
  CHECK(report.dump.find("RAND 3000 ( i => 100 )") != std::string::npos);
  REQUIRE(report.fusion.regions.size() == 1);
  REQUIRE(report.fusion.regions[0].unfused.size() == 1);
  CHECK(report.fusion.regions[0].unfused[0].text == "RAND: draws one number only");
  for (const auto& region : report.memory.regions) CHECK(region.held.empty());
}

}  // namespace
}  // namespace fcode::testing
