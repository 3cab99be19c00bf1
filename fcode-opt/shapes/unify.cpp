#include "fcode-opt/shapes/unify.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "fcode-opt/shapes/analysis.hpp"
#include "ir/tools.hpp"
#include "vcode/numbers.hpp"

namespace fcode {
namespace {

using vcode::Family;

/// What descriptors, or scalars, have in common exactly when they are known to be equal.
struct Key {
  bool segdes = false;
  bool by_content = false;  // else by number of segments and length of each, or by value
  Content content = 0;
  Linear first, second;
  auto operator<=>(const Key&) const = default;
};

class Unification : public ShapeVisitor {
 public:
  Unification(Module& module, Function& function)
      : module_(module), function_(function), names_(function.values.size()) {}

  void enter() override { marks_.push_back(seen_order_.size()); }

  void leave() override {
    for (; seen_order_.size() > marks_.back(); seen_order_.pop_back()) {
      seen_.erase(seen_order_.back());
    }
    marks_.pop_back();
  }

  void region(Shapes& shapes, Block& block, std::size_t begin, std::size_t& end) override {
    for (std::size_t i = begin; i < end; ++i) statement(shapes, block.statements[i]);
  }

  void decided(Shapes&, Statement& conditional, bool value) override {
    decisions_.emplace_back(&conditional, value);
  }

  bool finish() {
    // A value that nobody uses may stay, beside others of its operation, and meet again every time.
    changed_ |= names_.apply(function_.body);
    if (decisions_.empty()) return changed_;
    ValueId constants[2] = {kNoValue, kNoValue};
    std::vector<Statement> front;
    for (const auto& [conditional, value] : decisions_) {
      if (constants[value] == kNoValue) {
        front.push_back(
            make_const(module_, function_, add_constant(module_, bool_constant(value)), Origin{}));
        constants[value] = front.back().results[0];
      }
      conditional->operands[0] = constants[value];
    }
    function_.body.statements.insert(function_.body.statements.begin(),
                                     std::make_move_iterator(front.begin()),
                                     std::make_move_iterator(front.end()));
    return true;
  }

 private:
  void statement(Shapes& shapes, Statement& statement) {
    if (statement.kind == Statement::Kind::Run) return;
    for (ValueId& operand : statement.operands) take_known(shapes, operand);
    if (statement.kind == Statement::Kind::Op && statement.op == Op::Length) {
      length(shapes, statement);
    }
    for (ValueId value : statement.results) {
      const std::optional<Type> type = function_.values[value].type;
      if (type == Type::Segdes) {
        meet(segments_key(shapes, value), value);
      } else if (type == Type::Int && shapes.is_scalar(value)) {
        scalar(shapes, statement, value);
      }
    }
  }

  /// Two descriptors may have turned out to be equal, by a check, when both were there.
  void take_known(Shapes& shapes, ValueId& operand) {
    if (function_.values[operand].type != Type::Segdes) return;
    const auto known = seen_.find(segments_key(shapes, operand));
    if (known == seen_.end() || names_(known->second) == names_(operand)) return;
    operand = known->second;
    changed_ = true;
  }

  /// Takes the length of what the vector was computed from, element by element, as far back as
  /// that is as long: nobody has to keep a vector for its length.
  void length(Shapes& shapes, Statement& statement) {
    ValueId& vector = statement.operands[0];
    while (const Definition* made = shapes.definition(vector)) {
      const auto is_as_long = [&](ValueId operand) {
        const std::optional<Type> type = function_.values[operand].type;
        return type && vcode::is_data(*type) && shapes.same_length(operand, vector);
      };
      if (made->kind != Statement::Kind::Op) return;
      const Family family = vcode::info(made->op).family;
      if (family != Family::Elementwise && family != Family::Scan && family != Family::Random) {
        return;
      }
      const auto same = std::find_if(made->operands.begin(), made->operands.end(), is_as_long);
      if (same == made->operands.end()) return;
      vector = *same;
      statement.written = *function_.values[vector].type;
      changed_ = true;
    }
  }

  void scalar(Shapes& shapes, Statement& statement, ValueId value) {
    const Linear known = shapes.equations.normal(shapes.of(value).sum);
    const bool is_const = statement.kind == Statement::Kind::Const;
    if (known.is_number() && !is_const && statement.results.size() == 1) {
      if (!vcode::fits_32_bits(known.constant)) return;
      statement.kind = Statement::Kind::Const;
      statement.index = add_constant(module_, int_constant(known.constant));
      statement.operands.clear();
      changed_ = true;
      return;
    }
    if (is_const) return;  // pushing a constant again costs less than keeping it
    meet({false, false, 0, known, {}}, value);
  }

  static Key segments_key(Shapes& shapes, ValueId value) {
    const std::optional<Linear> element = shapes.element(value);
    if (!element) return {true, true, shapes.of(value).content, {}, {}};
    return {true, false, 0, shapes.equations.normal(shapes.of(value).length),
            shapes.equations.normal(*element)};
  }

  void meet(Key key, ValueId value) {
    const auto [place, is_new] = seen_.try_emplace(key, value);
    if (is_new) {
      seen_order_.push_back(std::move(key));
    } else if (place->second != value) {
      names_.set(value, place->second);
    }
  }

  Module& module_;
  Function& function_;
  Renaming names_;
  std::map<Key, ValueId> seen_;
  std::vector<Key> seen_order_;
  std::vector<std::size_t> marks_;  // of the blocks that are being walked
  std::vector<std::pair<Statement*, bool>> decisions_;
  bool changed_ = false;
};

}  // namespace

bool unify_shapes(Module& module, KnownWalks& walks) {
  ShapeAnalysis shapes(module, ShapeAnalysis::Trust::Never, walks);
  bool changed = false;
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].opaque) continue;
    Unification visitor(module, module.functions[i]);
    shapes.walk(i, visitor);
    changed |= visitor.finish();
  }
  return changed;
}

}  // namespace fcode
