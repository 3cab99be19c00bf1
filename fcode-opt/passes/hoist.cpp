// What costs nothing, as soon as its operands are there: lengths, since a number takes no room
// where the vector may be long; and choices between vectors, which otherwise would stand between
// operations that could be one kernel.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fcode-opt/passes/passes.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

/// Which statements of the block are to go up.
using Chosen = std::vector<bool>;

Chosen lengths(const Block& block) {
  Chosen chosen;
  for (const Statement& statement : block.statements) {
    chosen.push_back(statement.kind == Statement::Kind::Op && statement.op == Op::Length);
  }
  return chosen;
}

bool only_constants(const Block& block) {
  return !block.diverges &&
         std::all_of(block.statements.begin(), block.statements.end(),
                     [](const Statement& statement) { return pushes_constant(statement); });
}

/// A conditional that computes nothing.
bool is_choice(const Statement& statement) {
  return statement.kind == Statement::Kind::If && !statement.results.empty() &&
         only_constants(*statement.then_block) && only_constants(*statement.else_block);
}

/// May it be part of the condition of a choice, or one of the chosen, and go up with it?
bool compares_lengths(const Statement& statement) {
  if (pushes_constant(statement)) return true;
  if (statement.kind != Statement::Kind::Op) return false;
  return statement.op == Op::Length || statement.op == Op::Lengths ||
         statement.op == Op::MakeSegdes || statement.op == Op::Equal;
}

/// Choices, and what their conditions and constants are made of.
Chosen choices(const Block& block) {
  Chosen chosen(block.statements.size());
  std::unordered_set<ValueId> wanted;
  for (std::size_t i = block.statements.size(); i-- > 0;) {
    const Statement& statement = block.statements[i];
    const bool is_wanted = std::any_of(statement.results.begin(), statement.results.end(),
                                       [&](ValueId result) { return wanted.contains(result); });
    chosen[i] = is_choice(statement) || (is_wanted && compares_lengths(statement));
    if (!chosen[i]) continue;
    wanted.insert(statement.operands.begin(), statement.operands.end());
    for (const Block* arm : {statement.then_block.get(), statement.else_block.get()}) {
      if (arm != nullptr) for_each_use(*arm, [&](ValueId value) { wanted.insert(value); });
    }
  }
  return chosen;
}

/// Does it do nothing but end the program, if at all?
bool is_check(const Statement& statement) {
  if (statement.kind != Statement::Kind::If || !statement.results.empty()) return false;
  const Block &x = *statement.then_block, &y = *statement.else_block;
  return (x.statements.empty() && y.diverges) || (y.statements.empty() && x.diverges);
}

// Each chosen statement goes behind those that make what it uses, or behind the last effect if that
// comes later; past checks if it cannot fail itself. Place k is that of statement k - 1 and of what
// goes behind it; 0 is the beginning.
template <class Choose>
bool hoist(Block& block, const std::vector<bool>& effects, const Choose& choose) {
  std::vector<Statement>& statements = block.statements;
  const Chosen chosen = choose(block);
  std::vector<std::vector<std::size_t>> behind(statements.size() + 1);
  std::unordered_map<ValueId, std::size_t> made;  // at which place a value is there
  // The last places of an effect, of one that is no check, of any statement.
  std::size_t effect = 0, more_than_check = 0, latest = 0;
  bool changed = false;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    Statement& statement = statements[i];
    std::size_t place = i + 1;
    if (chosen[i]) {
      place = statement.op == Op::MakeSegdes ? effect : more_than_check;
      const auto follow = [&](ValueId value) {
        if (const auto found = made.find(value); found != made.end()) {
          place = std::max(place, found->second);
        }
      };
      for (const ValueId operand : statement.operands) follow(operand);
      for (const Block* arm : {statement.then_block.get(), statement.else_block.get()}) {
        if (arm != nullptr) for_each_use(*arm, follow);
      }
      changed |= place != latest;
    } else {
      if (statement.kind == Statement::Kind::If) {
        changed |= hoist(*statement.then_block, effects, choose);
        changed |= hoist(*statement.else_block, effects, choose);
      }
      if (has_effects(statement, effects)) {
        effect = place;
        if (!is_check(statement)) more_than_check = place;
      }
      latest = place;
    }
    behind[place].push_back(i);
    for (const ValueId result : statement.results) made[result] = place;
  }
  if (!changed) return false;
  std::vector<Statement> ordered;
  ordered.reserve(statements.size());
  for (const std::vector<std::size_t>& group : behind) {
    for (const std::size_t i : group) ordered.push_back(std::move(statements[i]));
  }
  statements = std::move(ordered);
  return true;
}

template <class Choose>
bool hoist(Module& module, const Choose& choose) {
  const std::vector<bool> effects = functions_with_effects(module);
  bool changed = false;
  for (Function& function : module.functions) {
    if (!function.opaque) changed |= hoist(function.body, effects, choose);
  }
  return changed;
}

}  // namespace

bool hoist_lengths(Module& module) {
  return hoist(module, lengths);
}

bool hoist_choices(Module& module) {
  return hoist(module, choices);
}

}  // namespace fcode
