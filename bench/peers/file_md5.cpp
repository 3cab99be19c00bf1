#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "numbers.hpp"

using namespace peer;

using Digest = std::array<std::uint32_t, 4>;

constexpr const char* kName = "dictionary-peer.txt";
constexpr std::size_t kLanes = 16;  // words side by side

std::array<std::uint32_t, 64> sines() {
  std::array<std::uint32_t, 64> result;
  for (std::size_t k = 0; k < 64; ++k) {
    result[k] =
        static_cast<std::uint32_t>(std::fabs(std::sin(static_cast<double>(k + 1))) * 4294967296.0);
  }
  return result;
}

constexpr std::uint32_t kShifts[4][4] = {
    {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
constexpr std::size_t kFactors[4][2] = {{1, 0}, {5, 1}, {3, 5}, {7, 0}};

using Lanes = std::uint32_t[kLanes];

/// The digests of words of up to 55 letters, one in each lane.
void md5(const std::string_view* words, std::size_t count, Digest* digests) {
  static const std::array<std::uint32_t, 64> table = sines();
  alignas(64) Lanes block[16] = {}, state[4];
  for (std::size_t lane = 0; lane < count; ++lane) {
    const std::string_view word = words[lane];
    for (std::size_t i = 0; i <= word.size(); ++i) {
      const std::uint32_t byte = i < word.size() ? static_cast<unsigned char>(word[i]) : 128;
      block[i / 4][lane] |= byte << (8 * (i % 4));
    }
    block[14][lane] = static_cast<std::uint32_t>(8 * word.size());
  }
  constexpr Digest kInitial = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for (std::size_t i = 0; i < 4; ++i) std::fill_n(state[i], kLanes, kInitial[i]);
  std::uint32_t *a = state[0], *b = state[1], *c = state[2], *d = state[3];
  const auto rounds = [&](std::size_t group, auto mix) {
    for (std::size_t k = 16 * group; k < 16 * group + 16; ++k) {
      const std::uint32_t* const part = block[(kFactors[group][0] * k + kFactors[group][1]) % 16];
      const std::uint32_t shift = kShifts[group][k % 4];
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t sum = a[lane] + mix(b[lane], c[lane], d[lane]) + table[k] + part[lane];
        a[lane] = b[lane] + ((sum << shift) | (sum >> (32 - shift)));
      }
      std::uint32_t* const last = d;
      d = c;
      c = b;
      b = a;
      a = last;
    }
  };
  using U = std::uint32_t;
  rounds(0, [](U x, U y, U z) { return (x & y) | (~x & z); });
  rounds(1, [](U x, U y, U z) { return (z & x) | (~z & y); });
  rounds(2, [](U x, U y, U z) { return x ^ y ^ z; });
  rounds(3, [](U x, U y, U z) { return y ^ (x | ~z); });
  // After a multiple of four rounds every part is where it was.
  for (std::size_t lane = 0; lane < count; ++lane) {
    for (std::size_t i = 0; i < 4; ++i) digests[lane][i] = kInitial[i] + state[i][lane];
  }
}

std::string word(std::size_t i) {
  std::string result;
  const Int length = 4 + noise(i, 1) % 9;
  for (Int k = 0; k < length; ++k) {
    result += static_cast<char>('a' + noise(i, 2 + static_cast<std::uint32_t>(k)) % 26);
  }
  return result;
}

Digest input(std::size_t n) {
  File file(kName, "wb");
  for (std::size_t i = 0; i < n; ++i) {
    const std::string line = word(i) + "\n";
    file.write(line.data(), line.size());
  }
  const std::string wanted = word(n / 2);
  const std::string_view view = wanted;
  Digest result;
  md5(&view, 1, &result);
  return result;
}

std::vector<std::string> found_words(const Digest& wanted) {
  std::vector<std::string> found;
  for_blocks(kName, [&](const char* at, const char* end) {
    std::vector<std::string_view> words;
    while (at != end) {
      const auto* const next =
          static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
      words.emplace_back(at, static_cast<std::size_t>(next - at));
      at = next + 1;
    }
    std::vector<Digest> digests(words.size());
    const std::size_t groups = (words.size() + kLanes - 1) / kLanes;
    parallel_for(
        groups,
        [&](std::size_t begin, std::size_t last) {
          for (std::size_t group = begin; group < last; ++group) {
            const std::size_t first = group * kLanes;
            md5(&words[first], std::min(kLanes, words.size() - first), &digests[first]);
          }
        },
        64);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (digests[i] == wanted) found.emplace_back(words[i]);
    }
  });
  return found;
}

int main(int argc, char** argv) {
  return run(argc, argv, input, found_words,
             [](const Digest&, const std::vector<std::string>& found) {
               Int sum = 0;
               for (const std::string& each : found) {
                 for (const char c : each) sum += c;
               }
               print(static_cast<Int>(found.size()));
               print(sum);
             });
}
