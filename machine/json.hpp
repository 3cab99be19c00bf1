// Texts of JSON.
#pragma once

#include <string>
#include <string_view>

#include "vcode/diagnostics.hpp"

namespace vinterp {

/// A text as JSON string; anything but printable ASCII is escaped, byte by byte.
std::string json_string(std::string_view text);

/// A diagnostic as one line of JSON: file, line, column, length (0 where there is no place),
/// severity, code, message, function, notes (text, line, column), help.
std::string json_line(const vcode::Diagnostic& diagnostic, const vcode::Source* source);

}  // namespace vinterp
