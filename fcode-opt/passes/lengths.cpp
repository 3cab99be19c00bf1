// Lengths, asked for as soon as the vector is there: a number takes no room, the vector may be
// long.
#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fcode-opt/passes/passes.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

// Each LENGTH goes behind the statement that makes its operand, or behind the last effect if that
// comes later. Place k is that of statement k - 1 and of what goes behind it; 0 is the beginning.
bool hoist_lengths(Block& block, const std::vector<bool>& effects) {
  std::vector<Statement>& statements = block.statements;
  std::vector<std::vector<std::size_t>> behind(statements.size() + 1);
  std::unordered_map<ValueId, std::size_t> made;  // at which place a value is there
  std::size_t effect = 0, latest = 0;             // the last places of an effect, of any statement
  bool changed = false;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    Statement& statement = statements[i];
    std::size_t place = i + 1;
    if (statement.kind == Statement::Kind::Op && statement.op == Op::Length) {
      const auto operand = made.find(statement.operands[0]);
      place = std::max(effect, operand == made.end() ? 0 : operand->second);
      changed |= place != latest;
    } else {
      if (statement.kind == Statement::Kind::If) {
        changed |= hoist_lengths(*statement.then_block, effects);
        changed |= hoist_lengths(*statement.else_block, effects);
      }
      if (has_effects(statement, effects)) effect = place;
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

}  // namespace

bool hoist_lengths(Module& module) {
  const std::vector<bool> effects = functions_with_effects(module);
  bool changed = false;
  for (Function& function : module.functions) {
    if (!function.opaque) changed |= hoist_lengths(function.body, effects);
  }
  return changed;
}

}  // namespace fcode
