// The reference evaluator and its machine against the worked examples: every conformance program
// that needs no input, no files and no processes must print its expected text.
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include "reference/machine.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"

namespace {

namespace fs = std::filesystem;
using vcode::Op;

const fs::path kExamples = fs::path(NESL_TEST_DIR) / "conformance";

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<vcode::LinkedProgram> link(const std::string& name, const std::string& text) {
  vcode::Diagnostics diagnostics;
  const auto source = std::make_shared<vcode::Source>(name, text);
  auto program = vcode::parse(source, diagnostics);
  if (!program) return std::nullopt;
  return vcode::link(std::move(*program), diagnostics);
}

std::optional<vcode::LinkedProgram> load(const fs::path& path) {
  return link(path.filename().string(), read_file(path));
}

reference::Value reduce_floats(Op op, reference::Floats data) {
  reference::Random random;
  const auto length = static_cast<std::int64_t>(data.size());
  return reference::evaluate(op, vcode::Type::Float, {}, random,
                             {std::move(data), reference::Segdes{{length}}})[0];
}

}  // namespace

TEST_CASE("the reference machine prints the expected text of the examples") {
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(kExamples)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".vcode") continue;
    if (fs::exists(fs::path(path).replace_extension(".args"))) continue;
    const auto program = load(path);
    if (!program) continue;  // the examples of errors in the text
    INFO(path.filename().string());
    const reference::Outcome outcome = reference::run(*program, {});
    if (!outcome.finished) continue;  // input, files, processes
    fs::path expected = fs::path(path).replace_extension(".corrected");
    if (!fs::exists(expected)) expected.replace_extension(".expected");
    // RAND draws another stream than the classic interpreter; its example prints flags only.
    CHECK(outcome.output == read_file(expected));
    ++compared;
  }
  CHECK(compared >= 45);
}

TEST_CASE("the reference machine reads what it is given, and no more") {
  const std::string reads = "READ INT POP 2 0 ";
  reference::MachineOptions options;
  options.input = {{5}, {1, 2, 3}};
  const auto twice =
      link("twice", "FUNC NEXT " + reads + "RET FUNC MAIN " + reads + "CALL NEXT RET");
  REQUIRE(twice);
  const reference::Outcome outcome = reference::run(*twice, options);
  CHECK(outcome.finished);
  CHECK(outcome.output == "( 5 )\n( 1 2 3 )\n");
  const auto thrice = link("thrice", "FUNC MAIN " + reads + reads + reads + "RET");
  REQUIRE(thrice);
  CHECK_FALSE(reference::run(*thrice, options).finished);
}

TEST_CASE("the reference follows the decisions on what the sources leave open") {
  using reference::Floats;
  SECTION("a sum of negative zeros is positive zero") {
    const auto sum = std::get<Floats>(reduce_floats(Op::AddReduce, {-0.0, -0.0}));
    CHECK_FALSE(std::signbit(sum[0]));
  }
  SECTION("the true extremum beyond the finite identity") {
    CHECK(std::get<Floats>(reduce_floats(Op::MaxReduce, {-1e40, -1e39}))[0] == -1e39);
    CHECK(std::get<Floats>(reduce_floats(Op::MinReduce, {1e40, 1e39}))[0] == 1e39);
  }
  SECTION("NaN anywhere gives NaN") {
    const double nan = std::nan("");
    CHECK(std::isnan(std::get<Floats>(reduce_floats(Op::MaxReduce, {nan, 1, 2}))[0]));
    CHECK(std::isnan(std::get<Floats>(reduce_floats(Op::MinReduce, {1, nan, 2}))[0]));
  }
  SECTION("ranks tell zeros apart, and no NaN from another") {
    const Floats floats = {0.0, -0.0, std::nan(""), -INFINITY, INFINITY, -std::nan("")};
    const auto up = std::get<reference::Ints>(reduce_floats(Op::RankUp, floats));
    CHECK(up == reference::Ints{2, 1, 4, 0, 3, 5});
    const auto down = std::get<reference::Ints>(reduce_floats(Op::RankDown, floats));
    CHECK(down == reference::Ints{3, 4, 0, 5, 2, 1});
  }
  SECTION("rounding is exact") {
    reference::Random random;
    const auto rounded = std::get<reference::Ints>(
        reference::evaluate(Op::Round, vcode::Type::Float, {64, 64}, random,
                            {Floats{0.49999999999999994, 4503599627370497.0, -2.5, -0.5}})[0]);
    CHECK(rounded == reference::Ints{0, 4503599627370497, -2, 0});
  }
}
