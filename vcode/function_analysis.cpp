#include "vcode/function_analysis.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace vcode {

using Outcome = TypeTerms::Outcome;

FunctionAnalysis::Result FunctionAnalysis::run(std::uint32_t function, Diagnostics* diagnostics,
                                               bool starts_empty) {
  function_ = function;
  diagnostics_ = diagnostics;
  starts_empty_ = starts_empty;
  terms_.clear();
  conditionals_.clear();
  used_ = 0;
  doubtful_ = false;
  result_ = {};
  state_ = {};
  state_.top = stacks_.start();
  const LinkedFunction& range = context_.program.functions[function];
  for (std::uint32_t i = range.begin; i < range.end; ++i) step(i);
  result_.effect = effect();
  result_.guarded = doubtful_ || !result_.effect.complete;
  std::sort(result_.callees.begin(), result_.callees.end());
  result_.callees.erase(std::unique(result_.callees.begin(), result_.callees.end()),
                        result_.callees.end());
  return std::move(result_);
}

// ---- instructions ----

void FunctionAnalysis::step(std::uint32_t index) {
  instruction_ = &context_.program.code[index];
  const Family family = info(instruction_->op).family;
  if (family == Family::Control) {
    control(index);
    return;
  }
  if (state_.kind != Kind::Live) return;
  stack_before_ = state_.top;
  switch (family) {
    case Family::Stack:
      move_block();
      break;
    case Family::Pair:
      instruction_->op == Op::Pair ? pair() : unpair();
      break;
    case Family::Constant:
      constant();
      break;
    case Family::Kernel:
      run_kernel();
      break;
    default:
      apply_row();
  }
}

void FunctionAnalysis::control(std::uint32_t index) {
  stack_before_ = state_.top;
  switch (instruction_->op) {
    case Op::If:
      begin_conditional(index);
      break;
    case Op::Else:
      begin_else();
      break;
    case Op::EndIf:
      end_conditional();
      break;
    case Op::Call:
      if (state_.kind != Kind::Dead) result_.callees.push_back(instruction_->a);
      if (state_.kind == Kind::Live) call(instruction_->a);
      break;
    case Op::Exit:
      if (state_.kind == Kind::Live) state_.kind = Kind::Dead;
      break;
    default:  // RET: the walk ends
      break;
  }
}

// Any operation of which the table says all: operands are checked and removed, results pushed.
void FunctionAnalysis::apply_row() {
  const OpInfo& op = info(instruction_->op);
  const std::size_t count = op.operands.size();
  if (!need(static_cast<std::int64_t>(count))) return;
  std::array<TermId, kMaxOperands> operands{};
  for (std::size_t i = count; i-- > 0;) operands[i] = pop().type;
  for (std::size_t i = 0; i < count; ++i) {
    if (!narrow_operand(op.operands[i], i, operands[i])) return;
  }
  for (char letter : op.results) push_known(*operand_type(letter, instruction_->type));
}

void FunctionAnalysis::run_kernel() {
  const Kernel& kernel = context_.program.kernels[instruction_->a].definition;
  const auto count = static_cast<std::int64_t>(kernel.inputs.size());
  const auto results = static_cast<std::int64_t>(kernel.outputs.size());
  if (!need(count) || !charge(results)) return;
  std::vector<TermId> operands(kernel.inputs.size());
  for (std::size_t i = operands.size(); i-- > 0;) operands[i] = pop().type;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Type type = parameter_type(kernel, kernel.inputs[i]);
    if (!narrow_operand(type_bit(type), type_name(type), i, operands[i])) return;
  }
  for (KernelParameter output : kernel.outputs) push_known(parameter_type(kernel, output));
}

bool FunctionAnalysis::narrow_operand(char letter, std::size_t position, TermId operand) {
  const OpInfo& op = info(instruction_->op);
  TypeSet wanted = kAnySet;
  std::string expected;
  if (const auto type = operand_type(letter, instruction_->type)) {
    wanted = type_bit(*type);
    expected = type_name(*type);
  } else if (letter == '?') {
    wanted = kDataSet;
    expected = "INT, BOOL or FLOAT";
  } else if (op.family == Family::Io) {
    // What is written may be any vector; as characters only a vector of their codes.
    const bool characters = instruction_->type == Type::Char;
    wanted = characters ? type_bit(Type::Int) : kVectorSet;
    expected = characters ? "INT" : "any type but PAIR";
  }
  return narrow_operand(wanted, expected, position, operand);
}

bool FunctionAnalysis::narrow_operand(TypeSet wanted, std::string_view expected,
                                      std::size_t position, TermId operand) {
  const Outcome outcome = terms_.narrow(operand, wanted);
  note_outcome(outcome);
  if (outcome != Outcome::Clash) return true;
  fail(ErrorCode::CertainTypeClash,
       fmt::format("{} needs {} as operand {}, found {}", operation_text(), expected, position,
                   found_text(operand)),
       {stack_note(stack_before_)});
  return false;
}

void FunctionAnalysis::constant() {
  const Constant& value = context_.program.constants[instruction_->a];
  Truth truth = Truth::Unknown;
  if (value.type == Type::Bool && value.size() == 1) {
    truth = value.bools()[0] ? Truth::True : Truth::False;
  }
  if (charge(1)) push({TypeTerms::known(value_type(value.type)), truth});
}

// COPY, POP and CPOP: `start` entries lie above a block of `count`.
void FunctionAnalysis::move_block() {
  const std::int64_t count = instruction_->a;
  const std::int64_t start = instruction_->b;
  if (!need(start + count) || count == 0) return;
  const Op op = instruction_->op;
  if (op == Op::CPop && start == 0) return;
  scratch_.clear();
  NodeId node = state_.top;
  for (std::int64_t i = 0; i < start + count; ++i, node = stacks_.below(node)) {
    scratch_.push_back(stacks_.top(node));
  }
  // From the deepest up: what lay above the block, and the block itself.
  const auto above_begin = scratch_.rend() - start;
  if (op != Op::Copy) {
    state_.top = node;
    for (auto entry = above_begin; entry != scratch_.rend(); ++entry) push(*entry);
  }
  if (op != Op::Pop) {
    for (auto entry = scratch_.rbegin(); entry != above_begin; ++entry) push(*entry);
  }
}

void FunctionAnalysis::pair() {
  if (!need(2)) return;
  const TermId second = pop().type;
  const TermId first = pop().type;
  push({terms_.pair(first, second)});
}

void FunctionAnalysis::unpair() {
  if (!need(1)) return;
  const TermId operand = pop().type;
  if (!narrow_operand('P', 0, operand)) return;
  const auto [first, second] = terms_.components(operand);
  push({first});
  push({second});
}

// ---- conditionals ----

void FunctionAnalysis::begin_conditional(std::uint32_t index) {
  Truth truth = Truth::Unknown;
  if (state_.kind == Kind::Live && need(1)) {
    truth = stacks_.top(state_.top).truth;
    apply_row();
  }
  Conditional conditional{index, state_, terms_.trail_mark(), false, {}};
  // An arm that a constant condition rules out ends nowhere and asks for nothing.
  const auto rule_out = [](State& arm) {
    if (arm.kind == Kind::Live) {
      arm.kind = Kind::Dead;
      arm.certain = std::numeric_limits<std::int64_t>::max();
    }
  };
  if (truth == Truth::True) rule_out(conditional.other);
  if (truth == Truth::False) rule_out(state_);
  conditionals_.push_back(std::move(conditional));
}

void FunctionAnalysis::begin_else() {
  Conditional& conditional = conditionals_.back();
  std::swap(conditional.other, state_);
  conditional.in_else = true;
  conditional.facts = terms_.take_back(conditional.trail);
}

void FunctionAnalysis::end_conditional() {
  Conditional conditional = std::move(conditionals_.back());
  conditionals_.pop_back();
  if (!conditional.in_else) {
    std::swap(conditional.other, state_);
    conditional.facts = terms_.take_back(conditional.trail);
  }
  const State& first = conditional.other;
  if (first.kind != Kind::Dead) join_facts(conditional);
  state_ = merge(first, state_, conditional);
}

// Takes back what only one arm has learnt. (If the first arm ended the run, what the second has
// learnt simply stays.) The same facts can come up at every level of a deep nesting, so the work
// is charged; without budget they are forgotten.
void FunctionAnalysis::join_facts(const Conditional& conditional) {
  const bool second_ended = state_.kind == Kind::Dead;
  const std::vector<TypeTerms::Fact> facts = terms_.take_back(conditional.trail);
  if (!charge(static_cast<std::int64_t>(conditional.facts.size() + facts.size()))) return;
  if (second_ended) {
    terms_.restate(conditional.facts);
  } else {
    terms_.restate_common(conditional.facts, facts);
  }
}

FunctionAnalysis::State FunctionAnalysis::merge(const State& first, const State& second,
                                                const Conditional& conditional) {
  if (first.kind == Kind::Dead && second.kind == Kind::Dead) {
    return first.certain < second.certain ? first : second;
  }
  if (first.kind == Kind::Dead) return second;
  if (second.kind == Kind::Dead) return first;
  State result = first;
  result.recursive = first.recursive || second.recursive;
  result.certain = std::min(first.certain, second.certain);
  if (first.kind == Kind::Unknown || second.kind == Kind::Unknown) {
    result.kind = Kind::Unknown;
    return result;
  }

  // Where an arm has passed a recursive call its shape rests on what is known so far of this very
  // function: different shapes then only mean that nothing can be told.
  const auto differ = [&] {
    if (result.recursive) {
      doubtful_ = true;
    } else {
      report_shapes(first, second, conditional);
    }
    result.kind = Kind::Unknown;
    return result;
  };
  if (stacks_.level(first.top) != stacks_.level(second.top)) return differ();
  std::vector<std::pair<NodeId, NodeId>> pairs;
  NodeId left = first.top, right = second.top;
  for (; left != right; left = stacks_.below(left), right = stacks_.below(right)) {
    pairs.emplace_back(left, right);
  }
  if (!charge(static_cast<std::int64_t>(pairs.size()))) {
    result.kind = Kind::Unknown;
    return result;
  }
  for (auto both = pairs.rbegin(); both != pairs.rend(); ++both) {
    const Entry a = stacks_.top(both->first), b = stacks_.top(both->second);
    Entry joined{0, a.truth == b.truth ? a.truth : Truth::Unknown};
    const Outcome outcome = terms_.join(a.type, b.type, joined.type);
    note_outcome(outcome);
    if (outcome == Outcome::Clash) return differ();
    left = stacks_.push(left, joined);
  }
  result.top = left;
  return result;
}

// ---- calls ----

void FunctionAnalysis::call(std::uint32_t callee) {
  const FunctionEffect& effect = context_.effects[callee];
  if (!effect.complete) {
    give_up();
    return;
  }
  bindings_.clear();
  if (!pass_arguments(callee)) return;
  if (context_.component[callee] == context_.component[function_]) state_.recursive = true;
  if (effect.never_returns) {
    state_.kind = Kind::Dead;
    return;
  }
  if (!charge(static_cast<std::int64_t>(effect.outputs.size()))) return;
  for (const ValueType& output : effect.outputs) push({instantiate(output)});
}

bool FunctionAnalysis::pass_arguments(std::uint32_t callee) {
  const FunctionEffect& effect = context_.effects[callee];
  const auto count = static_cast<std::int64_t>(effect.inputs.size());
  if (starts_empty_ && stacks_.level(state_.top) < count) {
    // An error if all ways through the callee fail; otherwise it depends on the way.
    if (need(effect.certain_inputs)) give_up();
    return false;
  }
  const std::int64_t certain_before = state_.certain;
  if (!need(count)) return false;
  const std::int64_t reach = effect.certain_inputs - stacks_.level(state_.top);
  state_.certain = std::max(certain_before, reach);
  for (std::int64_t i = count; i-- > 0;) {
    const TermId argument = pop().type;
    const ValueType& input = effect.inputs[static_cast<std::size_t>(i)];
    if (bind(argument, input)) continue;
    fail(ErrorCode::CertainTypeClash,
         fmt::format("{} needs {} as operand {}, found {}", operation_text(), type_text(input), i,
                     found_text(argument)),
         {stack_note(stack_before_)});
    return false;
  }
  return true;
}

bool FunctionAnalysis::bind(TermId argument, const ValueType& input) {
  const Outcome certain = terms_.narrow(argument, input.allowed);
  if (certain == Outcome::Clash) return false;
  note_outcome(certain);
  note_outcome(terms_.expect(argument, input.expected));
  if (input.variable != 0) {
    if (bindings_.size() < input.variable) bindings_.resize(input.variable, kUnbound);
    bindings_[input.variable - 1] = argument;
  }
  if (input.components.empty() || terms_.allowed(argument) != type_bit(Type::Pair)) return true;
  const auto [first, second] = terms_.components(argument);
  return bind(first, input.components[0]) && bind(second, input.components[1]);
}

TermId FunctionAnalysis::instantiate(const ValueType& type) {
  if (type.variable == 0) {
    return TypeTerms::known(static_cast<Type>(std::countr_zero(type.allowed)));
  }
  if (bindings_.size() < type.variable) bindings_.resize(type.variable, kUnbound);
  if (bindings_[type.variable - 1] == kUnbound) {
    TermId made;
    if (type.components.empty() || type.allowed != type_bit(Type::Pair)) {
      made = terms_.opaque(type.allowed, type.expected);
    } else {
      const TermId first = instantiate(type.components[0]);
      const TermId second = instantiate(type.components[1]);
      made = terms_.pair(first, second);
    }
    bindings_[type.variable - 1] = made;
  }
  return bindings_[type.variable - 1];
}

// ---- the state ----

// Must `count` entries be there? Takes note of those that come from the caller.
bool FunctionAnalysis::need(std::int64_t count) {
  const std::int64_t level = stacks_.level(state_.top);
  if (starts_empty_ && level < count) {
    fail(ErrorCode::CertainUnderflow,
         fmt::format("{} needs {} value{} on the stack, found {}", operation_text(), count,
                     count == 1 ? "" : "s", level == 0 ? "none" : std::to_string(level)),
         level == 0 ? std::vector<Note>{} : std::vector<Note>{stack_note(state_.top)});
    return false;
  }
  if (!charge(count)) return false;
  used_ = std::max(used_, count - level);
  state_.certain = std::max(state_.certain, count - level);
  return true;
}

bool FunctionAnalysis::charge(std::int64_t count) {
  // What does not fit is not done, and so does not use up what is left for the others.
  if (count >= context_.budget) {
    give_up();
    return false;
  }
  context_.budget -= count + 1;
  return true;
}

Entry FunctionAnalysis::pop() {
  const Entry entry = stacks_.top(state_.top);
  state_.top = stacks_.below(state_.top);
  return entry;
}

void FunctionAnalysis::give_up() {
  state_.kind = Kind::Unknown;
  doubtful_ = true;
}

void FunctionAnalysis::note_outcome(Outcome outcome) {
  if (outcome == Outcome::Doubtful) doubtful_ = true;
}

FunctionEffect FunctionAnalysis::effect() {
  FunctionEffect effect;
  if (state_.kind == Kind::Unknown || !charge(used_ + stacks_.level(state_.top))) {
    effect.complete = false;
    return effect;
  }
  TypeTerms::Numbering numbers;
  effect.inputs.reserve(static_cast<std::size_t>(used_));
  for (std::int64_t depth = used_; depth-- > 0;) {
    const TermId entry = stacks_.caller_entry(static_cast<std::size_t>(depth));
    effect.inputs.push_back(terms_.describe(entry, numbers));
  }
  effect.certain_inputs = static_cast<std::uint32_t>(std::min(state_.certain, used_));
  effect.never_returns = state_.kind == Kind::Dead;
  if (effect.never_returns) return effect;
  scratch_.clear();
  for (NodeId node = state_.top; stacks_.level(node) > -used_; node = stacks_.below(node)) {
    scratch_.push_back(stacks_.top(node));
  }
  effect.outputs.reserve(scratch_.size());
  for (auto entry = scratch_.rbegin(); entry != scratch_.rend(); ++entry) {
    effect.outputs.push_back(terms_.describe(entry->type, numbers));
  }
  return effect;
}

}  // namespace vcode
