#include "cvl-cpu/kernel_panels.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "cvl-cpu/fold_tiles.hpp"
#include "cvl-cpu/kernel_evaluate.hpp"
#include "cvl-cpu/kernel_native.hpp"
#include "cvl-cpu/kernel_storage.hpp"

namespace cvl::cpu {
namespace {

using vcode::Op;

/// Elements that are computed at a time, …
constexpr std::int64_t kBlock = LargestTuning::longest_block;
/// … and rows: what is read of a column fills whole cache lines, and a block has several columns.
constexpr std::int64_t kMostRows = 2 * kRowsTogether;
/// Fewer rows have hardly any neighbours.
constexpr std::int64_t kLeastRows = 4;
/// Elements from which to store them pays: fewer stay in the cache however they are read.
constexpr std::int64_t kLeastStored = 1 << 14;

/// As those of all passes that fold, whatever the type.
std::int64_t fold_tile_length(const CpuBackend& cpu) {
  return tuning.fold_tile_bytes / static_cast<std::int64_t>(cpu.widths().float_bytes);
}

/// Elements of a vector that are fetched for some rows, column by column.
class PanelRead {
 public:
  /// `type` is that of the elements; those of a Narrow vector are widened.
  PanelRead(const CpuBackend& cpu, const Vector& vector)
      : from_(elements<std::byte>(vector)),
        length_(vector.length),
        width_(static_cast<std::int64_t>(cpu.element_bytes(vector.type))),
        stored_width_(cpu.stored_bytes(vector)),
        transpose_(vector.form == Form::Dense
                       ? cpu.kernels().transpose_rows[type_index(vector.type)]
                       : nullptr),
        prefetches_(length_ * stored_width_ > tuning.prefetched_bytes) {}

  /// Where n rows read, counted from the place of a column.
  void set_rows(const BoundPass& pass, const std::byte* places, std::int64_t n) {
    stretches_.clear();
    rows_.clear();
    for (std::int64_t r = 0; r < n; ++r) {
      const std::int64_t place = pass.int_at(places, r);
      rows_.push_back(place);
      Stretch* const last = stretches_.empty() ? nullptr : &stretches_.back();
      if (last != nullptr && last->count == 1 &&
          (place == last->place || place == last->place + 1)) {
        last->stride = place - last->place;
      }
      if (last != nullptr && place == last->place + last->count * last->stride) {
        ++last->count;
      } else {
        stretches_.push_back({place, 1, 1});
      }
    }
    least_ = stretches_[0].place;
    greatest_ = least_;
    for (const Stretch& stretch : stretches_) {
      least_ = std::min(least_, stretch.place);
      greatest_ = std::max(greatest_, stretch.place + (stretch.count - 1) * stretch.stride);
    }
  }

  /// Do rows lie side by side, but the first n columns apart?
  bool is_by_columns(const BoundPass& pass, const std::byte* places, std::int64_t n) const {
    constexpr std::int64_t kLine = 64;
    const std::int64_t distance = pass.int_at(places, n - 1) - pass.int_at(places, 0);
    return stretches_.size() <= kFewStretches && std::abs(distance) * stored_width_ >= n * kLine;
  }

  /// The elements of columns [begin, end) of n, the rows of each side by side. False if any lies
  /// outside. What the next block reads is fetched into the cache.
  bool read(const BoundPass& pass, const std::byte* places, std::int64_t begin, std::int64_t end,
            std::int64_t n, std::byte* out) const {
    bool follow = true;  // do columns?
    for (std::int64_t c = begin; c < end; ++c) {
      const std::int64_t place = pass.int_at(places, c);
      if (place + least_ < 0 || place + greatest_ >= length_) return false;
      follow &= place == pass.int_at(places, begin) + (c - begin);
    }
    if (follow && transpose_ != nullptr && stretches_.size() > kFewStretches) {
      read_along_rows(pass.int_at(places, begin), end - begin, out);
      return true;
    }
    if (prefetches_) {
      const std::int64_t some = std::min(end + (end - begin), n);
      for (std::int64_t c = end; c < some; ++c) prefetch(pass.int_at(places, c));
    }
    const auto place = [&](std::int64_t c) { return pass.int_at(places, c); };
    if (stored_width_ == 8) {
      read_columns<std::uint64_t, std::uint64_t>(place, begin, end, out);
    } else if (stored_width_ == 4) {
      read_columns<std::uint32_t, std::uint32_t>(place, begin, end, out);
    } else if (width_ == 8) {
      read_columns<std::uint8_t, std::uint64_t>(place, begin, end, out);
    } else if (width_ == 4) {
      read_columns<std::uint8_t, std::uint32_t>(place, begin, end, out);
    } else {
      read_columns<std::uint8_t, std::uint8_t>(place, begin, end, out);
    }
    return true;
  }

 private:
  /// Rows that read one behind the other, or the same.
  struct Stretch {
    std::int64_t place, count, stride;
  };
  static constexpr std::size_t kFewStretches = 4;

  /// The same where columns follow each other in memory.
  void read_along_rows(std::int64_t place, std::int64_t columns, std::byte* out) const {
    constexpr std::int64_t kTogether = kBlock / kRowsTogether;
    const auto n = static_cast<std::int64_t>(rows_.size());
    alignas(64) std::byte transposed[kBlock * 8];
    for (std::int64_t c = 0; c < columns; c += kTogether) {
      const std::int64_t some = std::min(kTogether, columns - c);
      for (std::int64_t r = 0; r < n; r += kRowsTogether) {
        std::uintptr_t from[kRowsTogether];
        for (std::int64_t k = 0; k < kRowsTogether; ++k) {
          const std::int64_t row = rows_[static_cast<std::size_t>(std::min(r + k, n - 1))];
          from[k] = reinterpret_cast<std::uintptr_t>(from_ + (place + c + row) * width_);
        }
        transpose_(transposed, from, some);
        const std::int64_t bytes = std::min(kRowsTogether, n - r) * width_;
        for (std::int64_t k = 0; k < some; ++k) {
          std::copy_n(transposed + k * kRowsTogether * width_, bytes,
                      out + ((c + k) * n + r) * width_);
        }
      }
    }
  }

  template <class Stored, class E, class Place>
  void read_columns(const Place& place, std::int64_t begin, std::int64_t end,
                    std::byte* out) const {
    const auto* const from = reinterpret_cast<const Stored*>(from_);
    auto* to = reinterpret_cast<E*>(out);
    for (std::int64_t c = begin; c < end; ++c) {
      for (const Stretch& stretch : stretches_) {
        const Stored* const first = from + place(c) + stretch.place;
        if (stretch.stride == 0) {
          std::fill_n(to, stretch.count, static_cast<E>(*first));
        } else {
          std::copy_n(first, stretch.count, to);
        }
        to += stretch.count;
      }
    }
  }
  void prefetch(std::int64_t place) const {
    constexpr std::int64_t kLine = 64;
    for (const Stretch& stretch : stretches_) {
      const std::byte* const first = from_ + (place + stretch.place) * stored_width_;
      const std::int64_t bytes = (stretch.count - 1) * stretch.stride * stored_width_;
      for (std::int64_t b = 0; b <= bytes; b += kLine) __builtin_prefetch(first + b);
    }
  }

  const std::byte* from_;
  std::int64_t length_, width_, stored_width_;
  TransposeRowsKernel transpose_;  // null where elements are to be widened
  bool prefetches_;
  std::vector<std::int64_t> rows_;  // places
  std::vector<Stretch> stretches_;
  std::int64_t least_ = 0, greatest_ = 0;  // places of the rows
};

/// Columns of a row that are combined by themselves; those of no interest are left to others.
struct Piece {
  std::int64_t begin, end;
  bool wanted = true;
};
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// A reduction of some rows. Every so many columns, elements meet in the same accumulator, as those
/// of a piece do that ReduceKernels::accumulate takes in; those of a column lie side by side.
class PanelFold {
 public:
  /// The totals of rows go to `out`; without it, those of pieces are kept.
  PanelFold(const CpuBackend& cpu, Op reduction, Type type, std::int64_t rows, std::byte* out)
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
  void end_piece(std::int64_t row, const Piece& piece) {
    alignas(64) std::byte state[kReductionStateBytes];
    for (std::int64_t k = 0; k < turn_; ++k) {
      const std::int64_t at = in_turn(piece.begin + k) * row_count_ + row;
      copy(state + k * width_, memory_ + at * width_);
      copy(memory_ + at * width_, kernels_.start);
    }
    if (piece.wanted) finish(row, state);
  }
  /// All rows are complete, and so are their last pieces, all of which are wanted.
  void end_rows(const std::vector<Piece>& pieces) {
    // Accumulators of one row side by side, so many at a time.
    alignas(64) std::byte transposed[kMostRows * kReductionStateBytes];
    const std::int64_t together = kRowsTogether * width_;
    const std::int64_t stride = kMostRows * together;
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

}  // namespace

/// Some rows, on one thread: columns [begin, end), and the pieces that begin in these.
class KernelPanels::Panel {
 public:
  Panel(const KernelPanels& panels, std::int64_t first, std::int64_t rows, std::int64_t begin,
        std::int64_t end)
      : panels_(panels),
        state_(panels.state_),
        plan_(panels.plan_),
        bound_(*panels.bound_),
        first_row_(first),
        row_count_(rows),
        begin_(begin),
        end_(end),
        memory_(thread_memory(memory_bytes())),
        rows_(bound_.rows, bound_.rows.main, kBlock, take(evaluator_bytes(bound_.rows)), nullptr,
              0),
        columns_(bound_.columns, bound_.columns.main, kBlock, take(evaluator_bytes(bound_.columns)),
                 nullptr, 0),
        elements_(bound_.elements, bound_.elements.main, kBlock,
                  take(evaluator_bytes(bound_.elements)), nullptr, 0) {
    for (std::size_t k = 0; k < panels.totals_.size(); ++k) {
      const Result& result = panels.totals_[k];
      std::byte* const out = result.out + first * width_of(result.vector.type);
      folds_.emplace_back(state_.cpu, plan_.folds[k].sink->op, result.vector.type, rows,
                          is_whole() ? out : nullptr);
      folds_.back().begin(take(PanelFold::memory_bytes(rows)));
      columns_together_ = std::min(columns_together_, folds_.back().turn());
    }
    const auto fitting = static_cast<std::uint64_t>(kBlock / rows);
    columns_together_ =
        std::min(columns_together_, static_cast<std::int64_t>(std::bit_floor(fitting)));
  }

  /// Does a row fetch from other lines of memory than its neighbour, element by element, where a
  /// column does not?
  bool pays() {
    begin_rows();
    const std::int64_t n = std::min(kRowsTogether, row_length());
    columns_.run(0, n);
    for (std::size_t k = 0; k < reads_.size(); ++k) {
      if (reads_[k].is_by_columns(bound_.columns, columns_.filled(plan_.fetched[k].of_column, n),
                                  n)) {
        return true;
      }
    }
    return false;
  }

  /// False if anything is fetched from outside of its vector.
  bool run() {
    begin_pieces();
    begin_rows();
    for (std::int64_t begin = begin_; begin < end_ || next_end_ != kNever; begin += kBlock) {
      const std::int64_t n = std::min(kBlock, row_length() - begin);
      columns_.run(begin, n);
      for (std::int64_t c = 0; c < n; c += columns_together_) {
        const std::int64_t some = std::min(columns_together_, n - c);
        if (!begin_columns(c, some, n)) return false;
        run_columns(begin + c, begin + c + some);
      }
    }
    return true;
  }
  /// Where the columns are some of several ranges.
  std::vector<PanelFold> take_folds() { return std::move(folds_); }

 private:
  static constexpr std::size_t kSlotBytes = static_cast<std::size_t>(kBlock) * 8 + Heap::kPadding;

  static std::size_t evaluator_bytes(const BoundPass& pass) {
    return BlockEvaluator::memory_bytes(pass, pass.main, kBlock);
  }
  std::size_t memory_bytes() const {
    const std::size_t slots = plan_.of_rows.size() + plan_.of_columns.size() + plan_.fetched.size();
    return whole_lines(evaluator_bytes(bound_.rows)) +
           whole_lines(evaluator_bytes(bound_.columns)) +
           whole_lines(evaluator_bytes(bound_.elements)) + slots * whole_lines(kSlotBytes) +
           plan_.folds.size() * whole_lines(PanelFold::memory_bytes(row_count_));
  }
  std::byte* take(std::size_t bytes) {
    std::byte* const taken = memory_;
    memory_ += whole_lines(bytes);
    return taken;
  }
  std::int64_t row_length() const { return panels_.table_.uniform_length; }
  bool is_whole() const { return begin_ == 0 && end_ == row_length(); }
  std::int64_t width_of(Type type) const {
    return static_cast<std::int64_t>(state_.cpu.element_bytes(type));
  }
  std::int64_t width_of(const PlanPass& pass, NodeId node) const {
    return width_of(pass.nodes[node].type);
  }

  /// Rows are combined piece by piece, as tiles divide them.
  void begin_pieces() {
    if (folds_.empty()) return;
    for (std::int64_t r = 0; r < row_count_; ++r) {
      const std::int64_t start = (first_row_ + r) * row_length() + begin_;
      const bool begins = begin_ == 0 || start % tile_length() == 0;
      pieces_.push_back(begins ? piece_at(r, begin_)
                               : Piece{begin_, end_of_piece(r, begin_), false});
    }
    find_next_end();
  }
  Piece piece_at(std::int64_t row, std::int64_t column) const {
    const bool wanted = column < end_;
    return {column, wanted ? end_of_piece(row, column) : kNever, wanted};
  }
  std::int64_t tile_length() const { return fold_tile_length(state_.cpu); }
  /// The column where a piece of a row ends that begins at another one.
  std::int64_t end_of_piece(std::int64_t row, std::int64_t column) const {
    const std::int64_t start = (first_row_ + row) * row_length();
    const std::int64_t tile_end = ((start + column) / tile_length() + 1) * tile_length();
    return std::min(row_length(), tile_end - start);
  }
  void find_next_end() {
    next_end_ = pieces_[0].end;
    for (const Piece& piece : pieces_) next_end_ = std::min(next_end_, piece.end);
  }

  /// What is the same in each row, once for each column of a block.
  void begin_rows() {
    rows_.run(first_row_, row_count_);
    for (const PanelPlan::Shared& shared : plan_.of_rows) {
      const std::int64_t bytes = row_count_ * width_of(plan_.rows, shared.value);
      std::byte* const memory = take(kSlotBytes);
      const std::byte* const values = rows_.filled(shared.value, row_count_);
      for (std::int64_t c = 0; c < columns_together_; ++c) {
        std::copy_n(values, bytes, memory + c * bytes);
      }
      elements_.set_memory(shared.state, memory);
    }
    for (const PanelPlan::Shared& shared : plan_.of_columns) {
      spread_.push_back(take(kSlotBytes));
      elements_.set_memory(shared.state, spread_.back());
    }
    for (const PanelPlan::Fetched& fetched : plan_.fetched) {
      PanelRead& read = reads_.emplace_back(state_.cpu, state_.arrays[fetched.array]);
      read.set_rows(bound_.rows, rows_.filled(fetched.of_row, row_count_), row_count_);
      fetched_.push_back(take(kSlotBytes));
      elements_.set_memory(fetched.state, fetched_.back());
    }
  }

  /// What is the same in each column, once for each row, and what is fetched: of `some` columns of
  /// the n that have been evaluated, from the first-th one on.
  bool begin_columns(std::int64_t first, std::int64_t some, std::int64_t n) {
    for (std::size_t k = 0; k < spread_.size(); ++k) {
      const NodeId value = plan_.of_columns[k].value;
      const FillKernel fill =
          state_.cpu.kernels().fill[type_index(plan_.columns.nodes[value].type)];
      const std::int64_t width = width_of(plan_.columns, value);
      const std::byte* const values = columns_.filled(value, n) + first * width;
      for (std::int64_t c = 0; c < some; ++c) {
        fill(spread_[k] + c * row_count_ * width, values + c * width, row_count_);
      }
    }
    for (std::size_t k = 0; k < reads_.size(); ++k) {
      const std::byte* const places = columns_.filled(plan_.fetched[k].of_column, n);
      if (!reads_[k].read(bound_.columns, places, first, first + some, n, fetched_[k]))
        return false;
    }
    return true;
  }

  /// Columns [begin, end), the first of which is the first one of the block.
  void run_columns(std::int64_t begin, std::int64_t end) {
    for (std::size_t k = 0; k < folds_.size(); ++k) {
      std::byte* const accumulators = folds_[k].accumulators(begin);
      elements_.set_memory(plan_.folds[k].total, accumulators);
      elements_.set_target(k, accumulators);
    }
    for (std::int64_t column = begin; column < end;) {
      const std::int64_t until = std::min(end, next_end_);
      for (PanelFold& fold : folds_) fold.keep_behind(until - 1);
      elements_.run((column - begin) * row_count_, (until - column) * row_count_);
      for (PanelFold& fold : folds_) fold.restore_behind();
      for (std::size_t k = 0; k < plan_.stores.size() && column < end_; ++k) {
        store(k, column, until - column);
      }
      if (until == next_end_) end_pieces();
      column = until;
    }
  }
  /// Puts the values of n columns where they belong in each row.
  void store(std::size_t which, std::int64_t column, std::int64_t n) {
    const NodeId value = plan_.stores[which].value;
    const Type type = plan_.elements.nodes[value].type;
    const std::int64_t width = width_of(type), square_row = kRowsTogether * width;
    const std::byte* const values = elements_.filled(value, n * row_count_);
    std::byte* const first_row =
        panels_.stored_[which].out + (first_row_ * row_length() + column) * width;
    alignas(64) std::byte square[(kMostRows + kRowsTogether) * kRowsTogether * 8];
    for (std::int64_t c = 0; c < n; c += kRowsTogether) {
      std::uintptr_t from[kRowsTogether];
      for (std::int64_t k = 0; k < kRowsTogether; ++k) {
        from[k] =
            reinterpret_cast<std::uintptr_t>(values + std::min(c + k, n - 1) * row_count_ * width);
      }
      state_.cpu.kernels().transpose_rows[type_index(type)](square, from, row_count_);
      const std::int64_t bytes = std::min(kRowsTogether, n - c) * width;
      for (std::int64_t r = 0; r < row_count_; ++r) {
        std::copy_n(square + r * square_row, bytes, first_row + (r * row_length() + c) * width);
      }
    }
  }
  void end_pieces() {
    const bool at_end = std::all_of(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
      return piece.end == row_length() && piece.wanted;
    });
    if (at_end) {
      for (PanelFold& fold : folds_) fold.end_rows(pieces_);
      next_end_ = kNever;
      return;
    }
    for (std::int64_t r = 0; r < row_count_; ++r) {
      Piece& piece = pieces_[static_cast<std::size_t>(r)];
      if (piece.end != next_end_) continue;
      for (PanelFold& fold : folds_) fold.end_piece(r, piece);
      piece = piece_at(r, piece.end);
    }
    find_next_end();
  }

  const KernelPanels& panels_;
  KernelState& state_;
  const PanelPlan& plan_;
  const Bound& bound_;
  const std::int64_t first_row_, row_count_, begin_, end_;
  std::byte* memory_;
  BlockEvaluator rows_, columns_, elements_;
  std::vector<PanelFold> folds_;
  std::vector<PanelRead> reads_;
  std::vector<std::byte*> spread_, fetched_;  // values of columns, and what is read
  std::vector<Piece> pieces_;                 // of each row, the one at hand
  std::int64_t next_end_ = kNever;            // of the pieces
  std::int64_t columns_together_ = kBlock;
};

KernelPanels::KernelPanels(KernelState& state, PanelPlan plan)
    : state_(state), plan_(std::move(plan)) {}

KernelPanels::Bound::Bound(KernelState& state, const PanelPlan& plan, const std::byte* row_length)
    : rows(state, plan.rows), columns(state, plan.columns), elements(state, plan.elements) {
  elements.uniform_state.resize(plan.states);
  for (BoundPass* pass : {&rows, &columns}) pass->uniform_state.resize(1);
  for (BoundPass* pass : {&rows, &columns, &elements}) {
    pass->uniform_state[PanelPlan::kRowLength] = row_length;
  }
}

bool KernelPanels::can_run(std::int64_t length) {
  if (plan_.segdes != kNone) {
    table_ = state_.segdes[plan_.segdes];
  } else {
    if (length % plan_.row_length != 0) return false;
    table_ = Segdes::regular(length / plan_.row_length, plan_.row_length);
  }
  const bool declined = table_.count == declined_.count && table_.total == declined_.total;
  const auto lies_in_memory = [&](const PanelPlan::Fetched& read) {
    const Form form = state_.arrays[read.array].form;
    return form == Form::Inline || form == Form::Dense || form == Form::Narrow;
  };
  // Shorter ones are combined in another order.
  const bool long_enough = table_.uniform_length >= std::max(tuning.longest_row + 1, kLongPiece) &&
                           length > tuning.small_length;
  return !declined && table_.uniform && table_.count >= kLeastRows && !state_.faults.any() &&
         (plan_.row_length == 0 || plan_.row_length == table_.uniform_length) &&
         (plan_.folds.empty() || long_enough) && (plan_.stores.empty() || length >= kLeastStored) &&
         std::all_of(plan_.fetched.begin(), plan_.fetched.end(), lies_in_memory);
}

bool KernelPanels::bind() {
  std::memcpy(row_length_, make_int(state_.cpu.widths(), table_.uniform_length).payload, 8);
  if (!bound_) bound_.emplace(state_, plan_, row_length_);
  BoundPass& elements = bound_->elements;
  bound_->rows.bind(table_.count);
  bound_->columns.bind(table_.uniform_length);
  elements.bind(table_.total);
  if (state_.faults.any()) return false;
  for (const PanelPlan::Fold& fold : plan_.folds) {
    Target target;
    target.node = fold.result;
    target.width = elements.node(fold.result).width;
    target.tiled = true;
    elements.add_target(elements.main, target, true);
  }
  for (BoundPass* pass : {&bound_->rows, &bound_->columns, &elements}) {
    renew_native_steps(*pass, pass->main);
  }
  // What fits bytes is left to the pass, which stores it so.
  const auto fits_bytes = [&](const PanelPlan::Store& store) {
    return elements.joins_bytes(store.value);
  };
  if (plan_.stores.empty()) return true;
  const bool pays =
      std::none_of(plan_.stores.begin(), plan_.stores.end(), fits_bytes) &&
      Panel(*this, 0, std::min(kMostRows, table_.count), 0, table_.uniform_length).pays();
  if (!pays) declined_ = table_;
  return pays && !state_.faults.any();
}

/// A short vector lies in its Result, which must not move any more.
void KernelPanels::make(Result& result, const PlanSink& sink, Type type, std::int64_t length) {
  state_.arrays[sink.arrays[0]] = Vector();
  result.vector = state_.cpu.new_vector(type, length);
  result.out = checked_storage(state_.cpu, result.vector, 0, length);
}

/// How many columns a thread takes at a time. Where there are few panels, threads share them, but
/// not so that what is computed of a piece beside its range counts.
std::int64_t KernelPanels::columns_of_range(std::int64_t panels) const {
  const std::int64_t length = table_.uniform_length;
  const std::int64_t threads = state_.cpu.scheduler().threads();
  if (threads == 1) return length;
  const std::int64_t wanted = tile_count(2 * threads, panels);
  const std::int64_t least = plan_.folds.empty() ? 16 * kBlock : 4 * fold_tile_length(state_.cpu);
  const std::int64_t range =
      tile_count(std::max(tile_count(length, wanted), least), kBlock) * kBlock;
  return std::min(range, length);
}

bool KernelPanels::run() {
  if (!bind()) {
    state_.faults.clear();  // the pass itself says what fails first
    return false;
  }
  totals_.resize(plan_.folds.size());
  for (std::size_t k = 0; k < totals_.size(); ++k) {
    const PanelPlan::Fold& fold = plan_.folds[k];
    make(totals_[k], *fold.sink, plan_.elements.nodes[fold.result].type, table_.count);
  }
  stored_.resize(plan_.stores.size());
  for (std::size_t k = 0; k < stored_.size(); ++k) {
    const PanelPlan::Store& store = plan_.stores[k];
    make(stored_[k], *store.sink, plan_.elements.nodes[store.value].type, table_.total);
  }
  const bool few = table_.count < 2 * kMostRows * state_.cpu.scheduler().threads();
  const std::int64_t together = few ? kRowsTogether : kMostRows;
  const std::int64_t panels = tile_count(table_.count, together);
  const std::int64_t range = columns_of_range(panels);
  const std::int64_t ranges = tile_count(table_.uniform_length, range);
  std::vector<std::vector<PanelFold>> folds(
      static_cast<std::size_t>(ranges > 1 ? panels * ranges : 0));
  const auto nodes = static_cast<std::int64_t>(plan_.elements.nodes.size());
  std::atomic<bool> inside = true;
  auto body = [&](std::int64_t k) {
    const std::int64_t first = k / ranges * together, begin = k % ranges * range;
    Panel panel(*this, first, std::min(together, table_.count - first), begin,
                std::min(begin + range, table_.uniform_length));
    if (!panel.run()) inside = false;
    if (ranges > 1) folds[static_cast<std::size_t>(k)] = panel.take_folds();
  };
  state_.cpu.scheduler().for_tiles(panels * ranges, table_.total * nodes * tuning.native_step_cost,
                                   body);
  if (state_.faults.any() || !inside) {
    state_.faults.clear();
    totals_.clear();
    stored_.clear();
    return false;
  }
  for (std::int64_t p = 0; p < panels && ranges > 1; ++p) {
    const std::int64_t first = p * together, rows = std::min(together, table_.count - first);
    for (std::size_t k = 0; k < totals_.size(); ++k) {
      const Type type = totals_[k].vector.type;
      const auto width = static_cast<std::int64_t>(state_.cpu.element_bytes(type));
      PanelFold total(state_.cpu, plan_.folds[k].sink->op, type, rows,
                      totals_[k].out + first * width);
      for (std::int64_t j = 0; j < ranges; ++j) {
        total.combine_all(folds[static_cast<std::size_t>(p * ranges + j)][k]);
      }
    }
  }
  for (std::size_t k = 0; k < totals_.size(); ++k) {
    state_.arrays[plan_.folds[k].sink->arrays[0]] = std::move(totals_[k].vector);
  }
  for (std::size_t k = 0; k < stored_.size(); ++k) {
    state_.arrays[plan_.stores[k].sink->arrays[0]] = std::move(stored_[k].vector);
  }
  return true;
}

}  // namespace cvl::cpu
