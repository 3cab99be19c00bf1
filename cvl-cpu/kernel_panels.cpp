#include "cvl-cpu/kernel_panels.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "cvl-cpu/kernel_evaluate.hpp"
#include "cvl-cpu/kernel_native.hpp"
#include "cvl-cpu/kernel_panel_fold.hpp"
#include "cvl-cpu/kernel_panel_read.hpp"
#include "cvl-cpu/kernel_storage.hpp"

namespace cvl::cpu {
namespace {

/// Fewer rows have hardly any neighbours.
constexpr std::int64_t kLeastRows = 4;
/// Elements from which to store them pays: fewer stay in the cache however they are read.
constexpr std::int64_t kLeastStored = 1 << 14;
/// Panels that take turns: what they work with is to stay in the cache, too.
constexpr std::int64_t kPanelsTogether = 16;

}  // namespace

/// Some rows, on one thread: columns [begin, end), and the pieces that begin in these.
class KernelPanels::Panel {
 public:
  /// `memory`: so many memory_bytes().
  Panel(const KernelPanels& panels, std::int64_t first, std::int64_t rows, std::int64_t begin,
        std::int64_t end, std::byte* memory)
      : panels_(panels),
        state_(panels.state_),
        plan_(panels.plan_),
        bound_(*panels.bound_),
        first_row_(first),
        row_count_(rows),
        begin_(begin),
        end_(end),
        next_(begin),
        memory_(memory),
        rows_(bound_.rows, bound_.rows.main, kPanelBlock, take(evaluator_bytes(bound_.rows)),
              nullptr, 0),
        columns_(bound_.columns, bound_.columns.main, kPanelBlock,
                 take(evaluator_bytes(bound_.columns)), nullptr, 0),
        elements_(bound_.elements, bound_.elements.main, kPanelBlock,
                  take(evaluator_bytes(bound_.elements)), nullptr, 0) {
    for (std::size_t k = 0; k < panels.totals_.size(); ++k) {
      const Result& result = panels.totals_[k];
      std::byte* const out = result.out + first * width_of(result.vector.type);
      folds_.emplace_back(state_.cpu, plan_.folds[k].sink->op, result.vector.type, rows,
                          is_whole() ? out : nullptr);
      folds_.back().begin(take(PanelFold::memory_bytes(rows)));
      columns_together_ = std::min(columns_together_, folds_.back().turn());
    }
    const auto fitting = static_cast<std::uint64_t>(kPanelBlock / rows);
    columns_together_ =
        std::min(columns_together_, static_cast<std::int64_t>(std::bit_floor(fitting)));
  }

  static std::size_t memory_bytes(const KernelPanels& panels, std::int64_t rows) {
    const PanelPlan& plan = panels.plan_;
    const Bound& bound = *panels.bound_;
    const std::size_t slots = plan.of_rows.size() + plan.of_columns.size() + plan.fetched.size();
    return whole_lines(evaluator_bytes(bound.rows)) + whole_lines(evaluator_bytes(bound.columns)) +
           whole_lines(evaluator_bytes(bound.elements)) + slots * whole_lines(kSlotBytes) +
           plan.folds.size() * whole_lines(PanelFold::memory_bytes(rows));
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

  void begin() {
    begin_pieces();
    begin_rows();
  }
  bool is_done() const { return next_ >= end_ && next_end_ == PanelPiece::kNever; }
  /// The next columns. False if anything is fetched from outside of its vector.
  bool run_block() {
    const std::int64_t n = std::min(kPanelBlock, row_length() - next_);
    columns_.run(next_, n);
    for (std::int64_t c = 0; c < n; c += columns_together_) {
      const std::int64_t some = std::min(columns_together_, n - c);
      if (!begin_columns(c, some, n)) return false;
      run_columns(next_ + c, next_ + c + some);
    }
    next_ += n;
    return true;
  }
  /// Where the columns are some of several ranges.
  std::vector<PanelFold> take_folds() { return std::move(folds_); }

 private:
  static constexpr std::size_t kSlotBytes =
      static_cast<std::size_t>(kPanelBlock) * 8 + Heap::kPadding;

  static std::size_t evaluator_bytes(const BoundPass& pass) {
    return BlockEvaluator::memory_bytes(pass, pass.main, kPanelBlock);
  }
  std::byte* take(std::size_t bytes) {
    std::byte* const taken = memory_;
    memory_ += whole_lines(bytes);
    return taken;
  }
  std::int64_t row_length() const { return panels_.table_.length; }
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
      const bool begins = begin_ == 0 || start % fold_tile_length(state_.cpu) == 0;
      pieces_.push_back(begins ? piece_at(r, begin_)
                               : PanelPiece{begin_, end_of_piece(r, begin_), false});
    }
    find_next_end();
  }
  PanelPiece piece_at(std::int64_t row, std::int64_t column) const {
    const bool wanted = column < end_;
    return {column, wanted ? end_of_piece(row, column) : PanelPiece::kNever, wanted};
  }
  /// The column where a piece of a row ends that begins at another one.
  std::int64_t end_of_piece(std::int64_t row, std::int64_t column) const {
    const std::int64_t start = (first_row_ + row) * row_length();
    const std::int64_t tile_end =
        ((start + column) / fold_tile_length(state_.cpu) + 1) * fold_tile_length(state_.cpu);
    return std::min(row_length(), tile_end - start);
  }
  void find_next_end() {
    next_end_ = pieces_[0].end;
    for (const PanelPiece& piece : pieces_) next_end_ = std::min(next_end_, piece.end);
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
    alignas(64) std::byte square[(kPanelRows + kRowsTogether) * kRowsTogether * 8];
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
    const bool at_end = std::all_of(pieces_.begin(), pieces_.end(), [&](const PanelPiece& piece) {
      return piece.end == row_length() && piece.wanted;
    });
    if (at_end) {
      for (PanelFold& fold : folds_) fold.end_rows(pieces_);
      next_end_ = PanelPiece::kNever;
      return;
    }
    for (std::int64_t r = 0; r < row_count_; ++r) {
      PanelPiece& piece = pieces_[static_cast<std::size_t>(r)];
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
  std::int64_t next_;  // column that has not been computed
  std::byte* memory_;
  BlockEvaluator rows_, columns_, elements_;
  std::vector<PanelFold> folds_;
  std::vector<PanelRead> reads_;
  std::vector<std::byte*> spread_, fetched_;    // values of columns, and what is read
  std::vector<PanelPiece> pieces_;              // of each row, the one at hand
  std::int64_t next_end_ = PanelPiece::kNever;  // of the pieces
  std::int64_t columns_together_ = kPanelBlock;
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
  const auto& [segdes, row_length] = plan_.nest;
  if (segdes != kNone) {
    const Segdes& rows = state_.segdes[segdes];
    if (!rows.uniform) return false;
    table_ = {rows.count, rows.uniform_length};
  } else {
    if (length % row_length != 0) return false;
    table_ = {length / row_length, row_length};
  }
  const auto lies_in_memory = [&](const PanelPlan::Fetched& read) {
    const Form form = state_.arrays[read.array].form;
    return form == Form::Inline || form == Form::Dense || form == Form::Narrow;
  };
  // Shorter ones are combined in another order.
  const bool long_enough =
      table_.length >= std::max(tuning.longest_row + 1, kLongPiece) && length > tuning.small_length;
  return table_ != declined_ && table_.count >= kLeastRows && !state_.faults.any() &&
         plan_.nest.fit(table_.length) && (plan_.folds.empty() || long_enough) &&
         (plan_.stores.empty() || length >= kLeastStored) &&
         std::all_of(plan_.fetched.begin(), plan_.fetched.end(), lies_in_memory);
}

bool KernelPanels::bind() {
  std::memcpy(row_length_, make_int(state_.cpu.widths(), table_.length).payload, 8);
  if (!bound_) bound_.emplace(state_, plan_, row_length_);
  BoundPass& elements = bound_->elements;
  bound_->rows.bind(table_.count);
  bound_->columns.bind(table_.length);
  elements.bind(table_.count * table_.length);
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
      std::none_of(plan_.stores.begin(), plan_.stores.end(), fits_bytes) && first_pays();
  if (!pays) declined_ = table_;
  return pays && !state_.faults.any();
}

bool KernelPanels::first_pays() const {
  const std::int64_t rows = std::min(kPanelRows, table_.count);
  std::byte* const memory = thread_memory(Panel::memory_bytes(*this, rows));
  return Panel(*this, 0, rows, 0, table_.length, memory).pays();
}

/// A short vector lies in its Result, which must not move any more.
void KernelPanels::make(Result& result, const PlanSink& sink, Type type, std::int64_t length) {
  state_.arrays[sink.arrays[0]] = Vector();
  result.vector = state_.cpu.new_vector(type, length);
  result.out = checked_storage(state_.cpu, result.vector, 0, length);
}

/// Where there are few panels, threads share the columns, too, but not so that what is computed of
/// pieces beside their range counts.
KernelPanels::Division KernelPanels::divide() const {
  const std::int64_t threads = state_.cpu.scheduler().threads();
  const bool few = table_.count < 2 * kPanelRows * threads;
  const std::int64_t rows = few ? kRowsTogether : kPanelRows;
  const std::int64_t panels = tile_count(table_.count, rows);
  const std::int64_t together = std::clamp<std::int64_t>(panels / threads, 1, kPanelsTogether);
  const std::int64_t wanted = threads == 1 ? 1 : tile_count(2 * threads, panels);
  const std::int64_t least =
      plan_.folds.empty() ? 16 * kPanelBlock : 4 * fold_tile_length(state_.cpu);
  const std::int64_t share = std::max(tile_count(table_.length, wanted), least);
  const std::int64_t columns =
      std::min(tile_count(share, kPanelBlock) * kPanelBlock, table_.length);
  return {rows, panels, together, columns, tile_count(table_.length, columns)};
}

/// Panels that read the same columns take turns, so that these are in the cache for all but the
/// first. False if anything is fetched from outside of its vector. `folds`: null where the columns
/// are all of them.
bool KernelPanels::run_together(const Division& division, std::int64_t first_panel,
                                std::int64_t range, std::vector<PanelFold>* folds) const {
  const std::int64_t count = std::min(division.together, division.panels - first_panel);
  const std::size_t bytes = Panel::memory_bytes(*this, division.rows);
  std::byte* const memory = thread_memory(static_cast<std::size_t>(count) * bytes);
  const std::int64_t begin = range * division.columns;
  const std::int64_t end = std::min(begin + division.columns, table_.length);
  std::vector<std::unique_ptr<Panel>> panels;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t first = (first_panel + k) * division.rows;
    panels.push_back(std::make_unique<Panel>(*this, first,
                                             std::min(division.rows, table_.count - first), begin,
                                             end, memory + static_cast<std::size_t>(k) * bytes));
    panels.back()->begin();
  }
  for (bool again = true; again;) {
    again = false;
    for (const auto& panel : panels) {
      if (panel->is_done()) continue;
      if (!panel->run_block()) return false;
      again = true;
    }
  }
  for (std::int64_t k = 0; k < count && folds != nullptr; ++k) {
    folds[k * division.ranges] = panels[static_cast<std::size_t>(k)]->take_folds();
  }
  return true;
}

/// The pieces that the tasks have kept.
void KernelPanels::combine(const Division& division,
                           const std::vector<std::vector<PanelFold>>& folds) {
  for (std::int64_t panel = 0; panel < division.panels; ++panel) {
    const std::int64_t first = panel * division.rows;
    for (std::size_t k = 0; k < totals_.size(); ++k) {
      const Type type = totals_[k].vector.type;
      const auto width = static_cast<std::int64_t>(state_.cpu.element_bytes(type));
      PanelFold total(state_.cpu, plan_.folds[k].sink->op, type,
                      std::min(division.rows, table_.count - first),
                      totals_[k].out + first * width);
      for (std::int64_t range = 0; range < division.ranges; ++range) {
        total.combine_all(folds[static_cast<std::size_t>(panel * division.ranges + range)][k]);
      }
    }
  }
}

bool KernelPanels::run() {
  if (!bind()) {
    state_.faults.clear();  // the pass itself says what fails first
    return false;
  }
  const std::int64_t total = table_.count * table_.length;
  totals_.resize(plan_.folds.size());
  for (std::size_t k = 0; k < totals_.size(); ++k) {
    const PanelPlan::Fold& fold = plan_.folds[k];
    make(totals_[k], *fold.sink, plan_.elements.nodes[fold.result].type, table_.count);
  }
  stored_.resize(plan_.stores.size());
  for (std::size_t k = 0; k < stored_.size(); ++k) {
    const PanelPlan::Store& store = plan_.stores[k];
    make(stored_[k], *store.sink, plan_.elements.nodes[store.value].type, total);
  }
  const Division division = divide();
  const std::int64_t tasks = tile_count(division.panels, division.together) * division.ranges;
  std::vector<std::vector<PanelFold>> folds;
  if (division.ranges > 1)
    folds.resize(static_cast<std::size_t>(division.panels * division.ranges));
  std::atomic<bool> inside = true;
  auto body = [&](std::int64_t k) {
    const std::int64_t first = k / division.ranges * division.together;
    const std::int64_t range = k % division.ranges;
    std::vector<PanelFold>* const kept =
        folds.empty() ? nullptr : &folds[static_cast<std::size_t>(first * division.ranges + range)];
    if (!run_together(division, first, range, kept)) inside = false;
  };
  const auto nodes = static_cast<std::int64_t>(plan_.elements.nodes.size());
  state_.cpu.scheduler().for_tiles(tasks, total * nodes * tuning.native_step_cost, body);
  if (state_.faults.any() || !inside) {
    state_.faults.clear();
    totals_.clear();
    stored_.clear();
    return false;
  }
  if (division.ranges > 1) combine(division, folds);
  for (std::size_t k = 0; k < totals_.size(); ++k) {
    state_.arrays[plan_.folds[k].sink->arrays[0]] = std::move(totals_[k].vector);
  }
  for (std::size_t k = 0; k < stored_.size(); ++k) {
    state_.arrays[plan_.stores[k].sink->arrays[0]] = std::move(stored_[k].vector);
  }
  return true;
}

}  // namespace cvl::cpu
