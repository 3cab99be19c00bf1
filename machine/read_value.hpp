// Values read as text: ( 1 2 3 )   ( 1.5 -inf 0x10 )   ( T F )   [ 2 0 3 ]   "any characters"
#pragma once

#include <string>

#include "cvl/backend.hpp"
#include "machine/byte_buffer.hpp"

namespace vinterp {

/// What a read gives: the value, and the reason if it failed (empty on success).
struct ReadResult {
  cvl::Value value;
  std::string error;
};

/// Reads one value of the written type (INT, BOOL, FLOAT, SEGDES or CHAR) and stops right behind
/// its closing character. On failure the value is an empty one of the same type, and the input up
/// to and including the offending character is used up. INT values wrap to the width of the run.
/// Throws Failure when the memory limit is reached.
ReadResult read_value(cvl::Backend& backend, vcode::Type written, InputBuffer& input);

/// The empty value of the type that a written type stands for.
cvl::Value empty_value(cvl::Backend& backend, vcode::Type written);

}  // namespace vinterp
