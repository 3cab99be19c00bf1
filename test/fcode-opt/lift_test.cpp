// Stack code to single assignment and back.
#include <catch2/catch.hpp>

#include "fcode-opt/support.hpp"

namespace fcode::testing {
namespace {

std::string back(std::string text) {
  return flat(lower(module_of(std::move(text))).program);
}

TEST_CASE("stack instructions leave no trace") {
  CHECK(back("FUNC P CONST INT 1 CONST INT 2 CPOP 1 1 COPY 2 0 POP 1 1 POP 1 0 - INT RET") ==
        "FUNC P CONST INT 2 CONST INT 1 - INT RET");
  CHECK(back("FUNC P CONST INT 1 CONST INT 2 CALL SWAP RET FUNC SWAP CPOP 1 1 RET") ==
        "FUNC P CONST INT 1 CONST INT 2 CALL SWAP RET FUNC SWAP CPOP 1 1 RET");
}

TEST_CASE("what dies is taken from where it lies, what lives on is copied") {
  CHECK(back("FUNC P CONST INT (1 2) CALL G RET FUNC G COPY 1 0 * INT RET") ==
        "FUNC P CONST INT (1 2) CALL G RET FUNC G COPY 1 0 * INT RET");
  CHECK(back("FUNC P CONST INT 1 CONST INT 2 CONST INT 3 CALL G RET "
             "FUNC G COPY 1 2 COPY 1 2 + INT CPOP 1 1 POP 1 0 CPOP 1 2 POP 1 0 CPOP 1 1 POP 1 0 "
             "RET") ==
        "FUNC P CONST INT 1 CONST INT 2 CONST INT 3 CALL G RET "
        "FUNC G POP 1 0 + INT RET");
}

TEST_CASE("the arms of a conditional name what they leave differently") {
  const Module module = module_of(
      "FUNC P CONST INT 1 LENGTH INT CONST INT 2 = INT CALL G RET "
      "FUNC G IF CONST INT 7 CONST INT 8 ELSE CONST INT 9 COPY 1 0 ENDIF RET");
  REQUIRE(module.functions.size() == 2);
  const Function& function = module.functions[1];
  CHECK(function.parameters.size() == 1);
  REQUIRE(function.body.statements.size() == 1);
  CHECK(function.body.statements[0].results.size() == 2);
  CHECK(function.values[function.body.results[0]].type == Type::Int);
  CHECK(find_fault(module).empty());
}

TEST_CASE("recursion, mutual recursion and functions that only exit") {
  CHECK(back("FUNC P CONST INT 9 CALL EVEN RET "
             "FUNC EVEN COPY 1 0 CONST INT 0 = INT IF POP 1 0 CONST BOOL T ELSE CALL ODD ENDIF RET "
             "FUNC ODD CONST INT 1 - INT CALL EVEN RET") ==
        "FUNC P CONST INT 9 CALL EVEN RET "
        "FUNC EVEN COPY 1 0 CONST INT 0 = INT IF POP 1 0 CONST BOOL T ELSE CALL ODD ENDIF RET "
        "FUNC ODD CONST INT 1 - INT CALL EVEN RET");
  const Module module = module_of(
      "FUNC P CONST INT (1 2) CALL CHECK RET "
      "FUNC CHECK COPY 1 0 LENGTH INT CONST INT 3 = INT IF ELSE CALL FAIL ENDIF RET "
      "FUNC FAIL CONST CHAR \"no\" WRITE CHAR EXIT RET");
  CHECK(module.functions[2].body.diverges);
  CHECK(module.functions[1].body.statements.back().else_block->diverges);
  CHECK(module.functions[1].body.statements.back().results.empty());
}

TEST_CASE("types of what is only moved around follow from its first calls") {
  // f(k, v) hands v on through g, as often as k says.
  const auto types_in = [](const std::string& calls) {
    Module module =
        module_of("FUNC MAIN " + calls +
                  " RET FUNC f COPY 1 1 CONST INT 0 = INT IF POP 1 1 ELSE CALL g ENDIF RET "
                  "FUNC g CPOP 1 1 CONST INT 1 - INT CPOP 1 1 CALL f RET");
    infer_types(module);
    std::vector<std::optional<Type>> types;
    for (const Function& function : module.functions) {
      if (function.name == "MAIN") continue;
      types.push_back(function.values[function.parameters[1]].type);
      types.push_back(function.result_types.at(0));
    }
    return types;
  };
  using Types = std::vector<std::optional<Type>>;
  CHECK(types_in("CONST INT 3 CONST FLOAT (1.0 2.0) CALL f") == Types(4, Type::Float));
  CHECK(types_in("CONST INT 3 CONST SEGDES (1 2) CALL g") == Types(4, Type::Segdes));
  CHECK(types_in("CONST INT 3 CONST FLOAT 1.0 CALL f CONST INT 3 CONST INT 7 CALL f") ==
        Types(4, std::nullopt));
}

TEST_CASE("an arm that a constant rules out may have any shape") {
  CHECK(back("FUNC P CONST BOOL T IF CONST INT 1 ELSE CONST INT 1 CONST INT 2 ENDIF RET") ==
        "FUNC P CONST INT 1 RET");
  CHECK(back("FUNC P CONST BOOL F IF CONST INT 1 CONST INT 2 ENDIF CONST INT 3 RET") ==
        "FUNC P CONST INT 3 RET");
}

TEST_CASE("pairs are values like others") {
  CHECK(back("FUNC P CONST INT 1 CONST FLOAT 2.5 PAIR COPY 1 0 UNPAIR RET") ==
        "FUNC P CONST INT 1 CONST FLOAT 2.5 PAIR COPY 1 0 UNPAIR RET");
}

TEST_CASE("the entry is MAIN, else the first function, and is written first") {
  const Module module = module_of("FUNC A CONST INT 1 RET FUNC MAIN CONST INT 2 RET");
  CHECK(module.functions[module.entry].name == "MAIN");
  CHECK(back("FUNC A CALL B RET FUNC B CONST INT 2 RET") ==
        "FUNC A CALL B RET FUNC B CONST INT 2 RET");
}

TEST_CASE("functions that a run cannot enter are not written") {
  CHECK(back("FUNC A CONST INT 1 RET FUNC B CONST INT 2 CALL C RET FUNC C RET") ==
        "FUNC A CONST INT 1 RET");
}

TEST_CASE("a function of unknown shape stays as it is, and so do its callees") {
  const std::string text =
      "FUNC P CONST INT 1 LENGTH INT CONST INT 1 = INT CALL G RET "
      "FUNC G IF CONST INT 1 CALL H ELSE CONST INT 1 CONST INT 2 ENDIF RET "
      "FUNC H CONST INT 2 CPOP 1 1 POP 1 0 RET";
  const Module module = module_of(text);
  CHECK(module.functions[0].opaque);
  CHECK(module.functions[1].opaque);
  CHECK(module.functions[2].opaque);
  CHECK_FALSE(module.remarks.empty());
  CHECK(back(text) == flat(parse(text)));
}

TEST_CASE("deep nesting is left as it is") {
  std::string text = "FUNC P CONST INT (1) LENGTH INT CONST INT 1 = INT CALL G RET FUNC G ";
  for (int i = 0; i < 3000; ++i) text += "COPY 1 0 IF ";
  for (int i = 0; i < 3000; ++i) text += "ENDIF ";
  const Module module = module_of(text + "RET");
  CHECK(module.functions[1].opaque);
  CHECK_FALSE(module.functions[0].opaque);
}

TEST_CASE("values are numbered anew, without those that nothing assigns") {
  for (const auto& path : programs_and_examples()) {
    CAPTURE(path.string());
    Module module = module_of(read_file(path));
    for (Function& function : module.functions) drop_unused(function);
    const std::string program = flat(lower(module).program);
    for (Function& function : module.functions) {
      if (function.opaque) continue;
      number_values(function);
      std::size_t assigned = function.parameters.size();
      for_each_statement(function.body,
                         [&](const Statement& statement) { assigned += statement.results.size(); });
      CHECK(function.values.size() == assigned);
    }
    CHECK(ir::find_fault(module).empty());
    CHECK(flat(lower(module).program) == program);
  }
}

TEST_CASE("every program survives the way there and back") {
  for (const auto& path : programs()) {
    CAPTURE(path.string());
    const Module module = module_of(read_file(path));
    CHECK(find_fault(module) == "");
    const vcode::Program written = lower(module).program;
    // Once more gives the same again.
    CHECK(flat(lower(lift(link(written))).program) == flat(written));
  }
}

TEST_CASE("the form is read back as it was printed") {
  for (const auto& path : programs()) {
    CAPTURE(path.string());
    Module module = module_of(read_file(path));
    infer_types(module);
    const std::string text = print(module);
    std::string error;
    const auto read = parse_module(text, error);
    REQUIRE(error == "");
    REQUIRE(read);
    CHECK(print(*read) == text);
  }
}

TEST_CASE("wrong text of the form is refused with its line") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "ENTRY expected"},
      {"ENTRY P", "no function"},
      {"ENTRY P\nFUNCTION: P ( ) -> ( ) {\n  $0 = + INT $1 $2\n  YIELD\n}", "values that exist"},
      {"ENTRY P\nFUNCTION: P ( ) -> ( ) {\n  NONSENSE\n}", "line 3"},
      {"ENTRY P\nFUNCTION: P ( ) -> ( ) {\n  $0 = CONST INT x\n YIELD\n}", "constant"},
      {"ENTRY P\nFUNCTION: P ( ) -> NEVER {\n YIELD\n}", "NEVER"},
      {"ENTRY P\nFUNCTION: P ( ) -> ( ) {\n  $99999999 = CONST INT 1\n YIELD\n}", "assigned"},
  };
  for (const auto& [text, message] : cases) {
    CAPTURE(text);
    std::string error;
    CHECK_FALSE(parse_module(text, error));
    CHECK_THAT(error, Catch::Contains(message));
  }
}

}  // namespace
}  // namespace fcode::testing
