// How much memory optimized programs hold, against the same programs as they were compiled.
#include <string>

#include <catch2/catch.hpp>

#include "cvl-cpu/cpu_backend.hpp"
#include "fcode-opt/support.hpp"
#include "vcode-smith/machine_runner.hpp"

namespace fcode::testing {
namespace {

struct Measured {
  std::size_t peak = 0;
  std::string output;
};

Measured measured(const vcode::Program& program, const cvl::Widths& widths) {
  cvl::cpu::CpuOptions options;
  options.widths = widths;
  options.threads = 1;
  cvl::cpu::CpuBackend backend(options);
  const smith::MachineRun run = smith::run_on_machine(link(program), backend, false);
  return {backend.heap().statistics().peak_live_bytes, run.output + run.error};
}

void check_peak(const vcode::Program& program, std::size_t slack) {
  const vcode::Program optimized = optimize(program, {});
  for (const cvl::Widths& widths : {cvl::Widths{4, 8}, cvl::Widths{8, 8}}) {
    CAPTURE(widths.int_bytes);
    const Measured before = measured(program, widths), after = measured(optimized, widths);
    CHECK(after.output == before.output);
    CHECK(after.peak <= before.peak + slack);
  }
}

TEST_CASE("the examples and test programs hold no more memory than before") {
  // Their vectors are short: a few numbers more are no matter.
  constexpr std::size_t kSomeNumbers = 512;
  std::vector<std::filesystem::path> paths = programs();
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(PROJECT_ROOT) /
                                                               "nesl-examples/vcode")) {
    if (entry.path().extension() == ".vcode") paths.push_back(entry.path());
  }
  for (const auto& path : paths) {
    CAPTURE(path.string());
    check_peak(parse(read_file(path)), kSomeNumbers);
  }
}

const std::string kRandom = "CONST INT 1000 CONST SEGDES 20000 DIST INT RAND ";
// Vectors that no kernel makes out of nothing.
const std::string kVector = kRandom + "START_TIMER ";
const std::string kVectors = kRandom + kRandom + "START_TIMER ";

TEST_CASE("long vectors: not a byte more") {
  const std::string sum = "CONST SEGDES 20000 +_REDUCE FLOAT ";
  const std::string programs[] = {
      // Conversions of vectors that have nothing in common.
      kVectors + "I_TO_F CPOP 1 1 I_TO_F START_TIMER * FLOAT " + sum + "STOP_TIMER POP 1 0",
      // A chain in which the elements become narrower.
      kVector + "COPY 1 0 * INT COPY 1 0 CONST INT 7 CONST SEGDES 20000 DIST INT > INT",
      kVector + "I_TO_F COPY 1 0 * FLOAT COPY 1 0 SQRT " + sum + "CPOP 1 1 " + sum,
      // Selections from one vector.
      kVector +
          "COPY 1 0 CONST INT 500 CONST SEGDES 20000 DIST INT < INT COPY 2 0 "
          "CONST SEGDES 20000 PACK INT CPOP 3 2 NOT BOOL CONST SEGDES 20000 PACK INT",
      // The same of random numbers that are part of the kernels.
      kRandom + kRandom + "I_TO_F CPOP 1 1 I_TO_F START_TIMER * FLOAT " + sum +
          "STOP_TIMER POP 1 0",
      kRandom + "COPY 1 0 * INT COPY 1 0 CONST INT 7 CONST SEGDES 20000 DIST INT > INT",
      kRandom + "COPY 1 0 " + kRandom + "< INT CONST SEGDES 20000 PACK INT",
      // Bounds of which nothing is known.
      kVector + "CONST INT 1 CONST SEGDES 20000 DIST INT + INT RAND COPY 1 0 I_TO_F",
  };
  for (const std::string& body : programs) {
    CAPTURE(body);
    check_peak(parse("FUNC MAIN " + body + " RET"), 0);
  }
}

TEST_CASE("what is fetched for two kernels is not held at once") {
  // One run, whose length the optimizer does not know.
  check_peak(parse(run_length_coding(
                 "CONST INT 1 CONST INT 1 RAND CONST INT 20000 + INT MAKE_SEGDES DIST INT RAND "
                 "START_TIMER CONST INT 3 COPY 1 1 LENGTH INT MAKE_SEGDES DIST INT / INT")),
             0);
}

TEST_CASE("conversions of vectors that have nothing in common stay apart") {
  const vcode::Program program =
      optimize(parse("FUNC MAIN " + kVectors + "I_TO_F CPOP 1 1 I_TO_F START_TIMER RET"), {});
  CHECK(program.kernels.empty());
}

TEST_CASE("a result takes over an operand of another type with elements of the same size") {
  const std::string kernel =
      "FCODE 2 KERNEL k IN a : VEC INT n OUT y : VEC FLOAT n DO "
      "y = MAP n ( i => (* FLOAT (I_TO_F a[i]) 2.0) ) END ";
  const vcode::Program program =
      parse(kernel + "FUNC MAIN " + kRandom + "RUN k CONST SEGDES 20000 +_REDUCE FLOAT RET");
  const Measured same = measured(program, {8, 8}), other = measured(program, {4, 8});
  CHECK(same.peak < 2 * 20000 * 8);
  CHECK(other.peak > 20000 * (4 + 8));
  CHECK(same.output == other.output);
}

TEST_CASE("equal results of a kernel share their storage") {
  const std::string kernel =
      "FCODE 2 KERNEL k IN a : VEC INT n OUT y : VEC INT n, z : VEC INT n, s : SEG n m DO "
      "y = MAP n ( i => (+ INT a[i] 1) ) z = MAP n ( i => (+ INT a[i] 1) ) "
      "s = SEGMENTS n ( i => (+ INT a[i] 1) ) END ";
  const Measured run =
      measured(parse(kernel + "FUNC MAIN " + kRandom + "COPY 1 0 RUN k LENGTHS RET"), {4, 8});
  // The operand, which is kept, and one vector.
  CHECK(run.peak < 3 * 20000 * 4);
}

}  // namespace
}  // namespace fcode::testing
