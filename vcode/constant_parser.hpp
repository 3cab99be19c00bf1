// The operand of CONST.
#pragma once

#include <optional>

#include "vcode/program.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {

/// Reads what follows the word CONST. `span`, the place of that word, is extended to the last token
/// on its line. After an error, which has been reported, the reader stands at the token at fault.
std::optional<Constant> parse_constant(TokenReader& reader, Span& span);

}  // namespace vcode
