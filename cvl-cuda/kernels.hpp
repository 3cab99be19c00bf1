// The kernels as the host code sees them: one function per launch (or fixed sequence of launches),
// without types of CUDA. Each is defined in a .cu file together with the instantiations that it
// needs; the kernel bodies themselves are in kernels/*.hpp.
//
// All pointers are device addresses. Nothing here waits.
#pragma once

#include <array>
#include <cstdint>

#include "cvl-cuda/device.hpp"
#include "cvl-cuda/failure_sink.hpp"
#include "cvl-cuda/source.hpp"
#include "cvl-cuda/workspace.hpp"
#include "cvl/random.hpp"
#include "vcode/opcodes.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

using vcode::Op;

// ---- elementwise ----

struct ElementwiseCall {
  Op op;
  Type type;
  Widths widths;
  std::array<RawSource, 3> operands;
  void* out;
  std::int64_t length;
  FailureSink failures;
};
void launch_elementwise(Device& device, const ElementwiseCall& call);
/// The operations from FLOAT to FLOAT, in a file of their own because they compile slowly.
void launch_elementwise_math(Device& device, const ElementwiseCall& call);

struct RandomCall {
  Widths widths;
  RawSource bounds;
  void* out;
  std::int64_t length;
  RandomState state;
  FailureSink failures;
};
void launch_random(Device& device, const RandomCall& call);

// ---- folds ----

struct FoldCall {
  Op op;
  Type type;
  Widths widths;
  RawSource operand;
  Segments segments;
  void* out;
};
/// Words of the workspace of a scan, pack or sum of lengths of so many tiles.
std::int64_t scan_words(std::int64_t tiles);
/// Tiles that a fold or a pack over `elements` elements and `segments` segments (0: flat) has.
std::int64_t fold_tiles(std::int64_t elements, std::int64_t segments);
/// REQUIRES: the workspace has scan_words() words.
void launch_scan(Device& device, const FoldCall& call, const Workspace& workspace);
/// Bytes of values of the workspace of a reduction.
std::int64_t reduce_bytes(const FoldCall& call);
/// REQUIRES: the workspace has reduce_bytes() bytes of values.
void launch_reduce(Device& device, const FoldCall& call, const Workspace& workspace);

struct OffsetsCall {
  Widths widths;
  RawSource lengths;
  std::int64_t count;
  std::int64_t* offsets;  // count + 1
  std::int64_t* total;    // host-mapped copy of the last one; -1 when the sum overflows
  FailureSink failures;
};
/// The starts of segments from their lengths; negative lengths are reported.
void launch_offsets(Device& device, const OffsetsCall& call, const Workspace& workspace);
/// The inverse.
void launch_lengths(Device& device, const Widths& widths, const std::int64_t* offsets,
                    std::int64_t count, void* lengths);

// ---- pack ----

struct PackCall {
  std::size_t element_bytes;
  RawSource values;
  RawSource flags;
  Segments segments;
  void* out;
  std::int64_t room;      // elements of `out`: of all, or as many as are known to be kept
  std::int64_t* offsets;  // count + 1 starts of the new segments; null for a single segment
  std::int64_t* kept;     // host-mapped: how many elements
};
void launch_pack(Device& device, const PackCall& call, const Workspace& workspace);

// ---- data movement; element_bytes is that of the moved elements ----

struct MoveCall {
  std::size_t element_bytes;
  Widths widths;
  RawSource values;
  RawSource index;
  RawSource flags = {SourceKind::Constant, nullptr, 0, {1}};  // BOOL; all true
  Segments from, to;
  void* out = nullptr;
  FailureSink failures;
};
void launch_fetch(Device& device, const MoveCall& call);
/// Sends elements to targets that are all different and all there.
void launch_scatter(Device& device, const MoveCall& call);
/// Sends elements to any targets. winners[target] becomes the greatest source position that is sent
/// there, tagged with `tag`; then each target takes its winner's element, or else (`others` false:
/// nothing) the default element. `claimed`: the winners are those of an earlier call of that tag.
struct SendCall : MoveCall {
  RawSource fallback;
  bool others = true;
  bool claimed = false;
  std::uint64_t* winners = nullptr;
  std::uint64_t tag = 0;
  std::uint32_t* counters = nullptr;  // of the workspace
};
void launch_send(Device& device, const SendCall& call);
inline constexpr std::uint64_t kMaxTag = (std::uint64_t{1} << (64 - kPositionBits)) - 1;

void launch_extract(Device& device, const MoveCall& call);
/// Every segment has one place that takes a new element; what else is in `out` was there before
/// (in_place) or comes from `old`.
struct ReplaceCall : MoveCall {
  RawSource old;
  bool in_place = false;
  std::uint32_t* counters = nullptr;  // of the workspace
};
void launch_replace(Device& device, const ReplaceCall& call);
void launch_distribute(Device& device, const MoveCall& call);

struct IndexCall {
  Widths widths;
  RawSource starts, steps;
  Segments segments;
  void* out;
};
void launch_index(Device& device, const IndexCall& call);

/// Writes `length` elements of any form to memory.
void launch_write_out(Device& device, std::size_t element_bytes, const RawSource& source,
                      std::int64_t length, void* out);

// ---- rank ----

struct BlockRankCall {
  Type type;
  Widths widths;
  bool descending;
  RawSource operand;
  Segments segments;  // with up to shape::kBlockRank elements and segments together
  void* ranks;
};
/// The whole operation in one block.
void launch_block_rank(Device& device, const BlockRankCall& call);

struct RankKeysCall {
  Type type;
  Widths widths;
  bool descending;
  RawSource operand;
  Segments segments;
  /// A key is what orders the elements, less the least one of them, and, `with_segment`, the number
  /// of the segment above `element_bits` bits. It has 4 or 8 bytes, 8 for FLOATs of as many.
  std::uint64_t least;
  int element_bits;
  bool with_segment;
  std::size_t key_bytes;
  std::size_t position_bytes;
  void* keys;
  void* positions;
};
/// Sortable keys and positions 0, 1, ...
void launch_rank_keys(Device& device, const RankKeysCall& call);
/// segment[k] = segment of element positions[k]; `ids` is scratch for one 32-bit number an element.
void launch_segment_keys(Device& device, const Segments& segments, std::size_t position_bytes,
                         const void* positions, std::uint32_t* ids, std::uint32_t* keys);
/// ranks[positions[k]] = k - start of the segment that k lies in.
void launch_rank_places(Device& device, const Widths& widths, const Segments& segments,
                        std::size_t position_bytes, const void* positions, void* ranks);

}  // namespace cvl::cuda::CVL_CUDA_TARGET
