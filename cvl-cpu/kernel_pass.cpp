#include "cvl-cpu/kernel_pass.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "cvl-cpu/fold_tiles.hpp"
#include "cvl-cpu/kernel_evaluate.hpp"
#include "cvl-cpu/kernel_loop.hpp"
#include "cvl-cpu/kernel_native.hpp"
#include "cvl-cpu/kernel_storage.hpp"
#include "cvl-cpu/movement.hpp"
#include "vcode/math_functions.hpp"

namespace cvl::cpu {
namespace {

using SinkKind = PlanSink::Kind;

/// Blocks of few elements are short, so that runs over short vectors take little memory.
constexpr std::int64_t kShortestBlock = 8;

bool takes_long(vcode::Op op) {
  return vcode::is_math_function(op) || op == vcode::Op::Sqrt;
}

}  // namespace

KernelPass::KernelPass(KernelState& state, const PlanPass& pass)
    : state_(state), pass_(pass), bound_(state, pass) {
  if (pass.once) return;
  std::vector<const PlanSink*> taken;  // stores that a scan does itself
  for (NodeId node = 0; node < pass.nodes.size(); ++node) {
    if (pass.nodes[node].kind != PlanNode::Kind::Scan) continue;
    ArrayId result = kNone;
    for (const PlanSink& sink : pass.sinks) {
      if (sink.kind != SinkKind::Store || sink.values[0] != node || result != kNone) continue;
      result = sink.arrays[0];
      taken.push_back(&sink);
    }
    scans_.emplace_back(bound_, node, result);
    folds_ = true;
  }
  for (const PlanSink& sink : pass.sinks) {
    if (std::find(taken.begin(), taken.end(), &sink) != taken.end()) continue;
    const bool late = is_after_scan(pass, sink);
    BoundProgram& program = late ? bound_.epilogue : bound_.main;
    switch (sink.kind) {
      case SinkKind::Store:
      case SinkKind::Segments:
        sinks_.push_back(make_store(bound_, sink, program));
        break;
      case SinkKind::Reduce: {
        auto reduction = KernelReduction::make(bound_, sink, program);
        reductions_.push_back(reduction.get());
        sinks_.push_back(std::move(reduction));
        folds_ = true;
        break;
      }
      case SinkKind::Scatter:
        sinks_.push_back(make_scatter(bound_, sink, program));
        scatters_ = true;
        break;
      case SinkKind::Iterate: {
        const bool recurses = state.plan.loops[sink.loop].is_serial();
        sinks_.push_back(recurses ? make_recursion(bound_, sink, program)
                                  : make_iteration(bound_, sink, program));
        (recurses ? recurses_ : iterates_) = true;
        break;
      }
      case SinkKind::Assert:
        sinks_.push_back(make_assertion(bound_, sink, program));
        break;
      case SinkKind::Filter:
      case SinkKind::Split: {
        auto selection = KernelSelection::make(bound_, sink, program);
        selections_.push_back(selection.get());
        sinks_.push_back(std::move(selection));
        break;
      }
      // GCOVR_EXCL_START: only in passes without an index, see run_once()
      case SinkKind::Size:
        continue;
        // GCOVR_EXCL_STOP
    }
    (late ? epilogue_ : main_)
        .push_back({sinks_.back().get(), (sinks_.size() - 1) * kSinkStateBytes});
    only_scatters_ &= sink.kind == SinkKind::Scatter || sink.kind == SinkKind::Assert;
  }
  if (std::optional<ColumnPlan> plan = plan_columns(pass)) {
    columns_.emplace(state, std::move(*plan));
  } else if (std::optional<InterleavePlan> rows = plan_interleave(pass)) {
    interleave_.emplace(state, std::move(*rows));
  }
}

bool KernelPass::run(bool binds_anew) {
  if (pass_.once) {
    run_once();
    return true;
  }
  const std::int64_t length = state_.size(pass_.length);
  if (length < 0) return true;  // what binds it has failed
  if (length == 0) {
    run_empty();
    return true;
  }
  const bool rows = columns_ && columns_->can_run_rows();
  const bool by_columns =
      rows && (columns_->row_length() < tuning.rows_side_by_side || !columns_->fetches());
  if (by_columns && columns_->run()) return true;
  if (interleave_ && interleave_->run(length)) return true;
  const bool again = bound_.bind_again(length);
  if (!again) {
    if (!binds_anew) return false;
    bound_.bind_anew(length);
  }
  open(again);
  if (run_panels()) return true;
  const bool fetched_rows = rows && !by_columns && !bound_.main.by_runs;
  if (columns_ && !by_pieces_ && (fetched_rows || columns_->can_run_long())) {
    if (columns_->run()) return true;
    open(bound_.bind(length));
  }
  if (needed_ && !by_pieces_ && tiles_ == 1 && length <= block_ && scans_.empty() &&
      selections_.empty()) {
    run_single_block();
  } else if (needed_) {
    run_rounds();
  }
  run_alone();
  for (const auto& sink : sinks_) sink->close();
  return true;
}

/// Runs what is fetched by rows and columns panel by panel, and the rest without it. False if there
/// is no such thing: then the pass is open.
bool KernelPass::run_panels() {
  if (by_pieces_ || !bound_.main.usual().fetch()) return false;
  if (!looked_for_panels_) {
    looked_for_panels_ = true;
    if (std::optional<PanelPlan> plan = plan_panels(pass_))
      panels_.emplace(state_, std::move(*plan));
  }
  const std::int64_t length = bound_.length();
  if (!panels_ || !panels_->can_run(length)) return false;
  if (!panels_->run()) {
    open(bound_.bind(length));
    return false;
  }
  if (panels_->rest().sinks.empty()) return true;
  if (!beside_panels_) beside_panels_ = std::make_unique<KernelPass>(state_, panels_->rest());
  beside_panels_->run();
  return true;
}

/// The most common case: nothing is asked for twice, and nothing is allocated.
void KernelPass::run_single_block() {
  const KernelTile tile = tile_at(0);
  if (!single_) {
    constexpr std::size_t kAlignment = 64;
    const std::size_t bytes = main_bytes_ + sinks_.size() * kSinkStateBytes + tile_bytes_;
    single_memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes + kAlignment);
    std::size_t room = bytes + kAlignment;
    void* memory = single_memory_.get();
    auto* aligned = static_cast<std::byte*>(std::align(kAlignment, bytes, memory, room));
    single_.emplace(bound_, bound_.main, block_, aligned,
                    aligned + main_bytes_ + sinks_.size() * kSinkStateBytes, 0);
    single_states_ = aligned + main_bytes_;
  } else {
    single_->bind_again();
  }
  check_targets(bound_.main, tile);
  std::byte* states = single_states_;
  for (const Placed& placed : main_) {
    if (!placed.sink->active) continue;
    placed.sink->begin_round(1);
    placed.sink->begin_tile(tile, states + placed.state);
  }
  single_->run(0, tile.end);
  for (const Placed& placed : main_) {
    if (!placed.sink->active) continue;
    placed.sink->block(*single_, tile, states + placed.state, 0, tile.end);
    placed.sink->end_tile(tile, states + placed.state, states + sinks_.size() * kSinkStateBytes);
    placed.sink->end_round(1);
  }
}

void KernelPass::run_once() {
  bound_.bind(1);
  for (const PlanSink& sink : pass_.sinks) {
    const NodeId node = sink.values[0];
    const std::byte* value = bound_.node(node).cell;
    if (sink.kind == SinkKind::Store) {
      Vector& result = state_.arrays[sink.arrays[0]];
      result = Vector();
      result.type = pass_.nodes[node].type;
      result.length = 1;
      std::memcpy(result.payload, value, sizeof bound_.node(node).cell);
      continue;
    }
    if (sink.kind == SinkKind::Assert) {
      if (value[0] == std::byte{0}) note_assertion(sink);
      continue;
    }
    std::int64_t size = bound_.int_at(value, 0);
    if (size < 0) {
      KernelFault fault;
      fault.kind = KernelFault::Kind::Size;
      fault.binding = sink.binding;
      fault.id = sink.size;
      fault.value = size;
      state_.faults.note(fault);
      size = 0;
    }
    state_.sizes[sink.size] = size;
  }
}

/// An assertion about one position does not hold.
void KernelPass::note_assertion(const PlanSink& sink) {
  KernelFault fault;
  fault.kind = KernelFault::Kind::Assertion;
  fault.binding = sink.binding;
  fault.count = 1;
  state_.faults.note(fault);
}

void KernelPass::run_empty() {
  for (KernelScan& scan : scans_) scan.open_empty();
  for (const auto& sink : sinks_) {
    sink->alone = false;
    sink->open_empty();
  }
}

std::int64_t KernelPass::step_cost(const BoundStep& step) const {
  if (step.kind == BoundStep::Kind::Gather) return tuning.fetch_cost;
  if (step.kind != BoundStep::Kind::Apply) return tuning.step_cost;
  const PlanNode& node = pass_.nodes[step.node];
  // Processors divide INTs of 64 bits one by one.
  const bool divides_wide = divides_ints(node) && state_.cpu.widths().int_bytes == 8;
  const bool slow = takes_long(node.op) || divides_wide;
  return slow ? tuning.math_cost : tuning.step_cost;
}

std::int64_t KernelPass::step_costs(const BoundProgram& program) const {
  std::int64_t bytes = 0;
  std::uint32_t in_code = 0;  // steps from here on that machine code stands for
  for (const BoundStep& step : program.steps_for(program.by_runs).steps) {
    if (step.kind == BoundStep::Kind::Native) {
      in_code = step.covered;
    } else if (in_code > 0) {
      bytes += tuning.native_step_cost;
      --in_code;
    } else {
      bytes += step_cost(step);
    }
  }
  return bytes;
}

std::int64_t KernelPass::cost() const {
  std::int64_t bytes = 0;
  for (const BoundProgram* program : {&bound_.main, &bound_.epilogue, &bound_.selected}) {
    if (program->program == nullptr) continue;
    for (const NodeId node : program->in_memory) bytes += bound_.node(node).width;
    for (const Target& target : program->targets) bytes += target.width;
    bytes += step_costs(*program);
  }
  for (const auto& sink : sinks_) bytes += sink->rounds_cost();
  const std::int64_t most =
      std::numeric_limits<std::int64_t>::max() / std::max<std::int64_t>(bytes, 1);
  return std::min(bound_.length(), most) * bytes;
}

void KernelPass::open(bool again) {
  const std::int64_t length = bound_.length();
  tile_length_ = folds_      ? fold_tile_length(state_.cpu)
                 : recurses_ ? kRecursionTile
                 : iterates_ ? tuning.iterate_tile
                             : tuning.map_tile;
  tiles_ = tile_count(length, tile_length_);
  tile_bytes_ = 0;
  cost_ = tiles_ == 1 ? 0 : cost();
  const bool shared = state_.cpu.scheduler().worth_sharing(cost_);
  find_alone(shared);
  parts_ = 1;
  by_sinks_ = false;
  whole_segments_ = nullptr;
  if (shared && !shared_ && scans_.empty() && selections_.empty()) {
    if (!folds_) whole_segments_ = separate_segments();
    if (whole_segments_ != nullptr) {
      shared_ = true;
    } else if (state_.cpu.scheduler().parts(cost_) > 1) {
      divide_scatters();
    }
  }
  bound_.keeps_operands = by_sinks_;
  for (KernelScan& scan : scans_) scan.open(tile_bytes_, tiles_, shared_);
  needed_ = !scans_.empty();
  for (const auto& sink : sinks_) {
    sink->in_order = !shared_ && parts_ == 1;
    const KernelSink::Need need = sink->open(tile_bytes_);
    sink->active = need == KernelSink::Need::Blocks && !sink->alone;
    needed_ |= need != KernelSink::Need::Nothing && !sink->alone;
  }
  find_run_segments();
  for (BoundProgram* program : {&bound_.main, &bound_.epilogue, &bound_.selected}) {
    if (program->program == nullptr) continue;
    // What pieces leave is computed by steps.
    by_pieces_ ? forget_other_native_steps(bound_, *program) : renew_native_steps(bound_, *program);
  }
  for (KernelSelection* selection : selections_) selection->set_tiles(tiles_, tile_length_);
  block_ = std::min(std::max<std::int64_t>(length, kShortestBlock), tuning.longest_block);
  block_ = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(block_)));
  const SingleLayout layout{bound_.main.targets.size(), tile_bytes_, bound_.main.slots_in_use()};
  if (again && single_ && layout == single_layout_ && block_ <= single_block_) {
    block_ = single_block_;
    return;
  }
  single_.reset();
  single_layout_ = layout;
  single_block_ = block_;
  main_bytes_ = BlockEvaluator::memory_bytes(bound_, bound_.main, block_);
  epilogue_bytes_ = 0;
  if (!scans_.empty()) {
    epilogue_bytes_ = BlockEvaluator::memory_bytes(bound_, bound_.epilogue, block_);
  }
}

/// Finds the sinks that are run alone: those that only move elements, if there are several, because
/// the caches hold what one of them reads and writes at random longer than that of all at a time.
/// Whether tiles are shared depends on the others.
void KernelPass::find_alone(bool shared) {
  for (const auto& sink : sinks_) sink->free_of_races = sink->is_free_of_races(shared);
  const bool several = bound_.length() > tuning.moves_alone_after &&
                       std::count_if(sinks_.begin(), sinks_.end(),
                                     [](const auto& sink) { return sink->moves_memory(); }) > 1;
  shared_ = shared;
  alone_ = several;
  bound_.kept.clear();
  for (const auto& sink : sinks_) {
    sink->alone = several && sink->moves_memory();
    if (sink->alone) sink->keep_operands();
    shared_ &= sink->alone || sink->free_of_races;
  }
}

/// One sink after the other on each thread.
void KernelPass::run_alone() {
  if (!alone_) return;
  const int parts = state_.cpu.scheduler().parts(cost_);
  moves_.clear();
  for (const auto& sink : sinks_) {
    if (!sink->alone) continue;
    const int ranges = sink->moves_in_ranges() ? parts : 1;
    const auto cut = [&](int k) {
      return k == ranges ? bound_.length() : bound_.length() / ranges * k;
    };
    for (int k = 0; k < ranges; ++k) moves_.push_back({sink.get(), cut(k), cut(k + 1)});
  }
  auto body = [&](std::int64_t k) {
    const Move& move = moves_[static_cast<std::size_t>(k)];
    move.sink->move_range(move.begin, move.end);
  };
  const auto count = static_cast<int>(moves_.size());
  if (parts > 1) {
    state_.cpu.scheduler().for_parts(count, body);
  } else {
    for (int k = 0; k < count; ++k) body(k);
  }
}

/// Segments between which no sink has races, if they are short enough to be divided; else null.
const Segments* KernelPass::separate_segments() {
  SegdesId common = kNone;
  for (const auto& sink : sinks_) {
    if (sink->alone || sink->free_of_races) continue;
    const SegdesId own = sink->stays_in();
    if (own == kNone || (common != kNone && own != common)) return nullptr;
    common = own;
  }
  if (common == kNone) return nullptr;
  const Segments& segments = bound_.segments(common);
  const Segments::Place middle = segments.place_of(bound_.length() / 2);
  return middle.end - middle.start <= bound_.length() / 4 * 3 ? &segments : nullptr;
}

/// Divides a pass whose tiles have to be run in order, if that pays.
void KernelPass::divide_scatters() {
  parts_ = std::min(state_.cpu.scheduler().threads(), static_cast<int>(tuning.scatter_parts));
  by_sinks_ = divide_sinks();
  if (by_sinks_) return;
  const bool pays = std::all_of(sinks_.begin(), sinks_.end(), [](const auto& sink) {
    return sink->alone || sink->pays_in_parts();
  });
  if (!only_scatters_ || !pays) parts_ = 1;
}

/// Gives each part some of the sinks. Every part evaluates everything, so that this is worth while
/// only if the sinks are most of the work. False when it is not.
bool KernelPass::divide_sinks() {
  std::int64_t load[LargestTuning::scatter_parts] = {};
  std::int64_t all = 0;
  for (Placed& placed : main_) {
    if (placed.sink->alone) continue;
    placed.part = static_cast<int>(std::min_element(load, load + parts_) - load);
    load[placed.part] += placed.sink->cost();
    all += placed.sink->cost();
  }
  const std::int64_t steps = step_costs(bound_.main);
  return *std::max_element(load, load + parts_) + steps < (all + steps) * 3 / 4;
}

/// Segments of which indices are runs, if blocks may end with them: a block inside of one segment
/// reads its elements where they lie, others put them together. Where they are short on average,
/// few are long enough for that, and it does not pay to look. What is reduced within tiles does not
/// end with blocks, what is reduced by segments has its own way. Whether the pass is run piece by
/// piece is found out here, too.
void KernelPass::find_run_segments() {
  run_segments_ = nullptr;
  by_pieces_ = false;
  const Segments* segments = nullptr;
  if (bound_.main.by_runs) {
    for (const BoundRuns& runs : bound_.main.runs) {
      if (segments == nullptr) segments = runs.segments;
    }
    if (bound_.main.runs.empty() && bound_.main.rows) segments = &*bound_.main.rows;
  }
  std::vector<KernelReduction*> reductions;
  bool by_tiles = true;
  for (KernelReduction* reduction : reductions_) {
    if (!reduction->active) continue;
    reductions.push_back(reduction);
    by_tiles &= reduction->folded() != nullptr;
  }
  const auto is_active = [](const auto& sink) { return sink->active; };
  const auto active = std::count_if(sinks_.begin(), sinks_.end(), is_active);
  const bool reduces_only = active == static_cast<std::ptrdiff_t>(reductions.size());
  // Flags of selections are kept in words.
  const bool any_blocks = reduces_only || (scans_.empty() && selections_.empty());
  constexpr std::int64_t kShort = 8;  // times shorter than those that end blocks
  const bool may_be_long =
      segments != nullptr && segments->total() >= segments->count() * tuning.runs_block / kShort;
  if (by_tiles && any_blocks && may_be_long) run_segments_ = segments;
  if (!reduces_only || !scans_.empty() || bound_.length() <= tuning.pieces_after) return;
  if (segments == nullptr && !columns_) segments = segments_of_pieces(reductions);
  by_pieces_ = segments != nullptr && pieces_.open(reductions, *segments);
  if (by_pieces_ && pieces_.takes_rows()) whole_segments_ = segments;
}

/// The segments off which the first walk reads something, or else those that are folded; all
/// elements are one if there are none.
const Segments* KernelPass::segments_of_pieces(const std::vector<KernelReduction*>& reductions) {
  for (const BoundStep& step : bound_.main.usual().steps) {
    if (step.kind == BoundStep::Kind::Walk) return step.segments;
  }
  for (const KernelReduction* reduction : reductions) {
    if (reduction->folded() != nullptr) return reduction->folded();
  }
  return &whole_.emplace(state_.cpu, Segdes::regular(1, bound_.length()));
}

/// How many of n elements from `begin` on are a block. `segment` is where the last block was.
std::int64_t KernelPass::block_length(std::int64_t begin, std::int64_t n,
                                      Segments::Place& segment) const {
  if (begin >= segment.end) {
    const bool next = begin == segment.end && begin > 0;
    segment = next ? run_segments_->behind(segment) : run_segments_->place_of(begin);
  }
  const std::int64_t rest = segment.end - begin;
  if (rest < tuning.runs_block) return n;
  // No less than that should be left.
  return std::min(n, n < rest && rest < n + tuning.runs_block ? rest / 2 : rest);
}

KernelTile KernelPass::tile_at(std::int64_t index) const {
  const auto cut = [this](std::int64_t at) {
    if (at >= bound_.length()) return bound_.length();
    return whole_segments_ ? whole_segments_->start(whole_segments_->first_from(at)) : at;
  };
  KernelTile tile;
  tile.index = index;
  tile.in_round = index;
  tile.begin = cut(index * tile_length_);
  tile.end = cut((index + 1) * tile_length_);
  return tile;
}

void KernelPass::run_rounds() {
  const std::int64_t round = scans_.empty() ? tuning.round_tiles : tiles_;
  for (std::int64_t first = 0; first < tiles_; first += round) {
    const std::int64_t count = std::min(round, tiles_ - first);
    for (const auto& sink : sinks_) sink->begin_round(count);
    run_tiles(first, count);
    for (const auto& sink : sinks_) {
      if (sink->active) sink->end_round(count);
    }
  }
  if (!selections_.empty()) run_selections();
}

void KernelPass::run_tiles(std::int64_t first, std::int64_t count) {
  if (parts_ > 1) {
    run_parts(first, count);
    return;
  }
  auto body = [&](std::int64_t k) {
    KernelTile tile = tile_at(first + k);
    tile.in_round = k;
    run_tile(tile, 0);
  };
  if (!shared_) {
    for (std::int64_t k = 0; k < count; ++k) body(k);
  } else if (scans_.empty()) {
    state_.cpu.scheduler().for_tiles(count, cost_, body);
  } else {
    state_.cpu.scheduler().for_tiles_in_order(count, cost_, body);
  }
}

/// Every part runs all tiles, in order.
void KernelPass::run_parts(std::int64_t first, std::int64_t count) {
  auto body = [&](std::int64_t number) {
    const int part = static_cast<int>(number);
    for (std::int64_t k = 0; k < count; ++k) {
      KernelTile tile = tile_at(first + k);
      tile.in_round = k;
      if (!by_sinks_) {
        tile.part = part;
        tile.parts = parts_;
      }
      run_tile(tile, part);
    }
  };
  state_.cpu.scheduler().for_parts(parts_, body);
}

void KernelPass::run_blocks(const KernelTile& tile, BlockEvaluator& values,
                            const std::vector<Placed>& sinks, std::byte* states, int part) {
  const bool by_segments = run_segments_ != nullptr && &sinks == &main_;
  Segments::Place segment{};
  std::int64_t n = 0;
  for (std::int64_t i = tile.begin; i < tile.end; i += n) {
    n = std::min(block_, tile.end - i);
    if (by_segments) n = block_length(i, n, segment);
    values.run(i, n);
    for (const Placed& placed : sinks) {
      if (!belongs_to(placed, part)) continue;
      placed.sink->block(values, tile, states + placed.state, i, n);
    }
  }
}

void KernelPass::run_tile(const KernelTile& tile, int part) {
  const auto range = [&](std::int64_t begin, std::int64_t end) {
    KernelTile some = tile;
    some.begin = begin;
    some.end = end;
    run_range(some, part);
  };
  if (by_pieces_) check_targets(bound_.main, tile);
  if (!by_pieces_ || !pieces_.run(tile, range)) run_range(tile, part);
}

void KernelPass::run_range(const KernelTile& tile, int part) {
  const std::size_t state_bytes = sinks_.size() * kSinkStateBytes;
  std::byte* memory = thread_memory(main_bytes_ + epilogue_bytes_ + state_bytes + tile_bytes_);
  std::byte* states = memory + main_bytes_ + epilogue_bytes_;
  std::byte* tile_memory = states + state_bytes;
  const auto for_active = [&](const auto& visit) {
    for (const std::vector<Placed>* sinks : {&main_, &epilogue_}) {
      for (const Placed& placed : *sinks) {
        if (belongs_to(placed, part)) visit(*placed.sink, states + placed.state);
      }
    }
  };
  for_active([&](KernelSink& sink, std::byte* state) { sink.begin_tile(tile, state); });
  check_targets(bound_.main, tile);
  BlockEvaluator values(bound_, bound_.main, block_, memory, tile_memory, tile.begin);
  if (by_sinks_ && part != 0) values.leave_results();
  run_blocks(tile, values, main_, states, part);
  for (KernelScan& scan : scans_) scan.run(tile, tile_memory);
  if (!epilogue_.empty()) {
    check_targets(bound_.epilogue, tile);
    BlockEvaluator late(bound_, bound_.epilogue, block_, memory + main_bytes_, tile_memory,
                        tile.begin);
    for (const KernelScan& scan : scans_) {
      late.set_memory(scan.node(), scan.values(tile, tile_memory));
    }
    run_blocks(tile, late, epilogue_, states, part);
  }
  for_active([&](KernelSink& sink, std::byte* state) { sink.end_tile(tile, state, tile_memory); });
}

/// Is there storage for what the steps write of a tile?
void KernelPass::check_targets(const BoundProgram& program, const KernelTile& tile) const {
  for (const Target& target : program.targets) {
    if (!target.tiled) checked_storage(state_.cpu, *target.result, tile.begin, tile.end);
  }
}

void KernelPass::run_selections() {
  bool moves = false;
  for (KernelSelection* selection : selections_) {
    selection->active = selection->place();
    moves |= selection->active;
  }
  if (!moves) return;
  selected_bytes_ = BlockEvaluator::memory_bytes(bound_, bound_.selected, block_);
  auto body = [&](std::int64_t k) { move_selected(tile_at(k)); };
  if (shared_) {
    state_.cpu.scheduler().for_tiles(tiles_, cost_, body);
  } else {
    for (std::int64_t k = 0; k < tiles_; ++k) body(k);
  }
}

void KernelPass::move_selected(KernelTile tile) {
  const std::size_t state_bytes = selections_.size() * kSinkStateBytes;
  std::byte* memory = thread_memory(selected_bytes_ + state_bytes);
  std::byte* states = memory + selected_bytes_;
  std::memset(states, 0, state_bytes);
  BlockEvaluator values(bound_, bound_.selected, block_, memory, nullptr, tile.begin);
  for (std::int64_t i = tile.begin; i < tile.end; i += block_) {
    const std::int64_t n = std::min(block_, tile.end - i);
    std::int64_t first = n, last = 0;
    for (const KernelSelection* selection : selections_) {
      if (!selection->active) continue;
      const auto [from, to] = selection->wanted(tile, i, n);
      if (from == to) continue;
      first = std::min(first, from);
      last = std::max(last, to);
    }
    if (first >= last) continue;
    values.run(i + first, last - first);
    for (std::size_t k = 0; k < selections_.size(); ++k) {
      if (selections_[k]->active) {
        selections_[k]->move(values, tile, states + k * kSinkStateBytes, i + first, last - first);
      }
    }
  }
}

}  // namespace cvl::cpu
