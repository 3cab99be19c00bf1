// Programs with sanitizers are ten to fifty times as slow: they see less of what there is much of.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace testing {

#if defined(NESL_SANITIZED)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// So many random programs, operations of one kind and the like; a fifth of them under sanitizers.
constexpr int some_of(int count) {
  return kSanitized ? std::max(1, count / 5) : count;
}

/// So many if the environment variable says so.
inline int some_of(int count, const char* variable) {
  const char* const wanted = std::getenv(variable);
  return wanted != nullptr ? std::atoi(wanted) : some_of(count);
}

/// All of these sizes; the first and the last one under sanitizers.
inline std::vector<int> some_sizes(std::initializer_list<int> sizes) {
  if (kSanitized) return {*sizes.begin(), *(sizes.end() - 1)};
  return sizes;
}

}  // namespace testing
