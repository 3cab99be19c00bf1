#include "vcode/link.hpp"

#include <catch2/catch.hpp>

#include "support.hpp"

namespace vcode::testing {
namespace {

std::string entry_of(const Outcome& outcome) {
  REQUIRE(outcome.linked);
  return outcome.linked->functions[outcome.linked->entry].name;
}

TEST_CASE("execution starts at MAIN or at the first function", "[link]") {
  CHECK(entry_of(link_text("FUNC a RET FUNC b RET")) == "a");
  CHECK(entry_of(link_text("FUNC a RET FUNC MAIN RET")) == "MAIN");
  CHECK(entry_of(link_text("FUNC a RET FUNC MAIN_1 RET")) == "a");
}

TEST_CASE("of equal names the last definition counts everywhere", "[link]") {
  const Outcome outcome =
      link_text("FUNC a CALL b RET FUNC b RET FUNC a EXIT RET FUNC b CALL a RET");
  REQUIRE(outcome.linked);
  CHECK(outcome.diagnostics.all().size() == 2);
  CHECK(outcome.has(ErrorCode::RedefinedFunction));
  CHECK_FALSE(outcome.diagnostics.has_errors());
  REQUIRE(outcome.linked->functions.size() == 2);
  CHECK(entry_of(outcome) == "a");
  CHECK(outcome.linked->code[outcome.linked->functions[0].begin].op == Op::Exit);
  CHECK(outcome.linked->code[outcome.linked->functions[1].begin].a == 0);
}

TEST_CASE("a second MAIN is an error", "[link]") {
  const Outcome outcome = link_text("FUNC MAIN RET FUNC MAIN RET");
  CHECK_FALSE(outcome.linked);
  CHECK(outcome.has(ErrorCode::DuplicateMain));
  CHECK(outcome.diagnostics.all()[0].notes[0].span == Span{1, 6, 4});
}

TEST_CASE("undefined functions are reported once each, in source order", "[link]") {
  const Outcome outcome = link_text(
      "FUNC main_1\nCALL sort_2\nCALL zzz\nCALL sort_2\nRET\n"
      "FUNC sort_1 RET\nFUNC never CALL yyyyyy RET FUNC never RET");
  CHECK_FALSE(outcome.linked);
  REQUIRE(outcome.diagnostics.error_count() == 3);
  std::vector<Diagnostic> errors;
  for (const Diagnostic& d : outcome.diagnostics.all()) {
    if (d.severity == Severity::Error) errors.push_back(d);
  }
  CHECK(errors[0].message == "the function `sort_2` is not defined");
  CHECK(errors[0].span == Span{2, 1, 11});
  CHECK(errors[0].function == "main_1");
  CHECK(errors[0].hint == "did you mean `sort_1`?");
  CHECK(errors[1].message == "the function `zzz` is not defined");
  CHECK(errors[1].hint.empty());
  CHECK(errors[2].span.line == 7);
}

TEST_CASE("names of any length are kept apart", "[link]") {
  const std::string name(500, 'n');
  const Outcome outcome =
      link_text("FUNC a CALL " + name + "2 RET FUNC " + name + "1 RET FUNC " + name + "2 RET");
  REQUIRE(outcome.linked);
  CHECK(outcome.linked->code[0].a == 2);
}

TEST_CASE("conditionals become jumps", "[link]") {
  const Outcome outcome = link_text("FUNC f IF IF ENDIF ELSE EXIT ENDIF RET");
  //                                        0  1  2     3    4    5     6
  REQUIRE(outcome.linked);
  const auto& code = outcome.linked->code;
  CHECK(code[0].a == 4);
  CHECK(code[1].a == 3);
  CHECK(code[3].a == 6);
}

TEST_CASE("a SPEC becomes a function, and is kept only there", "[link]") {
  const Outcome outcome = link_text(
      "FCODE 3 KERNEL k IN a : VEC INT n OUT y : VEC INT n DO y = MAP n ( i => (+ INT a[i] a[i]) ) "
      "SPEC COPY 1 0 + INT END FUNC MAIN CONST INT 1 RUN k RET");
  REQUIRE(outcome.linked);
  const LinkedKernel& kernel = outcome.linked->kernels[0];
  REQUIRE(kernel.spec);
  const LinkedFunction& spec = outcome.linked->functions[*kernel.spec];
  CHECK(spec.is_spec);
  CHECK(spec.end - spec.begin == 3);
  CHECK(outcome.linked->code[spec.end - 1].op == Op::Return);
  CHECK(kernel.definition.spec.capacity() == 0);
}

TEST_CASE("the function of an instruction is found", "[link]") {
  const Outcome outcome = link_text("FUNC a RET FUNC b EXIT RET FUNC c RET");
  REQUIRE(outcome.linked);
  CHECK(outcome.linked->function_at(0).name == "a");
  CHECK(outcome.linked->function_at(1).name == "b");
  CHECK(outcome.linked->function_at(2).name == "b");
  CHECK(outcome.linked->function_at(3).name == "c");
}

}  // namespace
}  // namespace vcode::testing
