// The stack of a function while its code is written.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/module.hpp"
#include "vcode/program.hpp"

namespace ir {

/// Writes COPY, POP and CPOP, and knows what lies where. Each value lies on the stack once, but for
/// copies that wait as operands of the instruction to come (`waiting`).
class StackCode {
 public:
  struct Entry {
    ValueId value;
    bool waiting = false;
  };

  std::vector<vcode::Instruction> code;

  const std::vector<Entry>& stack() const { return stack_; }
  void set_stack(std::vector<Entry> stack) { stack_ = std::move(stack); }
  std::size_t height() const { return stack_.size(); }

  /// Appends an instruction; its effect on the stack is not looked at.
  void write(Op op, Type type, std::uint32_t a, std::uint32_t b, const Origin& origin) {
    code.push_back({op, type, a, b, origin.span, origin.scope});
  }

  /// Of the topmost `from_top` entries the first `count` wait from now on.
  void hold(std::size_t count, std::size_t from_top);
  /// Gets the operands to the top, where they wait: those that are dying by a move, others by a
  /// copy.
  void fetch(std::span<const ValueId> operands, std::span<const std::uint8_t> dying,
             const Origin& origin);

  void push(ValueId value, bool waiting = false) { stack_.push_back({value, waiting}); }
  void remove(std::size_t count) { stack_.resize(stack_.size() - count); }
  /// The topmost entries wait no longer.
  void settle(std::size_t count);
  /// Removes every settled entry for which `dead(value)` holds.
  template <typename Dead>
  void drop_if(Dead dead, const Origin& origin);

 private:
  std::size_t place_of(ValueId value) const;

  std::vector<Entry> stack_;
};

template <typename Dead>
void StackCode::drop_if(Dead dead, const Origin& origin) {
  std::size_t end = stack_.size();
  while (end > 0) {
    const auto drops = [&](std::size_t at) {
      return !stack_[at].waiting && dead(stack_[at].value);
    };
    if (!drops(end - 1)) {
      --end;
      continue;
    }
    std::size_t begin = end - 1;
    while (begin > 0 && drops(begin - 1)) --begin;
    write(Op::Pop, {}, static_cast<std::uint32_t>(end - begin),
          static_cast<std::uint32_t>(stack_.size() - end), origin);
    stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(begin),
                 stack_.begin() + static_cast<std::ptrdiff_t>(end));
    end = begin;
  }
}

}  // namespace ir
