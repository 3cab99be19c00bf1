// What the commands of this project have in common: no failure escapes without a message.
#pragma once

#include <functional>
#include <string_view>

namespace vinterp {

/// Runs a command and returns its exit status. A command line that cannot be understood
/// (UsageError), a lack of memory and what should not happen become messages on standard error.
int guarded(std::string_view program, const std::function<int()>& command) noexcept;

}  // namespace vinterp
