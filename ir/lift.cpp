#include "ir/lift.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "ir/tools.hpp"
#include "vcode/stack_moves.hpp"
#include "vcode/verifier.hpp"

namespace ir {
namespace {

using vcode::Instruction;
using vcode::LinkedProgram;

// Stack entries that may be copied for conditionals, of one function.
constexpr std::size_t kBudget = std::size_t{1} << 24;

/// The function stays as it is.
struct Unsupported {
  std::string reason;
};

std::optional<Type> known_type(const vcode::ValueType& type) {
  if (std::popcount(type.allowed) != 1) return std::nullopt;
  return static_cast<Type>(std::countr_zero(type.allowed));
}

class FunctionReader {
 public:
  FunctionReader(const LinkedProgram& program, const std::vector<vcode::FunctionEffect>& effects,
                 const Module& module, std::uint32_t index)
      : program_(program), effects_(effects), module_(module), index_(index) {}

  Function run();

 private:
  enum class Truth : std::uint8_t { Unknown, False, True };

  /// A place in the code: what has been made there, and the names on the stack.
  struct Walk {
    Block block;
    std::vector<ValueId> stack;
  };

  void check_nesting() const;
  void read(std::uint32_t at, std::uint32_t end, Walk& walk);
  std::uint32_t conditional(std::uint32_t at, Walk& walk);
  void join(Statement statement, Walk then, Walk other, ValueId mark, Walk& walk);
  void step(const Instruction& instruction, Walk& walk);
  void move_block(const Instruction& instruction, Walk& walk);
  void call(const Instruction& instruction, Walk& walk);
  void add(Statement statement, Walk& walk);
  ValueList take(std::size_t count, Walk& walk);
  void charge(std::size_t count);
  Origin origin(const Instruction& instruction) const { return {instruction.span, index_}; }
  Truth truth(ValueId value) const {
    return value < truth_.size() ? truth_[value] : Truth::Unknown;
  }
  void set_truth(ValueId value, Truth truth);

  const LinkedProgram& program_;
  const std::vector<vcode::FunctionEffect>& effects_;
  const Module& module_;
  std::uint32_t index_;
  Function function_;
  std::vector<Truth> truth_;
  std::size_t spent_ = 0;
};

Function FunctionReader::run() {
  const vcode::LinkedFunction& place = program_.functions[index_];
  const vcode::FunctionEffect& effect = effects_[index_];
  check_nesting();
  function_.name = place.name;
  function_.origin = {place.name_span, index_};
  Walk walk;
  for (const vcode::ValueType& input : effect.inputs) {
    function_.parameters.push_back(
        new_value(function_, known_type(input), {place.name_span, index_}));
  }
  walk.stack.assign(function_.parameters.begin(), function_.parameters.end());
  read(place.begin, place.end, walk);
  if (walk.block.diverges != effect.never_returns) {
    throw Unsupported{"it may not return"};
  }
  if (!walk.block.diverges) {
    if (walk.stack.size() != effect.outputs.size()) throw Unsupported{"its results are unclear"};
    walk.block.results = {walk.stack.begin(), walk.stack.end()};
    for (const vcode::ValueType& output : effect.outputs) {
      function_.result_types.push_back(known_type(output));
    }
  }
  function_.body = std::move(walk.block);
  return std::move(function_);
}

void FunctionReader::check_nesting() const {
  const vcode::LinkedFunction& place = program_.functions[index_];
  std::size_t depth = 0;
  for (std::uint32_t at = place.begin; at < place.end; ++at) {
    if (program_.code[at].op == Op::EndIf) --depth;
    if (program_.code[at].op == Op::If && ++depth > kDeepestNesting) {
      throw Unsupported{fmt::format("conditionals are nested more than {} deep", kDeepestNesting)};
    }
  }
}

void FunctionReader::read(std::uint32_t at, std::uint32_t end, Walk& walk) {
  while (at < end && !walk.block.diverges) {
    const Instruction& instruction = program_.code[at];
    if (instruction.op == Op::If) {
      at = conditional(at, walk);
    } else {
      step(instruction, walk);
      ++at;
    }
  }
}

// Returns the place behind the conditional.
std::uint32_t FunctionReader::conditional(std::uint32_t at, Walk& walk) {
  const Instruction& instruction = program_.code[at];
  const std::uint32_t second = instruction.a;  // behind ELSE, or behind ENDIF
  const bool has_else = program_.code[second - 1].op == Op::Else;
  const std::uint32_t behind = has_else ? program_.code[second - 1].a : second;
  Statement statement;
  statement.kind = Statement::Kind::If;
  statement.origin = origin(instruction);
  statement.operands = take(1, walk);
  const Truth known = truth(statement.operands[0]);
  if (known == Truth::True) {
    read(at + 1, second - 1, walk);
    return behind;
  }
  if (known == Truth::False) {
    if (has_else) read(second, behind - 1, walk);
    return behind;
  }
  charge(2 * walk.stack.size());
  const auto mark = static_cast<ValueId>(function_.values.size());
  Walk then{{}, walk.stack}, other{{}, walk.stack};
  read(at + 1, second - 1, then);
  if (has_else) read(second, behind - 1, other);
  join(std::move(statement), std::move(then), std::move(other), mark, walk);
  return behind;
}

// What lies at the same place of the stack at the end of both arms goes on under one name: its own
// if it is the same value in both, else that of a result of the conditional. Names from `mark` on
// were given inside the arms and are not seen behind them.
void FunctionReader::join(Statement statement, Walk then, Walk other, ValueId mark, Walk& walk) {
  const bool first_ends = then.block.diverges, second_ends = other.block.diverges;
  if (first_ends && second_ends) walk.block.diverges = true;
  if (!first_ends && !second_ends && then.stack.size() != other.stack.size()) {
    throw Unsupported{"the branches of a conditional leave different stacks"};
  }
  const std::vector<ValueId>& left = first_ends ? other.stack : then.stack;
  const std::vector<ValueId>& right = second_ends ? then.stack : other.stack;
  walk.stack.clear();
  if (!walk.block.diverges) {
    charge(left.size());
    std::map<std::pair<ValueId, ValueId>, ValueId> made;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i] == right[i] && left[i] < mark) {
        walk.stack.push_back(left[i]);
        continue;
      }
      const auto [entry, added] = made.try_emplace({left[i], right[i]}, kNoValue);
      if (added) {
        const auto& first = function_.values[left[i]].type;
        const auto& second = function_.values[right[i]].type;
        entry->second =
            new_value(function_, first == second ? first : std::nullopt, statement.origin);
        if (truth(left[i]) == truth(right[i])) set_truth(entry->second, truth(left[i]));
        statement.results.push_back(entry->second);
        if (!first_ends) then.block.results.push_back(left[i]);
        if (!second_ends) other.block.results.push_back(right[i]);
      }
      walk.stack.push_back(entry->second);
    }
  }
  statement.then_block = std::make_unique<Block>(std::move(then.block));
  statement.else_block = std::make_unique<Block>(std::move(other.block));
  walk.block.statements.push_back(std::move(statement));
}

void FunctionReader::step(const Instruction& instruction, Walk& walk) {
  switch (instruction.op) {
    case Op::Copy:
    case Op::Pop:
    case Op::CPop:
      move_block(instruction, walk);
      return;
    case Op::Call:
      call(instruction, walk);
      return;
    case Op::Return:
    case Op::EndIf:
      return;
    case Op::Exit: {
      Statement statement;
      statement.kind = Statement::Kind::Exit;
      statement.origin = origin(instruction);
      add(std::move(statement), walk);
      walk.block.diverges = true;
      return;
    }
    case Op::Const: {
      Statement statement = make_const(module_, function_, instruction.a, origin(instruction));
      const vcode::Constant& constant = module_.constants[instruction.a];
      if (module_.given[instruction.a]) {
        statement.kind = Statement::Kind::Given;
      } else if (constant.type == Type::Bool && constant.size() == 1) {
        set_truth(statement.results[0], constant.bools()[0] ? Truth::True : Truth::False);
      }
      add(std::move(statement), walk);
      return;
    }
    default: {
      const std::size_t count = vcode::info(instruction.op).operands.size();
      ValueList operands = take(count, walk);
      add(make_op(function_, instruction.op, instruction.type, std::move(operands),
                  origin(instruction)),
          walk);
    }
  }
}

void FunctionReader::move_block(const Instruction& instruction, Walk& walk) {
  const std::size_t reached = std::size_t{instruction.a} + instruction.b;
  if (reached > walk.stack.size()) throw Unsupported{"its stack may run empty"};
  charge(reached);
  vcode::move_entries(instruction, walk.stack);
}

void FunctionReader::call(const Instruction& instruction, Walk& walk) {
  const vcode::FunctionEffect& effect = effects_[instruction.a];
  if (!effect.complete) throw Unsupported{"it calls a function of unknown effect on the stack"};
  Statement statement;
  statement.kind = Statement::Kind::Call;
  statement.index = instruction.a;
  statement.origin = origin(instruction);
  statement.operands = take(effect.inputs.size(), walk);
  if (effect.never_returns) {
    walk.block.diverges = true;
  } else {
    for (const vcode::ValueType& output : effect.outputs) {
      statement.results.push_back(new_value(function_, known_type(output), statement.origin));
    }
  }
  add(std::move(statement), walk);
}

void FunctionReader::add(Statement statement, Walk& walk) {
  walk.stack.insert(walk.stack.end(), statement.results.begin(), statement.results.end());
  walk.block.statements.push_back(std::move(statement));
}

ValueList FunctionReader::take(std::size_t count, Walk& walk) {
  if (count > walk.stack.size()) throw Unsupported{"its stack may run empty"};
  charge(count);
  const auto first = walk.stack.end() - static_cast<std::ptrdiff_t>(count);
  ValueList taken(first, walk.stack.end());
  walk.stack.erase(first, walk.stack.end());
  return taken;
}

void FunctionReader::charge(std::size_t count) {
  spent_ += count;
  if (spent_ > kBudget) throw Unsupported{"it moves too many stack entries"};
}

void FunctionReader::set_truth(ValueId value, Truth truth) {
  if (truth == Truth::Unknown) return;
  if (truth_.size() <= value) truth_.resize(value + 1);
  truth_[value] = truth;
}

/// The function as it was; calls and constants by their numbers in the module.
Function keep(const LinkedProgram& program, const vcode::FunctionEffect& effect,
              std::uint32_t index) {
  const vcode::LinkedFunction& place = program.functions[index];
  Function function;
  function.name = place.name;
  function.origin = {place.name_span, index};
  function.opaque = true;
  function.code.assign(program.code.begin() + place.begin, program.code.begin() + place.end);
  if (!effect.complete) return function;
  for (const vcode::ValueType& input : effect.inputs) {
    function.parameters.push_back(new_value(function, known_type(input), {place.name_span, index}));
  }
  function.body.diverges = effect.never_returns;
  for (const vcode::ValueType& output : effect.outputs) {
    function.result_types.push_back(known_type(output));
  }
  return function;
}

class ModuleReader {
 public:
  ModuleReader(const LinkedProgram& program, std::span<const std::uint32_t> given)
      : program_(program) {
    module_.given.resize(program.constants.size());
    for (const std::uint32_t constant : given) module_.given[constant] = true;
    vcode::Diagnostics ignored;  // what is wrong shows in the effects
    verification_ = vcode::verify(program, ignored);
  }

  Module run() {
    module_.source = program_.source;
    module_.entry = program_.entry;
    module_.constants = program_.constants;
    for (const vcode::LinkedFunction& function : program_.functions) {
      module_.scopes.push_back({.function = function.name, .source = program_.source});
    }
    merge_constants();
    for (std::uint32_t i = 0; i < program_.functions.size(); ++i) read(i);
    keep_callees();
    return std::move(module_);
  }

 private:
  // Equal constants get one number.
  void merge_constants() {
    const auto less = [this](std::uint32_t a, std::uint32_t b) {
      return comes_before(program_.constants[a], program_.constants[b]);
    };
    std::set<std::uint32_t, decltype(less)> seen(less);
    for (std::uint32_t i = 0; i < program_.constants.size(); ++i) {
      number_.push_back(module_.given[i] ? i : *seen.insert(i).first);
    }
  }

  void read(std::uint32_t index) {
    const vcode::FunctionEffect& effect = verification_.effects[index];
    try {
      if (!effect.complete || verification_.guarded[index] ||
          (index == program_.entry && !effect.inputs.empty())) {
        throw Unsupported{"its effect on the stack cannot be inferred"};
      }
      Function function = FunctionReader(program_, verification_.effects, module_, index).run();
      for_each_statement(function.body, [this](Statement& statement) {
        if (pushes_constant(statement)) statement.index = number_[statement.index];
      });
      module_.functions.push_back(std::move(function));
    } catch (const Unsupported& unsupported) {
      module_.functions.push_back(keep(program_, effect, index));
      if (!verification_.reachable[index]) return;
      module_.remarks.push_back({fmt::format("`{}` is left as it is: {}",
                                             program_.functions[index].name, unsupported.reason),
                                 {program_.functions[index].name_span, index}});
    }
  }

  void keep_callees() {
    std::vector<std::uint32_t> due;
    for (std::uint32_t i = 0; i < module_.functions.size(); ++i) {
      if (module_.functions[i].opaque) due.push_back(i);
    }
    while (!due.empty()) {
      const std::uint32_t index = due.back();
      due.pop_back();
      for (std::size_t k = 0; k < module_.functions[index].code.size(); ++k) {
        const Instruction& instruction = module_.functions[index].code[k];
        if (instruction.op != Op::Call || module_.functions[instruction.a].opaque) continue;
        const std::uint32_t callee = instruction.a;
        module_.functions[callee] = keep(program_, verification_.effects[callee], callee);
        due.push_back(callee);
      }
    }
  }

  const LinkedProgram& program_;
  vcode::Verification verification_;
  Module module_;
  std::vector<std::uint32_t> number_;  // of each constant of the program, in the module
};

}  // namespace

Module lift(const LinkedProgram& program, std::span<const std::uint32_t> given) {
  return ModuleReader(program, given).run();
}

}  // namespace ir
