#include "neslc/evaluation/cost.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "vcode/stack_moves.hpp"

namespace neslc {
namespace {

/// Operations that fetch elements by their index.
bool fetches(vcode::Op op) {
  return op == vcode::Op::BPermute || vcode::info(op).family == vcode::Family::Extract;
}

}  // namespace

void Cost::add(const Cost& next) {
  work += next.work;
  depth += next.depth;
  operations += next.operations;
  longest = std::max(longest, next.longest);
  space.used = std::max(space.used, next.space.used);
  space.parallel = std::max(space.parallel, next.space.parallel);
}

std::string cost_text(const Cost& cost) {
  std::string text = fmt::format("work {}, depth {}, vector operations {}, longest vector {}",
                                 cost.work, cost.depth, cost.operations, cost.longest);
  if (cost.space.used > 0) {
    text += fmt::format(", space {}, parallel space {}", cost.space.used, cost.space.parallel);
  }
  return text;
}

/// The instruction behind the conditional that an IF begins.
std::uint32_t CostMeter::end_of(std::uint32_t instruction) const {
  const std::uint32_t target = program_.code[instruction].a;
  const vcode::Instruction& last = program_.code[target - 1];
  return last.op == vcode::Op::Else ? last.a : target;
}

void CostMeter::before(const vinterp::Step& step) {
  while (!conditionals_.empty() && (conditionals_.back().calls > step.depth ||
                                    (conditionals_.back().calls == step.depth &&
                                     step.instruction >= conditionals_.back().end))) {
    condition_ = conditionals_.back().before;
    conditionals_.pop_back();
  }
}

/// Removes the topmost values; their greatest depth, or that of the conditions.
std::uint64_t CostMeter::take(std::size_t count) {
  std::uint64_t depth = condition_;
  for (; count > 0; --count) {
    depth = std::max(depth, depths_.back());
    depths_.pop_back();
  }
  return depth;
}

void CostMeter::after(const vinterp::Step& step, double) {
  using vcode::Op;
  switch (step.op->op) {
    case Op::Copy:
    case Op::Pop:
    case Op::CPop:
      vcode::move_entries(*step.code, depths_);
      return;
    case Op::If:
      conditionals_.push_back({step.depth, end_of(step.instruction), condition_});
      condition_ = take(1);
      return;
    case Op::Const:
      depths_.push_back(0);
      return;
    default: {
      std::uint64_t depth = take(static_cast<std::size_t>(step.operand_count));
      if (step.op->is_vector_op()) count(step, ++depth);
      depths_.insert(depths_.end(), static_cast<std::size_t>(step.result_count), depth);
    }
  }
}

void CostMeter::count(const vinterp::Step& step, std::uint64_t depth) {
  std::int64_t elements = step.elements;
  if (fetches(step.op->op)) {
    elements = 0;
    for (const cvl::Value& result : step.stack.last(static_cast<std::size_t>(step.result_count))) {
      elements = std::max(elements, length_of(result));
    }
  }
  cost_.work += static_cast<std::uint64_t>(std::max<std::int64_t>(elements, 1));
  cost_.depth = std::max(cost_.depth, depth);
  ++cost_.operations;
  cost_.longest = std::max(cost_.longest, step.elements);
}

}  // namespace neslc
