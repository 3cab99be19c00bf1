// The commands `set` and `defconfig`, and what the configurations mean for `&=`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/options.hpp"
#include "neslc/front/ast.hpp"

namespace neslc {

class Toplevel;
struct Configuration;

// Both throw CommandError.
void change_setting(Toplevel& top, const ast::CommandForm& command);
void make_configuration(Toplevel& top, const ast::CommandForm& command);

/// What may follow `set`.
std::span<const std::string_view> setting_names();

/// Names of the functions that are traced or profiled, separated by blanks.
std::string traced_names(Toplevel& top);
std::string profiled_names(Toplevel& top);

/// The configuration of that name, or nothing. The names of backends stand for the present
/// configuration with that backend.
std::optional<Configuration> find_configuration(const Toplevel& top, const std::string& name);
inline constexpr const char* kConfigurationHint =
    "`show configs;` lists them, cpu and cuda always exist";

/// Where and with which limits a binding `&=` is evaluated: as its options say, else as the present
/// configuration. Throws StaticError, and cvl::Failure in the sandbox.
vinterp::Options background_machine(const Toplevel& top, const ast::Form& form);

}  // namespace neslc
