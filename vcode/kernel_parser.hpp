// The kernel definitions of FCODE.
#pragma once

#include <optional>

#include "vcode/instruction_parser.hpp"
#include "vcode/kernel.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {

/// Reads one definition, the reader standing at its word KERNEL; afterwards it stands behind END or
/// at the next definition. Names are resolved; the rules are checked by verify_kernel().
/// After errors, which have been reported, several for one kernel, the result is empty. The grammar
/// is in docs/fcode.md.
std::optional<Kernel> parse_kernel(TokenReader& reader, InstructionParser& instructions);

}  // namespace vcode
