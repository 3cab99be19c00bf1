#include <algorithm>

#include <tbb/parallel_invoke.h>

#include "peer.hpp"

using namespace peer;

// Less, equal and greater; no insertion sort at the end, as in quicksort.nesl.
void quicksort(Int* begin, Int* end) {
  if (end - begin < 2) return;
  const Int pivot = begin[(end - begin) / 2];
  Int* const equal = std::partition(begin, end, [=](Int x) { return x < pivot; });
  Int* const greater = std::partition(equal, end, [=](Int x) { return x == pivot; });
  if (end - begin < 10000) {
    quicksort(begin, equal);
    quicksort(greater, end);
  } else {
    tbb::parallel_invoke([=] { quicksort(begin, equal); }, [=] { quicksort(greater, end); });
  }
}

int main(int argc, char** argv) {
  return run(
      argc, argv,
      [](std::size_t n) { return generate(n, [](std::size_t i) { return noise(i, 1); }); },
      [](const Array<Int>& numbers) {
        Array<Int> sorted(numbers.size());
        std::copy(numbers.begin(), numbers.end(), sorted.begin());
        quicksort(sorted.begin(), sorted.end());
        return sorted;
      },
      [](const Array<Int>&, const Array<Int>& sorted) { print(fingerprint(sorted)); });
}
