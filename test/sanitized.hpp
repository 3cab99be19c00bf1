// Programs with sanitizers are ten to fifty times as slow: they see less of what there is much of.
#pragma once

#include <algorithm>

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

}  // namespace testing
