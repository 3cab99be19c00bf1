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

Measured measured(const vcode::Program& program, const cvl::Widths& widths,
                  vinterp::KernelUse kernels = vinterp::KernelUse::Always) {
  cvl::cpu::CpuOptions options;
  options.widths = widths;
  options.threads = 1;
  cvl::cpu::CpuBackend backend(options);
  const smith::MachineRun run = smith::run_on_machine(link(program), backend, false, kernels);
  return {backend.heap().statistics().peak_live_bytes, run.output + run.error};
}

void check_peak(const vcode::Program& program, const vcode::Program& optimized, std::size_t slack) {
  for (const cvl::Widths& widths : {cvl::Widths{4, 8}, cvl::Widths{8, 8}}) {
    CAPTURE(widths.int_bytes);
    const Measured before = measured(program, widths);
    for (const auto kernels : {vinterp::KernelUse::Always, vinterp::KernelUse::Never}) {
      CAPTURE(kernels == vinterp::KernelUse::Always);
      const Measured after = measured(optimized, widths, kernels);
      CHECK(after.output == before.output);
      CHECK(after.peak <= before.peak + slack);
    }
  }
}

/// With the lengths that the program knows, and maybe with the same ones from outside.
void check_peak(const vcode::Program& program, std::size_t slack, bool also_from_outside = true) {
  check_peak(program, optimize(program, {}), slack);
  if (!also_from_outside) return;
  UNSCOPED_INFO("with lengths from outside");
  const FromOutside outside = from_outside(program);
  check_peak(outside.program, optimized(outside), slack);
}

TEST_CASE("the examples and test programs hold no more memory than before") {
  // Their vectors are short: a few numbers more are no matter.
  constexpr std::size_t kSomeNumbers = 512;
  for (const auto& path : programs_and_examples()) {
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
  const std::string squares =
      kVector + "I_TO_F COPY 1 0 * FLOAT COPY 1 0 SQRT " + sum + "CPOP 1 1 " + sum;
  const std::string programs[] = {
      // Conversions of vectors that have nothing in common.
      kVectors + "I_TO_F CPOP 1 1 I_TO_F START_TIMER * FLOAT " + sum + "STOP_TIMER POP 1 0",
      // A chain in which the elements become narrower.
      kVector + "COPY 1 0 * INT COPY 1 0 CONST INT 7 CONST SEGDES 20000 DIST INT > INT",
      squares,
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
    // The SPEC of its kernel holds the roots and the squares if their length is from outside.
    check_peak(parse("FUNC MAIN " + body + " RET"), 0, body != squares);
  }
}

// Of each of 1000 points, of so many coordinates, how many others are as near as the nearest: the
// sum of squares over all pairs, compared with its least one.
std::string nearest(int coordinates) {
  const auto copy = [](int depth) { return "COPY 1 " + std::to_string(depth) + " "; };
  const std::string whole = "CONST SEGDES 1000 ";
  std::string text = "FUNC MAIN ";
  for (int k = 0; k < coordinates; ++k) text += "CONST INT 1000 " + whole + "DIST INT RAND ";
  text += "START_TIMER CONST INT 1000 " + whole + "DIST INT MAKE_SEGDES CONST INT 0 " + whole +
          "DIST INT CONST INT 1 " + whole + "DIST INT COPY 1 2 INDEX ";
  for (int k = 0; k < coordinates; ++k) {
    const int sum = k > 0 ? 1 : 0, below = sum + 1 + coordinates - k;
    text += copy(below) + copy(sum + 1) + whole + "COPY 1 1 LENGTH INT MAKE_SEGDES BPERMUTE INT " +
            copy(below + 1) + copy(sum + 3) + "DIST INT - INT COPY 1 0 * INT ";
    if (k > 0) text += "+ INT ";
  }
  return text +
         "COPY 1 0 COPY 1 3 MIN_REDUCE INT COPY 1 3 DIST INT = INT B_TO_I COPY 1 2 +_REDUCE INT "
         "POP " +
         std::to_string(coordinates + 2) + " 1 RET";
}

TEST_CASE("what is compared with its own reduction is computed again, not held") {
  const std::string texts[] = {
      // For each of 1000 numbers how often x - i is least, for i below 1000.
      "FUNC MAIN CONST INT 1000 CONST SEGDES 1000 DIST INT RAND START_TIMER "
      "CONST INT 1000 CONST SEGDES 1000 DIST INT MAKE_SEGDES COPY 1 1 COPY 1 1 DIST INT "
      "CONST INT 0 CONST SEGDES 1000 DIST INT CONST INT 1 CONST SEGDES 1000 DIST INT COPY 1 3 "
      "INDEX - INT COPY 1 0 COPY 1 2 MIN_REDUCE INT COPY 1 2 DIST INT = INT B_TO_I CPOP 1 1 "
      "+_REDUCE INT RET",
      nearest(1), nearest(2), nearest(3), nearest(5)};
  const std::size_t few = 80'000;  // bytes: a few vectors of 1000 elements
  for (const std::string& text : texts) {
    CAPTURE(text);
    const vcode::Program program = parse(text);
    const FromOutside outside = from_outside(program);
    for (const cvl::Widths& widths : {cvl::Widths{4, 8}, cvl::Widths{8, 8}}) {
      const Measured before = measured(program, widths);
      CHECK(before.peak > 4'000'000);
      for (const vcode::Program& after : {optimize(program, {}), optimized(outside)}) {
        const Measured found = measured(after, widths);
        CHECK(found.output == before.output);
        CHECK(found.peak < few);
      }
    }
  }
}

TEST_CASE("places that are computed from positions are computed by each kernel that fetches") {
  // Columns of a matrix of 1000 rows are added up, and their squares, less the sum of all.
  const std::string fetch = "CONST SEGDES 16000 CONST SEGDES 16000 BPERMUTE FLOAT ";
  const std::string text =
      "FUNC MAIN CONST INT 1000 CONST SEGDES 16000 DIST INT RAND I_TO_F START_TIMER "
      "CONST INT 1000 CONST SEGDES 16 DIST INT MAKE_SEGDES CONST INT 0 CONST SEGDES 16 DIST INT "
      "CONST INT 1 CONST SEGDES 16 DIST INT COPY 1 2 INDEX CONST INT 16 CONST SEGDES 16000 "
      "DIST INT * INT "
      "CONST INT 0 CONST INT 1 CONST SEGDES 16 INDEX COPY 1 2 DIST INT + INT COPY 1 2 COPY 1 1 " +
      fetch +
      "COPY 1 2 +_REDUCE FLOAT CONST SEGDES 16 +_REDUCE FLOAT CONST SEGDES 16000 DIST FLOAT "
      "COPY 1 3 CPOP 1 1 - FLOAT CPOP 1 1 " +
      fetch + "COPY 1 0 * FLOAT CPOP 1 1 +_REDUCE FLOAT CPOP 1 1 POP 1 0 RET";
  const vcode::Program program = parse(text);
  const cvl::Widths widths{8, 8};
  const Measured before = measured(program, widths),
                 after = measured(optimize(program, {}), widths);
  CHECK(after.output == before.output);
  CHECK(after.peak < 300'000);  // the matrix, and what is left of it
}

TEST_CASE("what is fetched for two kernels is not held at once") {
  // One run, whose length the optimizer does not know.
  check_peak(parse(run_length_coding(
                 "CONST INT 1 CONST INT 1 RAND CONST INT 20000 + INT MAKE_SEGDES DIST INT RAND "
                 "START_TIMER CONST INT 3 COPY 1 1 LENGTH INT MAKE_SEGDES DIST INT / INT")),
             0);
}

TEST_CASE("the examples with long vectors: not a byte more") {
  std::string literal;
  for (int i = 0; i < 2000; ++i) literal += std::to_string(i * i % 7 / 3) + " ";
  const std::string programs[] = {
      // A constant that is read at several places.
      run_length_coding("CONST INT (" + literal + ")"),
      // Runs of one or two elements.
      run_length_coding("CONST INT 5 CONST SEGDES 20000 DIST INT RAND START_TIMER"),
      // 5000 segments, most of whose elements are soon segments of their own.
      example_of("quicksort",
                 {{kVector, "CONST INT (31 -4 15 9 26 5 35 -8 9  2 7 1 8  28 18 28 45 90 45 23 5)"},
                  {"CONST INT 4 CONST SEGDES 5000 DIST INT START_TIMER", "CONST INT (9 0 4 1 7)"}}),
      // Results of which each is needed at once with its operands.
      example_of("fft", {{"CONST INT 1000 CONST SEGDES 16384 DIST INT RAND I_TO_F START_TIMER",
                          "CONST FLOAT (1.0 2.0 4.0 8.0 0.0 -1.0 3.0 -5.0)"},
                         {"CONST INT 1000 CONST SEGDES 16384 DIST INT RAND I_TO_F START_TIMER",
                          "CONST FLOAT (0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0)"}}),
  };
  for (const std::string& text : programs) {
    CAPTURE(text);
    // Of a text from outside run-length coding holds up to a tenth more.
    check_peak(parse(text), 0, text != programs[0] && text != programs[1]);
  }
}

TEST_CASE("what is made for all pairs and summed is never stored") {
  // Of a vector of n elements, n drawn. First { sum({float(i) * y : i in [0:n]}) : y in b }, then
  // { sum({(x - y) * 1.0 : x in b}) : y in b }.
  const std::string kLength =
      "FUNC MAIN CONST INT 1 RAND CONST INT 400 + INT COPY 1 0 MAKE_SEGDES ";
  const std::string kSquares = "CONST INT 0 CONST INT 1 COPY 1 2 INDEX I_TO_F COPY 1 0 * FLOAT ";
  const std::string programs[] = {
      kLength + kSquares +
          "COPY 1 2 COPY 1 2 DIST INT MAKE_SEGDES CPOP 1 1 COPY 1 1 DIST FLOAT "
          "CONST INT 0 COPY 1 3 DIST INT CONST INT 1 COPY 1 4 DIST INT COPY 1 3 INDEX "
          "I_TO_F * FLOAT CPOP 1 1 +_REDUCE FLOAT CPOP 1 1 +_REDUCE FLOAT CPOP 1 1 POP 1 0 RET",
      kLength + kSquares +
          "CPOP 1 2 COPY 1 2 DIST INT MAKE_SEGDES CONST INT 0 COPY 1 3 DIST INT CONST INT 1 "
          "COPY 1 4 DIST INT COPY 1 2 INDEX COPY 1 0 LENGTH INT MAKE_SEGDES COPY 1 3 COPY 1 2 "
          "COPY 1 6 COPY 1 3 BPERMUTE FLOAT CPOP 1 4 COPY 1 4 DIST FLOAT - FLOAT CONST FLOAT 1.0 "
          "COPY 1 5 DIST FLOAT CPOP 1 3 COPY 1 5 CPOP 1 4 BPERMUTE FLOAT * FLOAT CPOP 1 1 "
          "+_REDUCE FLOAT CPOP 1 1 +_REDUCE FLOAT RET",
  };
  for (const std::string& text : programs) {
    CAPTURE(text);
    const vcode::Program program = parse(text);
    const vcode::Program optimized = optimize(program, {});
    for (const cvl::Widths& widths : {cvl::Widths{4, 8}, cvl::Widths{8, 8}}) {
      const Measured before = measured(program, widths);
      const Measured after = measured(optimized, widths);
      CHECK(after.output == before.output);
      CHECK(before.peak > 400 * 400 * 8);
      CHECK(after.peak < 400 * 8 * 5);
    }
  }
}

TEST_CASE("conversions of vectors that have nothing in common stay apart") {
  const vcode::Program program =
      optimize(parse("FUNC MAIN " + kVectors + "I_TO_F CPOP 1 1 I_TO_F START_TIMER RET"), {});
  CHECK(program.kernels.empty());
}

TEST_CASE("a result takes over an operand of another type with elements of the same size") {
  const std::string kernel =
      "FCODE 3 KERNEL k IN a : VEC INT n OUT y : VEC FLOAT n DO "
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
      "FCODE 3 KERNEL k IN a : VEC INT n OUT y : VEC INT n, z : VEC INT n, s : SEG n m DO "
      "y = MAP n ( i => (+ INT a[i] 1) ) z = MAP n ( i => (+ INT a[i] 1) ) "
      "s = SEGMENTS n ( i => (+ INT a[i] 1) ) END ";
  const Measured run =
      measured(parse(kernel + "FUNC MAIN " + kRandom + "COPY 1 0 RUN k LENGTHS RET"), {4, 8});
  // The operand, which is kept, and one vector.
  CHECK(run.peak < 3 * 20000 * 4);
}

}  // namespace
}  // namespace fcode::testing
