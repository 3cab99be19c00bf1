#include "vcode/kernel_seal.hpp"

#include <bit>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

namespace vcode {
namespace {

constexpr std::uint64_t kFactor = 0x9FB21C651E98DF25;  // odd, with its bits well mixed

/// Up to eight characters as a number, the same on every machine.
std::uint64_t word_of(const char* text, std::size_t size) {
  std::uint64_t word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, text, size);
  } else {
    for (std::size_t i = 0; i < size; ++i) {
      word |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
    }
  }
  return word;
}

std::uint64_t add(std::uint64_t sum, std::uint64_t word) {
  sum = (sum ^ word) * kFactor;
  return sum ^ (sum >> 32);
}

std::uint64_t add_text(std::uint64_t sum, std::string_view text) {
  constexpr std::size_t kWord = 8;
  sum = add(sum, text.size());
  std::size_t at = 0;
  for (; at + kWord <= text.size(); at += kWord) sum = add(sum, word_of(text.data() + at, kWord));
  return add(sum, word_of(text.data() + at, text.size() - at));
}

}  // namespace

std::uint64_t seal_sum(std::string_view head, std::string_view body) {
  return add_text(add_text(0, head), body);
}

std::string print_seal_sum(std::uint64_t sum) {
  return fmt::format("{:016x}", sum);
}

std::optional<std::uint64_t> read_seal_sum(std::string_view word) {
  std::uint64_t sum = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), sum, 16);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return sum;
}

}  // namespace vcode
