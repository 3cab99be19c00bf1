#include "vcode/diagnostics.hpp"

#include <string>

#include <catch2/catch.hpp>

namespace vcode {
namespace {

Diagnostic at(Span span, std::string message = "message") {
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::Syntax;
  diagnostic.message = std::move(message);
  diagnostic.span = span;
  return diagnostic;
}

std::string rendered(const std::string& text, Span span) {
  const Source source("p.vcode", text);
  return render(at(span), &source, {});
}

TEST_CASE("a diagnostic in full", "[diagnostics]") {
  const Source source("p.vcode", "FUNC f\n  + BOOL\nRET\n");
  Diagnostic diagnostic = at({2, 5, 4}, "expected INT");
  diagnostic.function = "f";
  diagnostic.notes = {{"a remark", {}}, {"defined here", {1, 6, 1}}};
  diagnostic.hint = "write INT";
  CHECK(render(diagnostic, &source, {}) ==
        "p.vcode:2:5: error: expected INT, in `f` [V0104]\n"
        "    2 |   + BOOL\n"
        "      |     ^^^^\n"
        "note: a remark\n"
        "p.vcode:1:6: note: defined here\n"
        "    1 | FUNC f\n"
        "      |      ^\n"
        "help: write INT\n");
}

TEST_CASE("colour marks the parts", "[diagnostics]") {
  const Source source("p.vcode", "abc");
  Diagnostic diagnostic = at({1, 2, 1});
  diagnostic.hint = "hint";
  CHECK(render(diagnostic, &source, {.color = true, .program = "vinterp"}) ==
        "\x1b[1mp.vcode:1:2\x1b[0m: \x1b[1;31merror:\x1b[0m message [V0104]\n"
        "    1 | abc\n"
        "      |  \x1b[1;32m^\x1b[0m\n"
        "\x1b[1;32mhelp:\x1b[0m hint\n");
}

TEST_CASE("without a place or a text the program's name comes first", "[diagnostics]") {
  const Source source("p.vcode", "abc");
  CHECK(render(at({}), &source, {.color = false, .program = "tool"}) ==
        "tool: error: message [V0104]\n");
  CHECK(render(at({1, 1, 1}), nullptr, {}) == "vinterp: error: message [V0104]\n");
  Diagnostic warning = at({});
  warning.severity = Severity::Warning;
  CHECK(render(warning, nullptr, {}) == "vinterp: warning: message [V0104]\n");
}

TEST_CASE("tabs do not shift the caret", "[diagnostics]") {
  CHECK(rendered("\ta\tbcd\te", {1, 4, 3}) ==
        "p.vcode:1:4: error: message [V0104]\n"
        "    1 |     a   bcd e\n"
        "      |         ^^^\n");
}

TEST_CASE("UTF-8 does not shift the caret", "[diagnostics]") {
  CHECK(rendered("{\xC3\xA9\xE6\xBC\xA2} abc", {1, 9, 3}) ==
        "p.vcode:1:9: error: message [V0104]\n"
        "    1 | {\xC3\xA9\xE6\xBC\xA2} abc\n"
        "      |       ^^^\n");
}

TEST_CASE("control characters and invalid bytes are escaped", "[diagnostics]") {
  CHECK(rendered("\x1b[31m \xff \xE2\x80\xAE x", {1, 13, 1}) ==
        "p.vcode:1:13: error: message [V0104]\n"
        "    1 | \\x1b[31m \\xff \\u{202e} x\n"
        "      |                        ^\n");
  CHECK(escaped("a\tb\n\xC3") == "a\\x09b\\x0a\\xc3");
  CHECK(escaped("\xED\xA0\x80 \xC0\x80 \xF5") == "\\xed\\xa0\\x80 \\xc0\\x80 \\xf5");
}

TEST_CASE("a long line is cut to a window around the place", "[diagnostics]") {
  const std::string line(1000, 'a');
  const std::string text = rendered(line + "bbb" + line, {1, 1001, 3});
  CHECK(text ==
        "p.vcode:1:1001: error: message [V0104]\n"
        "    1 | ..." +
            std::string(60, 'a') + "bbb" + std::string(34, 'a') + "...\n" + "      |    " +
            std::string(60, ' ') + "^^^\n");
  // A token that is longer than the window is marked as far as it can be seen.
  CHECK(rendered(line, {1, 1, 1000}) ==
        "p.vcode:1:1: error: message [V0104]\n"
        "    1 | " +
            std::string(100, 'a') + "...\n" + "      | " + std::string(100, '^') + "\n");
}

TEST_CASE("the window never begins inside a character", "[diagnostics]") {
  std::string line;
  for (int i = 0; i < 100; ++i) line += "\xC3\xA9";
  for (std::uint32_t shift : {0u, 1u}) {
    const std::string text = rendered(std::string(shift, 'x') + line + "z", {1, 201 + shift, 1});
    CHECK(text.find("\\x") == std::string::npos);
  }
}

TEST_CASE("places outside of the text are harmless", "[diagnostics]") {
  CHECK(rendered("", {1, 1, 0}) ==
        "p.vcode:1:1: error: message [V0104]\n"
        "    1 | \n"
        "      | ^\n");
  CHECK_FALSE(rendered("ab", {7, 3, 2}).empty());
  CHECK_FALSE(rendered("ab", {1, 4000000000, 4000000000}).empty());
}

TEST_CASE("lines end at LF or CR LF", "[diagnostics]") {
  const Source source("p", "a\r\n\nb\r\n");
  CHECK(source.line_count() == 4);
  CHECK(source.line(1) == "a");
  CHECK(source.line(2).empty());
  CHECK(source.line(3) == "b");
  CHECK(source.line(4).empty());
  CHECK(source.line(5).empty());
  CHECK(source.line(0).empty());
}

TEST_CASE("collecting, limiting and sorting", "[diagnostics]") {
  Diagnostics diagnostics(2);
  diagnostics.add(at({5, 1, 1}));
  diagnostics.add(at({3, 9, 1}));
  diagnostics.add(at({1, 1, 1}));
  CHECK_FALSE(diagnostics.keeps(Severity::Error));
  CHECK(diagnostics.keeps(Severity::Warning));
  Diagnostic warning = at({});
  warning.severity = Severity::Warning;
  for (int i = 0; i < 3; ++i) diagnostics.add(warning);
  CHECK(diagnostics.error_count() == 3);
  CHECK(diagnostics.dropped() == 1);
  CHECK(diagnostics.dropped_warnings() == 1);
  diagnostics.sort();
  REQUIRE(diagnostics.all().size() == 4);
  CHECK_FALSE(diagnostics.all()[0].span);
  CHECK(diagnostics.all()[2].span.line == 3);
  const std::string text = render(diagnostics, nullptr, {});
  CHECK(text.find("vinterp: 1 more error not shown\n") != std::string::npos);
  CHECK(text.find("vinterp: 1 more warning not shown\n") != std::string::npos);
}

}  // namespace
}  // namespace vcode
