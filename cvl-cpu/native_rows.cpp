#include <map>

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/native_folds.hpp"
#include "cvl-cpu/native_writers.hpp"

namespace cvl::cpu {
namespace {

/// Writes the function for rows side by side, each of which has a lane.
class RowsWriter : public FoldWriter {
 public:
  RowsWriter(asmjit::CodeHolder& code, const NativePieces& pieces, Isa isa, Widths widths)
      : FoldWriter(code, pieces, isa, widths),
        turns_(static_cast<int>(kRowsTogether) / lanes_),
        of_rows_(static_cast<std::size_t>(turns_)) {}

 private:
  void write_piece(const Gp& end) override {
    start_totals(turns_);
    for (std::uint32_t k = 0; k < loop_.values.size(); ++k) {
      const Value& value = loop_.values[k];
      if (value.of_row) {
        for (int turn = 0; turn < turns_; ++turn) {
          Register& held = of_rows_[static_cast<std::size_t>(turn)][k];
          held = make(lane(k));
          load(held, lane(k), elements(address(value.place), lane(k), turn * lanes_));
        }
      } else if (value.kind == Value::Kind::Progression) {
        held_[k] = make(lane(k));
        load_one(held_[k], lane(k), asmjit::x86::ptr(address(value.place)));
      }
    }
    const asmjit::Label again = c_.newLabel();
    c_.imul(end, end, static_cast<int>(kRowsTogether));
    c_.align(asmjit::AlignMode::kCode, 32);
    c_.bind(again);
    for (int turn = 0; turn < turns_; ++turn) write_turn(turn);
    for (std::uint32_t k = 0; k < loop_.values.size(); ++k) {
      if (loop_.values[k].kind != Value::Kind::Progression) continue;
      c_.emit(instruction(avx512_, vcode::Op::Add, lane(k)), held_[k], held_[k],
              constant(lane(k), 1));
    }
    c_.add(position_, static_cast<int>(kRowsTogether));
    c_.cmp(position_, end);
    c_.jl(again);
    for (std::size_t k = 0; k < totals_.size(); ++k) {
      const Lane own = lane_of_fold(k);
      const int bytes = lanes_ * lane_bytes(own);
      for (int turn = 0; turn < turns_; ++turn) {
        store(asmjit::x86::ptr(address(pieces_.folds[k].result.place), turn * bytes), own,
              totals_[k][static_cast<std::size_t>(turn)]);
      }
    }
  }

  /// Takes in an element of each row that has a lane in a register.
  void write_turn(int turn) {
    for (std::uint32_t k = 0; k < loop_.values.size(); ++k) {
      const Value& value = loop_.values[k];
      if (value.of_row) {
        held_[k] = of_rows_[static_cast<std::size_t>(turn)][k];
      } else if (value.kind != Value::Kind::Progression) {
        write_value(k, turn * lanes_);
      }
    }
    for (std::size_t k = 0; k < totals_.size(); ++k) {
      const Vec& total = totals_[k][static_cast<std::size_t>(turn)];
      fold(pieces_.folds[k].op, lane_of_fold(k), total, total,
           vector(pieces_.folds[k].result.value));
    }
    note_flags(nullptr);
  }

  const int turns_;  // registers for a value of all rows
  std::vector<std::map<std::uint32_t, Register>> of_rows_;
};

}  // namespace

int write_rows(const NativePieces& rows, asmjit::CodeHolder& code, Isa isa, Widths widths) {
  RowsWriter writer(code, rows, isa, widths);
  return writer.write() ? static_cast<int>(kRowsTogether) : 0;
}

}  // namespace cvl::cpu
