#include "neslc/stack_code.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace neslc {
namespace {

using ir::Instr;
using ir::Var;
using vcode::Op;
using vcode::Type;

/// Trees of operations that are made late are gone through recursively; deeper ones are cut.
constexpr std::size_t kDeepestTree = 64;

/// An operand of an instruction that is being put together; not a variable any more.
constexpr Var kOperand = ir::kNoVar;

/// Operations that are cheap to make late: the result is not smaller than the operands.
bool may_be_late(Op op) {
  switch (vcode::info(op).family) {
    case vcode::Family::Elementwise:
    case vcode::Family::Scan:
    case vcode::Family::Distribute:
    case vcode::Family::Index:
    case vcode::Family::MakeSegdes:
    case vcode::Family::Lengths:
    case vcode::Family::Permute:
      return true;
    default:
      return false;
  }
}

bool has_timers(const ir::Block& block) {
  for (const auto& instr : block.code) {
    if (instr->kind == Instr::Kind::Op &&
        (instr->op == Op::StartTimer || instr->op == Op::StopTimer)) {
      return true;
    }
    if (has_timers(instr->then_block) || has_timers(instr->else_block)) return true;
  }
  return false;
}

/// Not every interpreter reads a descriptor of several segments: it is made from its lengths.
bool is_long_descriptor(const vcode::Constant& constant) {
  return constant.type == Type::Segdes && constant.size() > 1;
}

class FunctionCode {
 public:
  FunctionCode(const ir::Function& source, const ir::Module& module, vcode::Program& program,
               const std::unordered_map<const ir::Function*, std::uint32_t>& callees)
      : source_(source),
        module_(module),
        program_(program),
        callees_(callees),
        late_(source.variables.size(), nullptr),
        tree_depths_(source.variables.size(), 0),
        uses_(source.variables.size(), 0) {}

  void generate(vcode::Function& function, std::vector<std::uint32_t>& scopes) {
    function_ = &function;
    scopes_ = &scopes;
    function.name = source_.name;
    function.name_span = source_.place.span;
    count_uses(source_.body);
    allow_late_ = !has_timers(source_.body);
    find_late(source_.body);
    stack_ = source_.parameters;
    place_ = source_.place;
    emit_block(source_.body);
    emit(Op::Return);
  }

 private:
  /// How far a block has been emitted, and where each variable is used last in it: instruction i
  /// uses its operands at 2i+1, its arms run at 2i+2.
  struct Level {
    std::size_t at = 0;
    std::unordered_map<Var, std::size_t> last_use;
  };

  // ---- Analysis

  void count_uses(const ir::Block& block) {
    for (const auto& instr : block.code) {
      for (const Var in : instr->in) ++uses_[in];
      count_uses(instr->then_block);
      count_uses(instr->else_block);
    }
    for (const Var result : block.results) ++uses_[result];
  }

  void find_late(const ir::Block& block) {
    for (const auto& instr : block.code) {
      const bool constant = instr->kind == Instr::Kind::Constant;
      const bool late = instr->kind == Instr::Kind::Op && allow_late_ && ir::is_pure(*instr) &&
                        instr->out.size() == 1 && uses_[instr->out[0]] == 1 &&
                        may_be_late(instr->op) && tree_depth(*instr) <= kDeepestTree;
      if (constant || late) late_[instr->out[0]] = instr.get();
      if (late) tree_depths_[instr->out[0]] = tree_depth(*instr);
      find_late(instr->then_block);
      find_late(instr->else_block);
    }
  }

  /// How many operations would be made late inside each other, this one included.
  std::size_t tree_depth(const Instr& instr) const {
    std::size_t below = 0;
    for (const Var in : instr.in) below = std::max(below, tree_depths_[in]);
    return below + 1;
  }

  /// The variables on the stack that pushing `var` takes from.
  template <class Action>
  void for_each_source(Var var, const Action& action) const {
    if (const Instr* late = late_[var]) {
      for (const Var in : late->in) for_each_source(in, action);
    } else {
      action(var);
    }
  }

  template <class Action>
  void for_each_use(const Instr& instr, const Action& action) const {
    for (const Var in : instr.in) for_each_source(in, action);
    for_each_use(instr.then_block, action);
    for_each_use(instr.else_block, action);
  }

  template <class Action>
  void for_each_use(const ir::Block& block, const Action& action) const {
    for (const auto& instr : block.code) {
      if (!is_late(*instr)) for_each_use(*instr, action);
    }
    for (const Var result : block.results) for_each_source(result, action);
  }

  bool is_late(const Instr& instr) const {
    return instr.out.size() == 1 && late_[instr.out[0]] == &instr;
  }

  bool needed_later(Var var) const {
    return std::any_of(levels_.begin(), levels_.end(), [&](const Level& level) {
      const auto found = level.last_use.find(var);
      return found != level.last_use.end() && found->second > level.at;
    });
  }

  // ---- Instructions

  vcode::Instruction& emit(Op op, Type type = Type::Int, std::uint32_t a = 0, std::uint32_t b = 0) {
    function_->code.push_back({op, type, a, b, place_.span});
    scopes_->push_back(place_.scope);
    return function_->code.back();
  }

  std::uint32_t depth_of(std::size_t index) const {
    return static_cast<std::uint32_t>(stack_.size() - 1 - index);
  }

  std::size_t find(Var var) const {
    return static_cast<std::size_t>(std::find(stack_.begin(), stack_.end(), var) - stack_.begin());
  }

  void emit_constant(vcode::Constant constant) {
    emit(Op::Const, constant.type, static_cast<std::uint32_t>(program_.constants.size()));
    program_.constants.push_back(std::move(constant));
  }

  void emit_string(const std::string& text) {
    vcode::Constant constant;
    constant.form = vcode::ConstantForm::String;
    std::vector<std::int64_t> codes;
    for (const char c : text) codes.push_back(static_cast<unsigned char>(c));
    constant.elements = std::move(codes);
    emit_constant(std::move(constant));
  }

  /// Removes variables that nobody needs, neighbours together.
  template <class Predicate>
  void drop_if(const Predicate& dead) {
    for (std::size_t end = stack_.size(); end > 0;) {
      if (!dead(stack_[end - 1])) {
        --end;
        continue;
      }
      std::size_t begin = end - 1;
      while (begin > 0 && dead(stack_[begin - 1])) --begin;
      emit(Op::Pop, Type::Int, static_cast<std::uint32_t>(end - begin), depth_of(end - 1));
      stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(begin),
                   stack_.begin() + static_cast<std::ptrdiff_t>(end));
      end = begin;
    }
  }

  // ---- Operands

  /// Remaining uses of each variable by the operands being pushed.
  void begin_operands(const std::vector<Var>& operands) {
    pending_.clear();
    for (const Var operand : operands) {
      for_each_source(operand, [&](Var var) { ++pending_[var]; });
    }
  }

  bool dies(Var var) const {
    const auto found = pending_.find(var);
    return (found == pending_.end() || found->second == 1) && !needed_later(var);
  }

  bool on_stack(Var var) const { return late_[var] == nullptr; }

  /// Pushes the operands in their order; those that lie in place already stay.
  void push(const std::vector<Var>& operands) {
    std::size_t next = in_place(operands);
    for (std::size_t i = 0; i < next; ++i) {
      --pending_[operands[i]];
      stack_[stack_.size() - next + i] = kOperand;
    }
    while (next < operands.size()) {
      const Var operand = operands[next];
      if (const Instr* late = late_[operand]) {
        push_late(*late);
        ++next;
      } else {
        next += push_run(operands, next);
      }
    }
  }

  /// The number of leading operands that are on top of the stack, used for the last time.
  std::size_t in_place(const std::vector<Var>& operands) const {
    for (std::size_t count = std::min(operands.size(), stack_.size()); count > 0; --count) {
      bool match = true;
      for (std::size_t i = 0; i < count && match; ++i) {
        match = on_stack(operands[i]) && stack_[stack_.size() - count + i] == operands[i] &&
                dies(operands[i]);
      }
      if (match) return count;
    }
    return 0;
  }

  void push_late(const Instr& instr) {
    const ir::Place outer = place_;
    if (instr.place.span) place_ = instr.place;
    if (instr.kind == Instr::Kind::Constant) {
      emit(Op::Const, program_.constants[instr.index].type, instr.index);
      if (is_long_descriptor(module_.constants[instr.index].literal)) emit(Op::MakeSegdes);
    } else {
      push(instr.in);
      emit(instr.op, instr.type);
      stack_.resize(stack_.size() - instr.in.size());
    }
    stack_.push_back(kOperand);
    place_ = outer;
  }

  /// As many operands as lie together on the stack are moved or copied by one instruction.
  std::size_t push_run(const std::vector<Var>& operands, std::size_t next) {
    const std::size_t first = find(operands[next]);
    const bool move = dies(operands[next]);
    std::size_t count = 1;
    while (next + count < operands.size() && first + count < stack_.size() &&
           stack_[first + count] == operands[next + count] && on_stack(operands[next + count]) &&
           dies(operands[next + count]) == move) {
      ++count;
    }
    const std::uint32_t depth = depth_of(first + count - 1);
    for (std::size_t i = 0; i < count; ++i) --pending_[operands[next + i]];
    if (move) {
      if (depth != 0) emit(Op::CPop, Type::Int, static_cast<std::uint32_t>(count), depth);
      stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(first),
                   stack_.begin() + static_cast<std::ptrdiff_t>(first + count));
    } else {
      emit(Op::Copy, Type::Int, static_cast<std::uint32_t>(count), depth);
    }
    stack_.insert(stack_.end(), count, kOperand);
    return count;
  }

  void push_all(const std::vector<Var>& operands) {
    begin_operands(operands);
    push(operands);
  }

  // ---- Blocks

  void emit_block(const ir::Block& block) {
    Level& level = levels_.emplace_back();
    for (std::size_t i = 0; i < block.code.size(); ++i) {
      if (is_late(*block.code[i])) continue;
      const Instr& instr = *block.code[i];
      for (const Var in : instr.in) {
        for_each_source(in, [&](Var var) { level.last_use[var] = 2 * i + 1; });
      }
      const auto in_arm = [&](Var var) { level.last_use[var] = 2 * i + 2; };
      for_each_use(instr.then_block, in_arm);
      for_each_use(instr.else_block, in_arm);
    }
    for (const Var result : block.results) {
      for_each_source(result, [&](Var var) { level.last_use[var] = 2 * block.code.size() + 1; });
    }
    level.at = 0;
    drop_if([&](Var var) { return var != kOperand && !needed_later(var); });
    for (std::size_t i = 0; i < block.code.size(); ++i) {
      levels_.back().at = 2 * i + 1;
      if (!is_late(*block.code[i])) emit_instr(*block.code[i]);
    }
    levels_.back().at = 2 * block.code.size() + 1;
    if (block.results.empty()) {
      levels_.pop_back();
      return;
    }
    push_all(block.results);
    levels_.pop_back();
  }

  void emit_instr(const Instr& instr) {
    if (instr.place.span) place_ = instr.place;
    if (instr.kind == Instr::Kind::Fail) {
      emit_failure(instr);
      return;
    }
    push_all(instr.in);
    stack_.resize(stack_.size() - instr.in.size());
    ++levels_.back().at;
    switch (instr.kind) {
      case Instr::Kind::Call:
        emit(Op::Call, Type::Int, callees_.at(instr.callee));
        break;
      case Instr::Kind::If:
        emit_conditional(instr);
        break;
      default:
        emit(instr.op, instr.type);
    }
    stack_.insert(stack_.end(), instr.out.begin(), instr.out.end());
    drop_if([&](Var var) { return var != kOperand && !needed_later(var); });
  }

  void emit_conditional(const Instr& instr) {
    emit(Op::If);
    const std::vector<Var> before = stack_;
    emit_block(instr.then_block);
    stack_ = before;
    const std::size_t else_at = function_->code.size();
    emit(Op::Else);
    emit_block(instr.else_block);
    if (function_->code.size() == else_at + 1) {
      function_->code.pop_back();
      scopes_->pop_back();
    }
    emit(Op::EndIf);
    stack_.resize(stack_.size() - instr.out.size());
  }

  void emit_failure(const Instr& instr) {
    const ir::Failure& failure = module_.failures[instr.index];
    const bool is_error = failure.message.empty();
    write(is_error ? "\nERROR: " : "\n" + failure.message + "\n");
    // The topmost value is written first.
    push_all({instr.in.rbegin(), instr.in.rend()});
    for (std::size_t i = 0; i < instr.in.size(); ++i) {
      stack_.pop_back();
      if (!is_error) write(failure.labels[i] + " ");
      emit_write(is_error ? Type::Char : source_.variables[instr.in[i]].type);
    }
    if (is_error) write("\n");
    emit(Op::Exit);
  }

  void write(const std::string& text) {
    emit_string(text);
    emit_write(Type::Char);
  }

  /// Without its status.
  void emit_write(Type type) {
    emit(Op::Write, type);
    emit(Op::Pop, Type::Int, 2, 0);
  }

  const ir::Function& source_;
  const ir::Module& module_;
  vcode::Program& program_;
  const std::unordered_map<const ir::Function*, std::uint32_t>& callees_;
  std::vector<const Instr*> late_;
  std::vector<std::size_t> tree_depths_;  // of what is made late; else 0
  std::vector<int> uses_;
  bool allow_late_ = true;
  vcode::Function* function_ = nullptr;
  std::vector<std::uint32_t>* scopes_ = nullptr;
  std::vector<Var> stack_;
  std::vector<Level> levels_;
  std::unordered_map<Var, int> pending_;
  ir::Place place_;
};

}  // namespace

StackCode generate(const ir::Module& module) {
  StackCode result;
  result.program.source = module.sources.front();
  for (const ir::Module::Constant& constant : module.constants) {
    vcode::Constant& literal = result.program.constants.emplace_back(constant.literal);
    if (is_long_descriptor(literal)) literal.type = Type::Int;
    result.values.push_back(constant.value);
  }
  std::unordered_map<const ir::Function*, std::uint32_t> callees;
  for (const ir::Function& function : module.functions) {
    callees.emplace(&function, static_cast<std::uint32_t>(result.program.names.size()));
    result.program.names.push_back(function.name);
  }
  for (const ir::Function& function : module.functions) {
    vcode::Function& made = result.program.functions.emplace_back();
    FunctionCode(function, module, result.program, callees)
        .generate(made, result.scopes.emplace_back());
  }
  result.values.resize(result.program.constants.size(), -1);
  return result;
}

}  // namespace neslc
