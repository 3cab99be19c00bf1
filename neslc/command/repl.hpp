// The prompt: reads forms and commands line by line and carries them out.
#pragma once

#include "neslc/command/toplevel.hpp"

namespace neslc {

/// Until `exit`, `:quit` or the end of the input. With a terminal there is a prompt, line editing
/// and history; otherwise only results are printed. An error leaves the session as it was; Ctrl-C
/// stops an evaluation. Returns the exit status: 0, or without a terminal that of the last error.
int run_repl(Toplevel& top);

}  // namespace neslc
