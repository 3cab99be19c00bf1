// Conditionals.
#include <algorithm>
#include <optional>
#include <utility>

#include "fcode-opt/passes/passes.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

class Branches {
 public:
  Branches(Module& module, Function& function)
      : module_(module),
        function_(function),
        definitions_(definitions(function)),
        names_(function.values.size()),
        truth_(function.values.size()) {}

  bool run() {
    block(function_.body);
    if (function_.body.diverges) function_.result_types.clear();
    return changed_;
  }

 private:
  void block(Block& block) {
    std::vector<Statement> written;
    written.reserve(block.statements.size());
    bool diverges = false;
    for (Statement& statement : block.statements) {
      if (diverges) {
        changed_ = true;
        break;
      }
      for (ValueId& operand : statement.operands) operand = names_(operand);
      if (statement.kind == Statement::Kind::If) {
        diverges = conditional(statement, written);
      } else {
        diverges = ends(statement);
        if (diverges) statement.results.clear();
        written.push_back(std::move(statement));
      }
    }
    block.statements = std::move(written);
    block.diverges = diverges;
    if (diverges) block.results.clear();
    for (ValueId& result : block.results) result = names_(result);
  }

  bool ends(const Statement& statement) const {
    return statement.kind == Statement::Kind::Exit ||
           (statement.kind == Statement::Kind::Call &&
            module_.functions[statement.index].body.diverges);
  }

  // Writes the conditional, or what is left of it. Returns whether the run never gets behind it.
  bool conditional(Statement& statement, std::vector<Statement>& written) {
    if (const auto known = truth(statement.operands[0])) {
      Block& taken = *known ? *statement.then_block : *statement.else_block;
      block(taken);
      give_results(statement, taken);
      return append(taken, written);
    }
    turn_around(statement);
    const ValueId condition = statement.operands[0];
    truth_[condition] = true;
    block(*statement.then_block);
    truth_[condition] = false;
    block(*statement.else_block);
    truth_[condition] = std::nullopt;
    return written_as(statement, written);
  }

  bool written_as(Statement& statement, std::vector<Statement>& written) {
    Block& first = *statement.then_block;
    Block& second = *statement.else_block;
    if (first.diverges && second.diverges) {
      statement.results.clear();
      written.push_back(std::move(statement));
      return true;
    }
    if (first.diverges || second.diverges) {
      flatten(statement, written);
      return false;
    }
    forward_results(statement);
    if (!first.statements.empty() || !second.statements.empty() || !statement.results.empty()) {
      written.push_back(std::move(statement));
    } else {
      changed_ = true;
    }
    return false;
  }

  // One arm ends the run: what the other does, goes on behind the conditional.
  void flatten(Statement& statement, std::vector<Statement>& written) {
    Block& stays = statement.then_block->diverges ? *statement.else_block : *statement.then_block;
    give_results(statement, stays);
    if (!stays.statements.empty()) changed_ = true;
    std::vector<Statement> rest = std::move(stays.statements);
    stays.statements.clear();
    stays.results.clear();
    written.push_back(std::move(statement));
    for (Statement& next : rest) written.push_back(std::move(next));
  }

  // IF NOT c: IF c with the arms exchanged.
  void turn_around(Statement& statement) {
    for (;;) {
      const Definition& condition = definitions_[statement.operands[0]];
      if (!condition.is(Op::Not)) return;
      statement.operands[0] = names_(condition.operands[0]);
      std::swap(statement.then_block, statement.else_block);
      changed_ = true;
    }
  }

  void give_results(Statement& statement, const Block& from) {
    for (std::size_t i = 0; i < statement.results.size() && !from.diverges; ++i) {
      names_.set(statement.results[i], from.results[i]);
      changed_ = true;
    }
    statement.results.clear();
  }

  bool append(Block& block, std::vector<Statement>& written) {
    changed_ = true;
    for (Statement& statement : block.statements) written.push_back(std::move(statement));
    return block.diverges;
  }

  // Results that are the same value in both arms, the condition itself, or a result that is there
  // already.
  void forward_results(Statement& statement) {
    Block& first = *statement.then_block;
    Block& second = *statement.else_block;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < statement.results.size(); ++i) {
      if (const ValueId same = forwarded(statement, i, kept); same != kNoValue) {
        names_.set(statement.results[i], same);
        changed_ = true;
        continue;
      }
      statement.results[kept] = statement.results[i];
      first.results[kept] = first.results[i];
      second.results[kept] = second.results[i];
      ++kept;
    }
    statement.results.resize(kept);
    first.results.resize(kept);
    second.results.resize(kept);
  }

  ValueId forwarded(const Statement& statement, std::size_t at, std::size_t kept) const {
    const ValueList& first = statement.then_block->results;
    const ValueList& second = statement.else_block->results;
    if (first[at] == second[at]) return first[at];
    if (constant_truth(first[at]) == true && constant_truth(second[at]) == false) {
      return statement.operands[0];
    }
    for (std::size_t k = 0; k < kept; ++k) {
      if (first[k] == first[at] && second[k] == second[at]) return statement.results[k];
    }
    return kNoValue;
  }

  std::optional<bool> constant_truth(ValueId value) const {
    if (value >= definitions_.size() || !definitions_[value].is_const()) return std::nullopt;
    const vcode::Constant& constant = module_.constants[definitions_[value].index];
    if (constant.type != Type::Bool || constant.size() != 1) return std::nullopt;
    return constant.bools()[0] != 0;
  }

  std::optional<bool> truth(ValueId value) const {
    if (truth_[value]) return truth_[value];
    if (const Definition& found = definitions_[value]; found.is(Op::Not)) {
      const auto inner = truth(names_(found.operands[0]));
      return inner ? std::optional(!*inner) : std::nullopt;
    }
    return constant_truth(value);
  }

  Module& module_;
  Function& function_;
  std::vector<Definition> definitions_;
  Renaming names_;
  std::vector<std::optional<bool>> truth_;  // of conditions, inside their arms
  bool changed_ = false;
};

}  // namespace

bool simplify_branches(Module& module) {
  bool changed = false;
  for (bool again = true; again;) {
    again = false;
    for (Function& function : module.functions) {
      if (function.opaque) continue;
      const bool returned = !function.body.diverges;
      changed |= Branches(module, function).run();
      // Whatever follows its calls goes, too.
      again |= returned && function.body.diverges;
    }
  }
  return changed;
}

}  // namespace fcode
