// The commands `set` and `defconfig`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "neslc/ast.hpp"

namespace neslc {

class Toplevel;

// Both throw CommandError.
void change_setting(Toplevel& top, const ast::CommandForm& command);
void make_configuration(Toplevel& top, const ast::CommandForm& command);

/// What may follow `set`.
std::span<const std::string_view> setting_names();

/// Names of the functions that are traced or profiled, separated by blanks.
std::string traced_names(Toplevel& top);
std::string profiled_names(Toplevel& top);

}  // namespace neslc
