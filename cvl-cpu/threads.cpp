#include "cvl-cpu/threads.hpp"

#include <memory>
#include <new>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace cvl::cpu {

namespace tbb = oneapi::tbb;

namespace {

struct Arena {
  // More threads than processors are allowed: tests use them to provoke interleavings.
  explicit Arena(int threads)
      : control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena(threads) {}

  tbb::global_control control;
  tbb::task_arena arena;
};

void* create(int threads) {
  try {
    auto arena = std::make_unique<Arena>(threads);
    // Starts the threads.
    arena->arena.execute([threads] {
      tbb::parallel_for(
          0, threads, [](int) {}, tbb::simple_partitioner{});
    });
    return arena.release();
  } catch (...) {
    return nullptr;
  }
}

void destroy(void* arena) {
  delete static_cast<Arena*>(arena);
}

bool run(void* arena, std::int64_t count, void (*call)(void*, std::int64_t), void* object,
         bool separate) {
  const auto body = [&](std::int64_t index) { call(object, index); };
  try {
    static_cast<Arena*>(arena)->arena.execute([&] {
      if (separate) {
        tbb::parallel_for(std::int64_t{0}, count, body, tbb::simple_partitioner{});
      } else {
        tbb::parallel_for(std::int64_t{0}, count, body, tbb::auto_partitioner{});
      }
    });
    return true;
  } catch (...) {  // of oneTBB: `call` does not throw
    return false;
  }
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const ThreadLibrary cvl_cpu_thread_library;
const ThreadLibrary cvl_cpu_thread_library = {create, destroy, run};

const ThreadLibrary* thread_library() {
  return &cvl_cpu_thread_library;
}

std::chrono::microseconds cost_of_threads() {
  return {};
}

}  // namespace cvl::cpu
