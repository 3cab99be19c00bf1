// The amount and form of the code that is generated.
#include "neslc/flatten/stack_code.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "neslc/flatten/compiler.hpp"
#include "neslc/flatten/definitions_text.hpp"
#include "neslc/front/library_text.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

using vcode::Op;

struct NoValues : TopLevelValues {
  std::int64_t first_component(const Definition&) override { return -1; }
};

Session& session() {
  static Session instance{std::string(library_text()) + std::string(definitions_text())};
  return instance;
}

/// The program of the last form.
vcode::Program compiled(const std::string& text) {
  NoValues values;
  vcode::Program result;
  for (ParsedForm& parsed : parse_program(make_source(text)).forms) {
    Checked checked = session().check(parsed.form);
    REQUIRE(checked);
    if (checked.form->kind == CheckedForm::Kind::Expression) {
      result = stack_code(Compiler(session(), values, {}).compile(*checked.form->body)).program;
    }
    session().commit(std::move(*checked.form));
  }
  return result;
}

/// How many instructions of the program are `op`.
std::size_t occurrences(const vcode::Program& program, Op op) {
  std::size_t count = 0;
  for (const vcode::Function& function : program.functions) {
    for (const vcode::Instruction& instruction : function.code) count += instruction.op == op;
  }
  return count;
}

std::size_t instructions(const vcode::Program& program) {
  std::size_t count = 0;
  for (const vcode::Function& function : program.functions) count += function.code.size();
  return count;
}

TEST_CASE("the library has no errors") {
  CHECK(session().library_errors().empty());
}

TEST_CASE("elementwise code has no stack moves") {
  const vcode::Program code = compiled("{x * x + 1 : x in [3, 4, 5]};");
  CHECK(occurrences(code, Op::CPop) == 0);
  CHECK(occurrences(code, Op::Distribute) == 1);
}

TEST_CASE("literals become constants") {
  const vcode::Program code = compiled("[(1, \"ab\"), (2, \"c\")];");
  CHECK(occurrences(code, Op::Const) == 4);
  for (const Op moves : {Op::Permute, Op::BPermute, Op::DPermute, Op::FPermute, Op::BFPermute,
                         Op::DFPermute, Op::Pack}) {
    CHECK(occurrences(code, moves) == 0);
  }
}

TEST_CASE("indexing a free sequence is one gather") {
  const vcode::Program code =
      compiled("function at(v, s) = {v[i] : i in s};\nat(reverse([0:100]), reverse([0:50]));");
  CHECK(occurrences(code, Op::BPermute) == 3);  // two are those of reverse
}

TEST_CASE("cheap arms are both evaluated and selected") {
  const vcode::Program code =
      compiled("function clamp(s) = {if x > 0 then x else 0 : x in s};\nclamp([1, -1]);");
  CHECK(occurrences(code, Op::If) == 0);
  CHECK(occurrences(code, Op::Select) == 1);
}

TEST_CASE("equal descriptors are made once") {
  const vcode::Program code = compiled(
      "function both(s) = ({x + 1 : x in s}, {x + 2 : x in s}, #s);\nboth(index(rand(9)));");
  CHECK(occurrences(code, Op::MakeSegdes) == 1);
}

TEST_CASE("divisors that are known not to be zero are not checked") {
  CHECK(occurrences(compiled("{x / 2 : x in [4, 6]};"), Op::Exit) == 0);
  CHECK(occurrences(compiled("{6 / x : x in [4, 6]};"), Op::Exit) == 1);
}

TEST_CASE("only what is used is generated") {
  CHECK(compiled("sum([1, 2]);").functions.size() == 1);
}

/// As many functions, each of which calls the one before.
std::string chain_of(int functions) {
  std::string text = "function f0(v) = sum(v);\n";
  for (int i = 1; i < functions; ++i) {
    const std::string own = "f" + std::to_string(i), last = "f" + std::to_string(i - 1);
    text += "function " + own + "(v) = " + last + "({x + " + last + "(v) * " + std::to_string(i) +
            " : x in v | x > " + std::to_string(i) + "});\n";
  }
  return text + "f" + std::to_string(functions - 1) + "([1, 2, 3]);\n";
}

TEST_CASE("the code grows with the program and no faster") {
  const auto size_of = [](int functions) { return instructions(compiled(chain_of(functions))); };
  const auto first = size_of(50), second = size_of(150), third = size_of(250);
  CHECK(second > first);
  CHECK((third - second) * 100 <= (second - first) * 102);
}

}  // namespace
}  // namespace neslc::testing
