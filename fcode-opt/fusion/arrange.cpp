#include "fcode-opt/fusion/arrange.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "fcode-opt/fusion/access.hpp"
#include "fcode-opt/fusion/recompute.hpp"
#include "fcode-opt/shapes/analysis.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

using vcode::Family;

Family family_of(const Statement& statement) {
  return vcode::info(statement.op).family;
}

/// Generators and constants again in the regions that read them.
class Regeneration {
 public:
  Regeneration(const Module& module, Function& function)
      : module_(module), function_(function), home_(function.values.size(), 0) {}

  void run() {
    number(function_.body);
    region_ = 0;
    rewrite(function_.body);
  }

 private:
  struct Generator {
    Statement statement;
    bool everywhere = true;  // of a vector: do all readers elsewhere compute its elements?
  };

  void number(const Block& block) {
    ++region_;
    for (const Statement& statement : block.statements) {
      for (std::size_t i = 0; i < statement.operands.size(); ++i) {
        note_use(statement.operands[i], reads_elements(statement, i));
      }
      if (is_generator(statement) || is_scalar_constant(statement)) {
        generators_[statement.results[0]].statement = copy_without_blocks(statement);
      }
      for (ValueId value : statement.results) home_[value] = region_;
      if (statement.then_block) number(*statement.then_block);
      if (statement.else_block) number(*statement.else_block);
      if (is_barrier(statement)) ++region_;
    }
    for (ValueId value : block.results) note_use(value, false);
  }

  void note_use(ValueId value, bool elements) {
    const auto found = generators_.find(value);
    if (found == generators_.end() || home_[value] == region_) return;
    if (is_generator(found->second.statement)) found->second.everywhere &= elements;
  }

  bool is_scalar_constant(const Statement& statement) const {
    if (statement.kind != Statement::Kind::Const) return false;
    const vcode::Constant& constant = module_.constants[statement.index];
    return constant.size() == 1 && vcode::is_data(constant.type);
  }

  // Walks the regions in the same order as number().
  void rewrite(Block& block) {
    ++region_;
    std::vector<Statement> statements;
    std::map<ValueId, ValueId> here;  // generators made again in this region
    for (Statement& statement : block.statements) {
      for (std::size_t i = 0; i < statement.operands.size(); ++i) {
        if (!reads_elements(statement, i)) continue;
        statement.operands[i] = local(statement.operands[i], here, statements);
      }
      if (statement.then_block) rewrite(*statement.then_block);
      if (statement.else_block) rewrite(*statement.else_block);
      if (is_barrier(statement)) {
        ++region_;
        here.clear();
      }
      statements.push_back(std::move(statement));
    }
    block.statements = std::move(statements);
  }

  ValueId local(ValueId value, std::map<ValueId, ValueId>& here,
                std::vector<Statement>& statements) {
    const auto found = generators_.find(value);
    if (found == generators_.end() || !found->second.everywhere || home_[value] == region_) {
      return value;
    }
    if (const auto known = here.find(value); known != here.end()) return known->second;
    const Statement& made = found->second.statement;
    if (made.kind == Statement::Kind::Const) {
      statements.push_back(make_const(module_, function_, made.index, made.origin));
    } else {
      ValueList operands = made.operands;
      for (ValueId& operand : operands) operand = local(operand, here, statements);
      statements.push_back(
          make_op(function_, made.op, made.written, std::move(operands), made.origin));
    }
    return here[value] = statements.back().results[0];
  }

  const Module& module_;
  Function& function_;
  std::vector<std::uint32_t> home_;  // the region of each value
  std::map<ValueId, Generator> generators_;
  std::uint32_t region_ = 0;
};

/// Finds comparisons of scalars that decide conditionals, and computes again what is cheap.
class RegionArrangement : public ShapeVisitor {
 public:
  explicit RegionArrangement(Function& function)
      : function_(function), uses_(count_uses(function)) {}

  void region(Shapes& shapes, Block& block, std::size_t begin, std::size_t& end) override {
    for (std::size_t i = begin; i < end; ++i) {
      const Statement& statement = block.statements[i];
      if (statement.kind != Statement::Kind::Op || family_of(statement) != Family::Elementwise ||
          may_fail(statement)) {
        continue;
      }
      const bool scalar = std::all_of(statement.operands.begin(), statement.operands.end(),
                                      [&](ValueId operand) { return shapes.is_scalar(operand); });
      if (scalar) scalar_conditions.insert(statement.results[0]);
    }
    recompute(function_, uses_, shapes, block, begin, end);
  }

  std::set<ValueId> scalar_conditions;

 private:
  Function& function_;
  const std::vector<std::uint32_t> uses_;
};

/// Moves conditions out of the arms in which nothing but they themselves depends on the arm.
class Hoisting {
 public:
  explicit Hoisting(const std::set<ValueId>& scalars) : scalars_(scalars) {}

  void run(Block& block) {
    std::vector<Statement> statements;
    for (Statement& statement : block.statements) {
      for (Block* arm : {statement.then_block.get(), statement.else_block.get()}) {
        if (arm) take_out(*arm, statements);
      }
      statements.push_back(std::move(statement));
    }
    block.statements = std::move(statements);
  }

 private:
  void take_out(Block& arm, std::vector<Statement>& front) {
    run(arm);
    std::set<ValueId> conditions, inside;
    for (const Statement& statement : arm.statements) {
      if (statement.kind == Statement::Kind::If) conditions.insert(statement.operands[0]);
      inside.insert(statement.results.begin(), statement.results.end());
    }
    std::vector<Statement> kept;
    for (Statement& statement : arm.statements) {
      const bool moves = statement.results.size() == 1 &&
                         conditions.count(statement.results[0]) != 0 &&
                         scalars_.count(statement.results[0]) != 0 &&
                         std::none_of(statement.operands.begin(), statement.operands.end(),
                                      [&](ValueId operand) { return inside.count(operand) != 0; });
      (moves ? front : kept).push_back(std::move(statement));
    }
    arm.statements = std::move(kept);
  }

  const std::set<ValueId>& scalars_;
};

}  // namespace

void arrange_for_fusion(Module& module, KnownWalks& walks) {
  ShapeAnalysis shapes(module, ShapeAnalysis::Trust::Never, walks);
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].opaque) continue;
    RegionArrangement regions(module.functions[i]);
    shapes.walk(i, regions);
    Hoisting(regions.scalar_conditions).run(module.functions[i].body);
    Regeneration(module, module.functions[i]).run();
  }
}

}  // namespace fcode
