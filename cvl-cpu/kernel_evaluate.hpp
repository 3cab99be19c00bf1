// Evaluating a block of elements.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "cvl-cpu/kernel_bind.hpp"

namespace cvl::cpu {

/// Memory that begins at a line of the cache.
struct AlignedDelete {
  void operator()(std::byte* memory) const { operator delete(memory, std::align_val_t(64)); }
};
using AlignedMemory = std::unique_ptr<std::byte, AlignedDelete>;
AlignedMemory aligned_memory(std::size_t bytes);

/// Memory of the calling thread, aligned to 64 bytes and valid until it asks again.
std::byte* thread_memory(std::size_t bytes);

/// So many bytes, rounded up to cache lines.
template <std::integral Bytes>
constexpr Bytes whole_lines(Bytes bytes) {
  constexpr Bytes kLine = 64;
  return (bytes + kLine - 1) / kLine * kLine;
}

/// Bytes of room for a tile of so many elements, with those that kernels may write behind it.
constexpr std::size_t tile_room(std::int64_t elements, std::int64_t width) {
  return whole_lines(static_cast<std::size_t>(elements * width)) + Heap::kPadding;
}

/// Element 0 of a tile that lies at `memory`, if the elements before it take so many bytes. That
/// may be outside of any object and is only a number until elements of the tile are asked for.
std::byte* element_zero(std::byte* memory, std::int64_t bytes);

/// Runs the steps of a program on one block of elements after the other. One per thread and tile.
class BlockEvaluator {
 public:
  /// `memory` has memory_bytes() bytes and is aligned to 64. `tile_memory` is where the tiled
  /// targets of the program lie, for a tile that begins at element `begin`.
  BlockEvaluator(const BoundPass& pass, const BoundProgram& program, std::int64_t block,
                 std::byte* memory, std::byte* tile_memory, std::int64_t begin);
  static std::size_t memory_bytes(const BoundPass& pass, const BoundProgram& program,
                                  std::int64_t block);

  /// To be called when the pass has been bound again and its steps are the same.
  void bind_again();
  /// The values of a Scan or State lie there (element 0).
  void set_memory(NodeId node, const std::byte* base);
  /// What goes to a tiled target of the program is written there (element 0).
  void set_target(std::size_t target, std::byte* base) { targets_[target] = base; }

  /// Another evaluator writes the targets that are results.
  void leave_results() { writes_results_ = false; }

  /// Evaluates elements [begin, begin + n), at most a block, and writes the targets.
  void run(std::int64_t begin, std::int64_t n);

  /// Runs of the block that was run last, by their number in the program. Null when their index
  /// has been evaluated instead.
  const RunTable* runs(std::uint32_t number) const {
    return number != kNone && by_runs_ ? &runs_[number] : nullptr;
  }

  /// The values of a node in the block that was run last: one if the node is uniform, else n.
  const std::byte* at(NodeId node) const { return at_[node]; }
  /// n values, uniform or not. Valid until the next call.
  const std::byte* filled(NodeId node, std::int64_t n);
  /// Writes n values of a node, all of which fit, to a byte each.
  void narrow(std::byte* bytes, NodeId node, std::int64_t n);

 private:
  void place(const BoundSteps& steps);
  std::byte* result_of(const BoundStep& step, std::int64_t begin);
  void run_native(const BoundStep* native, std::int64_t begin, std::int64_t n);
  void run_step(const BoundStep& step, std::int64_t begin, std::int64_t first, std::int64_t n);
  void walk(const BoundStep& step, std::int64_t begin, std::int64_t n);
  void walk_block(const WalkedNode* first, const WalkedNode* last, const SegmentBlock& block,
                  std::int64_t begin);
  bool find_all_runs(std::int64_t begin, std::int64_t n);
  void widen(std::byte* out, const std::byte* bytes, std::int64_t n) const;
  void draw(const BoundStep& step, std::byte* out, std::int64_t begin, std::int64_t n);
  void fetch(const BoundStep& step, const Vector& vector, std::byte* out, std::int64_t begin,
             std::int64_t n);
  void gather_runs(const BoundStep& step, std::byte* out, std::int64_t n);
  template <class Move>
  void move_runs(Type type, std::byte* out, std::int64_t n, bool narrow, const Move& move) const;
  struct RunPlaces {
    std::int64_t count;
    const std::int64_t* ends;
    const std::uintptr_t* places;
  };
  void copy_bordered(const BoundRuns& bound, const RunTable& table, const RunPlaces& runs,
                     const std::byte* otherwise, Type type, std::byte* out) const;
  void join_runs(const BoundStep& step, std::byte* out, std::int64_t n);
  void look_up(const BoundStep& step, std::byte* out, std::int64_t begin, std::int64_t n);
  void fail_if(const BoundStep& step, std::int64_t begin, std::int64_t n);
  void note_division(const BoundStep& step, std::int64_t begin, std::int64_t first, std::int64_t n);
  /// Element `first` of an operand.
  const std::byte* operand(NodeId node, std::int64_t first) const {
    return at_[node] + (pass_.is_uniform(node) ? 0 : first * pass_.node(node).width);
  }
  bool writes(const Target& target) const { return writes_results_ || target.tiled; }
  void write_target(const Target& target, std::byte* out, std::int64_t n);
  bool wanted(NodeId guard, std::int64_t i) const {
    return guard == kNone || at_[guard][i] != std::byte{0};
  }
  std::int64_t int_at(NodeId node, std::int64_t i) const {
    return pass_.int_at(at_[node], pass_.is_uniform(node) ? 0 : i);
  }

  CpuBackend& cpu_;
  const BoundPass& pass_;
  const BoundProgram& program_;
  std::byte* tile_memory_;
  std::int64_t begin_;        // of the tile
  const std::byte** at_;      // per node
  const std::byte** memory_;  // per node that is read in place: element 0
  std::byte** targets_;       // element 0
  std::byte* slots_;
  std::int64_t stride_;  // bytes of a slot
  std::byte* filled_;
  std::uint64_t* positions_;
  /// Indices, of a vector how long.
  struct Located {
    NodeId index = kNone;
    std::int64_t length = 0;
    bool operator==(const Located&) const = default;
  };
  Located located_;                    // `positions_` are those
  Located inside_;                     // these lie inside
  const Segments* walked_ = nullptr;   // the segments of the last walk, …
  Segments::Place place_{};            // … and the one that it ended in
  const BoundSteps* steps_ = nullptr;  // of the block
  RunTable* runs_;                     // of the block
  bool by_runs_ = false;
  bool writes_results_ = true;
};

}  // namespace cvl::cpu
