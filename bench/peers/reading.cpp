#include <numeric>

#include "text.hpp"

using namespace peer;

int main(int argc, char** argv) {
  return run(
      argc, argv, [](std::size_t) { return "text"; },
      [](const char* name) { return read_text(name); },
      [](const char*, const Array<char>& text) {
        print(static_cast<Int>(text.size()));
        print(std::accumulate(text.begin(), text.end(), Int{0}));
      });
}
