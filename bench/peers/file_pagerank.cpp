#include <algorithm>

#include "numbers.hpp"

using namespace peer;

constexpr const char* kName = "links-peer.txt";

std::size_t input(std::size_t n) {
  File file(kName, "wb");
  for (std::size_t i = 0; i < 16 * n; ++i) file.write_line(noise(i, 1) % static_cast<Int>(n));
  return n;
}

/// Calls visit(from, to) for all links.
template <class Visit>
void for_links(const Visit& visit) {
  Int from = -1;
  for_blocks(kName, [&](const char* begin, const char* end) {
    for_numbers(begin, end, [&](Int page) {
      if (from < 0) {
        from = page;
      } else {
        visit(static_cast<std::size_t>(from), static_cast<std::size_t>(page));
        from = -1;
      }
    });
  });
}

Array<double> page_rank(std::size_t n) {
  std::vector<std::size_t> out(n);
  for_links([&](std::size_t from, std::size_t) { ++out[from]; });
  Array<double> ranks = generate(n, [=](std::size_t) { return 1.0 / static_cast<double>(n); });
  std::vector<double> shares(n), sums(n);
  for (int step = 0; step < 5; ++step) {
    double lost = 0;
    for (std::size_t i = 0; i < n; ++i) {
      shares[i] = ranks[i] / static_cast<double>(std::max<std::size_t>(out[i], 1));
      if (out[i] == 0) lost += ranks[i];
      sums[i] = 0;
    }
    const double base = (1.0 - 0.85 + 0.85 * lost) / static_cast<double>(n);
    for_links([&](std::size_t from, std::size_t to) { sums[to] += shares[from]; });
    for (std::size_t i = 0; i < n; ++i) ranks[i] = base + 0.85 * sums[i];
  }
  return ranks;
}

int main(int argc, char** argv) {
  return run(argc, argv, input, page_rank, [](std::size_t, const Array<double>& ranks) {
    print(weighted_sum(ranks.size(), [&](std::size_t i) { return ranks[i]; }));
  });
}
