// Verifying ends, names every instruction it complains about, and gives an effect for each
// function.
#include "support.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"
#include "vcode/printer.hpp"
#include "vcode/verifier.hpp"

using namespace vcode;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = fuzzing::make_source(data, size);
  Diagnostics diagnostics;
  auto program = parse(source, diagnostics);
  if (!program) return 0;
  const auto linked = link(std::move(*program), diagnostics);
  fuzzing::check(linked.has_value() != diagnostics.has_errors(), "refused means an error");
  if (!linked) return 0;
  for (std::uint32_t i = 0; i < linked->code.size(); ++i) {
    const LinkedFunction& function = linked->function_at(i);
    fuzzing::check(function.begin <= i && i < function.end, "instructions belong to functions");
    print(linked->code[i], *linked);
  }

  const Verification verification = verify(*linked, diagnostics, {.warn_guarded = true});
  const std::size_t functions = linked->functions.size();
  fuzzing::check(verification.effects.size() == functions, "an effect for each function");
  fuzzing::check(verification.reachable[linked->entry], "the entry is reachable");
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    fuzzing::check(static_cast<bool>(diagnostic.span) || diagnostic.severity == Severity::Warning,
                   "errors have a place");
  }
  print(verification, *linked);
  render(diagnostics, source.get(), {});
  return 0;
}
