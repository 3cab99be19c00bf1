// Names and what they stand for.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "vcode/word_table.hpp"

namespace vcode {

/// A map for scopes, which hold a few names as a rule and thousands now and then: without an
/// allocation for each name, and searched from end to end as long as the names are few. Views of
/// names must outlive it; places of values last until the next name is added.
template <class Value>
class NameMap {
 public:
  struct Entry {
    std::string_view name;
    Value value;
  };

  /// Null: there is no such name.
  Value* find(std::string_view name) {
    if (slots_.empty()) {
      for (Entry& entry : entries_) {
        if (entry.name == name) return &entry.value;
      }
      return nullptr;
    }
    const std::uint32_t number = slots_[slot_of(name)];
    return number == kFree ? nullptr : &entries_[number].value;
  }

  /// REQUIRES: there is no such name yet.
  void add(std::string_view name, Value value) {
    if (entries_.empty()) entries_.reserve(kFew);
    entries_.push_back({name, std::move(value)});
    if (slots_.empty() ? entries_.size() > kFew : 2 * entries_.size() > slots_.size()) {
      slots_.assign(std::bit_ceil(4 * entries_.size()), kFree);
      for (std::uint32_t k = 0; k < entries_.size(); ++k) slots_[slot_of(entries_[k].name)] = k;
    } else if (!slots_.empty()) {
      slots_[slot_of(name)] = static_cast<std::uint32_t>(entries_.size() - 1);
    }
  }

  /// Takes away the name that was added last. Its slot is the last one that was taken, so that no
  /// other name was moved on because of it.
  void pop() {
    if (!slots_.empty()) slots_[slot_of(entries_.back().name)] = kFree;
    entries_.pop_back();
  }

  void clear() {
    entries_.clear();
    slots_.clear();
  }

  /// In the order in which they were added.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  static constexpr std::size_t kFew = 8;
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;

  /// Where the name is, or the free slot where it belongs.
  std::size_t slot_of(std::string_view name) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = word_hash(name) & mask;
    while (slots_[slot] != kFree && entries_[slots_[slot]].name != name) slot = (slot + 1) & mask;
    return slot;
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t>
      slots_;  // numbers of entries, a power of two; none while the names are few
};

}  // namespace vcode
