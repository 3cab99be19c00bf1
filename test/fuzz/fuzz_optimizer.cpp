// The optimizer takes any program that links, keeps a sound form behind every pass and gives a
// program that links again. Other texts go to the reader of the form.
#include <string>

#include "fcode-opt/optimizer.hpp"
#include "ir/text.hpp"
#include "support.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"

using namespace vcode;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = fuzzing::make_source(data, size);
  Diagnostics diagnostics;
  const auto program = parse(source, diagnostics);
  if (!program) {
    std::string error;
    fuzzing::check(fcode::parse_module(source->text(), error).has_value() == error.empty(),
                   "refused means an error");
    return 0;
  }
  if (!link(*program, diagnostics)) return 0;
  fcode::OptimizerOptions options;
  options.check = true;  // a fault is an exception that nobody catches
  const Program optimized = fcode::optimize(*program, options);
  fuzzing::check(link(optimized, diagnostics).has_value(), "the result links");
  return 0;
}
