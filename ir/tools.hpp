// Building, walking, counting and copying the intermediate form.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "ir/module.hpp"

namespace ir {

inline constexpr ValueId kNoValue = std::numeric_limits<ValueId>::max();

// ---- building ----

ValueId new_value(Function& function, std::optional<Type> type, const Origin& origin);

/// Does the run give the constant?
inline bool is_given(const Module& module, std::uint32_t constant) {
  return constant < module.given.size() && module.given[constant];
}

/// The index of an equal constant in the module's table, which gets it if it has none.
std::uint32_t add_constant(Module& module, vcode::Constant constant);
vcode::Constant int_constant(std::int64_t number);
vcode::Constant bool_constant(bool flag);
vcode::Constant float_constant(double number);
/// 0, 0.0 or F.
vcode::Constant null_constant(Type type);
/// Characters; written as a string if the notation of strings can spell them.
vcode::Constant text_constant(const std::string& text);
/// A vector without elements, a descriptor without segments.
vcode::Constant empty_constant(Type type);
/// Any total order in which only equal constants are equivalent.
bool comes_before(const vcode::Constant& a, const vcode::Constant& b);

/// An operation of the table with fresh results.
Statement make_op(Function& function, Op op, Type written, ValueList operands,
                  const Origin& origin);
Statement make_const(const Module& module, Function& function, std::uint32_t constant,
                     const Origin& origin);
/// RUN with fresh results, typed as the kernel says.
Statement make_run(const Module& module, Function& function, std::uint32_t kernel,
                   ValueList operands, const Origin& origin);

// ---- walking ----

/// Calls `visit(statement)` for every statement of the block and of the blocks in it, in program
/// order; a conditional comes before its arms.
template <typename Statements, typename Visit>
void for_each_statement(Statements& block, Visit&& visit) {
  for (auto& statement : block.statements) {
    visit(statement);
    if (statement.then_block) for_each_statement(*statement.then_block, visit);
    if (statement.else_block) for_each_statement(*statement.else_block, visit);
  }
}

/// Calls `visit(block)` for the block and for all blocks in it, inner ones first.
template <typename Blocks, typename Visit>
void for_each_block(Blocks& block, Visit&& visit) {
  for (auto& statement : block.statements) {
    if (statement.then_block) for_each_block(*statement.then_block, visit);
    if (statement.else_block) for_each_block(*statement.else_block, visit);
  }
  visit(block);
}

/// Calls `visit(operand)` for every place that mentions a value: operands and block results.
template <typename Blocks, typename Visit>
void for_each_use(Blocks& block, Visit&& visit) {
  for (auto& statement : block.statements) {
    for (auto& operand : statement.operands) visit(operand);
    if (statement.then_block) for_each_use(*statement.then_block, visit);
    if (statement.else_block) for_each_use(*statement.else_block, visit);
  }
  for (auto& result : block.results) visit(result);
}

/// Groups of functions that can reach each other, callees before callers.
std::vector<std::vector<std::uint32_t>> call_groups(const Module& module);
/// Functions of which a call can lead to another one of the same; `groups`: call_groups().
std::vector<bool> recursive_functions(const Module& module,
                                      const std::vector<std::vector<std::uint32_t>>& groups);
/// Functions that a run can enter.
std::vector<bool> reachable_functions(const Module& module);

// ---- counting ----

/// How often each value of the function is mentioned.
std::vector<std::uint32_t> count_uses(const Function& function);
/// Vector operations written in the block: an instruction each, kernels included.
std::size_t vector_operations(const Block& block);
std::size_t vector_operations(const Module& module);
/// Conditionals inside each other.
std::size_t nesting(const Block& block);
/// Deeper ones would cost native stack in every walk over the form: no pass sees them.
inline constexpr std::size_t kDeepestNesting = 200;

/// Where a value comes from, copied, so that it stays valid while statements move. Of a parameter
/// the kind is nothing.
struct Definition {
  std::optional<Statement::Kind> kind;
  Op op{};
  Type written = Type::Int;
  std::uint32_t index = 0;
  std::uint32_t result = 0;  // position among the statement's results
  ValueList operands;

  bool is(Op wanted) const { return kind == Statement::Kind::Op && op == wanted; }
  bool is_const() const { return kind == Statement::Kind::Const; }
};
Definition definition_of(const Statement& statement, std::uint32_t result);
std::vector<Definition> definitions(const Function& function);

// ---- effects ----

/// Does the statement itself only compute, so that it may be dropped when its results are unused
/// and merged with an equal one? Conditionals and calls are not judged here (false).
bool is_pure(const Statement& statement);
/// Is it one constant, known or given? It can stand anywhere before its uses.
inline bool pushes_constant(const Statement& statement) {
  return statement.kind == Statement::Kind::Const || statement.kind == Statement::Kind::Given;
}
/// Does an elementwise operation fail for some elements: does it divide INT?
bool divides_ints(Op op, Type written);
/// Can a pure statement stop the program, whatever its operands are known to be?
bool may_fail(const Statement& statement);

/// Of each function: does it, or what it calls, do more than compute (random numbers, timers, input
/// and output, EXIT), or never return? Opaque functions do.
std::vector<bool> functions_with_effects(const Module& module);
/// The same for a statement, given the table for functions.
bool has_effects(const Statement& statement, const std::vector<bool>& function_effects);
/// The same, but for what is done by arms that end the program: what only computes may be put off
/// to behind such a conditional. Another one of two operations that fail may then be the first.
bool goes_on_after_effects(const Statement& statement, const std::vector<bool>& function_effects);

// ---- changing ----

/// Replacements of values by values; chains are followed.
class Renaming {
 public:
  explicit Renaming(std::size_t values) : to_(values, kNoValue) {}
  void set(ValueId from, ValueId to);
  bool has(ValueId value) const { return value < to_.size() && to_[value] != kNoValue; }
  ValueId operator()(ValueId value) const;
  /// Renames every use in the block. Returns whether there was one.
  bool apply(Block& block) const;

 private:
  std::vector<ValueId> to_;
};

/// Of statements without blocks that is all; a conditional still needs arms.
Statement copy_without_blocks(const Statement& statement);

/// A copy of `block` of function `from` inside function `to`. `names` (of the size of from.values)
/// gives the names of the values that the block sees from outside; those that it defines are added.
Block clone_block(const Block& block, const Function& from, Function& to,
                  std::vector<ValueId>& names);
Statement clone_statement(const Statement& statement, const Function& from, Function& to,
                          std::vector<ValueId>& names);

/// Numbers the values anew, in program order, without those that are no longer assigned: tables of
/// values are then no longer than the function.
void number_values(Function& function);

/// Removes statements of the function that only compute what is not used; calls stay.
void drop_unused(Function& function);

/// Fills in types that follow from those of other values, through conditionals and calls.
void infer_types(Module& module);

}  // namespace ir
