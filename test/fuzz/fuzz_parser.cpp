// A text is refused with errors, or printing and parsing again give the same program, also if its
// kernels are read later.
#include "support.hpp"
#include "vcode/parser.hpp"
#include "vcode/printer.hpp"

using namespace vcode;

namespace {

/// Whatever seals the text has: if the program has no fault, kernels that are read later are the
/// same; if it has, that does no harm.
void check_later(const std::shared_ptr<const Source>& source, const Program* expected) {
  Diagnostics diagnostics;
  const auto program = parse(source, diagnostics, true);
  if (expected != nullptr) fuzzing::check(program.has_value(), "a program can be read in parts");
  if (!program) return;
  for (std::size_t k = 0; k < program->kernels.size(); ++k) {
    const Kernel& kernel = program->kernels[k];
    if (!kernel.unread) continue;
    const auto read = read_kernel(*source, *program->fcode, kernel, diagnostics);
    if (expected == nullptr) continue;
    fuzzing::check(read && same_kernel(*read, expected->kernels[k]),
                   "reading later changes nothing");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = fuzzing::make_source(data, size);
  Diagnostics diagnostics;
  const auto program = parse(source, diagnostics);
  fuzzing::check(program.has_value() != diagnostics.has_errors(), "refused means an error");
  diagnostics.sort();
  render(diagnostics, source.get(), {});
  check_later(source, program ? &*program : nullptr);
  if (!program) return 0;
  check_later(std::make_shared<Source>("sealed", print_sealed(*program)), &*program);

  const std::string text = print(*program);
  Diagnostics again_diagnostics;
  const auto again = parse(std::make_shared<Source>("printed", text), again_diagnostics);
  fuzzing::check(again.has_value(), "a printed program can be parsed");
  fuzzing::check(again_diagnostics.all().empty(), "a printed program gives no warnings");
  fuzzing::check(same_program(*program, *again), "printing keeps the program");
  fuzzing::check(print(*again) == text, "printing is stable");
  return 0;
}
