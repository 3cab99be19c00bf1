// What the machine itself costs: nanoseconds per instruction when vectors have one element, and per
// call of a deep recursion.
// Usage: bench_machine [Google Benchmark options]

#include "machine/machine.hpp"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "cvl-cpu/cpu_backend.hpp"
#include "machine/constants.hpp"
#include "machine/io_ops.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"

namespace {

/// A function whose body repeats `body`, called `calls` times by the entry function.
std::string repeated(const std::string& prologue, const std::string& body, int times, int calls) {
  std::string text = "FUNC MAIN " + prologue + "\n";
  for (int i = 0; i < calls; ++i) text += "CALL BODY\n";
  text += "RET\nFUNC BODY\n";
  for (int i = 0; i < times; ++i) text += body + "\n";
  return text + "RET\n";
}

void run_program(benchmark::State& state, const std::string& text, std::int64_t instructions) {
  vcode::Diagnostics diagnostics;
  auto parsed = vcode::parse(std::make_shared<vcode::Source>("benchmark", text), diagnostics);
  auto linked = parsed ? vcode::link(std::move(*parsed), diagnostics) : std::nullopt;
  if (!linked) {
    state.SkipWithError("the benchmark program is wrong");
    return;
  }
  cvl::cpu::CpuBackend backend{cvl::cpu::CpuOptions{}};
  vinterp::IoOperations io(backend, {});
  const auto constants = vinterp::load_constants(*linked, backend, diagnostics);
  for (auto _ : state) {
    vinterp::Machine machine(*linked, constants, backend, io, {});
    if (machine.run().outcome != vinterp::Outcome::Returned) state.SkipWithError("the run failed");
  }
  state.counters["per_instruction"] =
      benchmark::Counter(static_cast<double>(state.iterations() * instructions),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

constexpr int kTimes = 1000;
constexpr int kCalls = 100;

void bench_body(benchmark::State& state, const std::string& prologue, const std::string& body,
                int instructions_in_body) {
  run_program(state, repeated(prologue, body, kTimes, kCalls),
              std::int64_t{kTimes} * kCalls * instructions_in_body);
}

void recursion(benchmark::State& state) {
  const std::string text = "FUNC MAIN CONST INT " + std::to_string(state.range(0)) +
                           " CALL DOWN RET\n"
                           "FUNC DOWN COPY 1 0 CONST INT 0 > INT IF\n"
                           "CONST INT 1 - INT CALL DOWN ENDIF RET\n";
  run_program(state, text, state.range(0));
}

}  // namespace

BENCHMARK_CAPTURE(bench_body, add_int, "CONST INT 1", "COPY 1 0 + INT", 2);
BENCHMARK_CAPTURE(bench_body, multiply_float, "CONST FLOAT 1.0", "CONST FLOAT 1.0 * FLOAT", 2);
BENCHMARK_CAPTURE(bench_body, compare_and_branch, "",
                  "CONST INT 1 CONST INT 2 < INT IF CONST INT 3 POP 1 0 ENDIF", 7);
BENCHMARK_CAPTURE(bench_body, stack_moves, "CONST INT 1 CONST INT 2 CONST INT 3", "CPOP 1 2", 1);
BENCHMARK_CAPTURE(bench_body, reduce_one, "CONST INT 1", "CONST SEGDES 1 +_REDUCE INT", 2);
BENCHMARK_CAPTURE(bench_body, descriptor, "CONST INT 1", "MAKE_SEGDES LENGTHS", 2);
BENCHMARK_CAPTURE(bench_body, distribute_extract, "CONST INT 1",
                  "CONST SEGDES 1 DIST INT CONST INT 0 CONST SEGDES 1 EXTRACT INT", 5);
BENCHMARK_CAPTURE(bench_body, add_64_ints,
                  "CONST INT 1 CONST SEGDES 64 DIST INT CONST INT 1 CONST INT 1 CONST SEGDES 64 "
                  "INDEX + INT",
                  "COPY 1 0 + INT", 2);
BENCHMARK(recursion)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
