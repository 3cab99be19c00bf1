// Every program of docs/fcode.md is parsed, verified and run; what it prints stands behind it.
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "vcode/printer.hpp"
#include "vcode/verifier.hpp"
#include "vinterp/machine_support.hpp"

namespace {

std::string document() {
  std::ifstream file(NESL_SOURCE_DIR "/docs/fcode.md", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The next block of that kind; `at` moves behind it, or to npos.
std::string next_block(const std::string& text, const std::string& kind, std::size_t& at) {
  const std::string mark = "\n```" + kind + "\n";
  const std::size_t begin = text.find(mark, at);
  at = begin;
  if (begin == std::string::npos) return {};
  at = text.find("\n```\n", begin + mark.size());
  return text.substr(begin + mark.size(), at + 1 - begin - mark.size());
}

std::string verifier_messages(const std::string& text) {
  vcode::Diagnostics diagnostics;
  const auto source = std::make_shared<vcode::Source>("example.fcode", text);
  const auto program = vinterp::load_program(source, diagnostics);
  if (program) vcode::verify(*program, diagnostics);
  return vcode::render(diagnostics, source.get(), {});
}

TEST_CASE("the programs of the description of FCODE print what it says", "[document]") {
  const std::string text = document();
  int examples = 0;
  for (std::size_t at = 0;;) {
    const std::string program = next_block(text, "fcode", at);
    if (at == std::string::npos) break;
    const std::string expected = next_block(text, "text", at);
    INFO(program);
    CHECK(verifier_messages(program).empty());
    for (const cvl::Widths widths : {cvl::Widths{4, 8}, cvl::Widths{8, 8}}) {
      vinterp_test::RunOptions options;
      options.widths = widths;
      const vinterp_test::Ran ran = vinterp_test::run_program(program, options);
      CHECK(ran.messages.empty());
      CHECK(ran.stack == expected);
    }
    ++examples;
  }
  CHECK(examples == 7);
}

}  // namespace
