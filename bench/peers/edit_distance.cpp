#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "peer.hpp"

using namespace peer;

struct Words {
  std::string a, b;
};

std::string word(std::size_t n, std::uint32_t seed) {
  std::string result(n, ' ');
  for (std::size_t i = 0; i < n; ++i) result[i] = static_cast<char>('a' + noise(i, seed) % 4);
  return result;
}

// Cells of one diagonal do not depend on each other: place i holds cell (i, d - i), and the second
// word is read backwards.
Int distance(const Words& words) {
  const auto rows = static_cast<Int>(words.a.size());
  const auto columns = static_cast<Int>(words.b.size());
  const std::string turned(words.b.rbegin(), words.b.rend());
  std::vector<Int> before(words.a.size() + 1), last(before), cells(before);
  for (Int d = 0; d <= rows + columns; ++d) {
    const Int first = std::max<Int>(1, d - columns);
    const Int end = std::min(rows + 1, d);
    if (d <= columns) cells[0] = d;
    if (d <= rows) cells[static_cast<std::size_t>(d)] = d;
    const char* const a = words.a.data();
    const char* const b = turned.data() + (columns - d);
    Int* const out = cells.data();
    const Int* const one = last.data();
    const Int* const two = before.data();
    for (Int i = first; i < end; ++i) {
      out[i] = std::min(two[i - 1] + (a[i - 1] != b[i]), 1 + std::min(one[i - 1], one[i]));
    }
    std::swap(before, last);
    std::swap(last, cells);
  }
  return last[words.a.size()];
}

int main(int argc, char** argv) {
  return run(
      argc, argv,
      [](std::size_t n) {
        return Words{word(n, 1), word(n, 2)};
      },
      distance, [](const Words&, Int found) { print(found); });
}
