#include "neslc/front/lexer.hpp"

#include <catch2/catch.hpp>

#include "support.hpp"

namespace neslc::testing {
namespace {

using Kind = Token::Kind;

// The tokens, separated by blanks; names in lower case, strings in quotes.
std::string tokens(const std::string& text) {
  std::string result;
  for (const Token& token : tokenize(*make_source(text))) {
    if (token.kind == Kind::End) break;
    if (!result.empty()) result += ' ';
    if (token.kind == Kind::String) {
      result += '"' + token.text + '"';
    } else if (token.kind == Kind::Character) {
      result += '`' + token.text;
    } else if (token.kind == Kind::Error) {
      result += "<error>";
    } else {
      result += token.text;
    }
  }
  return result;
}

Kind kind(const std::string& text) {
  return tokenize(*make_source(text))[0].kind;
}

TEST_CASE("punctuation is the longest match", "[lexer]") {
  CHECK(tokens("a<-1") == "a <- 1");
  CHECK(tokens("a < -1") == "a < - 1");
  CHECK(tokens("{x:x in s|x>1}") == "{ x : x in s | x > 1 }");
  CHECK(tokens("a||b|=c&=d::e:=f=>g==h/=i<=j>=k++l>>m") ==
        "a || b |= c &= d :: e := f => g == h /= i <= j >= k ++ l >> m");
  CHECK(tokens("a---b") == "a - - - b");
}

TEST_CASE("numbers", "[lexer]") {
  for (const char* text : {"1.5", ".25", "4.", "1e2", "1.5E-3", "1E+2"}) {
    INFO(text);
    CHECK(kind(text) == Kind::Float);
    CHECK(tokens(text) == text);
  }
  CHECK(kind("007") == Kind::Integer);
  CHECK(tokens("2x") == "2 x");
  CHECK(tokens("1e") == "1 e");
  CHECK(tokens("1e+") == "1 e +");
  CHECK(tokens("3 .") == "3 .");
}

TEST_CASE("names have no case, characters and strings have", "[lexer]") {
  CHECK(tokens("FooBar _x1 LET `A \"AbC\"") == "foobar _x1 let `A \"AbC\"");
  CHECK(kind("Let") == Kind::Keyword);
  CHECK(kind("T") == Kind::Name);
  CHECK(kind("time") == Kind::Name);
}

TEST_CASE("comments are blanks", "[lexer]") {
  CHECK(tokens("a % b ; \" ` % c") == "a c");
  CHECK(tokens("a%x%b%y%c") == "a b c");
  CHECK(tokens("`%;") == "`% ;");
  CHECK(tokens("\"a % b\"") == "\"a % b\"");
  CHECK(tokens("a % b") == "a <error>");
}

TEST_CASE("strings and characters", "[lexer]") {
  CHECK(tokens(R"("a\"b\\c\nd")") == R"("a"b\cnd")");
  CHECK(tokens("\"two\nlines\"") == "\"two\nlines\"");
  CHECK(tokens("\"open") == "<error>");
  CHECK(tokens("\"open\\") == "<error>");
  CHECK(tokens("` ") == "` ");
  CHECK(tokens("``") == "``");
  CHECK(tokens("`") == "<error>");
}

TEST_CASE("other characters are one error a run", "[lexer]") {
  CHECK(tokens("a \xc3\xa9\x01~ b") == "a <error> b");
}

TEST_CASE("tokens know their place", "[lexer]") {
  const auto all = tokenize(*make_source("a\n  %\n% bc"));
  CHECK(all[1].line == 3);
  CHECK(all[1].column == 3);
  CHECK(all[1].begin == 8);
  CHECK(all[1].end == 10);
}

TEST_CASE("internal names contain dots", "[lexer]") {
  const auto all = tokenize(*make_source("seq.gather(1.5)"), {.dotted_names = true});
  CHECK(all[0].text == "seq.gather");
  CHECK(all[2].kind == Kind::Float);
  CHECK(tokens("seq.gather") == "seq . gather");
}

}  // namespace
}  // namespace neslc::testing
