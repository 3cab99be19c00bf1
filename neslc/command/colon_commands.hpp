// The commands of the prompt that begin with a colon.
#pragma once

#include <span>
#include <string_view>

#include "neslc/command/commands.hpp"

namespace neslc {

std::span<const CommandHelp> colon_command_help();

/// Is the text the beginning of a colon command whose expression goes on?
bool is_incomplete(std::string_view text);

/// Carries out the `:NAME ARGUMENT` that the source consists of, shows what it has to say. Throws
/// CommandError.
void run_colon_command(Toplevel& top, const vcode::Source& source);

}  // namespace neslc
