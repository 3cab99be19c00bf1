// Work on ranges of elements, on several threads.
//
// Ranges are cut into tiles of a fixed number of elements, whatever the number of threads, so that
// what is computed per tile (partial sums) does not depend on it. Short ranges run on the calling
// thread: waking a sleeping worker costs more than they take (tuning.def). What a body
// writes, with stores that go around the cache too, is there for the caller and for all later
// bodies. An exception that a body throws reaches the caller; bodies not begun by then are left
// out.
#pragma once

#include <cstdint>
#include <optional>

#include "cvl-cpu/thread_pool.hpp"
#include "cvl-cpu/tuning.hpp"

namespace cvl::cpu {

class Scheduler {
 public:
  /// `threads` 0 means one per processor.
  explicit Scheduler(int threads);

  int threads() const { return threads_; }

  /// Calls body(tile) for 0 <= tile < tiles, each once, in any order, on any thread.
  /// `bytes` is the memory traffic of the whole: small work stays on this thread.
  void for_tiles(std::int64_t tiles, std::int64_t bytes, TileBody body);

  /// The same, but tiles are begun in ascending order: a tile may wait for its predecessor, which
  /// has been begun (and will never wait for a later tile), on this or another thread.
  void for_tiles_in_order(std::int64_t tiles, std::int64_t bytes, TileBody body);

  /// Is work of so much memory traffic one that threads may share?
  bool worth_sharing(std::int64_t bytes) const {
    return bytes >= tuning.shared_bytes && threads_ > 1;
  }

  /// Calls body(part) for 0 <= part < parts(), once per thread's share; for algorithms that cut
  /// their work by thread because the cut cannot be seen in the result.
  int parts(std::int64_t bytes);
  void for_parts(int parts, TileBody body);

 private:
  /// Started when there is work to share for the first time.
  ThreadPool& pool();

  int threads_;
  std::optional<ThreadPool> pool_;
};

/// Number of tiles of `tile` elements that cover n elements.
constexpr std::int64_t tile_count(std::int64_t n, std::int64_t tile) {
  return (n + tile - 1) / tile;
}

}  // namespace cvl::cpu
