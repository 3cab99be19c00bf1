#include "ir/placement.hpp"

#include <algorithm>
#include <cstdint>

#include "ir/tools.hpp"

namespace ir {
namespace {

using vcode::Family;

// Expressions are written recursively; deeper ones are cut.
constexpr std::uint32_t kDeepestTree = 64;
// Constants of more elements are written once and copied.
constexpr std::size_t kLongestRepeated = 8;

class Placement {
 public:
  Placement(const Module& module, const Function& function,
            const std::vector<bool>& function_effects)
      : module_(module),
        function_(function),
        definitions_(definitions(function)),
        effects_(function_effects),
        uses_(count_uses(function)),
        deferred_(function.values.size()),
        depth_(function.values.size()),
        user_(function.values.size(), kNowhere),
        user_block_(function.values.size()),
        last_(function.values.size(), kNowhere) {}

  std::vector<bool> run() {
    for_each_block(function_.body, [this](const Block& block) { place(block); });
    return std::move(deferred_);
  }

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  void place(const Block& block) {
    note_uses(block);
    const std::size_t end = block.statements.size();
    std::vector<std::size_t> root(end + 1);  // where a statement is written
    root[end] = end;
    std::size_t barrier = end;    // first statement with an effect from here on
    std::size_t tree_root = end;  // of the statements right behind: all are written there
    for (std::size_t i = end; i-- > 0;) {
      const Statement& statement = block.statements[i];
      root[i] = i;
      if (pushes_constant(statement)) {
        deferred_[statement.results[0]] = !is_long_and_shared(statement);
        continue;
      }
      if (goes_on_after_effects(statement, effects_)) barrier = i;
      const std::size_t user = only_user(statement, block);
      if (user != kNowhere) {
        const std::size_t to = root[user];
        if (to <= barrier && (to == tree_root || keeps_storage_small(statement, to))) {
          root[i] = to;
          deferred_[statement.results[0]] = true;
        }
      }
      if (root[i] != tree_root) tree_root = i;
    }
    cut_deep_trees(block);
  }

  // Written once, though it is read several times? (What a Given holds is not known.)
  bool is_long_and_shared(const Statement& constant) const {
    return uses_[constant.results[0]] > 1 && constant.kind == Statement::Kind::Const &&
           module_.constants[constant.index].size() > kLongestRepeated;
  }

  // Notes by which statement of this block values are used; uses inside of arms do not count as a
  // user, but as a last use.
  void note_uses(const Block& block) {
    for (std::size_t i = 0; i < block.statements.size(); ++i) {
      const Statement& statement = block.statements[i];
      for (const ValueId operand : statement.operands) note_use(operand, i, block);
      for (const Block* arm : {statement.then_block.get(), statement.else_block.get()}) {
        if (arm) for_each_use(*arm, [&](ValueId value) { last_[value] = i; });
      }
    }
    for (const ValueId result : block.results) note_use(result, block.statements.size(), block);
  }

  void note_use(ValueId value, std::size_t at, const Block& block) {
    user_[value] = last_[value] = at;
    user_block_[value] = &block;
  }

  // Kernels have none: they stay where they are, so that what is put off to behind them finds their
  // operands gone.
  std::size_t only_user(const Statement& statement, const Block& block) const {
    if (statement.kind == Statement::Kind::Run) return kNowhere;
    if (!is_pure(statement) || statement.results.size() != 1) return kNowhere;
    const ValueId result = statement.results[0];
    return uses_[result] == 1 && user_block_[result] == &block ? user_[result] : kNowhere;
  }

  // Is what the statement makes at least as large as the operands that would live longer, if it
  // were written at `to`?
  bool keeps_storage_small(const Statement& statement, std::size_t to) const {
    if (statement.kind != Statement::Kind::Op) return false;
    switch (vcode::info(statement.op).family) {
      case Family::Distribute:
      case Family::Index:
      case Family::MakeSegdes:
      case Family::Lengths:
        return true;
      case Family::Elementwise:
        break;
      default:
        return std::all_of(statement.operands.begin(), statement.operands.end(),
                           [&](ValueId value) { return last_[value] >= to || is_small(value); });
    }
    const auto longer =
        std::count_if(statement.operands.begin(), statement.operands.end(),
                      [&](ValueId operand) { return !deferred_[operand] && last_[operand] < to; });
    const bool makes_bool = function_.values[statement.results[0]].type == Type::Bool;
    return longer == 0 || (longer == 1 && !makes_bool);
  }

  // Does the value take no room to speak of where it is an operand? A descriptor has fewer segments
  // than elements, as a rule, and generators are written where they are used.
  bool is_small(ValueId value) const {
    const Definition& made = definitions_[value];
    const bool scalar =
        made.is(Op::Length) || (made.is_const() && module_.constants[made.index].size() == 1);
    const bool generated = made.is(Op::Index) || made.is(Op::Distribute);
    return scalar || function_.values[value].type == Type::Segdes ||
           (generated && uses_[value] == 1);
  }

  void cut_deep_trees(const Block& block) {
    for (const Statement& statement : block.statements) {
      if (statement.results.size() != 1 || !deferred_[statement.results[0]]) continue;
      std::uint32_t depth = 1;
      for (const ValueId operand : statement.operands) {
        if (deferred_[operand]) depth = std::max(depth, depth_[operand] + 1);
      }
      depth_[statement.results[0]] = depth;
      if (depth > kDeepestTree) deferred_[statement.results[0]] = false;
    }
  }

  const Module& module_;
  const Function& function_;
  std::vector<Definition> definitions_;
  const std::vector<bool>& effects_;
  std::vector<std::uint32_t> uses_;
  std::vector<bool> deferred_;
  std::vector<std::uint32_t> depth_;
  std::vector<std::size_t> user_;         // index into the block at hand
  std::vector<const Block*> user_block_;  // that user_ belongs to
  std::vector<std::size_t> last_;         // index into the block at hand
};

}  // namespace

std::vector<bool> deferred_values(const Module& module, const Function& function,
                                  const std::vector<bool>& function_effects) {
  return Placement(module, function, function_effects).run();
}

}  // namespace ir
