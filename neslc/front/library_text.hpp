// The text of the library that every session starts with.
#pragma once

#include <string_view>

namespace neslc {

std::string_view library_text();

}  // namespace neslc
