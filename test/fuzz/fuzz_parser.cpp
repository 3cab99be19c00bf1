// A text is refused with errors, or printing and parsing again give the same program.
#include "support.hpp"
#include "vcode/parser.hpp"
#include "vcode/printer.hpp"

using namespace vcode;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = fuzzing::make_source(data, size);
  Diagnostics diagnostics;
  const auto program = parse(source, diagnostics);
  fuzzing::check(program.has_value() != diagnostics.has_errors(), "refused means an error");
  diagnostics.sort();
  render(diagnostics, source.get(), {});
  if (!program) return 0;

  const std::string text = print(*program);
  Diagnostics again_diagnostics;
  const auto again = parse(std::make_shared<Source>("printed", text), again_diagnostics);
  fuzzing::check(again.has_value(), "a printed program can be parsed");
  fuzzing::check(again_diagnostics.all().empty(), "a printed program gives no warnings");
  fuzzing::check(same_program(*program, *again), "printing keeps the program");
  fuzzing::check(print(*again) == text, "printing is stable");
  return 0;
}
