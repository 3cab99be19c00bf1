// Rewriting operations by what is known of the shapes of their operands.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "fcode-opt/shapes/analysis.hpp"
#include "ir/tools.hpp"

namespace fcode {

/// A pass that replaces results of operations by values that are equal to them: values that are
/// there, or are made of them by other operations.
class RegionRewriter : public ShapeVisitor {
 public:
  RegionRewriter(Module& module, Function& function)
      : module_(module), function_(function), names_(function.values.size()) {}

  void region(Shapes& shapes, Block& block, std::size_t begin, std::size_t& end) override;
  /// Behind the walk. Returns whether anything was changed.
  bool finish();

 protected:
  /// Can equivalent() be asked? It names other results than the first itself.
  virtual bool takes(const Statement& statement) const { return statement.results.size() == 1; }
  /// A value that the first result of an operation is equal to, or none. It may be made with
  /// emit(); if it is none after all, what was emitted goes.
  virtual ValueId equivalent(const Statement& statement, const ValueList& operands) = 0;

  ValueId emit(Op op, Type written, ValueList operands);
  ValueId emit_constant(vcode::Constant constant);
  /// A descriptor of one segment, as long as the vector, whose type is given.
  ValueId one_segment(ValueId vector, Type type);
  /// The number once for each segment.
  ValueId for_each_segment(ValueId number, ValueId segdes);
  ValueId constant_for_each_segment(std::int64_t number, ValueId segdes) {
    return for_each_segment(emit_constant(int_constant(number)), segdes);
  }
  /// The operands of a definition or a statement under their present names.
  template <class Made>
  ValueList operands_of(const Made& made) const {
    ValueList operands(made.operands.begin(), made.operands.end());
    for (ValueId& operand : operands) operand = names_(operand);
    return operands;
  }

  bool same_length(ValueId a, ValueId b) const { return shapes_->same_length(a, b); }
  bool same_segments(ValueId a, ValueId b) const { return shapes_->same_segments(a, b); }
  /// Do the descriptors have as many segments?
  bool same_count(ValueId a, ValueId b) const { return shapes_->same_length(a, b); }
  /// Is the vector as long as the descriptor says?
  bool fits(ValueId vector, ValueId segdes) const { return shapes_->fits(vector, segdes); }
  /// Has the vector one element for each segment?
  bool segments(ValueId segdes, ValueId vector) const { return same_length(vector, segdes); }
  /// Is each segment one element, and the vector as long?
  bool single(ValueId segdes, ValueId vector) const {
    return known_element(segdes) == 1 && segments(segdes, vector);
  }
  /// The number that all elements are, or all segment lengths, if it can be a constant.
  std::optional<std::int64_t> known_element(ValueId value) const;
  /// Is each element its own position in its segment?
  bool is_identity(ValueId index, ValueId segdes) const;

  Module& module_;
  Function& function_;
  Renaming names_;
  Shapes* shapes_ = nullptr;

 private:
  void rewrite(const Statement& statement);

  Origin origin_;                // of the statement that is rewritten
  std::vector<Statement> made_;  // in front of it
  bool changed_ = false;
};

/// Does an operation `reader` read the first result of a `maker` as that operand?
bool reads_result_of(const Function& function, Op maker, Op reader, std::size_t operand);

/// Runs a visitor with finish() over all functions that the entry can reach. What it learns does
/// not rest on an operation whose failure could then disappear.
template <class Visitor>
bool rewrite_regions(Module& module, KnownWalks& walks) {
  ShapeAnalysis analysis(module, ShapeAnalysis::Trust::Never, walks);
  bool changed = false;
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].opaque) continue;
    Visitor visitor(module, module.functions[i]);
    analysis.walk(i, visitor);
    changed |= visitor.finish();
  }
  return changed;
}

/// The same, without a look at shapes if no function has anything to rewrite.
template <class Visitor>
bool rewrite_regions(Module& module, KnownWalks& walks, bool (*has_candidates)(const Function&)) {
  const auto& functions = module.functions;
  return std::any_of(functions.begin(), functions.end(), has_candidates) &&
         rewrite_regions<Visitor>(module, walks);
}

}  // namespace fcode
