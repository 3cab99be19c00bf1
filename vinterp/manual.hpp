// The manual page.
#pragma once

#include <string>

namespace vinterp {

/// Section 1, in the man macros of troff.
std::string manual_page();

}  // namespace vinterp
