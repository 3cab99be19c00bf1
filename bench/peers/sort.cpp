#include <algorithm>
#include <array>
#include <vector>

#include <tbb/task_arena.h>

#include "peer.hpp"

using namespace peer;

// Radix sort from the least digit. Every thread has a share of the numbers, counts its digits, and
// then moves its numbers behind those of the shares before.
constexpr unsigned kBits = 8;
constexpr std::size_t kBuckets = std::size_t{1} << kBits;

std::size_t digit(Int x, unsigned shift) {
  constexpr Unsigned kSign = Unsigned{1} << (8 * sizeof(Int) - 1);
  return ((static_cast<Unsigned>(x) ^ kSign) >> shift) % kBuckets;
}

Array<Int> radix_sort(const Array<Int>& numbers) {
  const std::size_t n = numbers.size();
  const auto shares = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
  std::vector<std::array<std::size_t, kBuckets>> places(shares);
  Array<Int> sorted(n);
  Array<Int> spare(n);
  const Int* from = numbers.begin();
  Int* to = sorted.begin();
  Int* other = spare.begin();
  const auto of_share = [&](std::size_t share, const auto& action) {
    const std::size_t end = n * (share + 1) / shares;
    for (std::size_t i = n * share / shares; i < end; ++i) action(from[i]);
  };
  for (unsigned shift = 0; shift < 8 * sizeof(Int); shift += kBits) {
    tbb::parallel_for(std::size_t{0}, shares, [&](std::size_t share) {
      std::array<std::size_t, kBuckets> counts{};
      of_share(share, [&](Int x) { ++counts[digit(x, shift)]; });
      places[share] = counts;
    });
    std::size_t next = 0;
    bool one_bucket = false;
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      const std::size_t first = next;
      for (auto& share : places) next += std::exchange(share[bucket], next);
      one_bucket = one_bucket || next - first == n;
    }
    if (one_bucket) continue;
    tbb::parallel_for(std::size_t{0}, shares, [&](std::size_t share) {
      auto place = places[share];
      of_share(share, [&](Int x) { to[place[digit(x, shift)]++] = x; });
    });
    from = to;
    std::swap(to, other);
  }
  if (from == numbers.begin()) std::copy(from, from + n, sorted.begin());
  return from == spare.begin() ? std::move(spare) : std::move(sorted);
}

int main(int argc, char** argv) {
  return run(
      argc, argv,
      [](std::size_t n) { return generate(n, [](std::size_t i) { return noise(i, 1); }); },
      radix_sort, [](const Array<Int>&, const Array<Int>& sorted) { print(fingerprint(sorted)); });
}
