// What becomes of programs: kernels, passes over memory, operations that are left.
#include <algorithm>
#include <array>
#include <string>

#include <catch2/catch.hpp>

#include "cvl/kernel_plan.hpp"
#include "fcode-opt/checks.hpp"
#include "fcode-opt/expected_table.hpp"
#include "fcode-opt/fusion/canonical.hpp"
#include "fcode-opt/support.hpp"
#include "occurrences.hpp"

namespace fcode::testing {
namespace {

// A lost fusion changes these numbers. Operations before; operations that stay, kernels, passes of
// the kernels and conditionals (places where the host waits) after. To write them anew:
// NESL_UPDATE=1 fcode_opt_tests "[table]"
TEST_CASE("the examples are fused as far as they were", "[table]") {
  std::vector<TableRow> rows;
  for (const std::string& name : example_names()) {
    CAPTURE(name);
    OptimizerReport report;
    const vcode::Program program = optimize(parse(example_of(name, {})), {}, &report);
    std::size_t launches = 0;
    for (const vcode::Kernel& kernel : program.kernels) {
      const auto plan = cvl::plan_kernel(kernel);
      REQUIRE(plan);
      launches += plan->launches();
      CHECK(kernel.has_spec);
    }
    TableRow& row = rows.emplace_back();
    row.name = name;
    for (const std::size_t number :
         {report.before.vector_operations, report.after.vector_operations, report.after.kernels,
          launches, report.after.conditionals}) {
      row.numbers.push_back(static_cast<std::int64_t>(number));
    }
  }
  check_table("fusion.txt", {"example", "operations", "left", "kernels", "passes", "conditionals"},
              rows);
}

TEST_CASE("kernels run in as many passes as their prices were worked out with") {
  std::size_t checked = 0;
  for (const auto& path : programs_and_examples()) {
    CAPTURE(path.string());
    OptimizerReport report;
    const vcode::Program program = optimize(parse(read_file(path)), {}, &report);
    for (const FusionReport::Region& region : report.fusion.regions) {
      for (const FusionReport::Item& item : region.kernels) {
        CAPTURE(item.kernel);
        const auto kernel =
            std::find_if(program.kernels.begin(), program.kernels.end(),
                         [&](const vcode::Kernel& other) { return other.name == item.kernel; });
        if (kernel == program.kernels.end()) continue;  // dropped later
        const auto plan = cvl::plan_kernel(*kernel);
        REQUIRE(plan);
        CHECK(plan->launches() == item.passes);
        ++checked;
      }
    }
  }
  CHECK(checked > 60);
}

vcode::Program optimized(const std::string& text) {
  return optimize(parse(text), {});
}

/// Optimized as it is written, and with a vector that is read instead of the literal: of that,
/// nobody knows the length before the run.
std::array<vcode::Program, 2> optimized_both_ways(const std::string& text,
                                                  const std::string& literal) {
  std::string read = text;
  for (std::size_t at = 0; (at = read.find(literal, at)) != std::string::npos;) {
    read.replace(at, literal.size(), "READ INT POP 2 0");
  }
  REQUIRE(read != text);
  return {optimized(text), optimized(read)};
}

TEST_CASE("a map and a reduction over it are one pass") {
  for (const vcode::Program& program : optimized_both_ways(
           "FUNC MAIN CONST INT ( 1 2 3 ) RAND START_TIMER COPY 1 0 COPY 1 0 * INT CPOP 1 1 + INT "
           "COPY 1 0 LENGTH INT MAKE_SEGDES +_REDUCE INT RET",
           "CONST INT ( 1 2 3 )")) {
    REQUIRE(program.kernels.size() == 1);
    const vcode::Kernel& kernel = program.kernels[0];
    REQUIRE(kernel.bindings.size() == 1);
    CHECK(kernel.bindings[0].kind == vcode::Binding::Kind::Reduce);
  }
}

TEST_CASE("what recursion passes on unchanged is fused like other values") {
  // The sums of v, v + 1, ..., for a vector of which the run decides: only the first call knows of
  // which type it is.
  const vcode::Program program = parse(
      "FUNC MAIN CONST INT (1 2 3) CONST SEGDES 3 CONST INT 4 CALL sums RET "
      "FUNC sums COPY 1 0 CONST INT 0 = INT IF POP 2 0 POP 1 0 CONST INT 0 ELSE "
      "COPY 1 2 COPY 1 1 COPY 1 3 CALL sum COPY 3 1 CONST INT 1 - INT CALL sums CPOP 3 2 POP 3 0 "
      "+ INT ENDIF RET "
      "FUNC sum COPY 1 0 CPOP 1 2 CPOP 1 1 DIST INT CPOP 1 2 + INT CPOP 1 1 +_REDUCE INT RET");
  const ProgramSize size = measure(optimized(FromOutside{program, {0, 1}}));
  CHECK(size.vector_operations == 2);  // the condition and the sum of results
  CHECK(size.kernels == 1);
}

TEST_CASE("kernels multiply where a division is by a power of two") {
  const auto kernel = [](const std::string& divisor) {
    const vcode::Program program = optimized(
        "FUNC MAIN READ FLOAT POP 2 0 COPY 1 0 LENGTH FLOAT MAKE_SEGDES CONST FLOAT " + divisor +
        " COPY 1 1 DIST FLOAT CPOP 1 2 CPOP 1 1 / FLOAT CPOP 1 1 " + "+_REDUCE FLOAT RET");
    REQUIRE(program.kernels.size() == 1);
    return vcode::print(program);
  };
  CHECK(kernel("4.0").find("(* FLOAT x0[i] 0.25)") != std::string::npos);
  CHECK(kernel("-0.5").find("(* FLOAT x0[i] -2.0)") != std::string::npos);
  CHECK(kernel("3.0").find("(/ FLOAT x0[i] 3.0)") != std::string::npos);
  CHECK(kernel("0.0").find("(/ FLOAT x0[i] 0.0)") != std::string::npos);
}

TEST_CASE("equal kernels exist once") {
  const std::string square = "COPY 1 0 * INT COPY 1 0 * INT ";
  for (const vcode::Program& program :
       optimized_both_ways("FUNC MAIN CONST INT ( 1 2 3 ) RAND START_TIMER " + square +
                               "START_TIMER " + square + "STOP_TIMER RET",
                           "CONST INT ( 1 2 3 )")) {
    CHECK(program.kernels.size() == 1);
  }
}

// The check of a compiled division: n, the count c of zeros, n - c; nothing for n = 0.
std::string checked_division(const std::string& wrong_when) {
  return "FUNC MAIN CONST FLOAT 1.0 CONST INT ( 1 2 3 ) RAND I_TO_F COPY 1 0 LENGTH FLOAT "
         "MAKE_SEGDES "
         "CONST FLOAT 0.0 COPY 1 1 DIST FLOAT COPY 1 2 CPOP 1 1 = FLOAT B_TO_I COPY 1 1 "
         "+_REDUCE INT " +
         wrong_when +
         " IF CONST CHAR \"zero\" WRITE CHAR EXIT ELSE ENDIF CPOP 1 2 CPOP 1 1 DIST FLOAT CPOP 1 1 "
         "/ FLOAT RET";
}

TEST_CASE("a counting check becomes an assertion in the kernel of what it checks") {
  for (const vcode::Program& program :
       optimized_both_ways(checked_division("CONST INT 0 != INT"), "CONST INT ( 1 2 3 )")) {
    std::size_t checks = 0;
    for (const vcode::Kernel& kernel : program.kernels) {
      for (const vcode::Binding& binding : kernel.bindings) {
        CHECK(binding.kind != vcode::Binding::Kind::Reduce);
        if (binding.kind != vcode::Binding::Kind::Assert || binding.message != "zero") continue;
        ++checks;
        // Over the elements, not over a count of them.
        CHECK(kernel.sizes[binding.space.id].literal.value_or(3) == 3);
      }
    }
    CHECK(checks == 1);
  }
}

TEST_CASE("a check that allows one bad element still counts") {
  for (const vcode::Program& program :
       optimized_both_ways(checked_division("CONST INT 1 > INT"), "CONST INT ( 1 2 3 )")) {
    bool reduces = false;
    for (const vcode::Kernel& kernel : program.kernels) {
      for (const vcode::Binding& binding : kernel.bindings) {
        reduces |= binding.kind == vcode::Binding::Kind::Reduce;
      }
    }
    CHECK(reduces);
  }
}

TEST_CASE("lengths that nothing proves are checked by the operands of the kernel") {
  const vcode::Program program = optimized(
      "FUNC MAIN CONST INT (4 5 6 7) RAND START_TIMER CONST INT (2 1) RAND START_TIMER MAKE_SEGDES "
      "COPY 1 1 "
      "COPY 1 0 * INT COPY 1 1 +_REDUCE INT CPOP 1 1 LENGTHS + INT RET");
  REQUIRE(program.kernels.size() == 1);
  const vcode::Kernel& kernel = program.kernels[0];
  // The descriptor has as many elements as the vector; a run where it has not takes the SPEC.
  const std::string text = flat(program);
  CHECK(text.find("x0 : VEC INT 4, s0 : SEG 2 4") != std::string::npos);
  CHECK(kernel.has_spec);
}

TEST_CASE("a descriptor of one segment is taken where only its length has to be checked") {
  const vcode::Program program = optimized(
      "FUNC MAIN CONST INT (4 5 6 7) RAND CONST INT 5 RAND MAKE_SEGDES COPY 1 1 COPY 1 0 * INT "
      "CPOP 1 1 +_REDUCE INT RET");
  REQUIRE(program.kernels.size() == 1);
  CHECK(flat(program).find("s0 : SEG 1 4") != std::string::npos);
  CHECK(program.kernels[0].inputs.size() == 2);
}

TEST_CASE("a SPEC relies on no length that its kernel only assumes") {
  // The second vector has 4 elements: the kernel is for a first one as long. Where that is shorter,
  // the operation cuts, and the descriptor of what it makes has to fit.
  const vcode::Program program = optimized(
      "FUNC MAIN CONST INT 3 RAND MAKE_SEGDES CONST INT 9 CPOP 1 1 DIST INT RAND START_TIMER "
      "COPY 1 0 CONST INT (4 5 6 7) OR INT COPY 1 0 LENGTH INT MAKE_SEGDES COPY 1 2 COPY 1 0 "
      "+ INT CPOP 1 1 MAX_REDUCE INT RET");
  REQUIRE(program.kernels.size() == 1);
  const std::string text = flat(program);
  CHECK(text.find("x0 : VEC INT 4") != std::string::npos);
  CHECK(text.find("LENGTH INT MAKE_SEGDES MAX_REDUCE INT END") != std::string::npos);
}

TEST_CASE("generators are computed at fetched positions although they exist as values") {
  const vcode::Program program = optimized(
      "FUNC MAIN CONST INT 780 CONST SEGDES 3 DIST INT COPY 1 0 RAND CONST INT (13 20 16) COPY 1 2 "
      "COPY 1 1 = INT CONST INT 1 CONST SEGDES 3 EXTRACT BOOL RET");
  REQUIRE(program.kernels.size() == 1);
  CHECK(flat(program).find("ONCE (= INT 780 x0[1])") != std::string::npos);
}

TEST_CASE("nothing is fused across output or timers") {
  for (const vcode::Program& program : optimized_both_ways(
           "FUNC MAIN CONST INT ( 1 2 3 ) RAND START_TIMER COPY 1 0 + INT CONST CHAR \"x\" "
           "WRITE CHAR POP 2 0 COPY 1 0 * INT START_TIMER COPY 1 0 - INT STOP_TIMER RET",
           "CONST INT ( 1 2 3 )")) {
    CHECK(program.kernels.empty());
  }
}

TEST_CASE(
    "a literal or generator that is fetched from is read as a vector, which checks positions") {
  const std::string generated = flat(optimize(parse(R"(FUNC MAIN
    CONST INT 5 CONST SEGDES 3 DIST INT CONST INT 0 CONST INT 1 CONST SEGDES 10 INDEX
    CONST SEGDES 3 CONST SEGDES 10 BPERMUTE INT
    CONST INT 2 CONST SEGDES 10 DIST INT + INT RET)"),
                                              {}));
  CHECK(generated.find("(+ INT x0[i] 2)") != std::string::npos);
  const std::string literal = flat(optimize(parse(R"(FUNC MAIN
    CONST INT (3 1 4) COPY 1 0 + INT COPY 1 0 CONST SEGDES 3 +_REDUCE INT
    CONST INT -8 CONST INT -1 CONST SEGDES 1 EXTRACT INT RET)"),
                                            {}));
  const bool native = literal.find("EXTRACT", literal.find("FUNC")) != std::string::npos;
  CHECK((native || literal.find("[-1]") != std::string::npos));
}

TEST_CASE("columns of short sequences are maps, whichever operation places them") {
  const std::string both =
      "FUNC MAIN CONST INT (9 9 9) RAND COPY 1 0 CONST SEGDES (4 4 4) DIST INT ";
  const std::string column = "CONST INT 2 CONST SEGDES 3 DIST INT ";
  const std::string one_each = "CONST SEGDES (1 1 1) ";
  const vcode::Program replaced =
      optimized(both + column + "COPY 1 2 CONST SEGDES (4 4 4) REPLACE INT COPY 1 0 + INT RET");
  const vcode::Program scattered =
      optimized(both + "COPY 1 1 " + column + "CPOP 1 2 " + one_each +
                "CONST SEGDES (4 4 4) DPERMUTE INT COPY 1 0 + INT RET");
  for (const vcode::Program& program : {replaced, scattered}) {
    REQUIRE(program.kernels.size() == 1);
    CHECK(program.kernels[0].bindings.size() == 1);
    CHECK(program.kernels[0].bindings[0].kind == vcode::Binding::Kind::Map);
  }
}

TEST_CASE("joined vectors that are only fetched from are not made") {
  // Ten numbers and seven others, one behind the other.
  const std::string joined =
      "FUNC MAIN CONST INT (9 9 9 9 9 9 9 9 9 9) RAND CONST INT (9 9 9 9 9 9 9) RAND "
      "CONST INT 0 CONST SEGDES 17 DIST INT "
      "COPY 1 2 CONST INT 0 CONST INT 1 CONST SEGDES 10 INDEX CPOP 1 2 "
      "CONST SEGDES 10 CONST SEGDES 17 DPERMUTE INT "
      "COPY 1 1 CONST INT 10 CONST INT 1 CONST SEGDES 7 INDEX CPOP 1 2 "
      "CONST SEGDES 7 CONST SEGDES 17 DPERMUTE INT ";
  const std::string fetched =
      "CONST INT (16 0 9 10 3) COPY 1 1 CPOP 1 1 CONST SEGDES 17 CONST SEGDES 5 BPERMUTE INT ";
  const auto scatters = [](const vcode::Program& program) {
    const std::string text = flat(program);
    return text.substr(0, text.find("SPEC")).find("SCATTER") != std::string::npos ||
           text.find("DPERMUTE", text.find("FUNC")) != std::string::npos;
  };
  const vcode::Program only_fetched = optimized(joined + fetched + "CPOP 1 1 POP 1 0 RET");
  CHECK_FALSE(scatters(only_fetched));
  CHECK(flat(only_fetched).find("(IF (<") != std::string::npos);
  CHECK(scatters(optimized(joined + fetched + "RET")));
}

TEST_CASE("joins that are read element by element are not made, nor slices that they join") {
  const auto one_map = [](const std::string& main) {
    const vcode::Program program = optimized(main);
    const std::string text = flat(program);
    CAPTURE(text);
    REQUIRE(program.kernels.size() == 1);
    CHECK(text.substr(0, text.find("SPEC")).find("SCATTER") == std::string::npos);
    const std::string functions = text.substr(text.find("FUNC"));
    CHECK(functions.find("PERMUTE") == std::string::npos);
    return text;
  };
  const std::string drawn = "CONST INT (9 9 9 9 9 9 9 9 9 9) RAND ";
  const std::string zeros = "CONST INT 0 CONST SEGDES 10 DIST INT ";
  // Seven of ten numbers behind the other three of them.
  const auto slice = [](const std::string& from, const std::string& count) {
    return "COPY 1 0 CONST INT " + from + " CONST INT 1 CONST SEGDES " + count +
           " INDEX CONST SEGDES 10 CONST SEGDES " + count + " BPERMUTE INT ";
  };
  const std::string rotated =
      one_map("FUNC MAIN " + drawn + slice("7", "3") + "COPY 1 1 " + slice("0", "7") +
              "CPOP 1 1 POP 1 0 " +  // numbers, three, seven
              "COPY 1 1 CONST INT 0 CONST INT 1 CONST SEGDES 3 INDEX " + zeros +
              "CONST SEGDES 3 CONST SEGDES 10 DPERMUTE INT "
              "COPY 1 1 CONST INT 3 CONST INT 1 CONST SEGDES 7 INDEX CPOP 1 2 "
              "CONST SEGDES 7 CONST SEGDES 10 DPERMUTE INT "
              "CPOP 2 1 POP 2 0 + INT RET");
  CHECK(rotated.find("(IF (< INT i 3) x0[(+ INT 7 i)] x0[(- INT i 3)])") != std::string::npos);
  // A number in front of nine, which have been put there first.
  const std::string in_front = one_map(
      "FUNC MAIN " + drawn + slice("0", "9") + "CONST INT 1 CONST INT 1 CONST SEGDES 9 INDEX " +
      zeros +
      "CONST SEGDES 9 CONST SEGDES 10 DPERMUTE INT "
      "CONST INT 5 CONST INT 0 CPOP 1 2 CONST SEGDES 1 CONST SEGDES 10 DPERMUTE INT + INT RET");
  CHECK(in_front.find("(IF (< INT i 1) 5 x0[(- INT i 1)])") != std::string::npos);
}

TEST_CASE("a conditional of an apply-to-each is one map, if its branches only compute") {
  const vcode::Program program = optimize(
      parse(read_file(std::filesystem::path(PROJECT_ROOT) / "test/fcode-opt/conditionals.vcode")),
      {});
  std::size_t scatters = 0, selections = 0;
  for (const vcode::Kernel& kernel : program.kernels) {
    for (const vcode::Binding& binding : kernel.bindings) {
      scatters += binding.kind == vcode::Binding::Kind::Scatter;
      for (const vcode::ThunkNode& node : binding.elements.nodes) {
        selections += node.kind == vcode::ThunkNode::Kind::Apply && node.op == vcode::Op::Select;
      }
    }
  }
  const std::string text = flat(program);
  CHECK(selections == 3);  // one range has no numbers below 0; that from 5 on may wrap around
  CHECK(scatters == 0);
  // Of three divisions, which must not see the other elements.
  CHECK(::testing::occurrences(text.substr(text.find("FUNC")), "DPERMUTE") == 3);
}

TEST_CASE("a scatter writes into a vector that an earlier kernel has fetched from") {
  // Element i of v becomes v[i] + 1, for i = 5 ... 1. `result` is of i and v as they are then.
  const auto fetches = [](const std::string& result) {
    const vcode::Program program = optimized(
        "FUNC MAIN CONST INT 9 RAND CONST INT 9 + INT MAKE_SEGDES CONST INT 5 CPOP 1 1 DIST INT "
        "CONST INT 5 RAND CALL COUNTED RET "
        "FUNC COUNTED COPY 1 0 CONST INT 0 = INT IF POP 1 0 ELSE "
        "COPY 1 1 COPY 1 1 COPY 1 3 LENGTH INT MAKE_SEGDES EXTRACT INT CONST INT 1 + INT " +
        result + "CPOP 1 1 CONST INT 1 - INT CALL COUNTED ENDIF RET");
    bool found = false;
    for (const vcode::Kernel& kernel : program.kernels) {
      for (const vcode::Binding& binding : kernel.bindings) {
        if (binding.kind != vcode::Binding::Kind::Scatter) continue;
        for (const vcode::ThunkNode& node : binding.elements.nodes) {
          const bool of_vector = node.kind == vcode::ThunkNode::Kind::Subscript &&
                                 kernel.arrays[node.id].length != binding.space.id;
          found |= of_vector;
        }
      }
    }
    return found;
  };
  const std::string replaced = "CONST SEGDES 1 COPY 1 1 LENGTH INT MAKE_SEGDES DPERMUTE INT ";
  CHECK_FALSE(fetches("COPY 1 1 CPOP 1 3 " + replaced));
  // The vector is read once more.
  CHECK(fetches("COPY 1 1 COPY 1 3 " + replaced + "CPOP 1 2 CPOP 1 1 + INT "));
}

TEST_CASE("kernels contain the constants of other regions") {
  for (const vcode::Program& program : optimized_both_ways(
           "FUNC MAIN CONST INT 9 CONST INT (7 7 7) RAND START_TIMER CPOP 1 1 "
           "COPY 1 1 LENGTH INT MAKE_SEGDES DIST INT * INT COPY 1 0 LENGTH INT MAKE_SEGDES "
           "+_REDUCE INT RET",
           "CONST INT (7 7 7)")) {
    REQUIRE(program.kernels.size() == 1);
    CHECK(program.kernels[0].inputs.size() == 1);
  }
}

TEST_CASE("REPLACE writes into long segments, and where the run gives the position") {
  for (const std::string segments : {"CONST SEGDES (9 9 9) ", "CONST SEGDES (4 4 4) "}) {
    const std::string index = segments == "CONST SEGDES (9 9 9) "
                                  ? "CONST INT 2 CONST SEGDES 3 DIST INT "
                                  : "CONST INT (2 2 2) RAND ";
    const std::string text =
        flat(optimized("FUNC MAIN CONST INT (9 9 9) RAND COPY 1 0 " + segments + "DIST INT " +
                       index + "COPY 1 2 " + segments + "REPLACE INT COPY 1 0 + INT RET"));
    CHECK(text.find("REPLACE INT", text.find("FUNC")) != std::string::npos);
  }
}

TEST_CASE("a number that is replaced in the result of a scan is read from a vector") {
  const vcode::Program program = optimized(
      "FUNC MAIN CONST SEGDES 1 CONST BOOL () COPY 1 0 CONST INT () CONST BOOL () COPY 1 4 "
      "PACK INT COPY 1 1 COPY 1 2 COPY 1 3 COPY 1 7 AND_SCAN INT CONST INT (0) COPY 1 1 "
      "CPOP 1 1 COPY 1 4 CPOP 1 10 REPLACE INT RET");
  CHECK_NOTHROW(parse(vcode::print(program)));
}

TEST_CASE("a length that is that of an operand is named by the operand") {
  OptimizerOptions options;
  options.disabled = {"dead"};
  const vcode::Program program = optimize(parse(R"(FUNC f_2
    LENGTH BOOL MAKE_SEGDES CONST INT (5) COPY 1 1 DIST INT COPY 1 0 COPY 1 1 > INT
    CONST SEGDES () CONST SEGDES () CONST INT () COPY 1 4 COPY 1 4 COPY 1 4 CPOP 1 4
    FPERMUTE INT POP 6 0 RET
    FUNC f_1 CONST INT () CONST INT () SRAND INT CALL f_2 RET
    FUNC MAIN CALL f_1 CONST SEGDES (0 1 8) CONST SEGDES (2 1 7)
    CONST FLOAT (-0.75 4.0 -0.25 6.0 -8.5 0.75 -2.25 -3.25 -0.5)
    CONST INT (0 5 2 1 0 1 3 3 5) CONST BOOL (T F T T F F F T F)
    CONST FLOAT (-7.0 10.0 -3.0 0.0 -8.25 -5.25 -8.5 1.25 -5.5 7.75)
    COPY 1 3 COPY 1 3 CPOP 1 3 COPY 1 3 COPY 1 8 COPY 1 8 DFPERMUTE FLOAT RET)"),
                                          options);
  CHECK_NOTHROW(parse(vcode::print(program)));
}

TEST_CASE("no vector is held for its length, nor computed long before it is read") {
  const vcode::Program program = optimized(run_length_coding(
      "READ INT POP 2 0 CONST INT 3 COPY 1 1 LENGTH INT MAKE_SEGDES DIST INT / INT"));
  for (const vcode::Kernel& kernel : program.kernels) {
    CAPTURE(kernel.name);
    // Operands that only a SPEC reads have such names.
    for (const vcode::KernelArray& array : kernel.arrays) CHECK(array.name[0] != 'u');
  }
  const std::string main = flat(program).substr(flat(program).find("FUNC MAIN"));
  CHECK(main.starts_with("FUNC MAIN READ INT POP 2 0 COPY 1 0 LENGTH INT "));
  // Both neighbours of an element are fetched; what the first one is for is done before the second.
  const std::size_t first = main.find("BFPERMUTE"), second = main.rfind("BFPERMUTE");
  CHECK(main.substr(first, second - first).find("RUN ") != std::string::npos);
}

// Operands that only the SPEC reads may be the same values in another order.
TEST_CASE("kernels are the same only if their SPECs are") {
  const auto kernel = [](std::uint32_t top) {
    vcode::Kernel result;
    result.sizes = {{"n0", {}}, {"n1", {}}};
    result.arrays = {{"u0", vcode::Type::Int, 0}, {"u1", vcode::Type::Int, 1}};
    result.inputs = {{false, 0}, {false, 1}};
    result.has_spec = true;
    result.spec = {{vcode::Op::CPop, {}, 1, top, {}}, {vcode::Op::Pop, {}, 2, 0, {}}};
    return result;
  };
  Module module;
  KernelPool pool(module);
  const Function function;
  const std::uint32_t first = pool.add(kernel(0), function, {});
  CHECK(pool.add(kernel(1), function, {}) != first);
  CHECK(pool.add(kernel(0), function, {}) == first);
  CHECK(module.kernels.size() == 2);
}

}  // namespace
}  // namespace fcode::testing
