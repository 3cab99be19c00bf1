// What `vinterp` says about itself.
#pragma once

#include <string>

#include "cli/command_line.hpp"

namespace vinterp {

const CommandLine& command_line();

/// Version, commit, build and vector libraries of `program`.
std::string version_text(std::string_view program);
/// The same as a JSON object.
std::string version_json(std::string_view program);

}  // namespace vinterp
