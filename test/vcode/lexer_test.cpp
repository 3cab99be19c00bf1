#include "vcode/lexer.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace vcode {
namespace {

using Kind = Token::Kind;

struct Lexed {
  Source source;
  Diagnostics diagnostics;
  std::vector<Token> tokens;

  explicit Lexed(std::string text) : source("p.vcode", std::move(text)) {
    Lexer lexer(source, diagnostics);
    for (Token token = lexer.next(); token.kind != Kind::End; token = lexer.next()) {
      tokens.push_back(token);
    }
  }
};

Kind kind_of(const std::string& text) {
  const Lexed lexed(text);
  REQUIRE(lexed.tokens.size() == 1);
  CHECK(lexed.tokens[0].text == text);
  CHECK(lexed.diagnostics.all().empty());
  return lexed.tokens[0].kind;
}

std::vector<std::string> texts(const Lexed& lexed) {
  std::vector<std::string> result;
  for (const Token& token : lexed.tokens) result.emplace_back(token.text);
  return result;
}

TEST_CASE("numbers and words are told apart by the whole run of characters", "[lexer]") {
  for (const char* text : {"0", "5", "-5", "+5", "007", "99999999999999999999999"}) {
    CHECK(kind_of(text) == Kind::Integer);
  }
  for (const char* text : {"1.", "-1.e2", "+0.5", "1.5E+3", "1.5e-3", "0.0", "1.e0"}) {
    CHECK(kind_of(text) == Kind::Real);
  }
  for (const char* text :
       {"5A",  "1_000", "1e5", ".5", "1.5e", "1.5e+", "0.1d0", "inf", "--5", "1.2.3",
        "1-2", "+INT",  "+",   "-",  "I",    "O",     "copy",  "+-",  "!=",  "->_1"}) {
    CHECK(kind_of(text) == Kind::Word);
  }
}

TEST_CASE("brackets, quotes and comments need no blanks around them", "[lexer]") {
  const Lexed lexed("CONST INT(1 -2)CONST CHAR\"a)b\"x{ \" { }y");
  CHECK(texts(lexed) == std::vector<std::string>{"CONST", "INT", "(", "1", "-2", ")", "CONST",
                                                 "CHAR", "a)b", "x", "y"});
  CHECK(lexed.tokens[8].kind == Kind::String);
  CHECK(lexed.diagnostics.all().empty());
}

TEST_CASE("all blanks separate tokens silently", "[lexer]") {
  const Lexed lexed("a b\tc\nd\re\ff\vg\r\nh");
  CHECK(lexed.tokens.size() == 8);
  CHECK(lexed.diagnostics.all().empty());
}

TEST_CASE("a backslash in a string is an ordinary character", "[lexer]") {
  const Lexed lexed("\"a\\n\" \"\"");
  CHECK(texts(lexed) == std::vector<std::string>{"a\\n", ""});
}

TEST_CASE("lines are counted in comments and strings too", "[lexer]") {
  const Lexed lexed("a {\n\n} b \"x\ny\" c\n  d");
  REQUIRE(lexed.tokens.size() == 5);
  CHECK(lexed.tokens[1].span == Span{3, 3, 1});
  CHECK(lexed.tokens[2].span == Span{3, 5, 2});  // the string's first line: quote and x
  CHECK(lexed.tokens[3].span == Span{4, 4, 1});
  CHECK(lexed.tokens[4].span == Span{5, 3, 1});
}

TEST_CASE("unexpected characters are skipped with one warning a run", "[lexer]") {
  const Lexed lexed(std::string("1,2 ;#? \0x caf\xC3\xA9", 16));
  CHECK(texts(lexed) == std::vector<std::string>{"1", "2", "x", "caf"});
  REQUIRE(lexed.diagnostics.all().size() == 4);
  CHECK_FALSE(lexed.diagnostics.has_errors());
  CHECK(lexed.diagnostics.all()[0].code == ErrorCode::UnexpectedCharacter);
  CHECK(lexed.diagnostics.all()[2].message == "skipped `\\x00`, which has no meaning here");
  CHECK(lexed.diagnostics.all()[3].message == "skipped `\xC3\xA9`, which has no meaning here");
}

TEST_CASE("a comment or string without an end is an error and ends the tokens", "[lexer]") {
  const Lexed comment("a { b c");
  CHECK(texts(comment) == std::vector<std::string>{"a"});
  REQUIRE(comment.diagnostics.error_count() == 1);
  CHECK(comment.diagnostics.all()[0].code == ErrorCode::UnterminatedComment);
  CHECK(comment.diagnostics.all()[0].span == Span{1, 3, 1});

  const Lexed string("a\n \"b c");
  CHECK(texts(string) == std::vector<std::string>{"a"});
  REQUIRE(string.diagnostics.error_count() == 1);
  CHECK(string.diagnostics.all()[0].code == ErrorCode::UnterminatedString);
  CHECK(string.diagnostics.all()[0].span == Span{2, 2, 1});
}

TEST_CASE("a stray closing brace is an unexpected character", "[lexer]") {
  const Lexed lexed("{ a } } b");
  CHECK(texts(lexed) == std::vector<std::string>{"b"});
  CHECK(lexed.diagnostics.all().size() == 1);
}

TEST_CASE("an empty text has no tokens", "[lexer]") {
  CHECK(Lexed("").tokens.empty());
  CHECK(Lexed(" \n{}\n").tokens.empty());
}

}  // namespace
}  // namespace vcode
