// Identities of single operations. Where an operand takes the place of a result their lengths must
// be the same, which the shape analysis decides: the deepest operand gives an elementwise operation
// its length, longer ones are cut.
#pragma once

#include <optional>

#include "fcode-opt/shapes/analysis.hpp"
#include "ir/tools.hpp"

namespace fcode {

/// Replaces results by operands that they are equal to.
class Algebra : public ShapeVisitor {
 public:
  Algebra(Module& module, Function& function)
      : module_(module), function_(function), names_(function.values.size()) {}

  void region(Shapes& shapes, Block& block, std::size_t begin, std::size_t& end) override;
  /// Behind the walk. Returns whether anything was changed.
  bool finish();

 private:
  void unpair(Shapes& shapes, const Statement& statement);
  ValueId equivalent(Shapes& shapes, const Statement& statement);
  static ValueId inverse(Shapes& shapes, ValueId operand, Op op);
  ValueId difference(Shapes& shapes, const Statement& statement, const ValueList& operands) const;
  ValueId select(Shapes& shapes, const ValueList& operands);
  ValueId neutral_on_either_side(Shapes& shapes, const Statement& statement,
                                 const ValueList& operands, std::int64_t neutral);
  ValueId neutral_second(Shapes& shapes, const Statement& statement, const ValueList& operands,
                         std::int64_t neutral);
  bool is_all(Shapes& shapes, const Statement& statement, ValueId value, std::int64_t number);
  std::optional<bool> constant_flag(Shapes& shapes, ValueId value);
  const vcode::Constant* distributed(Shapes& shapes, ValueId value);

  Module& module_;
  Function& function_;
  Renaming names_;
  bool changed_ = false;
};

}  // namespace fcode
