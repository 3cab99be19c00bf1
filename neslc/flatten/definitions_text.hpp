// The library functions that are written in NESL; follows library_text().
#pragma once

#include <string>
#include <string_view>

namespace neslc {

std::string_view definitions_text();
/// Functions with their types and bodies, whose names programs may define anew: pictures, and what
/// only programs of the classic system need.
std::string open_definitions_text();

}  // namespace neslc
