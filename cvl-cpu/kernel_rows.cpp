// Rows in machine code: so many side by side that each has a lane of a register.

#include <algorithm>
#include <array>
#include <cstring>

#include "cvl-cpu/kernel_evaluate.hpp"
#include "cvl-cpu/kernel_pieces.hpp"

namespace cvl::cpu {

/// What is put down for the machine code while a tile is run.
class KernelPieces::Rows {
 public:
  /// Of rows [first, end).
  Rows(const KernelPieces& pieces, std::int64_t first, std::int64_t end)
      : pieces_(pieces),
        length_(pieces.segments_->length(first)),
        addresses_(pieces.pass_.main.pieces.places.words),
        beside_(pieces.reads_.size()) {
    addresses_[0] = static_cast<std::uintptr_t>(length_);
    totals_ = pieces.begin(addresses_.data(), first, end, found_flags_);
    for (std::size_t k = 0; k < totals_.size(); ++k) {
      addresses_[totals_[k].place] = address(found_totals_[k]);
    }
    make_room();
    for (const Counted& number : pieces.counted_) addresses_[number.place] = address(&kNothing);
  }

  /// Rows [s, s + n) of a block. False when something fails.
  /// REQUIRES: 0 < n <= kRowsTogether
  bool run(const Table& table, const SegmentBlock& block, std::int64_t s, std::int64_t n) {
    for (std::size_t k = 0; k < pieces_.reads_.size(); ++k) {
      const Read& read = pieces_.reads_[k];
      std::array<std::uintptr_t, kRowsTogether> rows;
      for (std::int64_t r = 0; r < n; ++r) {
        const std::int64_t position =
            read.runs == kNone ? block.starts[s + r] : table.positions[read.runs][s + r];
        rows[r] = address(read.base + position * read.width);
      }
      std::fill(rows.begin() + n, rows.end(), rows[n - 1]);
      // In a product of matrices a row of one meets many of the other.
      if (rows == beside_[k]) continue;
      beside_[k] = rows;
      const Type type = pieces_.pass_.plan().nodes[read.node].type;
      cpu().kernels().transpose_rows[type_index(type)](
          reinterpret_cast<std::byte*>(addresses_[read.place]), rows.data(), length_);
    }
    for (std::size_t k = 0; k < pieces_.walked_.size(); ++k) {
      const Walked& walked = pieces_.walked_[k];
      const std::byte* values = table.walked[walked.number] + s * walked.width;
      std::memcpy(of_rows_[k], values, static_cast<std::size_t>(n * walked.width));
      for (std::int64_t r = n; r < kRowsTogether; ++r) {
        std::memcpy(of_rows_[k] + r * walked.width, values + (n - 1) * walked.width,
                    static_cast<std::size_t>(walked.width));
      }
      addresses_[walked.place] = address(of_rows_[k]);
    }
    if (pieces_.pass_.main.pieces.code->run_pieces(addresses_.data(), 1)) return false;
    for (std::size_t k = 0; k < totals_.size(); ++k) {
      const Total& total = totals_[k];
      std::memcpy(total.base + (block.first + s) * total.width, found_totals_[k],
                  static_cast<std::size_t>(n * total.width));
    }
    return true;
  }

  void end(const KernelTile& tile) { pieces_.put_flags(found_flags_, tile); }

 private:
  /// For what is read, side by side. Columns are written in whole registers.
  void make_room() {
    constexpr std::int64_t kMostLanes = 16;
    const std::int64_t columns = tile_count(length_, kMostLanes) * kMostLanes;
    std::int64_t bytes = 0;
    for (const Read& read : pieces_.reads_) bytes += columns * kRowsTogether * read.width;
    std::byte* memory = thread_memory(static_cast<std::size_t>(bytes));
    for (const Read& read : pieces_.reads_) {
      addresses_[read.place] = address(memory);
      memory += columns * kRowsTogether * read.width;
    }
  }
  CpuBackend& cpu() const { return pieces_.pass_.state().cpu; }

  static constexpr std::int64_t kNothing = 0;
  static constexpr std::int64_t kRowBytes = kRowsTogether * 8;
  const KernelPieces& pieces_;
  const std::int64_t length_;
  std::vector<std::uintptr_t> addresses_;
  std::vector<std::array<std::uintptr_t, kRowsTogether>> beside_;  // per read: the rows put there
  std::vector<Total> totals_;
  alignas(64) std::byte of_rows_[kMostWalked][kRowBytes];
  alignas(64) std::byte found_totals_[kMostResults][kRowBytes];
  std::byte found_flags_[kMostResults] = {};
};

/// Rows behind the last one are that once more.
bool KernelPieces::run_rows(const KernelTile& tile) const {
  std::int64_t first = segments_->first_from(tile.begin);
  const std::int64_t end = segments_->first_from(tile.end);
  if (first == end) return true;
  Table table;
  Rows rows(*this, first, end);
  for (SegmentBlock block{}; first < end; first += block.count) {
    block = next_block(first, tile, table);
    if (!find_runs(block, table)) return false;
    find_walked(block, table);
    for (std::int64_t s = 0; s < block.count; s += kRowsTogether) {
      if (!rows.run(table, block, s, std::min(kRowsTogether, block.count - s))) return false;
    }
  }
  rows.end(tile);
  return true;
}

}  // namespace cvl::cpu
