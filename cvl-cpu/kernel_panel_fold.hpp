// How a panel reduces its rows (kernel_panels.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "cvl-cpu/fold_tiles.hpp"
#include "cvl-cpu/kernel_panel_read.hpp"

namespace cvl::cpu {

/// Columns of a row that are combined by themselves.
struct PanelPiece {
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::int64_t begin = 0;
  std::int64_t end = kNever;
  bool wanted = true;  // else another thread has it
};

/// A reduction of some rows. Every so many columns, elements meet in the same accumulator, as those
/// of a piece do that ReduceKernels::accumulate takes in; those of a column lie side by side.
class PanelFold {
 public:
  /// The totals of rows go to `out`; without it, those of pieces are kept.
  PanelFold(const CpuBackend& cpu, vcode::Op reduction, Type type, std::int64_t rows,
            std::byte* out)
      : kernels_(cpu.kernels().reduce[static_cast<std::size_t>(reduction)][type_index(type)]),
        fill_(cpu.kernels().fill[type_index(type)]),
        transpose_(cpu.kernels().transpose_rows[type_index(type)]),
        width_(static_cast<std::int64_t>(cpu.element_bytes(type))),
        turn_(kReductionStateBytes / width_),
        row_count_(rows),
        out_(out),
        begun_(static_cast<std::size_t>(rows)),
        pieces_(static_cast<std::size_t>(rows)) {}

  static std::size_t memory_bytes(std::int64_t rows) {
    return static_cast<std::size_t>(rows) * kReductionStateBytes + Heap::kPadding;
  }
  /// After how many columns accumulators follow again.
  std::int64_t turn() const { return turn_; }

  void begin(std::byte* memory) {
    memory_ = memory;
    fill_(memory, kernels_.start, row_count_ * turn_);
  }
  /// Those of the column, one for each row.
  std::byte* accumulators(std::int64_t column) const {
    return memory_ + in_turn(column) * row_count_ * width_;
  }
  /// Results may be written further than they take. What lies behind those of a column is kept, …
  void keep_behind(std::int64_t column) {
    behind_ = accumulators(column) + row_count_ * width_;
    std::memcpy(kept_, behind_, sizeof kept_);
  }
  /// … and put back.
  void restore_behind() { std::memcpy(behind_, kept_, sizeof kept_); }
  /// A piece of a row is complete. What follows is another one.
  void end_piece(std::int64_t row, const PanelPiece& piece) {
    alignas(64) std::byte state[kReductionStateBytes];
    for (std::int64_t k = 0; k < turn_; ++k) {
      const std::int64_t at = in_turn(piece.begin + k) * row_count_ + row;
      copy(state + k * width_, memory_ + at * width_);
      copy(memory_ + at * width_, kernels_.start);
    }
    if (piece.wanted) finish(row, state);
  }
  /// All rows are complete, and so are their last pieces, all of which are wanted.
  void end_rows(const std::vector<PanelPiece>& pieces) {
    // Accumulators of one row side by side, so many at a time.
    alignas(64) std::byte transposed[kPanelRows * kReductionStateBytes];
    const std::int64_t together = kRowsTogether * width_;
    const std::int64_t stride = kPanelRows * together;
    for (std::int64_t k = 0; k < turn_; k += kRowsTogether) {
      std::uintptr_t from[kRowsTogether];
      for (std::int64_t i = 0; i < kRowsTogether; ++i) {
        from[i] = reinterpret_cast<std::uintptr_t>(accumulators(k + i));
      }
      transpose_(transposed + k / kRowsTogether * stride, from, row_count_);
    }
    for (std::int64_t row = 0; row < row_count_; ++row) {
      alignas(64) std::byte state[kReductionStateBytes];
      const std::int64_t first = in_turn(pieces[static_cast<std::size_t>(row)].begin) * width_;
      for (std::int64_t at = 0; at < kReductionStateBytes; at += together) {
        const std::byte* const some = transposed + at / together * stride + row * together;
        // The first accumulators are those of the first column.
        const std::int64_t to = (at - first) & (kReductionStateBytes - 1);
        const std::int64_t fitting = std::min(together, kReductionStateBytes - to);
        std::copy_n(some, fitting, state + to);
        std::copy_n(some + fitting, together - fitting, state);
      }
      finish(row, state);
    }
  }
  /// Adds the pieces that were kept of the same rows, from left to right.
  void combine_all(const PanelFold& kept) {
    for (std::int64_t row = 0; row < row_count_; ++row) {
      for (const Element& piece : kept.pieces_[static_cast<std::size_t>(row)]) combine(row, piece);
    }
  }

 private:
  std::int64_t in_turn(std::int64_t column) const { return column & (turn_ - 1); }
  /// Adds a piece to what there is of a row.
  void combine(std::int64_t row, const Element& piece) {
    std::byte* const total = out_ + row * width_;
    if (begun_[static_cast<std::size_t>(row)]) {
      kernels_.combine(total, piece.bytes, 1);
    } else {
      copy(total, piece.bytes);
    }
    begun_[static_cast<std::size_t>(row)] = true;
  }
  void finish(std::int64_t row, const std::byte* state) {
    Element piece;
    kernels_.finish(state, piece.bytes);
    out_ != nullptr ? combine(row, piece) : pieces_[static_cast<std::size_t>(row)].push_back(piece);
  }
  void copy(std::byte* to, const std::byte* from) const {
    width_ == 8 ? std::memcpy(to, from, 8) : std::memcpy(to, from, 4);
  }

  const ReduceKernels& kernels_;
  const FillKernel fill_;
  const TransposeRowsKernel transpose_;
  const std::int64_t width_;
  const std::int64_t turn_;  // a power of two
  const std::int64_t row_count_;
  std::byte* const out_;
  std::byte* memory_ = nullptr;
  std::byte* behind_ = nullptr;
  std::byte kept_[Heap::kPadding] = {};
  std::vector<bool> begun_;  // is there anything of a row in the result?
  std::vector<std::vector<Element>> pieces_;
};

}  // namespace cvl::cpu
