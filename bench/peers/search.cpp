#include <cstring>
#include <string_view>
#include <vector>

#include "text.hpp"

using namespace peer;

std::vector<Int> places(const Array<char>& text) {
  constexpr std::string_view kWord = "parallel";
  constexpr std::size_t kPiece = 1 << 20;
  std::vector<std::vector<Int>> found((text.size() + kPiece - 1) / kPiece);
  parallel_for(
      found.size(),
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t piece = begin; piece < end; ++piece) {
          const char* at = text.begin() + piece * kPiece;
          const char* const last =
              text.begin() + std::min(text.size(), (piece + 1) * kPiece + kWord.size() - 1);
          while ((at = static_cast<const char*>(memmem(at, static_cast<std::size_t>(last - at),
                                                       kWord.data(), kWord.size())))) {
            found[piece].push_back(static_cast<Int>(at - text.begin()));
            ++at;
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
      argc, argv, [](std::size_t) { return read_text("text"); }, places,
      [](const Array<char>&, const std::vector<Int>& found) {
        print(static_cast<Int>(found.size()));
        print(fingerprint(found));
      });
}
