// Names and words are compared without regard to case (reference 10.2).
#pragma once

#include <string>
#include <string_view>

namespace neslc {

inline char lower_case(char c) {
  return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower_case(c);
  return result;
}

}  // namespace neslc
