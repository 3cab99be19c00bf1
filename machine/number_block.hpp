// Numbers that are read before it is known how many there are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cvl/backend.hpp"
#include "machine/character_block.hpp"

namespace vinterp {

/// Numbers that become a vector, in memory of the library.
template <class Element>
class NumberBlock {
 public:
  NumberBlock(cvl::Backend& backend, std::int64_t expected) : bytes_(backend) {
    bytes_.grow(static_cast<std::size_t>(expected) * sizeof(Element));
  }

  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size() / sizeof(Element)); }
  /// How many more fit without growing.
  std::size_t free() const { return bytes_.room() / sizeof(Element); }
  /// Where so many more go, to be added when they are there. Throws Failure (OutOfMemory).
  Element* room(std::size_t count) {
    const std::size_t bytes = count * sizeof(Element);
    if (bytes > bytes_.room()) bytes_.grow(std::max(bytes_.size() + bytes, 2 * bytes_.size()));
    return reinterpret_cast<Element*>(bytes_.end());
  }
  void add(std::size_t count) { bytes_.add(count * sizeof(Element)); }
  /// The first of them as a vector; there are no more numbers here then.
  cvl::Vector first(vcode::Type type, std::int64_t count) { return bytes_.take(type, count); }

 private:
  CharacterBlock bytes_;
};

}  // namespace vinterp
