#include "cvl/process_memory.hpp"

#include <atomic>
#include <cstdint>

namespace cvl::process_memory {
namespace {

/// A thread counts by itself up to so many bytes, so that threads do not wait for each other.
constexpr std::int64_t kPiece = 64 << 10;
/// What small requests may take beyond the limit.
constexpr std::int64_t kSpare = 2 << 20;

constinit std::atomic<std::int64_t> counted{0};
constinit std::atomic<std::int64_t> of_program{-1};  // negative: no limit has been set
constinit std::atomic<std::int64_t> limit{INT64_MAX};
constinit std::atomic<std::int64_t> reserved{0};
constinit thread_local std::int64_t pending = 0;
constinit thread_local bool limited = false;

std::int64_t bounded(std::size_t bytes) {
  return bytes > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(bytes);
}

void publish() {
  counted.fetch_add(pending, std::memory_order_relaxed);
  pending = 0;
}

}  // namespace

std::size_t in_use() noexcept {
  const std::int64_t program = of_program.load(std::memory_order_relaxed);
  if (program < 0) return 0;
  const std::int64_t bytes = counted.load(std::memory_order_relaxed) + pending - program;
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

void set_limit(std::size_t bytes) noexcept {
  publish();
  // Only the first time: what is made under a limit counts against the next one, too.
  std::int64_t unset = -1;
  of_program.compare_exchange_strong(unset, counted.load(std::memory_order_relaxed));
  limit.store(bounded(bytes), std::memory_order_relaxed);
  limited = true;
}

void set_reserved(std::size_t bytes) noexcept {
  reserved.store(bounded(bytes), std::memory_order_relaxed);
}

bool add(std::size_t bytes) noexcept {
  pending += bounded(bytes);
  if (pending < kPiece) return true;
  publish();
  if (!limited) return true;
  const std::int64_t room = limit.load(std::memory_order_relaxed) -
                            reserved.load(std::memory_order_relaxed) +
                            (bounded(bytes) < kPiece ? kSpare : 0);
  return static_cast<std::int64_t>(in_use()) <= room;
}

void subtract(std::size_t bytes) noexcept {
  pending -= bounded(bytes);
  if (pending < -kPiece) publish();
}

}  // namespace cvl::process_memory
