// Handing running totals from one tile to the next.
#pragma once

#include <atomic>
#include <thread>

#include "cvl-cpu/fold_tiles.hpp"

namespace cvl::cpu {

/// What a tile hands on to the next.
class TileLink {
 public:
  void publish(const Element& prefix) {
    prefix_ = prefix;
    ready_.store(true, std::memory_order_release);
  }
  const Element& wait() const {
    for (int spins = 0; !ready_.load(std::memory_order_acquire); ++spins) {
      // The predecessor's thread may have lost its processor.
      if (spins > kSpins) std::this_thread::yield();
    }
    return prefix_;
  }

 private:
  static constexpr int kSpins = 2000;
  std::atomic<bool> ready_{false};
  Element prefix_{};
};

}  // namespace cvl::cpu
