#include "ir/stack.hpp"

#include <algorithm>
#include <stdexcept>

namespace ir {

void StackCode::hold(std::size_t count, std::size_t from_top) {
  for (std::size_t i = 0; i < count; ++i) stack_[stack_.size() - from_top + i].waiting = true;
}

void StackCode::fetch(std::span<const ValueId> operands, std::span<const std::uint8_t> dying,
                      const Origin& origin) {
  for (std::size_t i = 0; i < operands.size();) {
    // Of a value and its waiting copy right above it, one is as good as the other.
    const std::size_t top = stack_.size();
    if (dying[i] != 0 && top >= 2 && stack_[top - 1].value == operands[i] &&
        stack_[top - 1].waiting && stack_[top - 2].value == operands[i] &&
        !stack_[top - 2].waiting) {
      stack_[top - 2].waiting = true;
      ++i;
      continue;
    }
    const std::size_t place = place_of(operands[i]);
    std::size_t count = 1;
    while (i + count < operands.size() && dying[i + count] == dying[i] &&
           place + count < stack_.size() && !stack_[place + count].waiting &&
           stack_[place + count].value == operands[i + count]) {
      ++count;
    }
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(place);
    const auto last = first + static_cast<std::ptrdiff_t>(count);
    const std::size_t start = stack_.size() - place - count;
    if (dying[i] == 0 || start > 0) {
      write(dying[i] != 0 ? Op::CPop : Op::Copy, {}, static_cast<std::uint32_t>(count),
            static_cast<std::uint32_t>(start), origin);
    }
    if (dying[i] != 0) {
      std::rotate(first, last, stack_.end());
    } else {
      const std::vector<Entry> copies(first, last);
      stack_.insert(stack_.end(), copies.begin(), copies.end());
    }
    for (std::size_t k = 0; k < count; ++k) stack_[stack_.size() - 1 - k].waiting = true;
    i += count;
  }
}

void StackCode::settle(std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) stack_[stack_.size() - 1 - k].waiting = false;
}

std::size_t StackCode::place_of(ValueId value) const {
  for (std::size_t at = stack_.size(); at-- > 0;) {
    if (stack_[at].value == value && !stack_[at].waiting) return at;
  }
  for (std::size_t at = stack_.size(); at-- > 0;) {
    if (stack_[at].value == value) return at;
  }
  throw std::logic_error("a value is not on the stack");
}

}  // namespace ir
