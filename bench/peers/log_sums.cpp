#include <cmath>

#include "peer.hpp"

using namespace peer;

double log_sum(std::size_t n) {
  double sum = 0;
  for (Int i = 1; i <= static_cast<Int>(n); ++i) sum += std::log(static_cast<double>(i));
  return sum;
}

int main(int argc, char** argv) {
  return run(
      argc, argv, [](std::size_t n) { return n; },
      [](std::size_t n) {
        return parallel_sum<double>(
            n,
            [](std::size_t begin, std::size_t end) {
              double sum = 0;
              for (std::size_t i = begin + 1; i <= end; ++i) sum += log_sum(i * i);
              return sum;
            },
            1);
      },
      [](std::size_t, double total) { print(total); });
}
