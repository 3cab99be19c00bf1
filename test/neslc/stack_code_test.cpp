// The amount and form of the code that is generated.
#include "neslc/stack_code.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "neslc/compiler.hpp"
#include "neslc/definitions_text.hpp"
#include "neslc/library_text.hpp"
#include "support.hpp"
#include "vcode/printer.hpp"

namespace neslc::testing {
namespace {

struct NoValues : TopLevelValues {
  std::int64_t first_component(const Definition&) override { return -1; }
};

Session& session() {
  static Session instance{std::string(library_text()) + std::string(definitions_text())};
  return instance;
}

/// The program of the last form.
std::string compiled(const std::string& text) {
  NoValues values;
  std::string result;
  for (ParsedForm& parsed : parse_program(make_source(text)).forms) {
    Checked checked = session().check(parsed.form);
    REQUIRE(checked);
    if (checked.form->kind == CheckedForm::Kind::Expression) {
      const ir::Module module = Compiler(session(), values, {}).compile(*checked.form->body);
      result = vcode::print(generate(module).program);
    }
    session().commit(std::move(*checked.form));
  }
  return result;
}

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST_CASE("the library has no errors") {
  CHECK(session().library_errors().empty());
}

TEST_CASE("elementwise code has no stack moves") {
  const std::string code = compiled("{x * x + 1 : x in [3, 4, 5]};");
  CHECK(occurrences(code, "CPOP") == 0);
  CHECK(occurrences(code, "DIST") == 1);
}

TEST_CASE("literals become constants") {
  const std::string code = compiled("[(1, \"ab\"), (2, \"c\")];");
  CHECK(occurrences(code, "CONST") == 4);
  CHECK(occurrences(code, "PERMUTE") == 0);
}

TEST_CASE("indexing a free sequence is one gather") {
  const std::string code =
      compiled("function at(v, s) = {v[i] : i in s};\nat(reverse([0:100]), reverse([0:50]));");
  CHECK(occurrences(code, "BPERMUTE INT") == 3);  // two are those of reverse
}

TEST_CASE("cheap arms are both evaluated and selected") {
  const std::string code =
      compiled("function clamp(s) = {if x > 0 then x else 0 : x in s};\nclamp([1, -1]);");
  CHECK(occurrences(code, "IF") == 0);
  CHECK(occurrences(code, "SELECT") == 1);
}

TEST_CASE("equal descriptors are made once") {
  const std::string code = compiled(
      "function both(s) = ({x + 1 : x in s}, {x + 2 : x in s}, #s);\nboth(index(rand(9)));");
  CHECK(occurrences(code, "MAKE_SEGDES") == 1);
}

TEST_CASE("divisors that are known not to be zero are not checked") {
  CHECK(occurrences(compiled("{x / 2 : x in [4, 6]};"), "EXIT") == 0);
  CHECK(occurrences(compiled("{6 / x : x in [4, 6]};"), "EXIT") == 1);
}

TEST_CASE("only what is used is generated") {
  CHECK(occurrences(compiled("sum([1, 2]);"), "FUNC") == 1);
}

}  // namespace
}  // namespace neslc::testing
