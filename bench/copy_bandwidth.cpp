#include "bench/copy_bandwidth.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace bench {

CopyYardstick::CopyYardstick(cvl::cpu::CpuBackend& cpu, std::size_t bytes)
    : cpu_(cpu), bytes_(bytes), from_(cpu.heap().allocate(bytes)), to_(cpu.heap().allocate(bytes)) {
  std::memset(from_->data, 1, bytes);
  std::memset(to_->data, 2, bytes);
  std::vector<double> plain, streamed;
  for (int run = 0; run < 5; ++run) {
    plain.push_back(seconds(false));
    streamed.push_back(seconds(true));
  }
  streamed_ = median(streamed) < median(plain);
}

double CopyYardstick::seconds(bool streamed) {
  constexpr std::size_t kTile = std::size_t{256} << 10;
  auto body = [&](std::int64_t tile) {
    const std::size_t first = static_cast<std::size_t>(tile) * kTile;
    const std::size_t count = std::min(kTile, bytes_ - first);
    if (streamed) {
      cpu_.kernels().stream(to_->data + first, from_->data + first,
                            static_cast<std::int64_t>(count));
    } else {
      std::memcpy(to_->data + first, from_->data + first, count);
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  cpu_.scheduler().for_tiles(static_cast<std::int64_t>((bytes_ + kTile - 1) / kTile),
                             static_cast<std::int64_t>(2 * bytes_), body);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace bench
