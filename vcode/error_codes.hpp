// Every error that a user can meet, with a stable code; docs/errors.md explains each.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vcode {

enum class ErrorCode : std::uint16_t {
#define ERROR_CODE(id, ...) id,
#include "vcode/error_codes.def"
};

/// The kinds of failure; the value is the exit status of the programs.
enum class ErrorClass : std::uint8_t {
  Program = 1,      // the program text is wrong
  Usage = 2,        // the command line is wrong
  Runtime = 3,      // the program failed while it ran
  Limit = 4,        // out of memory, or a limit given by an option was reached
  Environment = 5,  // a device, driver or system service is missing
  Internal = 70,    // a fault of ours
};

struct ErrorInfo {
  ErrorCode code;
  std::string_view id;  // "V0101"
  ErrorClass error_class;
  std::string_view title;  // one line for the index
};

std::span<const ErrorInfo> all_errors();
const ErrorInfo& info(ErrorCode code);

}  // namespace vcode
