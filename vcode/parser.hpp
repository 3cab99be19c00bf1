// Program text to Program.
#pragma once

#include <memory>
#include <optional>

#include "vcode/diagnostics.hpp"
#include "vcode/program.hpp"
#include "vcode/source.hpp"

namespace vcode {

/// Parses a whole program. All errors of the text are reported, each once; with any error the
/// result is empty. Warnings (skipped characters) leave the result as it is.
///
/// In the result conditionals are balanced, every function ends with its only RET, counts are not
/// negative, the sum of the lengths of a descriptor fits in 63 bits, and kernels satisfy the static
/// rules of FCODE (kernel_verifier.hpp). Calls and runs are not looked up: see link.hpp. Time and
/// memory are linear in the length of the text, at any nesting depth.
std::optional<Program> parse(std::shared_ptr<const Source> source, Diagnostics& diagnostics);

}  // namespace vcode
