// Common subexpressions: value numbering along dominating paths.
#include <memory_resource>
#include <optional>
#include <unordered_map>
#include <utility>

#include "fcode-opt/passes/passes.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

struct Expression {
  Statement::Kind kind;
  Op op;
  Type written;
  std::uint32_t index;
  ValueList operands;
  bool operator==(const Expression&) const = default;
};

struct ExpressionHash {
  std::size_t operator()(const Expression& expression) const {
    std::size_t hash = static_cast<std::size_t>(expression.kind);
    const auto mix = [&](std::size_t value) {
      constexpr std::size_t kGolden = 0x9E3779B97F4A7C15;
      hash = (hash ^ value) * kGolden;
      hash ^= hash >> 29;
    };
    mix(static_cast<std::size_t>(expression.op));
    mix(static_cast<std::size_t>(expression.written));
    mix(expression.index);
    for (const ValueId operand : expression.operands) mix(operand);
    return hash;
  }
};

/// What an expression that has been computed gives.
struct Computed {
  ValueList results;
  std::size_t calls_passed = 0;  // before it
};

class CommonExpressions {
 public:
  CommonExpressions(Function& function, const std::vector<bool>& effects)
      : function_(function), effects_(effects), names_(function.values.size()) {}

  bool run() {
    known_.reserve(function_.values.size());
    block(function_.body);
    return changed_;
  }

 private:
  // Fields that a kind of statement does not use keep their default in all statements.
  static Expression expression(const Statement& statement) {
    const bool op = statement.kind == Statement::Kind::Op;
    const bool typed = op && vcode::info(statement.op).takes_type();
    return {statement.kind,
            op ? statement.op : Op{},
            typed ? statement.written : Type{},
            statement.index,
            {statement.operands.begin(), statement.operands.end()}};
  }

  bool may_merge(const Statement& statement) const {
    if (statement.kind == Statement::Kind::Call) return !effects_[statement.index];
    return is_pure(statement);
  }

  void arm(Block& arm) {
    const std::size_t mark = added_.size();
    block(arm);
    // What was computed in an arm is not there behind it.
    for (; added_.size() > mark; added_.pop_back()) {
      Added& last = added_.back();
      if (last.before) {
        last.entry->second = std::move(*last.before);
      } else {
        known_.erase(known_.find(last.entry->first));
      }
    }
  }

  void block(Block& block) {
    std::vector<Statement>& statements = block.statements;
    std::size_t kept = 0;
    for (std::size_t at = 0; at < statements.size(); ++at) {
      Statement& statement = statements[at];
      for (ValueId& operand : statement.operands) operand = names_(operand);
      if (statement.kind == Statement::Kind::If) {
        arm(*statement.then_block);
        arm(*statement.else_block);
      } else if (may_merge(statement) && merge(statement)) {
        continue;
      }
      if (statement.kind == Statement::Kind::Call) ++calls_passed_;
      if (kept != at) statements[kept] = std::move(statement);
      ++kept;
    }
    for (ValueId& result : block.results) result = names_(result);
    statements.resize(kept);
  }

  // Vectors are not kept across calls, most of all not by every level of a recursion at once:
  // computing them again needs less memory. Descriptors and what is made one for each segment may
  // be kept. So may what calls give: to call twice at each level of a recursion takes 2^levels
  // calls.
  static bool is_kept(const Statement& statement) {
    if (statement.kind == Statement::Kind::Call) return true;
    if (statement.kind != Statement::Kind::Op) return pushes_constant(statement);
    switch (vcode::info(statement.op).family) {
      case vcode::Family::Reduce:
      case vcode::Family::Extract:
      case vcode::Family::Length:
      case vcode::Family::MakeSegdes:
      case vcode::Family::Lengths:
        return true;
      default:
        return false;
    }
  }

  bool merge(const Statement& statement) {
    const auto [entry, added] = known_.try_emplace(expression(statement));
    Computed& known = entry->second;
    const auto remember = [&] {
      known.results.assign(statement.results.begin(), statement.results.end());
      known.calls_passed = calls_passed_;
    };
    if (added) {
      remember();
      added_.push_back({&*entry, std::nullopt});
      return false;
    }
    if (known.calls_passed != calls_passed_ && !is_kept(statement)) {
      // The earlier one is known again behind this block, where the new one is not seen.
      added_.push_back({&*entry, known});
      remember();
      return false;
    }
    for (std::size_t i = 0; i < statement.results.size(); ++i) {
      names_.set(statement.results[i], known.results[i]);
    }
    // A repeated constant costs nothing and is no progress.
    changed_ |= !pushes_constant(statement);
    return true;
  }

  Function& function_;
  const std::vector<bool>& effects_;
  Renaming names_;
  using Table = std::pmr::unordered_map<Expression, Computed, ExpressionHash>;
  std::pmr::monotonic_buffer_resource memory_;  // of an entry for each statement, until the end
  Table known_{&memory_};
  struct Added {
    Table::value_type* entry;        // stays where it is
    std::optional<Computed> before;  // what was known instead
  };
  std::vector<Added> added_;  // in the order in which they were met
  std::size_t calls_passed_ = 0;
  bool changed_ = false;
};

}  // namespace

bool merge_common(Module& module) {
  const std::vector<bool> effects = functions_with_effects(module);
  bool changed = false;
  for (Function& function : module.functions) {
    if (!function.opaque) changed |= CommonExpressions(function, effects).run();
  }
  return changed;
}

}  // namespace fcode
