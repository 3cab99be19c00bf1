// Test cases that cannot run on this machine, so that nobody takes them for passed.
#pragma once

#include <string>

namespace testing {

/// What a test program ends with when nothing failed but some case was left out: ctest shows such a
/// run as skipped. Cases that call skip() therefore have ctest entries of their own.
inline constexpr int kSkipped = 77;

/// Notes that the rest of a test case is left out, and says why. The case still has to return.
void skip(const std::string& why);

}  // namespace testing
