#include "ir/lower.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "ir/placement.hpp"
#include "ir/stack.hpp"
#include "ir/tools.hpp"

namespace ir {
namespace {

// Names of functions come first in Program::names, then those of kernels.
std::uint32_t kernel_name(const Module& module, std::uint32_t kernel) {
  return static_cast<std::uint32_t>(module.functions.size()) + kernel;
}

// Stack entries that are looked at for operands that lie in place.
constexpr std::size_t kMostTaken = 64;

class FunctionWriter {
 public:
  FunctionWriter(const Module& module, const Function& function,
                 const std::vector<bool>& function_effects)
      : module_(module),
        function_(function),
        deferred_(deferred_values(module, function, function_effects)),
        statement_of_(function.values.size()),
        remaining_(count_uses(function)) {}

  std::vector<vcode::Instruction> run() {
    for (const ValueId parameter : function_.parameters) out_.push(parameter);
    if (!function_.body.diverges) drop_dead(function_.origin);
    write(function_.body, function_.origin);
    out_.write(Op::Return, {}, 0, 0, function_.origin);
    return std::move(out_.code);
  }

 private:
  using Uses = std::map<ValueId, std::uint32_t>;

  void write(const Block& block, const Origin& origin);
  void write(const Statement& statement);
  void write_operation(const Statement& statement);
  void conditional(const Statement& statement);
  void arm(const Block& block, const Uses& other, const Uses& own, const Origin& origin);
  void operands(const ValueList& wanted, const Origin& origin);
  void fetch_run(const ValueList& wanted, std::size_t begin, std::size_t end, std::size_t taken,
                 const Origin& origin);
  std::size_t take(const ValueList& wanted);
  std::optional<std::size_t> fits(const ValueList& wanted, std::size_t base) const;
  void push_results(const Statement& statement);
  bool deferred(ValueId value) const { return deferred_[value]; }

  void drop_dead(const Origin& origin) {
    out_.drop_if([this](ValueId value) { return remaining_[value] == 0; }, origin);
  }

  static Uses uses_in(const Block& block) {
    Uses uses;
    for_each_use(block, [&](ValueId value) { ++uses[value]; });
    return uses;
  }

  const Module& module_;
  const Function& function_;
  std::vector<bool> deferred_;
  std::vector<const Statement*> statement_of_;  // of deferred values
  std::vector<std::uint32_t> remaining_;        // uses on the way that is being written
  StackCode out_;
};

void FunctionWriter::write(const Block& block, const Origin& origin) {
  for (const Statement& statement : block.statements) {
    if (statement.results.size() == 1 && deferred(statement.results[0])) {
      statement_of_[statement.results[0]] = &statement;
    } else {
      write(statement);
    }
  }
  if (block.diverges) return;
  operands(block.results, origin);
  out_.settle(block.results.size());
}

void FunctionWriter::write(const Statement& statement) {
  if (statement.kind == Statement::Kind::If) {
    conditional(statement);
    return;
  }
  operands(statement.operands, statement.origin);
  write_operation(statement);
  out_.remove(statement.operands.size());
  push_results(statement);
}

void FunctionWriter::write_operation(const Statement& statement) {
  const Origin& origin = statement.origin;
  switch (statement.kind) {
    case Statement::Kind::Op:
      out_.write(statement.op, statement.written, 0, 0, origin);
      break;
    case Statement::Kind::Const:
    case Statement::Kind::Given:
      out_.write(Op::Const, {}, statement.index, 0, origin);
      break;
    case Statement::Kind::Call:
      out_.write(Op::Call, {}, statement.index, 0, origin);
      break;
    case Statement::Kind::Exit:
      out_.write(Op::Exit, {}, 0, 0, origin);
      break;
    case Statement::Kind::Run:
      out_.write(Op::Run, {}, kernel_name(module_, statement.index), 0, origin);
      break;
    default:
      break;
  }
}

void FunctionWriter::push_results(const Statement& statement) {
  const bool any = !statement.results.empty();
  bool dead = false;
  for (const ValueId result : statement.results) {
    out_.push(result);
    dead |= remaining_[result] == 0;
  }
  if (any && dead) drop_dead(statement.origin);
}

// Both arms leave what is needed behind the conditional where it was, and above it the results.
void FunctionWriter::conditional(const Statement& statement) {
  const Origin& origin = statement.origin;
  operands(statement.operands, origin);
  out_.write(Op::If, {}, 0, 0, origin);
  out_.remove(1);
  const Uses first = uses_in(*statement.then_block), second = uses_in(*statement.else_block);
  const std::vector<StackCode::Entry> before = out_.stack();
  Uses after;
  for (const Uses* uses : {&first, &second}) {
    for (const auto& [value, count] : *uses) after[value] = remaining_[value];
  }
  for (const Uses* uses : {&first, &second}) {
    for (const auto& [value, count] : *uses) after[value] -= count;
  }
  arm(*statement.then_block, after, first, origin);
  const std::vector<StackCode::Entry> then_stack = out_.stack();
  out_.set_stack(before);
  const std::size_t mark = out_.code.size();
  out_.write(Op::Else, {}, 0, 0, origin);
  arm(*statement.else_block, after, second, origin);
  if (out_.code.size() == mark + 1) out_.code.pop_back();
  out_.write(Op::EndIf, {}, 0, 0, origin);
  for (const auto& [value, count] : after) remaining_[value] = count;
  if (statement.then_block->diverges && statement.else_block->diverges) return;
  if (statement.else_block->diverges) out_.set_stack(then_stack);
  out_.remove(statement.results.size());
  push_results(statement);
}

void FunctionWriter::arm(const Block& block, const Uses& after, const Uses& own,
                         const Origin& origin) {
  for (const auto& [value, count] : after) remaining_[value] = count;
  for (const auto& [value, count] : own) remaining_[value] += count;
  // What only the other arm needs; in front of EXIT it does not matter.
  if (!block.diverges) drop_dead(origin);
  write(block, origin);
}

void FunctionWriter::operands(const ValueList& wanted, const Origin& origin) {
  const std::size_t taken = take(wanted);
  for (std::size_t i = taken; i < wanted.size();) {
    if (deferred(wanted[i])) {
      const Statement& statement = *statement_of_[wanted[i]];
      --remaining_[wanted[i]];
      operands(statement.operands, statement.origin);
      write_operation(statement);
      out_.remove(statement.operands.size());
      out_.push(wanted[i], true);
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < wanted.size() && !deferred(wanted[end])) ++end;
    fetch_run(wanted, i, end, taken, origin);
    i = end;
  }
}

// Takes over as many operands as lie at the top in their order, if this is their last use. The
// topmost entries may also be those that the next operand is computed from.
std::size_t FunctionWriter::take(const ValueList& wanted) {
  for (std::size_t height = std::min(kMostTaken, out_.height()); height > 0; --height) {
    const auto taken = fits(wanted, out_.height() - height);
    if (!taken) continue;
    out_.hold(*taken, height);
    for (std::size_t i = 0; i < *taken; ++i) --remaining_[wanted[i]];
    return *taken;
  }
  return 0;
}

// If the entries from `base` on are what the operands begin with: how many of these they are.
std::optional<std::size_t> FunctionWriter::fits(const ValueList& wanted, std::size_t base) const {
  const std::vector<StackCode::Entry>& stack = out_.stack();
  for (std::size_t i = 0; i < wanted.size() && base + i < stack.size(); ++i) {
    const ValueId value = wanted[i];
    if (deferred(value)) {
      if (!fits(statement_of_[value]->operands, base + i)) return std::nullopt;
      return i;
    }
    const StackCode::Entry& entry = stack[base + i];
    const auto here = std::count(wanted.begin(), wanted.end(), value);
    if (entry.value != value || entry.waiting ||
        remaining_[value] != static_cast<std::uint32_t>(here)) {
      return std::nullopt;
    }
  }
  if (base + wanted.size() < stack.size()) return std::nullopt;
  return stack.size() - base;
}

// Operands begin … end-1, none of them deferred; the first `taken` of all were taken over.
void FunctionWriter::fetch_run(const ValueList& wanted, std::size_t begin, std::size_t end,
                               std::size_t taken, const Origin& origin) {
  std::vector<std::uint8_t> dying;
  const auto first_taken = wanted.begin();
  const auto last_taken = first_taken + static_cast<std::ptrdiff_t>(taken);
  for (std::size_t i = begin; i < end; ++i) {
    const bool was_taken = std::find(first_taken, last_taken, wanted[i]) != last_taken;
    dying.push_back(--remaining_[wanted[i]] == 0 && !was_taken);
  }
  out_.fetch(std::span(wanted).subspan(begin, end - begin), dying, origin);
}

/// An opaque function has its own code; only the calls are by other numbers in the program.
vcode::Function write_function(const Module& module, const Function& function,
                               const std::vector<bool>& function_effects) {
  vcode::Function written;
  written.name = function.name;
  written.name_span = function.origin.span;
  written.code =
      function.opaque ? function.code : FunctionWriter(module, function, function_effects).run();
  for (vcode::Instruction& instruction : written.code) {
    if (function.opaque && instruction.op == Op::Run) {
      instruction.a = kernel_name(module, instruction.a);
    }
  }
  return written;
}

/// Calls `visit(instruction)` for all instructions, those of SPECs included.
template <typename Visit>
void for_each_instruction(vcode::Program& program, Visit&& visit) {
  for (vcode::Function& function : program.functions) {
    for (vcode::Instruction& instruction : function.code) visit(instruction);
  }
  for (vcode::Kernel& kernel : program.kernels) {
    for (vcode::Instruction& instruction : kernel.spec) visit(instruction);
  }
}

/// Adds the kernels that are run, in the order of the module, and what the head of the file says.
void add_kernels(vcode::Program& program, const Module& module) {
  std::vector<bool> used(module.kernels.size());
  for_each_instruction(program, [&](const vcode::Instruction& instruction) {
    if (instruction.op == Op::Run) used[instruction.a - module.functions.size()] = true;
  });
  for (std::size_t i = 0; i < module.kernels.size(); ++i) {
    program.names.push_back(module.kernels[i].name);
    if (!used[i]) continue;
    program.kernels.push_back(module.kernels[i]);
    if (!program.fcode) program.fcode.emplace();
  }
}

/// Keeps the constants that are still used, in the order of their first use.
/// Returns their numbers among `all`.
std::vector<std::uint32_t> drop_unused_constants(vcode::Program& program,
                                                 const std::vector<vcode::Constant>& all) {
  std::map<std::uint32_t, std::uint32_t> number;
  std::vector<std::uint32_t> kept;
  for_each_instruction(program, [&](vcode::Instruction& instruction) {
    if (instruction.op != Op::Const) return;
    const auto next = static_cast<std::uint32_t>(program.constants.size());
    const auto [entry, added] = number.try_emplace(instruction.a, next);
    if (added) {
      program.constants.push_back(all[instruction.a]);
      kept.push_back(instruction.a);
    }
    instruction.a = entry->second;
  });
  return kept;
}

}  // namespace

Lowered lower(const Module& module) {
  Lowered result;
  vcode::Program& program = result.program;
  program.source = module.source;
  for (const Function& function : module.functions) program.names.push_back(function.name);
  const std::vector<bool> effects = functions_with_effects(module);
  const std::vector<bool> reached = reachable_functions(module);
  program.functions.push_back(write_function(module, module.functions[module.entry], effects));
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (i == module.entry || !reached[i]) continue;
    program.functions.push_back(write_function(module, module.functions[i], effects));
  }
  add_kernels(program, module);
  result.constants = drop_unused_constants(program, module.constants);
  return result;
}

}  // namespace ir
