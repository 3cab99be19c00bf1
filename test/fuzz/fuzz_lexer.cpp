// Tokens lie in the text, one behind the other, with places that name them.
#include "support.hpp"
#include "vcode/lexer.hpp"

using namespace vcode;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = fuzzing::make_source(data, size);
  Diagnostics diagnostics;
  Lexer lexer(*source, diagnostics);
  const char* at = source->text().data();
  const char* const end = at + source->text().size();
  for (Token token = lexer.next(); token.kind != Token::Kind::End; token = lexer.next()) {
    fuzzing::check(token.text.data() >= at, "tokens do not overlap");
    at = token.text.data() + token.text.size();
    fuzzing::check(at <= end, "tokens end inside the text");
    if (token.kind == Token::Kind::String) continue;
    const std::string_view line = source->line(token.span.line);
    fuzzing::check(line.substr(token.span.column - 1, token.span.length) == token.text,
                   "the place of a token leads to its text");
  }
  fuzzing::check(lexer.next().kind == Token::Kind::End, "the end stays the end");
  fuzzing::check(lexer.broken() == diagnostics.has_errors(), "only a broken text is an error");
  render(diagnostics, source.get(), {});
  return 0;
}
