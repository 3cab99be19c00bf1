#include "property/random.hpp"

#include <cstdlib>
#include <string>

namespace property {

std::uint64_t test_seed() {
  const char* text = std::getenv("NESL_TEST_SEED");
  return text == nullptr ? 20120415 : std::strtoull(text, nullptr, 10);
}

std::int64_t shrink_factor() {
  if (const char* text = std::getenv("NESL_TEST_SHRINK")) {
    return std::max<std::int64_t>(1, std::strtoll(text, nullptr, 10));
  }
#if defined(NESL_SANITIZED)
  return 20;
#else
  return 1;
#endif
}

}  // namespace property
