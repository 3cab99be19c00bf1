#include "fcode-opt/passes/region_rewriter.hpp"

#include <iterator>
#include <utility>

#include "fcode-opt/stopping.hpp"

namespace fcode {

bool RegionRewriter::finish() {
  names_.apply(function_.body);
  return changed_;
}

void RegionRewriter::region(Shapes& shapes, Block& block, std::size_t begin, std::size_t& end) {
  shapes_ = &shapes;
  std::vector<Statement> statements;  // the region as it becomes, from where it grows
  bool grown = false;
  std::size_t kept = begin;  // statements of the block
  for (std::size_t i = begin; i < end; ++i) {
    end_if_asked();
    rewrite(block.statements[i]);
    grown |= !made_.empty();
    if (!grown) {
      ++kept;
      continue;
    }
    std::move(made_.begin(), made_.end(), std::back_inserter(statements));
    made_.clear();
    statements.push_back(std::move(block.statements[i]));
  }
  if (grown) replace_region(block, kept, end, std::move(statements));
}

void RegionRewriter::rewrite(const Statement& statement) {
  if (statement.kind != Statement::Kind::Op || !takes(statement)) return;
  origin_ = statement.origin;
  const ValueId same = equivalent(statement, operands_of(statement));
  if (same == kNoValue) {
    made_.clear();
    return;
  }
  names_.set(statement.results[0], same);
  changed_ = true;
}

ValueId RegionRewriter::emit(Op op, Type written, ValueList operands) {
  made_.push_back(make_op(function_, op, written, std::move(operands), origin_));
  shapes_->step(made_.back(), module_);
  return made_.back().results[0];
}

ValueId RegionRewriter::emit_constant(vcode::Constant constant) {
  const std::uint32_t index = add_constant(module_, std::move(constant));
  made_.push_back(make_const(module_, function_, index, origin_));
  shapes_->step(made_.back(), module_);
  return made_.back().results[0];
}

ValueId RegionRewriter::one_segment(ValueId vector, Type type) {
  return emit(Op::MakeSegdes, Type::Int, {emit(Op::Length, type, {vector})});
}

ValueId RegionRewriter::for_each_segment(ValueId number, ValueId segdes) {
  const ValueId lengths = emit(Op::Lengths, Type::Int, {segdes});
  return emit(Op::Distribute, Type::Int, {number, one_segment(lengths, Type::Int)});
}

std::optional<std::int64_t> RegionRewriter::known_element(ValueId value) const {
  const std::optional<Type> type = function_.values[value].type;
  if (type != Type::Int && type != Type::Segdes) return std::nullopt;
  return shapes_->known_element(value);
}

bool RegionRewriter::is_identity(ValueId index, ValueId segdes) const {
  const Definition* made = shapes_->definition(index);
  if (!made || !made->is(Op::Index)) return false;
  const ValueId start = names_(made->operands[0]), step = names_(made->operands[1]);
  const ValueId over = names_(made->operands[2]);
  return known_element(start) == 0 && known_element(step) == 1 && segments(over, start) &&
         segments(over, step) && same_segments(over, segdes);
}

bool reads_result_of(const Function& function, Op maker, Op reader, std::size_t operand) {
  std::vector<bool> made(function.values.size());
  bool found = false;
  for_each_statement(function.body, [&](const Statement& statement) {
    if (statement.kind != Statement::Kind::Op) return;
    if (statement.op == maker) made[statement.results[0]] = true;
    found |= statement.op == reader && made[statement.operands[operand]];
  });
  return found;
}

}  // namespace fcode
