// The commands `nesl` and `neslc`.
#pragma once

#include <span>
#include <string>

namespace neslc {

/// Does what the arguments (without the program's name) ask for. Returns the exit status; nothing
/// is thrown.
int run_nesl(const std::string& program, std::span<const std::string> arguments) noexcept;

}  // namespace neslc
