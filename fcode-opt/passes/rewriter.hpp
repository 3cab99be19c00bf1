// Rewriting a module statement by statement.
#pragma once

#include <vector>

#include "fcode-opt/ir.hpp"
#include "ir/tools.hpp"

namespace fcode {

/// What a rule sees of the function that is rewritten.
struct RewriteContext {
  Module& module;
  Function& function;
  std::vector<Definition>& definitions;  // of the values assigned so far
  Renaming& names;                       // to replace a result of the statement by another value

  const Definition& definition(ValueId value) const { return definitions[value]; }
  /// The constant that the value is, or null.
  const vcode::Constant* constant(ValueId value) const {
    const Definition& found = definitions[value];
    return found.is_const() ? &module.constants[found.index] : nullptr;
  }
};

enum class Rewrite {
  None,
  Changed,  // the statement was changed in place
  Dropped,  // all its results were renamed
};

/// Calls `rule(statement, context)` for every statement but conditionals, in program order and with
/// operands already renamed. Returns whether anything was changed.
template <typename Rule>
bool rewrite(Module& module, Rule rule);

// ---- implementation ----

template <typename Rule>
class Rewriter {
 public:
  Rewriter(Module& module, Function& function, Rule& rule)
      : function_(function),
        definitions_(function.values.size()),
        names_(function.values.size()),
        context_{module, function, definitions_, names_},
        rule_(rule) {}

  bool run() {
    block(function_.body);
    return changed_;
  }

 private:
  void block(Block& block) {
    std::vector<Statement>& statements = block.statements;
    std::size_t kept = 0;
    for (std::size_t at = 0; at < statements.size(); ++at) {
      Statement& statement = statements[at];
      for (ValueId& operand : statement.operands) operand = names_(operand);
      if (statement.kind == Statement::Kind::If) {
        this->block(*statement.then_block);
        this->block(*statement.else_block);
      } else {
        const Rewrite done = rule_(statement, context_);
        changed_ |= done != Rewrite::None;
        if (done == Rewrite::Dropped) continue;
      }
      definitions_.resize(function_.values.size());
      for (std::uint32_t i = 0; i < statement.results.size(); ++i) {
        definitions_[statement.results[i]] = definition_of(statement, i);
      }
      if (kept != at) statements[kept] = std::move(statement);
      ++kept;
    }
    for (ValueId& result : block.results) result = names_(result);
    statements.resize(kept);
  }

  Function& function_;
  std::vector<Definition> definitions_;
  Renaming names_;
  RewriteContext context_;
  Rule& rule_;
  bool changed_ = false;
};

template <typename Rule>
bool rewrite(Module& module, Rule rule) {
  bool changed = false;
  for (Function& function : module.functions) {
    if (!function.opaque) changed |= Rewriter<Rule>(module, function, rule).run();
  }
  return changed;
}

/// Makes the statement a constant.
inline void become_constant(Statement& statement, std::uint32_t constant) {
  statement.kind = Statement::Kind::Const;
  statement.index = constant;
  statement.operands.clear();
}

}  // namespace fcode
