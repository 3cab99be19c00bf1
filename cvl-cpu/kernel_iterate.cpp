// Iterate: states that become the next ones until each has come to its end.
//
// A thread keeps the states of a tile that go on side by side in memory that its cache holds, and
// computes one round of all of them at a time, or many by machine code that keeps some states after
// the other in registers. Those that have come to their end are written where
// they belong, and the others move together. When few are left those of the next block join them,
// so that a round is worth its steps however much the states differ in how long they go on.

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cvl-cpu/kernel_loop.hpp"
#include "cvl-cpu/movement.hpp"

namespace cvl::cpu {
namespace {

/// Rounds in machine code before those that have come to their end are sorted out, and how many
/// they may become while none has: the longer, the more lanes of registers idle, and the later a
/// run that is to end does so.
constexpr std::int64_t kLeastRounds = 16;
constexpr std::int64_t kMostRounds = 256;

/// The states of a tile that go on. One for each thread.
class ActiveStates {
 public:
  /// `most`: of all tiles.
  ActiveStates(CpuBackend& cpu, const BoundPass& body, const PlanLoop& loop,
               const std::vector<LoopComponent>& components, std::int64_t most)
      : cpu_(cpu),
        body_(body),
        loop_(loop),
        components_(components),
        most_(most),
        block_(std::min<std::int64_t>(tuning.longest_block, tile_count(most, 64) * 64)),
        room_(2 * block_),
        lane_width_(static_cast<std::int64_t>(cpu.element_bytes(Type::Int))),
        flags_(static_cast<std::size_t>(room_)),
        ended_(static_cast<std::size_t>(room_)),
        masks_(static_cast<std::size_t>(tile_count(room_, 64)) + 1),
        table_(body, loop_) {
    const auto evaluator =
        static_cast<std::int64_t>(BlockEvaluator::memory_bytes(body, body.main, room_));
    std::int64_t bytes = whole_lines(evaluator) + 2 * column_bytes(lane_width_);
    for (const LoopComponent& component : components) {
      if (!component.uniform) bytes += 2 * column_bytes(component.width);
    }
    memory_ = aligned_memory(static_cast<std::size_t>(bytes));
    std::byte* place = memory_.get();
    evaluator_.emplace(body, body.main, room_, place, nullptr, 0);
    place += whole_lines(evaluator);
    const auto column = [&](std::int64_t width) {
      Column made{place, place + column_bytes(width)};
      place += 2 * column_bytes(width);
      return made;
    };
    lanes_ = column(lane_width_);
    for (const LoopComponent& component : components) {
      columns_.push_back(component.uniform ? Column{} : column(component.width));
    }
    table_[table_.places().flags()] = reinterpret_cast<const std::byte*>(flags_.data());
  }

  /// `alone`: the body, if no other thread has states of it.
  void begin(std::int64_t tile, BoundPass* alone) {
    tile_ = tile;
    alone_ = alone;
    round_ = 0;
    rounds_ = kLeastRounds;
    oldest_ = 0;
    groups_.clear();
  }

  /// Adds the states of a block, of which there must be room, and goes on until there is room for
  /// another one.
  void add(BlockEvaluator& values, std::int64_t begin, std::int64_t n) {
    groups_.push_back({begin - tile_, round_});
    cpu_.kernels().progression(lanes_.now + count_ * lane_width_, 0, 1, begin - tile_, n);
    for (std::size_t k = 0; k < components_.size(); ++k) {
      const LoopComponent& component = components_[k];
      if (component.uniform) continue;
      std::memcpy(columns_[k].now + count_ * component.width, values.filled(component.initial, n),
                  static_cast<std::size_t>(n * component.width));
    }
    count_ += n;
    run(room_ - block_);
  }

  /// Goes on until at most so many states are left.
  void run(std::int64_t most) {
    while (count_ > most) {
      if (alone_ != nullptr && round_ >= tuning.rounds_without_code) {
        make_native_rounds(*alone_, alone_->main, loop_, most_);
        alone_ = nullptr;
      }
      if (!run_rounds()) run_round();
    }
  }

 private:
  /// Values of the states now, and room for what they become.
  struct Column {
    std::byte* now = nullptr;
    std::byte* next = nullptr;
  };
  /// States that have begun together.
  struct Group {
    std::int64_t first;  // of the tile
    std::int64_t round;
  };

  std::int64_t column_bytes(std::int64_t width) const {
    return whole_lines(room_ * width + static_cast<std::int64_t>(Heap::kPadding));
  }

  /// Many rounds in machine code. False when there is none, or one round only is to be run; then
  /// nothing has been done.
  bool run_rounds() {
    const NativeCode* const code = body_.main.native.rounds.get();
    const std::int64_t rounds = std::min(rounds_, loop_.rounds - (round_ - groups_[oldest_].round));
    if (code == nullptr || rounds < 2) return false;
    const RoundPlaces& places = table_.places();
    for (std::uint32_t k = 0; k < places.components; ++k) {
      table_[places.now(k)] = columns_[k].now;
      table_[places.next(k)] = columns_[k].next;
    }
    if (code->run_rounds(table_.data(), rounds, count_)) return false;
    for (std::size_t k = 0; k < components_.size(); ++k) {
      if (components_[k].changes) std::swap(columns_[k].now, columns_[k].next);
    }
    round_ += rounds;
    std::int64_t left = cpu_.kernels().flag_masks(masks_.data(), flags_.data(), count_);
    left -= end_oldest();
    const bool serial = body_.main.native.form == NativeSteps::Form::SerialRounds;
    rounds_ = left < count_ ? kLeastRounds
                            : std::min(2 * rounds_, serial ? kMostSerialRounds : kMostRounds);
    remove_ended(left, false);
    return true;
  }

  void run_round() {
    for (std::size_t k = 0; k < components_.size(); ++k) {
      const LoopComponent& component = components_[k];
      if (component.uniform) continue;
      if (component.state != kNone) evaluator_->set_memory(component.state, columns_[k].now);
      if (component.changes) evaluator_->set_target(component.target, columns_[k].next);
    }
    evaluator_->run(0, count_);
    const auto* flags =
        reinterpret_cast<const std::uint8_t*>(evaluator_->filled(loop_.step().flag, count_));
    std::int64_t left = cpu_.kernels().flag_masks(masks_.data(), flags, count_);
    left -= end_oldest();
    if (left == count_) {
      for (std::size_t k = 0; k < components_.size(); ++k) {
        if (components_[k].changes) std::swap(columns_[k].now, columns_[k].next);
      }
    }
    remove_ended(left, true);
    ++round_;
  }

  /// Writes the states that have come to their end, and moves the others together: what they are
  /// now, or, if they are to move on by a round, what they become.
  void remove_ended(std::int64_t left, bool move_on) {
    if (left == count_) return;
    if (left == 0 && lane_at(count_ - 1) - lane_at(0) == count_ - 1) {
      write_all();
    } else {
      write_ended();
      pack(move_on);
    }
    count_ = left;
  }

  /// The first states, which have begun first, go on no longer if they have had all rounds that
  /// there may be, and all if the run is to end. Returns how many would otherwise.
  std::int64_t end_oldest() {
    const bool end_all = cpu_.stop != nullptr && cpu_.stop();
    std::int64_t stopped = 0;
    for (std::int64_t k = 0; k < count_; ++k) {
      const std::int64_t lane = lane_at(k);
      while (oldest_ + 1 < groups_.size() && groups_[oldest_ + 1].first <= lane) ++oldest_;
      if (!end_all && round_ - groups_[oldest_].round < loop_.rounds) break;
      std::uint64_t& word = masks_[static_cast<std::size_t>(k / 64)];
      const std::uint64_t bit = std::uint64_t{1} << (k % 64);
      stopped += (word & bit) != 0;
      word &= ~bit;
    }
    return stopped;
  }

  std::int64_t lane_at(std::int64_t k) const { return body_.int_at(lanes_.now, k); }

  /// All states, which belong side by side.
  void write_all() {
    for (std::size_t k = 0; k < components_.size(); ++k) {
      const LoopComponent& component = components_[k];
      if (component.element == nullptr) continue;
      std::memcpy(component.element + (tile_ + lane_at(0)) * component.width, columns_[k].now,
                  static_cast<std::size_t>(count_ * component.width));
    }
  }

  void write_ended() {
    std::size_t count = 0;
    for (std::int64_t first = 0; first < count_; first += 64) {
      const std::int64_t n = std::min<std::int64_t>(64, count_ - first);
      const std::uint64_t all = ~std::uint64_t{0} >> (64 - n);
      for (std::uint64_t word = ~masks_[static_cast<std::size_t>(first / 64)] & all; word != 0;
           word &= word - 1) {
        ended_[count++] = first + std::countr_zero(word);
      }
    }
    for (std::size_t k = 0; k < components_.size(); ++k) {
      if (components_[k].element == nullptr) continue;
      if (components_[k].width == 1) write_ended<1>(k, count);
      if (components_[k].width == 4) write_ended<4>(k, count);
      if (components_[k].width == 8) write_ended<8>(k, count);
    }
  }

  template <std::size_t kWidth>
  void write_ended(std::size_t component, std::size_t count) {
    std::byte* out = components_[component].element + tile_ * static_cast<std::int64_t>(kWidth);
    const std::byte* in = columns_[component].now;
    for (std::size_t i = 0; i < count; ++i) {
      const auto to = static_cast<std::size_t>(lane_at(ended_[i]));
      std::memcpy(out + to * kWidth, in + static_cast<std::size_t>(ended_[i]) * kWidth, kWidth);
    }
  }

  void pack(bool move_on) {
    const auto move = [&](Type type, Column& column, bool changes) {
      const auto compress = cpu_.kernels().compress[type_index(type)];
      if (changes) {
        compress(column.now, column.next, masks_.data(), count_);
      } else {
        compress(column.next, column.now, masks_.data(), count_);
        std::swap(column.now, column.next);
      }
    };
    move(Type::Int, lanes_, false);
    for (std::size_t k = 0; k < components_.size(); ++k) {
      const LoopComponent& component = components_[k];
      if (!component.uniform) move(component.type, columns_[k], component.changes && move_on);
    }
  }

  CpuBackend& cpu_;
  const BoundPass& body_;
  const PlanLoop& loop_;
  const std::vector<LoopComponent>& components_;
  const std::int64_t most_;   // states of all tiles
  const std::int64_t block_;  // no more states begin together
  const std::int64_t room_;   // for so many states
  const std::int64_t lane_width_;
  AlignedMemory memory_;
  std::optional<BlockEvaluator> evaluator_;
  std::vector<Column> columns_;      // of the components
  std::vector<std::uint8_t> flags_;  // of which the rounds' condition has held
  std::int64_t rounds_ = 0;          // in machine code, the next time
  Column lanes_;                     // where in the tile a state belongs; ascending
  std::vector<std::int64_t> ended_;
  std::vector<std::uint64_t> masks_;
  RoundTable table_;
  std::int64_t tile_ = 0;  // where it begins
  BoundPass* alone_ = nullptr;
  std::int64_t count_ = 0;
  std::int64_t round_ = 0;
  std::vector<Group> groups_;
  std::size_t oldest_ = 0;  // of the groups of which a state is left
};

class Iteration final : public LoopSink {
 public:
  using LoopSink::LoopSink;

  Need open(std::size_t&) override {
    pool_.clear();
    open_states();
    for (std::size_t k = 0; k < components_.size(); ++k) {
      if (!components_[k].changes) continue;
      Target target;
      target.node = loop_.step().values[k];
      target.width = static_cast<std::uint8_t>(components_[k].width);
      target.tiled = true;
      components_[k].target = body_.main.targets.size();
      body_.add_target(body_.main, target, true);
    }
    renew_native_rounds(body_, body_.main, loop_, length());
    return Need::Blocks;
  }

  void begin_tile(const KernelTile& tile, std::byte* state) override {
    active(state) = pool_.take([this] {
      return std::make_unique<ActiveStates>(cpu_, body_, loop_, components_, length());
    });
    const bool alone = tile.begin == 0 && tile.end == length();
    active(state)->begin(tile.begin, alone ? &body_ : nullptr);
  }
  void block(BlockEvaluator& values, const KernelTile&, std::byte* state, std::int64_t begin,
             std::int64_t n) override {
    active(state)->add(values, begin, n);
  }
  void end_tile(const KernelTile&, std::byte* state, std::byte*) override {
    active(state)->run(0);
    pool_.leave(active(state));
  }

 private:
  static ActiveStates*& active(std::byte* state) {
    return StatesPool<ActiveStates>::of_tile(state);
  }

  StatesPool<ActiveStates> pool_;
};

}  // namespace

std::unique_ptr<KernelSink> make_iteration(BoundPass& pass, const PlanSink& sink,
                                           BoundProgram& program) {
  return std::make_unique<Iteration>(pass, sink, program);
}

}  // namespace cvl::cpu
