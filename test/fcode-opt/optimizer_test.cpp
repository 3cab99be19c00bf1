// The optimizer as a whole.
#include <algorithm>

#include <catch2/catch.hpp>

#include "fcode-opt/pass_table.hpp"
#include "fcode-opt/stopping.hpp"
#include "fcode-opt/support.hpp"

namespace fcode::testing {
namespace {

OptimizerOptions checked(int level) {
  OptimizerOptions options;
  options.level = level;
  options.check = true;
  return options;
}

TEST_CASE("level 0 changes nothing") {
  for (const auto& path : programs()) {
    const vcode::Program program = parse(read_file(path));
    CHECK(vcode::same_program(optimize(program, checked(0)), program));
  }
}

TEST_CASE("every pass leaves a sound form, and the result is the same each time") {
  for (const auto& path : programs()) {
    CAPTURE(path.string());
    const vcode::Program program = parse(read_file(path));
    for (int level = 1; level <= kHighestLevel; ++level) {
      const vcode::Program first = optimize(program, checked(level));
      CHECK(vcode::print(optimize(program, checked(level))) == vcode::print(first));
      CHECK_NOTHROW(link(first));
    }
    for (const Pass& pass : pass_table()) {
      OptimizerOptions options = checked(kHighestLevel);
      options.disabled = {std::string(pass.name)};
      CHECK_NOTHROW(optimize(program, options));
    }
  }
}

TEST_CASE("a program with kernels is left as it is") {
  for (const auto& path : programs()) {
    CAPTURE(path.string());
    const vcode::Program once = optimize(parse(read_file(path)), checked(kHighestLevel));
    if (once.kernels.empty()) continue;
    CHECK(vcode::same_program(optimize(once, checked(kHighestLevel)), once));
  }
}

TEST_CASE("the optimizer ends wherever it is told to") {
  int stopped = 0;
  for (const auto& path : programs()) {
    CAPTURE(path.string());
    const vcode::Program program = parse(read_file(path));
    int asked = 0, last = 0;
    OptimizerOptions options = checked(kHighestLevel);
    options.stop = [&] { return ++asked == last; };
    const std::string whole = vcode::print(optimize(program, options));
    const int times = asked;
    // As often as there are operations at least.
    CHECK(times >= static_cast<int>(measure(program).vector_operations));
    for (last = 1; last <= times; last += 1 + times / 7) {
      asked = 0;
      CHECK_THROWS_AS(optimize(program, options), Stopped);
      CHECK(asked == last);
      ++stopped;
    }
    last = 0;
    CHECK(vcode::print(optimize(program, options)) == whole);
  }
  CHECK(stopped > 100);
}

TEST_CASE("the form behind a pass can be had, and read again") {
  for (const Pass& pass : pass_table()) {
    CAPTURE(pass.name);
    OptimizerOptions options = checked(2);
    options.dump = pass.name;
    OptimizerReport report;
    optimize(parse("FUNC P CONST INT 9 RAND CALL G RET FUNC G COPY 1 0 * INT RET"), options,
             &report);
    CHECK(report.dump.empty() == (pass.level > 2));
    std::string error;
    if (!report.dump.empty()) CHECK(parse_module(report.dump, error));
    CHECK(error == "");
  }
}

TEST_CASE("the form behind every pass is read back as it was printed") {
  for (const auto& path : programs()) {
    const vcode::Program program = parse(read_file(path));
    for (const Pass& pass : pass_table()) {
      CAPTURE(path.string(), pass.name);
      OptimizerOptions options;
      options.dump = pass.name;
      OptimizerReport report;
      optimize(program, options, &report);
      std::string error;
      const auto read = parse_module(report.dump, error);
      REQUIRE(error == "");
      REQUIRE(read);
      CHECK(print(*read) == report.dump);
    }
  }
}

TEST_CASE("constants that the run gives stay apart in the text of the form") {
  OptimizerOptions options = checked(kHighestLevel);
  options.dump = "fuse";
  OptimizerReport report;
  const vcode::Program program =
      parse("FUNC P CONST INT 9 CONST INT 9 RAND + INT CONST INT 9 * INT RET");
  optimized(FromOutside{program, {0}}, options, &report);
  std::string error;
  const auto read = parse_module(report.dump, error);
  REQUIRE(read);
  CHECK(print(*read) == report.dump);
  CHECK(report.dump.find("GIVEN INT 9") != std::string::npos);
}

TEST_CASE("the report of memory names what is held and what is written over what") {
  const auto report_of = [](const std::string& behind) {
    OptimizerOptions options = checked(kHighestLevel);
    options.memory = true;
    OptimizerReport report;
    optimize(
        parse("FUNC P CONST INT 9 CONST SEGDES 100 DIST INT RAND START_TIMER " + behind + " RET"),
        options, &report);
    return report.memory.regions;
  };
  // The operand dies in the kernel.
  const auto dying = report_of("COPY 1 0 * INT CONST INT 1 CONST SEGDES 100 DIST INT + INT");
  REQUIRE(dying.size() == 2);
  CHECK(dying[1].held.size() == 1);
  CHECK(dying[1].total == "100");
  REQUIRE(dying[1].placed.size() == 1);
  CHECK(dying[1].placed[0].over == "x0");
  // The operand is a result of the program, too.
  const auto kept =
      report_of("COPY 1 0 COPY 1 0 * INT CONST INT 1 CONST SEGDES 100 DIST INT + INT");
  REQUIRE(kept.size() == 2);
  CHECK(kept[1].held.size() == 2);
  CHECK(kept[1].total == "200");
  REQUIRE(kept[1].placed.size() == 1);
  CHECK(kept[1].placed[0].over.empty());
  CHECK(kept[1].placed[0].why == "x0 is still read behind the kernel");
}

TEST_CASE("the report counts") {
  OptimizerReport report;
  optimize(parse("FUNC P CONST INT 9 RAND CALL G RET FUNC G COPY 1 0 * INT RET"), checked(2),
           &report);
  CHECK(report.before.functions == 2);
  CHECK(report.before.calls == 1);
  CHECK(report.after.functions == 1);
  CHECK(report.after.calls == 0);
  CHECK(report.after.vector_operations == 2);
  CHECK_FALSE(report.runs.empty());
}

TEST_CASE("output never passes a failure") {
  // The division fails before anything is written, although its result is used behind the WRITE.
  const vcode::Program program = optimize(
      parse("FUNC P CONST INT 1 CONST INT 9 RAND CONST INT 9 RAND - INT / INT CONST CHAR \"x\" "
            "WRITE CHAR POP 2 0 CONST INT 1 + INT RET"),
      checked(2));
  const auto& code = program.functions[0].code;
  const auto place = [&](Op op) {
    return std::find_if(code.begin(), code.end(),
                        [&](const vcode::Instruction& i) { return i.op == op; }) -
           code.begin();
  };
  CHECK(place(Op::Divide) < place(Op::Write));
  CHECK(place(Op::Write) < place(Op::Add));
}

}  // namespace
}  // namespace fcode::testing
