// Tells ThreadSanitizer about synchronisation that it cannot see: Debian's oneTBB is not built with
// it. Nothing in other builds.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define CVL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CVL_TSAN 1
#endif
#endif

#if defined(CVL_TSAN)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace cvl::cpu {

/// A point in time that one thread publishes and others observe: what happened before publish()
/// happened before what follows observe().
class HappensBefore {
 public:
  void publish() {
#if defined(CVL_TSAN)
    __tsan_release(this);
#endif
  }
  void observe() {
#if defined(CVL_TSAN)
    __tsan_acquire(this);
#endif
  }
};

}  // namespace cvl::cpu
