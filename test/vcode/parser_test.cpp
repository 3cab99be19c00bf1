#include "vcode/parser.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "support.hpp"

namespace vcode::testing {
namespace {

// The only error of a function with this body.
Diagnostic only_error(const std::string& body) {
  const Outcome outcome = parse_text("FUNC f\n" + body + "\nRET");
  INFO(outcome.messages());
  CHECK_FALSE(outcome.program);
  REQUIRE(outcome.diagnostics.all().size() == 1);
  return outcome.diagnostics.all()[0];
}

std::string only_message(const std::string& body) {
  return only_error(body).message;
}

bool accepted(const std::string& text) {
  const Outcome outcome = parse_text(text);
  INFO(text << '\n' << outcome.messages());
  CHECK(outcome.program.has_value() != outcome.diagnostics.has_errors());
  return outcome.program.has_value();
}

const Constant& constant_of(const Outcome& outcome) {
  REQUIRE(outcome.program);
  REQUIRE(outcome.program->constants.size() == 1);
  return outcome.program->constants[0];
}

TEST_CASE("the conformance programs are accepted or refused as the specification says",
          "[parser]") {
  for (const auto& path : conformance_programs()) {
    const Outcome outcome = parse_text(read_file(path));
    const std::string name = path.stem().string();
    const bool wrong =
        name == "65-err-syntax" || name == "66-err-if" || name == "67-err-type-mixing";
    INFO(name << '\n' << outcome.messages());
    CHECK(outcome.program.has_value() == !wrong);
  }
}

TEST_CASE("every operation takes exactly the types of its column", "[parser]") {
  for (const OpInfo& op : all_ops()) {
    if (op.family == Family::Control || op.family == Family::Kernel) continue;
    if (op.family == Family::Stack || op.op == Op::Const) continue;
    const std::string word(op.text);
    CHECK(accepted("FUNC f " + word + " RET") == !op.takes_type());
    for (Type type : {Type::Int, Type::Bool, Type::Float, Type::Segdes, Type::Char, Type::Pair}) {
      const std::string name = type == Type::Pair ? "XY" : std::string(type_name(type));
      CHECK(accepted("FUNC f " + word + " " + name + " RET") == op.allows(type));
    }
  }
}

TEST_CASE("layout is free", "[parser]") {
  CHECK(accepted("FUNC f CONST INT(1 2)CONST CHAR\"ab\"{c}+\n{c}\nINT RET"));
  CHECK(accepted("FUNC f I INT SEGDES O FLOAT RET FUNC g I O RET FUNC MAIN CALL MAIN RET"));
}

TEST_CASE("constants of all types", "[parser]") {
  CHECK(constant_of(parse_text("FUNC f CONST INT -5 RET")).ints() == std::vector<std::int64_t>{-5});
  CHECK(constant_of(parse_text("FUNC f CONST INT STDERR RET")).form == ConstantForm::Stream);
  CHECK(constant_of(parse_text("FUNC f CONST INT NULL_STREAM RET")).ints()[0] == -1);
  CHECK(constant_of(parse_text("FUNC f CONST BOOL (T F) RET")).bools() ==
        std::vector<std::uint8_t>{1, 0});
  CHECK(constant_of(parse_text("FUNC f CONST FLOAT (1. 2.5) RET")).floats() ==
        std::vector<double>{1.0, 2.5});
  CHECK(constant_of(parse_text("FUNC f CONST SEGDES (2 0 3) RET")).size() == 3);
  CHECK(constant_of(parse_text("FUNC f CONST SEGDES () RET")).type == Type::Segdes);
  const Outcome outcome = parse_text("FUNC f CONST CHAR \"\xC3\n\\\" RET");
  const Constant& string = constant_of(outcome);
  CHECK(string.type == Type::Int);
  CHECK(string.form == ConstantForm::String);
  CHECK(string.ints() == std::vector<std::int64_t>{0xC3, 10, 92});
}

TEST_CASE("integers beyond 32 bits keep their places", "[parser]") {
  const Outcome outcome = parse_text("FUNC f CONST INT (1 2147483648 -2147483648) RET");
  const Constant& constant = constant_of(outcome);
  REQUIRE(constant.element_spans.size() == 1);
  CHECK(constant.element_spans[0] == Span{1, 21, 10});
  CHECK(only_error("CONST INT 9223372036854775808").code == ErrorCode::NumberOutOfRange);
}

TEST_CASE("segment lengths are checked", "[parser]") {
  CHECK(only_error("CONST SEGDES -1").code == ErrorCode::NumberOutOfRange);
  CHECK(only_error("CONST SEGDES (1 -1)").code == ErrorCode::NumberOutOfRange);
  CHECK(only_error("CONST SEGDES (9223372036854775807 1)").code == ErrorCode::NumberOutOfRange);
}

TEST_CASE("messages say what was expected and what was found", "[parser]") {
  CHECK(only_message("+ BOOL") == "expected INT or FLOAT after `+`, found `BOOL`");
  CHECK(only_message("SELECT CHAR") == "expected INT, BOOL or FLOAT after `SELECT`, found `CHAR`");
  CHECK(only_message("SRAND") == "expected INT after `SRAND`, found `RET`");
  CHECK(only_message("% INT") == "expected an instruction (`%` takes no type), found `INT`");
  CHECK(only_message("COPY 1") ==
        "expected two integers, count and start, after `COPY`, found `RET`");
  CHECK(only_message("COPY -1 0") == "the count of `COPY` is negative: `-1`");
  CHECK(only_message("POP 1 99999999999") == "the start of `POP` is too large: `99999999999`");
  CHECK(only_message("CALL COPY 1 0") == "expected a function name after `CALL`, found `COPY`");
  CHECK(only_message("CONST 5") ==
        "expected a type (INT, BOOL, FLOAT, SEGDES or CHAR) after `CONST`, found the integer `5`");
  CHECK(only_message("CONST CHAR abc") == "expected a string after `CONST CHAR`, found `abc`");
  CHECK(only_message("CONST INT (1 POP 1 0") == "expected an element or `)`, found `POP`");
  CHECK(only_message("CONST INT (STDIN)") ==
        "expected an integer in a constant of type INT, found `STDIN`");
}

TEST_CASE("elements of another type", "[parser]") {
  for (const char* body : {"CONST FLOAT 5", "CONST INT 5.0", "CONST BOOL 1", "CONST FLOAT (1.0 2)",
                           "CONST INT (1 T)", "CONST BOOL (T 0)"}) {
    CHECK(only_error(body).code == ErrorCode::MixedConstant);
  }
  CHECK(only_error("CONST FLOAT 5").hint == "write `5.0`");
}

TEST_CASE("unknown words get a suggestion", "[parser]") {
  CHECK(only_error("copy 1 0").hint == "did you mean `COPY`?");
  CHECK(only_error("+_SCNA INT").hint == "did you mean `+_SCAN`?");
  CHECK(only_error("ZZZZZZZZ").hint.empty());
}

TEST_CASE("FUSED is refused once, with an explanation", "[parser]") {
  const Diagnostic error = only_error("FUSED 1 FUSED 2 COPY 1 0 FUSED 3");
  CHECK(error.code == ErrorCode::FusedInstruction);
  CHECK(error.hint.find("fcode-opt") != std::string::npos);
}

TEST_CASE("conditionals must match", "[parser]") {
  CHECK(accepted("FUNC f IF ENDIF IF IF ELSE ENDIF ELSE IF ENDIF ENDIF RET"));
  CHECK(only_error("ELSE").code == ErrorCode::UnbalancedIf);
  CHECK(only_error("ENDIF").message == "`ENDIF` without an open `IF`");
  const Diagnostic second = only_error("IF\nELSE\nELSE\nENDIF");
  CHECK(second.message == "a second `ELSE` for the same `IF`");
  REQUIRE(second.notes.size() == 2);
  CHECK(second.notes[0].span == Span{2, 1, 2});
  const Diagnostic open = only_error("IF IF ENDIF");
  CHECK(open.message == "`RET` inside a conditional");
  REQUIRE(open.notes.size() == 1);
  CHECK(open.notes[0].span == Span{2, 1, 2});
}

TEST_CASE("the shape of the whole program", "[parser]") {
  const auto message = [](const std::string& text) {
    const Outcome outcome = parse_text(text);
    REQUIRE(outcome.diagnostics.error_count() == 1);
    return outcome.diagnostics.all()[0].message;
  };
  CHECK(message("") == "the program has no functions");
  CHECK(message(" {comment} ") == "the program has no functions");
  CHECK(message("COPY 1 0") == "expected `FUNC`, found `COPY`");
  CHECK(message("FUNC f RET x") == "expected `FUNC`, found `x`");
  CHECK(message("FUNC f") ==
        "expected `RET` at the end of the function, found the end of the file");
  CHECK(message("FUNC f FUNC g RET") == "expected `RET` at the end of the function, found `FUNC`");
  CHECK(message("FUNC 5 RET") == "expected a function name after `FUNC`, found the integer `5`");
  CHECK(message("FUNC COPY RET") == "expected a function name after `FUNC`, found `COPY`");
  CHECK(message("FUNC f I INT RET") ==
        "expected a type or `O` in the list of argument types, found `RET`");
  CHECK(message("FUNC f O INT RET") == "expected an instruction, found `O`");
  CHECK(message("{ FUNC f RET") == "a comment that is never closed with `}`");
  CHECK(message("FUNC f { RET") == "a comment that is never closed with `}`");
}

TEST_CASE("several errors are reported in one run, each once", "[parser]") {
  const Outcome outcome = parse_text(
      "FUNC f\ncopy 1 0\n+ BOOL\nCONST INT (1 T 2 x)\nPOP 1 0\nRET junk junk\nFUNC g\nELSE\nRET");
  INFO(outcome.messages());
  CHECK(outcome.diagnostics.error_count() == 5);
}

TEST_CASE("kept errors are limited, counted ones are not", "[parser]") {
  std::string text = "FUNC f ";
  for (int i = 0; i < 100; ++i) text += "+ BOOL ";
  const Outcome outcome = parse_text(text + "RET");
  CHECK(outcome.diagnostics.all().size() == Diagnostics::kDefaultLimit);
  CHECK(outcome.diagnostics.error_count() == 100);
  CHECK(outcome.diagnostics.dropped() == 80);
}

TEST_CASE("spans reach to the last argument on the line", "[parser]") {
  const Outcome outcome = parse_text("FUNC f\n  COPY 1  0\n+\nINT CONST INT (1\n2)\nRET");
  REQUIRE(outcome.program);
  const auto& code = outcome.program->functions[0].code;
  CHECK(code[0].span == Span{2, 3, 9});
  CHECK(code[1].span == Span{3, 1, 1});
  CHECK(code[2].span == Span{4, 5, 12});
  CHECK(code[3].span == Span{6, 1, 3});
}

TEST_CASE("depth and size have no limits", "[parser]") {
  constexpr int kDepth = 200000;
  std::string text = "FUNC f ";
  for (int i = 0; i < kDepth; ++i) text += "IF ";
  for (int i = 0; i < kDepth; ++i) text += "ELSE ENDIF ";
  CHECK(accepted(text + "RET"));
  CHECK(accepted("FUNC " + std::string(1000000, 'x') + " RET"));
  std::string vector = "FUNC f CONST INT (";
  for (int i = 0; i < 300000; ++i) vector += "12345 ";
  CHECK(accepted(vector + ") RET"));
}

}  // namespace
}  // namespace vcode::testing
