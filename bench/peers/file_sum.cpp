#include <algorithm>

#include "numbers.hpp"

using namespace peer;

constexpr const char* kName = "numbers-peer.txt";

std::size_t input(std::size_t n) {
  File file(kName, "wb");
  for (std::size_t i = 0; i < n; ++i) file.write_line(noise(i, 1));
  return n;
}

// The threads share each block; words that begin in a part belong to it.
Int sum_of_file(std::size_t) {
  Unsigned total = 0;
  for_blocks(kName, [&](const char* begin, const char* end) {
    const auto word_from = [&](std::size_t at) {
      const char* from = begin + at;
      if (at > 0 && !is_space(from[-1])) from = std::find_if(from, end, is_space);
      return from;
    };
    total += parallel_sum<Unsigned>(
        static_cast<std::size_t>(end - begin),
        [&](std::size_t from, std::size_t to) {
          Unsigned sum = 0;
          for_numbers(word_from(from), word_from(to),
                      [&](Int number) { sum += static_cast<Unsigned>(number); });
          return sum;
        },
        std::size_t{1} << 17);
  });
  return static_cast<Int>(total);
}

int main(int argc, char** argv) {
  return run(argc, argv, input, sum_of_file, [](std::size_t, Int total) { print(total); });
}
