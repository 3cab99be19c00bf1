#include "vcode/opcodes.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "vcode/keywords.hpp"

namespace vcode {
namespace {

TEST_CASE("every operation is found by its spelling", "[opcodes]") {
  CHECK(all_ops().size() == kOpCount);
  for (const OpInfo& op : all_ops()) {
    CHECK(find_op(op.text) == op.op);
    CHECK(&info(op.op) == &op);
    CHECK(is_reserved(op.text) == (op.op != Op::Run));  // a word of FCODE 3 only
    CHECK_FALSE(op.doc.empty());
  }
}

TEST_CASE("other words are no operations", "[opcodes]") {
  for (const char* word : {"", "copy", "COPY_", "COP", "INT", "MAIN", "FUNC", "FUSED", "T", "+_",
                           "+_SCANS", "A_VERY_LONG_WORD_THAT_IS_NO_OPERATION"}) {
    CHECK_FALSE(find_op(word));
  }
}

TEST_CASE("reserved words", "[opcodes]") {
  for (const char* word : {"FUNC", "T", "F", "I", "O", "INT", "CHAR", "STDIN", "NULL_STREAM"}) {
    CHECK(is_reserved(word));
  }
  for (const char* word : {"MAIN", "MAIN_1", "t", "PAIRS", "copy"}) CHECK_FALSE(is_reserved(word));
}

TEST_CASE("allowed types follow the column", "[opcodes]") {
  CHECK(info(Op::Add).allows(Type::Int));
  CHECK(info(Op::Add).allows(Type::Float));
  CHECK_FALSE(info(Op::Add).allows(Type::Bool));
  CHECK(info(Op::Equal).allows(Type::Bool));
  CHECK(info(Op::And).allows(Type::Bool));
  CHECK_FALSE(info(Op::And).allows(Type::Float));
  CHECK(info(Op::Read).allows(Type::Char));
  CHECK(info(Op::Read).allows(Type::Segdes));
  CHECK_FALSE(info(Op::Read).allows(Type::Pair));
  CHECK_FALSE(info(Op::Permute).allows(Type::Char));
  CHECK_FALSE(info(Op::Srand).allows(Type::Float));
  CHECK_FALSE(info(Op::Modulo).takes_type());
}

TEST_CASE("length rules are read from the checks column", "[opcodes]") {
  const auto rules = length_rules(Op::DFPermute);
  REQUIRE(rules.size() == 5);
  CHECK(rules[2].left.operand == 4);
  CHECK(rules[2].left.described);
  CHECK(rules[2].right.operand == 0);
  CHECK_FALSE(rules[2].right.described);
  CHECK(length_rules(Op::Length).empty());
  CHECK(length_rules(Op::AddScan).size() == 1);
}

TEST_CASE("letters stand for types", "[opcodes]") {
  CHECK(operand_type('T', Type::Float) == Type::Float);
  CHECK(operand_type('T', Type::Char) == Type::Int);
  CHECK(operand_type('S', Type::Int) == Type::Segdes);
  CHECK_FALSE(operand_type('?', Type::Int));
  CHECK_FALSE(operand_type('*', Type::Int));
}

TEST_CASE("near words are found", "[keywords]") {
  CHECK(nearest_operation("copy") == "COPY");
  CHECK(nearest_operation("CPY") == "COPY");
  CHECK(nearest_operation("PREMUTE") == "PERMUTE");
  CHECK(nearest_operation("MAKESEGDES") == "MAKE_SEGDES");
  CHECK(nearest_operation("+INT") == "+ INT");
  CHECK(nearest_operation("+_SCANFLOAT") == "+_SCAN FLOAT");
  CHECK(nearest_operation("+BOOL").empty());
  CHECK(nearest_operation("FUN") == "FUNC");
  CHECK(nearest_operation("entirely_different").empty());
  CHECK(nearest_operation("x").empty());
  CHECK(nearest_operation(std::string(100000, 'A')).empty());
  CHECK(edit_distance("abcd", "acbd", 3) == 1);
  CHECK(edit_distance("", "abc", 3) == 3);
  CHECK(edit_distance("abc", "xyz", 1) == 2);
}

}  // namespace
}  // namespace vcode
