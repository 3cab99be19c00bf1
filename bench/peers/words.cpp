#include <algorithm>
#include <string_view>
#include <vector>

#include "text.hpp"

using namespace peer;

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

bool begins_word(const Array<char>& text, std::size_t i) {
  return !is_space(text[i]) && (i == 0 || is_space(text[i - 1]));
}

Array<std::string_view> words(const Array<char>& text) {
  // Pieces count the words that begin in them, and then write them where the earlier ones end.
  constexpr std::size_t kPiece = 1 << 16;
  const std::size_t pieces = (text.size() + kPiece - 1) / kPiece;
  const auto end_of = [&](std::size_t piece) {
    return std::min(text.size(), (piece + 1) * kPiece);
  };
  std::vector<std::size_t> first(pieces + 1);
  parallel_for(
      pieces,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t piece = begin; piece < end; ++piece) {
          std::size_t count = piece == 0 && !is_space(text[0]);
          for (std::size_t i = std::max<std::size_t>(1, piece * kPiece); i < end_of(piece); ++i) {
            count += is_space(text[i - 1]) && !is_space(text[i]);
          }
          first[piece + 1] = count;
        }
      },
      1);
  for (std::size_t piece = 0; piece < pieces; ++piece) first[piece + 1] += first[piece];
  Array<std::string_view> result(first[pieces]);
  parallel_for(
      pieces,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t piece = begin; piece < end; ++piece) {
          std::size_t at = first[piece];
          for (std::size_t i = piece * kPiece; i < end_of(piece);) {
            if (!begins_word(text, i)) {
              ++i;
              continue;
            }
            std::size_t last = i + 1;
            while (last < text.size() && !is_space(text[last])) ++last;
            result[at++] = std::string_view(text.begin() + i, last - i);
            i = last;
          }
        }
      },
      1);
  return result;
}

int main(int argc, char** argv) {
  return run(
      argc, argv, [](std::size_t) { return read_text("text"); }, words,
      [](const Array<char>&, const Array<std::string_view>& found) {
        std::vector<Int> lengths;
        std::vector<Int> codes;
        for (const std::string_view word : found) {
          lengths.push_back(static_cast<Int>(word.size()));
          codes.push_back(word[0]);
        }
        print(static_cast<Int>(found.size()));
        print(fingerprint(lengths));
        print(fingerprint(codes));
      });
}
