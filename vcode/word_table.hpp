// Finding words of a fixed list.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vcode {

/// A hash of short words (FNV-1a), whose lowest bits are mixed.
constexpr std::uint32_t word_hash(std::string_view word) {
  std::uint32_t value = 2166136261u;
  for (char c : word) value = (value ^ static_cast<unsigned char>(c)) * 16777619u;
  return value ^ (value >> 15);
}

/// Open addressing, filled at compile time. `kSlots` is a power of two, more than twice the number
/// of words; the words are different and outlive the table.
template <std::size_t kSlots>
class WordTable {
 public:
  static constexpr std::size_t kNone = 0xFF;

  /// `word_at(k)` is word k of `count`.
  template <class WordAt>
  constexpr WordTable(std::size_t count, const WordAt& word_at) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::string_view word = word_at(k);
      std::size_t slot = slot_of(word);
      while (!slots_[slot].word.empty()) slot = (slot + 1) % kSlots;
      slots_[slot] = {word, static_cast<std::uint8_t>(k)};
      if (word.size() > longest_) longest_ = word.size();
      numbered_ = numbered_ || is_digit(word.back());
    }
  }

  /// The number of the word, or kNone.
  constexpr std::size_t find(std::string_view word) const {
    if (word.empty() || word.size() > longest_) return kNone;
    if (!numbered_ && is_digit(word.back())) return kNone;  // most names that programs make up
    for (std::size_t slot = slot_of(word); !slots_[slot].word.empty(); slot = (slot + 1) % kSlots) {
      if (slots_[slot].word == word) return slots_[slot].number;
    }
    return kNone;
  }

 private:
  struct Slot {
    std::string_view word;
    std::uint8_t number = 0;
  };

  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static constexpr std::size_t slot_of(std::string_view word) { return word_hash(word) % kSlots; }

  std::array<Slot, kSlots> slots_{};
  std::size_t longest_ = 0;
  bool numbered_ = false;  // does any word end with a digit?
};

}  // namespace vcode
