// Facts about this build, for --version and reports of faults.
#pragma once

#include <string_view>

namespace vinterp {

struct BuildInfo {
  std::string_view version;     // semantic version of the project
  std::string_view commit;      // short hash; "unknown" outside a checkout
  std::string_view build_type;  // "Release", ...
  std::string_view compiler;    // "GNU 12.2.0"
};

extern const BuildInfo kBuildInfo;

}  // namespace vinterp
