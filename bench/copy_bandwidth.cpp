#include "bench/copy_bandwidth.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

template <class Copy>
double best_rate(cvl::cpu::CpuBackend& cpu, std::byte* to, const std::byte* from, std::size_t bytes,
                 Copy copy) {
  constexpr std::size_t kTile = std::size_t{256} << 10;
  const auto tiles = static_cast<std::int64_t>((bytes + kTile - 1) / kTile);
  double best = 0;
  for (int run = 0; run < 7; ++run) {
    const auto begin = Clock::now();
    auto body = [&](std::int64_t tile) {
      const std::size_t first = static_cast<std::size_t>(tile) * kTile;
      copy(to + first, from + first, std::min(kTile, bytes - first));
    };
    cpu.scheduler().for_tiles(tiles, static_cast<std::int64_t>(2 * bytes), body);
    const std::chrono::duration<double> elapsed = Clock::now() - begin;
    best = std::max(best, 2.0 * static_cast<double>(bytes) / elapsed.count());
  }
  return best;
}

}  // namespace

double copy_bandwidth(cvl::cpu::CpuBackend& cpu, std::size_t bytes) {
  const auto from = cpu.heap().allocate(bytes);
  const auto to = cpu.heap().allocate(bytes);
  std::memset(from->data, 1, bytes);
  std::memset(to->data, 2, bytes);
  const double plain = best_rate(
      cpu, to->data, from->data, bytes,
      [](std::byte* out, const std::byte* in, std::size_t n) { std::memcpy(out, in, n); });
  const double streamed = best_rate(cpu, to->data, from->data, bytes,
                                    [&](std::byte* out, const std::byte* in, std::size_t n) {
                                      cpu.kernels().stream(out, in, static_cast<std::int64_t>(n));
                                    });
  return std::max(plain, streamed);
}

}  // namespace bench
