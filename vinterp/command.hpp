// The command `vinterp` from its arguments to its exit status.
#pragma once

#include <span>
#include <string>

namespace vinterp {

/// Runs the command (arguments without the program's name) and returns the exit status. Reports
/// every error on standard error; throws nothing.
int run_command(std::span<const std::string> arguments) noexcept;

}  // namespace vinterp
