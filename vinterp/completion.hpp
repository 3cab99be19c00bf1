// Completion of the command line in shells.
#pragma once

#include <string>

namespace vinterp {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace vinterp
