// What functions for pieces of segments have in common: one piece after the other, and totals and
// flags of each.
#pragma once

#include <vector>

#include "cvl-cpu/native_values.hpp"

namespace cvl::cpu {

class FoldWriter : public ValueWriter {
 public:
  FoldWriter(asmjit::CodeHolder& code, const NativePieces& pieces, Isa isa, Widths widths);
  virtual ~FoldWriter() = default;

  /// False when no code could be made.
  bool write();

 protected:
  /// All elements of a piece, of which there are `end`, from position_ 0 on, and their totals.
  virtual void write_piece(const Gp& end) = 0;

  Lane lane_of_fold(std::size_t k) const { return lane(pieces_.folds[k].result.value); }
  /// So many registers of totals for each fold, with what folding begins with.
  void start_totals(int registers);
  /// a op b, as the functors of cvl/scalar_ops.hpp have it.
  void fold(vcode::Op reduction, Lane own, const Vec& out, const Vec& a, const Vec& b);
  /// Of the values of a register of elements: is any of them T? Without flags all are valid.
  void note_flags(const Register* valid);

  const NativePieces& pieces_;
  std::vector<std::vector<Vec>> totals_;

 private:
  void store_any(std::size_t k);

  std::vector<Register> any_;  // flags of disjunctions
};

}  // namespace cvl::cpu
