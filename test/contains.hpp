// Is a text part of another?
#pragma once

#include <string_view>

namespace testing {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace testing
