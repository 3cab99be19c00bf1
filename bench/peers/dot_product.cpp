#include "peer.hpp"

using namespace peer;

struct Input {
  Array<double> a, b;
};

int main(int argc, char** argv) {
  return run(
      argc, argv,
      [](std::size_t n) {
        return Input{generate(n, [](std::size_t i) { return unit(i, 1); }),
                     generate(n, [](std::size_t i) { return unit(i, 2); })};
      },
      [](const Input& input) {
        return parallel_sum<double>(input.a.size(), [&](std::size_t begin, std::size_t end) {
          double sum = 0;
          for (std::size_t i = begin; i < end; ++i) sum += input.a[i] * input.b[i];
          return sum;
        });
      },
      [](const Input&, double product) { print(product); });
}
