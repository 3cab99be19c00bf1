// The vector libraries that this build has.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "cvl/backend.hpp"

namespace vinterp {

/// What may be written after --backend.
inline constexpr std::string_view kBackendChoices = "auto|cpu|cuda";

/// Names of the libraries in this build.
std::vector<std::string_view> built_backends();

/// One line for each device that a library of this build could run on: its library, and what it is
/// or why it cannot be used.
std::string device_list();

/// The library that the options ask for. Throws cvl::Failure (NoBackend) when it is not in this
/// build or cannot be used.
std::unique_ptr<cvl::Backend> make_backend(const Options& options);

}  // namespace vinterp
