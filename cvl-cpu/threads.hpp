// Worker threads behind a C interface.
//
// The threads are those of oneTBB, which exists as a shared library only. Loading it, and the C++
// library that it needs, takes longer than a small program runs. The programs of the project
// therefore contain neither: they load a module with threads.cpp in it when there is work to share
// (threads_loader.cpp). Everybody else links threads.cpp and oneTBB. Which of the two supplies
// thread_library() is decided by the CMake property NESL_LOADS_THREADS of what is linked.
//
// Program and module have a C++ library each, so no exception and no C++ object crosses here.
#pragma once

#include <chrono>
#include <cstdint>

namespace cvl::cpu {

extern "C" {

/// What the module exports, under the name cvl_cpu_thread_library.
struct ThreadLibrary {
  /// An arena of `threads` threads, the caller's among them, which have been started; null when
  /// memory is short.
  void* (*create)(int threads);
  void (*destroy)(void* arena);
  /// Calls call(object, index) for 0 <= index < count on the threads of the arena, each index once,
  /// and waits for all. `call` must not throw. `separate`: every index is a task of its own,
  /// otherwise neighbours may share one. False when memory is short: some calls were not made.
  bool (*run)(void* arena, std::int64_t count, void (*call)(void* object, std::int64_t index),
              void* object, bool separate);
};

}  // extern "C"

/// The library of threads; null when it cannot be loaded, which the first call reports on the
/// standard error output.
const ThreadLibrary* thread_library();

/// What asking for the library for the first time costs, when it has to be loaded.
std::chrono::microseconds cost_of_threads();

}  // namespace cvl::cpu
