// What becomes of the values of a pass.
//
// A sink is opened when the operands are known, sees the blocks of each tile on some thread, closes
// tiles, rounds (a number of tiles whose parts are then combined in order) and the whole. What it
// computes per tile depends on the tiles alone, not on the threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "cvl-cpu/fold_tiles.hpp"
#include "cvl-cpu/kernel_bind.hpp"
#include "cvl-cpu/kernel_evaluate.hpp"

namespace cvl::cpu {

/// Bytes that every sink has for itself while a thread works on a tile, aligned to 64.
inline constexpr std::size_t kSinkStateBytes = kReductionStateBytes;

struct KernelTile {
  std::int64_t index = 0;           // of all tiles
  std::int64_t in_round = 0;        // of the tiles of the round
  std::int64_t begin = 0, end = 0;  // elements
  int part = 0;                     // of the parts that scatters are divided into
  int parts = 1;
};

class KernelSink {
 public:
  /// What a sink still needs: nothing, its targets written, or to see each block.
  enum class Need : std::uint8_t { Nothing, Targets, Blocks };

  KernelSink(BoundPass& pass, const PlanSink& sink, BoundProgram& program)
      : pass_(pass), sink_(sink), program_(program), state_(pass.state()), cpu_(pass.state().cpu) {}
  virtual ~KernelSink() = default;

  /// The pass has no elements: makes the results of that.
  virtual void open_empty() = 0;
  /// Makes room for results. The sink may ask for memory of each tile by adding to `tile_bytes`
  /// (multiples of 64).
  virtual Need open(std::size_t& tile_bytes) = 0;
  virtual void begin_round(std::int64_t /*tiles*/) {}
  virtual void begin_tile(const KernelTile& /*tile*/, std::byte* /*state*/) {}
  // GCOVR_EXCL_START: whoever asks for blocks has a function of its own for them
  virtual void block(BlockEvaluator& /*values*/, const KernelTile& /*tile*/, std::byte* /*state*/,
                     std::int64_t /*begin*/, std::int64_t /*n*/) {}
  // GCOVR_EXCL_STOP
  virtual void end_tile(const KernelTile& /*tile*/, std::byte* /*state*/,
                        std::byte* /*tile_memory*/) {}
  virtual void end_round(std::int64_t /*tiles*/) {}
  virtual void close() {}
  /// Before open(), when the pass has been bound. Can threads work on different tiles at the same
  /// time? Without effort if there is one thread only.
  virtual bool is_free_of_races(bool /*several_threads*/) { return true; }
  /// The descriptor of whose segments each writes to places of its own; kNone: there is none. Where
  /// there may be races, there are none between different segments of it.
  virtual SegdesId stays_in() const { return kNone; }  // GCOVR_EXCL_LINE: only Scatter may race
  /// Is it worth it that every part evaluates all positions, and writes those that fall to it?
  virtual bool pays_in_parts() const { return true; }
  /// After is_free_of_races(): does it only move elements between vectors that lie in memory when
  /// all blocks have been evaluated, and is it better off alone among others of the kind?
  virtual bool moves_memory() const { return false; }
  /// Can threads move different positions at the same time?
  virtual bool moves_in_ranges() const { return false; }
  /// Before any sink is opened: names what move_range() reads and open() might let a result take
  /// over.
  virtual void keep_operands() {}
  /// Behind all blocks: does everything for positions [begin, end) that it would do for blocks.
  // GCOVR_EXCL_START: not called where moves_memory() is false
  virtual void move_range(std::int64_t /*begin*/, std::int64_t /*end*/) {}
  // GCOVR_EXCL_STOP

  /// What it does per element, in bytes of memory traffic.
  virtual std::int64_t cost() const { return 4; }
  /// What the rounds of an iteration are likely to take per element, in the same measure.
  virtual std::int64_t rounds_cost() const { return 0; }
  /// Does it need to see blocks, and so the functions from begin_round() to end_round()?
  bool active = false;
  /// What is_free_of_races() said.
  bool free_of_races = false;
  /// Does it see no blocks, and moves its elements behind them?
  bool alone = false;
  /// Before open(): does it see all blocks one after the other?
  bool in_order = false;

 protected:
  std::int64_t length() const { return pass_.length(); }
  const vcode::Kernel& kernel() const { return *state_.plan.kernel; }
  Type type_of(NodeId node) const { return pass_.plan().nodes[node].type; }
  std::int64_t width_of(Type type) const {
    return static_cast<std::int64_t>(cpu_.element_bytes(type));
  }
  /// A result that will hold values of a node: Narrow where it can be.
  Vector room_for(NodeId node, std::int64_t elements) const {
    const bool fits = pass_.fits_bytes(node);
    if (fits && CpuBackend::keeps_narrow(elements)) return cpu_.new_narrow(elements);
    Vector result = cpu_.new_vector(type_of(node), elements);
    result.fits_bytes = fits;
    return result;
  }
  /// The descriptor of the positions, unless it has one segment.
  const Segdes* segdes() const {
    if (sink_.under == kNone || state_.segdes[sink_.under].count == 1) return nullptr;
    return &state_.segdes[sink_.under];
  }

  BoundPass& pass_;
  const PlanSink& sink_;
  BoundProgram& program_;
  KernelState& state_;
  CpuBackend& cpu_;
};

/// Store, Segments.
std::unique_ptr<KernelSink> make_store(BoundPass& pass, const PlanSink& sink,
                                       BoundProgram& program);
std::unique_ptr<KernelSink> make_scatter(BoundPass& pass, const PlanSink& sink,
                                         BoundProgram& program);
std::unique_ptr<KernelSink> make_iteration(BoundPass& pass, const PlanSink& sink,
                                           BoundProgram& program);
/// The same where states have stacks.
std::unique_ptr<KernelSink> make_recursion(BoundPass& pass, const PlanSink& sink,
                                           BoundProgram& program);
std::unique_ptr<KernelSink> make_assertion(BoundPass& pass, const PlanSink& sink,
                                           BoundProgram& program);

class KernelReduction : public KernelSink {
 public:
  using KernelSink::KernelSink;
  static std::unique_ptr<KernelReduction> make(BoundPass& pass, const PlanSink& sink,
                                               BoundProgram& program);
  virtual NodeId value() const = 0;
  /// After open(): the segments that it reduces when all of a tile is there; null if it takes in
  /// block after block.
  virtual const Segments* folded() const = 0;
  /// Are those rows (fold_tiles.hpp)?
  virtual bool folds_rows() const = 0;
  virtual vcode::Op op() const = 0;
  virtual Type type() const = 0;
  /// Does it only ask whether there is any T among all elements?
  virtual bool asks_for_any() const = 0;
  /// In place of blocks, of what folds numbers: totals of pieces, or of segments that have none, go
  /// to segments [first, end). Returns where that of segment 0 would lie.
  virtual std::byte* begin_pieces(std::int64_t first, std::int64_t end) = 0;
  /// Where the total goes of what the tile has of a segment that began in an earlier one.
  virtual std::byte* continued_piece(const KernelTile& tile, std::int64_t segment) = 0;
  /// A segment has no elements.
  virtual void put_empty(std::int64_t segment) = 0;
  /// In place of blocks, of what asks for any: there is one in the tile.
  virtual void put_any(const KernelTile& tile) = 0;
};

/// Filter and Split: a second pass over the tiles moves the values when all flags are known.
class KernelSelection : public KernelSink {
 public:
  using KernelSink::KernelSink;
  static std::unique_ptr<KernelSelection> make(BoundPass& pass, const PlanSink& sink,
                                               BoundProgram& program);
  /// Before the first round: how the pass is cut.
  virtual void set_tiles(std::int64_t tiles, std::int64_t tile_length) = 0;
  /// After the last round: makes room for results and says whether values must be moved.
  virtual bool place() = 0;
  /// Elements [first, second) of a block, counted from its beginning in multiples of 64, of which
  /// something is wanted; first == second: nothing is.
  virtual std::pair<std::int64_t, std::int64_t> wanted(const KernelTile& tile, std::int64_t begin,
                                                       std::int64_t n) const = 0;
  /// `state` has been cleared at the beginning of the tile.
  virtual void move(BlockEvaluator& values, const KernelTile& tile, std::byte* state,
                    std::int64_t begin, std::int64_t n) = 0;
};

}  // namespace cvl::cpu
