// Running one pass of a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cvl-cpu/kernel_bind.hpp"
#include "cvl-cpu/kernel_columns.hpp"
#include "cvl-cpu/kernel_evaluate.hpp"
#include "cvl-cpu/kernel_interleave.hpp"
#include "cvl-cpu/kernel_panels.hpp"
#include "cvl-cpu/kernel_pieces.hpp"
#include "cvl-cpu/kernel_scan.hpp"
#include "cvl-cpu/kernel_sink.hpp"

namespace cvl::cpu {

class KernelPass {
 public:
  KernelPass(KernelState& state, const PlanPass& pass);
  KernelPass(const KernelPass&) = delete;
  KernelPass& operator=(const KernelPass&) = delete;

  /// Failures of elements are noted in the state's log, others are thrown.
  void run() { run(true); }
  /// False, and nothing has been done, if operands lie in another way than in the last run.
  bool run_again() { return run(false); }

 private:
  /// A sink and where its state lies among those of a tile.
  struct Placed {
    KernelSink* sink;
    std::size_t state;
    int part = 0;  // which part of the work it is, when that is divided by sinks
  };

  /// Positions for which a sink moves its elements alone.
  struct Move {
    KernelSink* sink;
    std::int64_t begin, end;
  };

  bool run(bool binds_anew);
  bool run_panels();
  void run_once();
  void note_assertion(const PlanSink& sink);
  void run_empty();
  void open(bool again);
  void find_alone(bool shared);
  void run_alone();
  void run_single_block();
  void run_rounds();
  void run_tiles(std::int64_t first, std::int64_t count);
  void run_parts(std::int64_t first, std::int64_t count);
  void run_tile(const KernelTile& tile, int part);
  void run_range(const KernelTile& tile, int part);
  void run_blocks(const KernelTile& tile, BlockEvaluator& values, const std::vector<Placed>& sinks,
                  std::byte* states, int part);
  bool belongs_to(const Placed& placed, int part) const {
    return placed.sink->active && (!by_sinks_ || placed.part == part);
  }
  void check_targets(const BoundProgram& program, const KernelTile& tile) const;
  const Segments* separate_segments();
  void find_run_segments();
  const Segments* segments_of_pieces(const std::vector<KernelReduction*>& reductions);
  std::int64_t block_length(std::int64_t begin, std::int64_t n, Segments::Place& segment) const;
  void divide_scatters();
  bool divide_sinks();
  void run_selections();
  void move_selected(KernelTile tile);
  KernelTile tile_at(std::int64_t index) const;
  std::int64_t cost() const;
  std::int64_t step_cost(const BoundStep& step) const;
  std::int64_t step_costs(const BoundProgram& program) const;

  KernelState& state_;
  const PlanPass& pass_;
  BoundPass bound_;
  std::vector<std::unique_ptr<KernelSink>> sinks_;
  std::vector<Placed> main_, epilogue_;       // of those
  std::vector<KernelSelection*> selections_;  // also among `main_`
  std::vector<KernelReduction*> reductions_;
  std::vector<KernelScan> scans_;
  KernelPieces pieces_{bound_};
  std::optional<Segments> whole_;               // all elements, where pieces_ takes them for one
  std::optional<KernelColumns> columns_;        // if all that is done is to reduce rows
  std::optional<KernelInterleave> interleave_;  // … or to store short ones
  bool looked_for_panels_ = false;
  std::optional<KernelPanels> panels_;
  std::unique_ptr<KernelPass> beside_panels_;  // what they leave, if they leave anything
  bool folds_ = false;  // are there reductions or scans, whose order depends on the tiles?
  bool scatters_ = false;
  bool iterates_ = false;
  bool recurses_ = false;
  bool only_scatters_ = true;  // and checks

  // Of one run.
  std::int64_t tile_length_ = 0, tiles_ = 0;
  std::int64_t block_ = 0;  // elements that are evaluated at a time
  bool needed_ = false;     // does any sink need values?
  bool alone_ = false;      // are there sinks that are run alone?
  std::vector<Move> moves_;
  std::optional<BlockEvaluator> single_;  // for runs of one block, while the steps stay the same
  std::unique_ptr<std::byte[]> single_memory_;
  std::byte* single_states_ = nullptr;
  struct SingleLayout {
    std::size_t targets = 0;
    std::size_t tile_bytes = 0;
    std::uint32_t slots = 0;
    bool operator==(const SingleLayout&) const = default;
  };
  SingleLayout single_layout_;
  std::int64_t single_block_ = 0;
  std::size_t main_bytes_ = 0, epilogue_bytes_ = 0, selected_bytes_ = 0, tile_bytes_ = 0;
  int parts_ = 1;          // of the work of a pass that is not divided by tiles
  bool by_sinks_ = false;  // parts have different sinks; otherwise, different places of targets
  std::int64_t cost_ = 0;  // in bytes of memory traffic
  bool shared_ = false;    // tiles are divided between threads
  const Segments* whole_segments_ = nullptr;  // no tile ends inside one of these
  const Segments* run_segments_ = nullptr;    // blocks end with long ones of these
  bool by_pieces_ = false;                    // all that is active is run piece by piece
};

}  // namespace cvl::cpu
