// The `fcode-opt` command.
#pragma once

#include <span>
#include <string>

namespace fcode {

/// Runs the command; returns its exit status.
int run_command(std::span<const std::string> arguments) noexcept;

}  // namespace fcode
