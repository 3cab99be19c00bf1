// Library code for nested sequences builds sequences of a few elements from vectors, and takes them
// apart again, by scatters, scans and gathers over segments of a known length. Where what it does
// is known element by element it needs none of them (fcode.md, O-6, O-13).
//
// A vector over uniform segments of k elements has k columns: column j is the vector of the
// elements j of all segments.
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "fcode-opt/ir_tools.hpp"
#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/shapes/analysis.hpp"

namespace fcode {
namespace {

using vcode::Family;

// Segments of more elements are not taken apart.
constexpr std::int64_t kMostColumns = 8;
// How far the making of a column is followed.
constexpr int kColumnDepth = 16;

class Idioms : public ShapeVisitor {
 public:
  Idioms(Module& module, Function& function)
      : module_(module), function_(function), names_(function.values.size()) {}

  bool finish() {
    names_.apply(function_.body);
    return changed_;
  }

  void region(Shapes& shapes, Block& block, std::size_t begin, std::size_t& end) override {
    shapes_ = &shapes;
    std::vector<Statement> statements;
    bool grown = false;
    for (std::size_t i = begin; i < end; ++i) {
      rewrite(block.statements[i]);
      grown |= !made_.empty();
      std::move(made_.begin(), made_.end(), std::back_inserter(statements));
      made_.clear();
      statements.push_back(std::move(block.statements[i]));
    }
    auto at = [&](std::size_t i) {
      return block.statements.begin() + static_cast<std::ptrdiff_t>(i);
    };
    if (!grown) {
      std::move(statements.begin(), statements.end(), at(begin));
      return;
    }
    block.statements.erase(at(begin), at(end));
    block.statements.insert(at(begin), std::make_move_iterator(statements.begin()),
                            std::make_move_iterator(statements.end()));
    end = begin + statements.size();
  }

 private:
  void rewrite(const Statement& statement) {
    if (statement.kind != Statement::Kind::Op || statement.results.size() != 1) return;
    origin_ = statement.origin;
    std::vector<ValueId> operands = statement.operands;
    for (ValueId& operand : operands) operand = names_(operand);
    const ValueId same = equivalent(statement, operands);
    if (same == kNoValue) {
      made_.clear();
      return;
    }
    names_.set(statement.results[0], same);
    changed_ = true;
  }

  /// A value that the result is equal to, or none.
  ValueId equivalent(const Statement& statement, const std::vector<ValueId>& operands) {
    switch (vcode::info(statement.op).family) {
      case Family::Distribute:
        return single(operands[1], operands[0]) ? operands[0] : kNoValue;
      case Family::Index:
        return single(operands[2], operands[0]) && same_length(operands[1], operands[0])
                   ? operands[0]
                   : kNoValue;
      case Family::Reduce:
        return reduction(statement, operands);
      case Family::Extract:
        return fits(operands[0], operands[2]) && segments(operands[2], operands[1])
                   ? built_column(operands[0], operands[2], operands[1])
                   : kNoValue;
      case Family::Permute:
        return permutation(statement, operands);
      default:
        return kNoValue;
    }
  }

  // A sum of FLOAT starts with 0.0, which is not neutral for -0.0.
  ValueId reduction(const Statement& statement, const std::vector<ValueId>& operands) {
    if (statement.written == Type::Float || !fits(operands[0], operands[1])) return kNoValue;
    if (single(operands[1], operands[0])) return operands[0];
    const std::optional<std::int64_t> count = columns_of(operands[1]);
    if (statement.op != Op::AddReduce || !count) return kNoValue;
    ValueId sum = kNoValue;
    for (std::int64_t j = 0; j < *count; ++j) {
      const ValueId part = column(operands[0], operands[1], j, 0);
      if (part == kNoValue) return kNoValue;
      sum = sum == kNoValue ? part : emit(Op::Add, Type::Int, {sum, part});
    }
    return sum;
  }

  ValueId permutation(const Statement& statement, const std::vector<ValueId>& operands) {
    const ValueId data = operands[0], index = operands[1];
    switch (statement.op) {
      case Op::Permute:
        return fits(data, operands[2]) && identity(index, operands[2]) ? data : kNoValue;
      case Op::BPermute:
        if (!fits(data, operands[2]) || !fits(index, operands[3]) ||
            !same_count(operands[2], operands[3])) {
          return kNoValue;
        }
        if (same_segments(operands[2], operands[3]) && identity(index, operands[3])) return data;
        return single(operands[3], index) ? built_column(data, operands[2], index) : kNoValue;
      case Op::DPermute:
        return fits(data, operands[3]) && fits(operands[2], operands[4]) &&
                       same_segments(operands[3], operands[4]) && identity(index, operands[3])
                   ? data
                   : kNoValue;
      default:
        return kNoValue;
    }
  }

  // ---- columns ----

  std::optional<std::int64_t> columns_of(ValueId segdes) {
    const std::optional<std::int64_t> count = known_element(segdes);
    return count && *count >= 1 && *count <= kMostColumns ? count : std::nullopt;
  }

  /// The column that a vector of equal indices takes, if it need not be fetched.
  ValueId built_column(ValueId vector, ValueId segdes, ValueId index) {
    const std::optional<std::int64_t> count = columns_of(segdes), j = known_element(index);
    if (!count || !j || *j < 0 || *j >= *count) return kNoValue;
    return column(vector, segdes, *j, 0);
  }

  /// Column j of the vector, made from what the vector was made of; none if it would have to be
  /// fetched. REQUIRES: the vector is as long as the descriptor says, which has more than j
  /// columns.
  ValueId column(ValueId vector, ValueId segdes, std::int64_t j, int depth) {
    if (const std::optional<std::int64_t> number = known_element(vector)) {
      return constant_column(*number, segdes);
    }
    const Definition* made = shapes_->definition(vector);
    if (!made || made->kind != Statement::Kind::Op || depth > kColumnDepth) return kNoValue;
    std::vector<ValueId> operands = made->operands;
    for (ValueId& operand : operands) operand = names_(operand);
    if (made->is(Op::DPermute)) return placed_column(operands, segdes, j, depth);
    if (!made->is(Op::AddScan) || made->written != Type::Int) return kNoValue;
    if (!fits(operands[0], operands[1]) || !same_segments(operands[1], segdes)) return kNoValue;
    if (j == 0) return constant_column(0, segdes);
    const ValueId added = column_or_fetch(operands[0], segdes, j - 1, depth + 1);
    if (j == 1) return added;
    const ValueId before = column(vector, segdes, j - 1, depth + 1);
    return before == kNoValue ? kNoValue : emit(Op::Add, Type::Int, {before, added});
  }

  // A scatter of one column into a default.
  ValueId placed_column(const std::vector<ValueId>& operands, ValueId segdes, std::int64_t j,
                        int depth) {
    const std::optional<std::int64_t> at = known_element(operands[1]);
    const std::optional<std::int64_t> count = columns_of(segdes);
    if (!at || !count || *at < 0 || *at >= *count || !single(operands[3], operands[0]) ||
        !same_length(operands[0], operands[1]) || !fits(operands[2], operands[4]) ||
        !same_count(operands[3], operands[4]) || !same_segments(operands[4], segdes)) {
      return kNoValue;
    }
    return *at == j ? operands[0] : column(operands[2], segdes, j, depth + 1);
  }

  ValueId column_or_fetch(ValueId vector, ValueId segdes, std::int64_t j, int depth) {
    const ValueId built = column(vector, segdes, j, depth);
    if (built != kNoValue) return built;
    return emit(Op::Extract, Type::Int, {vector, constant_column(j, segdes), segdes});
  }

  // As many equal numbers as there are segments.
  ValueId constant_column(std::int64_t number, ValueId segdes) {
    const ValueId lengths = emit(Op::Lengths, Type::Int, {segdes});
    const ValueId count = emit(Op::Length, Type::Int, {lengths});
    const ValueId all = emit(Op::MakeSegdes, Type::Int, {count});
    const std::uint32_t constant = add_constant(module_, int_constant(number));
    made_.push_back(make_const(module_, function_, constant, origin_));
    shapes_->step(made_.back(), module_);
    return emit(Op::Distribute, Type::Int, {made_.back().results[0], all});
  }

  ValueId emit(Op op, Type written, std::vector<ValueId> operands) {
    made_.push_back(make_op(function_, op, written, std::move(operands), origin_));
    shapes_->step(made_.back(), module_);
    return made_.back().results[0];
  }

  // ---- what is known ----

  bool same_length(ValueId a, ValueId b) const { return shapes_->same_length(a, b); }
  bool same_segments(ValueId a, ValueId b) const { return shapes_->same_segments(a, b); }
  /// Do the descriptors have as many segments?
  bool same_count(ValueId a, ValueId b) const { return shapes_->same_length(a, b); }
  /// Is the vector as long as the descriptor says?
  bool fits(ValueId vector, ValueId segdes) const {
    return shapes_->equations.equal(shapes_->of(vector).length, shapes_->of(segdes).sum);
  }
  /// Has the vector one element for each segment?
  bool segments(ValueId segdes, ValueId vector) const {
    return shapes_->equations.equal(shapes_->of(vector).length, shapes_->of(segdes).length);
  }
  /// Is each segment one element, and the vector as long?
  bool single(ValueId segdes, ValueId vector) const {
    return known_element(segdes) == 1 && segments(segdes, vector);
  }
  /// The number that all elements are, or all segment lengths, if it can be a constant.
  std::optional<std::int64_t> known_element(ValueId value) const {
    const std::optional<Type> type = function_.values[value].type;
    if (type != Type::Int && type != Type::Segdes) return std::nullopt;
    const auto number = shapes_->known_element(value);
    return number == static_cast<std::int32_t>(number.value_or(0)) ? number : std::nullopt;
  }

  /// Is each element its own position in its segment?
  bool identity(ValueId index, ValueId segdes) const {
    const Definition* made = shapes_->definition(index);
    if (!made || !made->is(Op::Index)) return false;
    const ValueId start = names_(made->operands[0]), step = names_(made->operands[1]);
    const ValueId over = names_(made->operands[2]);
    return known_element(start) == 0 && known_element(step) == 1 && segments(over, start) &&
           segments(over, step) && same_segments(over, segdes);
  }

  Module& module_;
  Function& function_;
  Renaming names_;
  Shapes* shapes_ = nullptr;
  Origin origin_;                // of the statement that is rewritten
  std::vector<Statement> made_;  // in front of it
  bool changed_ = false;
};

}  // namespace

bool recognize_idioms(Module& module) {
  // What is learned must not rest on an operation whose failure could then disappear.
  ShapeAnalysis analysis(module, ShapeAnalysis::Trust::Never);
  bool changed = false;
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].opaque) continue;
    Idioms idioms(module, module.functions[i]);
    analysis.walk(i, idioms);
    changed |= idioms.finish();
  }
  return changed;
}

}  // namespace fcode
