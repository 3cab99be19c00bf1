// What --help and --version print.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace vinterp {

/// Fits 80 columns.
std::string help_text();
std::string version_text();

inline constexpr std::string_view kPurpose = "vinterp - run VCODE, the stack code of NESL";

/// Facts that help and manual share.
struct Explained {
  std::string_view name;
  std::string_view text;
};
std::span<const Explained> examples();
std::span<const Explained> environment_variables();
std::span<const Explained> exit_statuses();

}  // namespace vinterp
