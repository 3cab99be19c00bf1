#include <algorithm>
#include <cmath>
#include <vector>

#include "peer.hpp"

using namespace peer;

// A sieve over the odd numbers, segment by segment.
constexpr std::size_t kSegment = 1 << 18;  // numbers, half of which have a flag

std::vector<std::size_t> small_primes(std::size_t limit) {
  std::vector<char> composite(limit + 1);
  std::vector<std::size_t> primes;
  for (std::size_t i = 3; i <= limit; i += 2) {
    if (composite[i]) continue;
    primes.push_back(i);
    for (std::size_t j = i * i; j <= limit; j += 2 * i) composite[j] = 1;
  }
  return primes;
}

std::vector<Int> primes(std::size_t n) {
  const auto small = small_primes(static_cast<std::size_t>(std::sqrt(static_cast<double>(n))) + 1);
  const std::size_t segments = (n + kSegment - 1) / kSegment;
  std::vector<std::vector<Int>> found(segments);
  parallel_for(
      segments,
      [&](std::size_t begin, std::size_t end) {
        std::vector<char> composite(kSegment / 2);
        for (std::size_t segment = begin; segment < end; ++segment) {
          const std::size_t low = segment * kSegment;
          const std::size_t high = std::min(n, low + kSegment);
          std::fill(composite.begin(), composite.end(), 0);
          for (const std::size_t p : small) {
            if (p * p >= high) break;
            std::size_t first = std::max(p * p, (low + p - 1) / p * p);
            if (first % 2 == 0) first += p;
            for (std::size_t k = (first - low) / 2; k < kSegment / 2; k += p) composite[k] = 1;
          }
          if (low == 0) {
            composite[0] = 1;
            if (n > 2) found[0].push_back(2);
          }
          for (std::size_t i = low + 1; i < high; i += 2) {
            if (!composite[(i - low) / 2]) found[segment].push_back(static_cast<Int>(i));
          }
        }
      },
      1);
  std::vector<Int> result;
  for (const auto& part : found) result.insert(result.end(), part.begin(), part.end());
  return result;
}

int main(int argc, char** argv) {
  return run(
      argc, argv, [](std::size_t n) { return n; }, primes,
      [](std::size_t, const std::vector<Int>& found) {
        print(static_cast<Int>(found.size()));
        print(fingerprint(found));
      });
}
