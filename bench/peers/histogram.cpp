#include <algorithm>
#include <vector>

#include "peer.hpp"

using namespace peer;

constexpr Int kValues = 1000;

// Every task counts in a table of its own.
std::vector<Int> histogram(const Array<Int>& numbers) {
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, numbers.size(), 1 << 16), std::vector<Int>(kValues),
      [&](const auto& range, std::vector<Int> counts) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) {
          ++counts[static_cast<std::size_t>(numbers[i])];
        }
        return counts;
      },
      [](std::vector<Int> a, const std::vector<Int>& b) {
        for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
        return a;
      });
}

int main(int argc, char** argv) {
  return run(
      argc, argv,
      [](std::size_t n) {
        return generate(n, [](std::size_t i) { return noise(i, 1) % kValues; });
      },
      histogram,
      [](const Array<Int>&, const std::vector<Int>& counts) {
        print(static_cast<Int>(
            std::count_if(counts.begin(), counts.end(), [](Int count) { return count > 0; })));
        Unsigned sum = 0;
        for (std::size_t key = 0; key < counts.size(); ++key) {
          sum += static_cast<Unsigned>(key + 1) * static_cast<Unsigned>(counts[key]);
        }
        print(static_cast<Int>(sum));
      });
}
