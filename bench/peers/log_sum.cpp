#include <cmath>

#include "peer.hpp"

using namespace peer;

int main(int argc, char** argv) {
  return run(
      argc, argv, [](std::size_t n) { return n; },
      [](std::size_t n) {
        return parallel_sum<double>(n, [](std::size_t begin, std::size_t end) {
          double sum = 0;
          for (Int i = static_cast<Int>(begin); i < static_cast<Int>(end); ++i) {
            sum += std::log(static_cast<double>(i + 1));
          }
          return sum;
        });
      },
      [](std::size_t, double total) { print(total); });
}
