// The library functions that are written in NESL; follows library_text().
#pragma once

#include <string_view>

namespace neslc {

std::string_view definitions_text();

}  // namespace neslc
