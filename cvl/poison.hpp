// Tells AddressSanitizer which bytes of pooled memory are in use; nothing in other builds.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define CVL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CVL_ASAN 1
#endif
#endif

#if defined(CVL_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace cvl {

inline void poison([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(CVL_ASAN)
  __asan_poison_memory_region(data, bytes);
#endif
}

inline void unpoison([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(CVL_ASAN)
  __asan_unpoison_memory_region(data, bytes);
#endif
}

}  // namespace cvl
