// Kernels: the inner loops, as plain functions over plain pointers.
//
// The sources of this folder are compiled once per instruction set (isa.hpp), each time inside a
// namespace of that name, and reached only through the table below. They include nothing that could
// leave out-of-line code compiled for a better processor where others would call it: no standard
// library templates, only scalar_ops.hpp and intrinsics.
//
// Common rules. Lengths are counts of elements, never negative. Pointers are aligned to their
// element. Up to Heap::kPadding bytes after the last element of a vector may be read and written
// (what is there is undefined), unless a function says otherwise. `out` may be exactly equal to an
// input of the same element size, but must not overlap one otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cvl-cpu/isa.hpp"
#include "cvl-cpu/tuning.hpp"
#include "cvl/scalar_ops.hpp"
#include "cvl/value.hpp"
#include "vcode/opcodes.hpp"

namespace cvl::cpu {

/// out[i] = op(a[i], b[i], c[i]); unused operands are null. True when the operation failed for some
/// element (results are then undefined; find_failure() in elementwise.cpp says where).
using ElementwiseKernel = bool (*)(void* out, const void* a, const void* b, const void* c,
                                   std::int64_t n);
/// Variants of an elementwise kernel for operands of which only the first element is read, as if
/// all others were equal: bit k of the variant stands for operand k.
inline constexpr unsigned kScalarVariants = 7;
/// Copies with stores that go around the cache; for results that will not be read soon. The
/// scheduler orders them before what other threads do later.
using StreamKernel = void (*)(void* out, const void* in, std::int64_t bytes);
/// out[i] = *element
using FillKernel = void (*)(void* out, const void* element, std::int64_t n);
/// So many rows are put side by side.
inline constexpr std::int64_t kRowsTogether = 16;
/// out[i * kRowsTogether + k] = element i of the row that begins at rows[k]. Rows are read, and
/// columns written, until there is a multiple of a register's lanes.
using TransposeRowsKernel = void (*)(void* out, const std::uintptr_t* rows, std::int64_t n);
/// out[i * distance + k] = columns[k][i] for the first `count` k.
/// REQUIRES: 1 < count <= kMostInterleaved, count <= distance
using InterleaveKernel = void (*)(void* out, const std::byte* const* columns, std::int64_t count,
                                  std::int64_t distance, std::int64_t n);
inline constexpr std::int64_t kMostInterleaved = 8;
/// out[i] = start + (first + i) * step, wrapped to INT
using ProgressionKernel = void (*)(void* out, std::int64_t start, std::int64_t step,
                                   std::int64_t first, std::int64_t n);

/// What a pass over segment lengths finds; the sum is taken modulo 2^64.
struct LengthSummary {
  std::uint64_t sum;
  std::int64_t least, greatest;
};
/// REQUIRES: n > 0
using SummarizeLengthsKernel = LengthSummary (*)(const void* lengths, std::int64_t n);
/// out[i] = first_start + sum of the lengths before i, for 0 <= i <= n
using StartsKernel = void (*)(std::int64_t* out, const void* lengths, std::int64_t n,
                              std::int64_t first_start);
/// A descriptor is searched through the starts of every so many segments.
inline constexpr std::int64_t kIndexStep = 64;
/// out[i] = sum of the lengths kIndexStep * i ... kIndexStep * (i + 1) - 1, of those that there are
using SumLengthsKernel = void (*)(std::int64_t* out, const void* lengths, std::int64_t n);
// Expansion: the elements [begin, end) lie in the segments that begin at starts[0 ... count-1], the
// last of which ends at starts[count]. `out` holds end-begin elements and 64 more bytes that may be
// overwritten.
/// out[i] = values[segment of element begin + i]
using ExpandKernel = void (*)(void* out, const void* values, const std::int64_t* starts,
                              std::int64_t count, std::int64_t begin, std::int64_t end);
/// out[i] = first[segment] + position in the segment * step[segment], wrapped to INT
using ExpandProgressionsKernel = void (*)(void* out, const void* first, const void* steps,
                                          const std::int64_t* starts, std::int64_t count,
                                          std::int64_t begin, std::int64_t end);
/// Start and length, according to `targets`, of the segment of each element.
using ExpandSegmentsKernel = void (*)(std::int64_t* start_of, std::int64_t* length_of,
                                      const std::int64_t* starts, const std::int64_t* targets,
                                      std::int64_t count, std::int64_t begin, std::int64_t end);

/// Consecutive segments. Their starts follow from their lengths: reading those costs half of what
/// reading stored starts would, and most of what a tiny segment costs is memory traffic.
struct SegmentRun {
  const void* lengths = nullptr;  // INT, of the first segment and the following; null: all equal
  std::int64_t uniform_length = 0;
  std::int64_t start = 0;  // of the first segment
  std::int64_t count = 0;
};

/// Size of the running state of a reduction, to be aligned to 64 bytes.
inline constexpr std::int64_t kReductionStateBytes = 256;

/// Elements of one segment in a tile from which they are reduced by themselves, and not scanned
/// together with their neighbours. Decides the order in which FLOATs are combined. Of four blocks
/// and more, adding them up costs less than scanning them.
inline constexpr std::int64_t kLongPiece = 32;

/// Exclusive scans within segments.
struct ScanKernels {
  /// All segments, from left to right. Needs no padding.
  void (*small)(void* out, const void* in, const SegmentRun& segments);
  /// Elements [begin, end) of `in` and `out`, which are aligned to 64 bytes; `begin` is a multiple
  /// of the tile size. `segments` are those that begin in the range. `prefix` is the total so far
  /// of the segment that is open at `begin`, and becomes that at `end`. `upcoming` is where the
  /// thread will probably read next, or null: that is brought into the cache meanwhile.
  void (*tile)(void* out, const void* in, std::int64_t begin, std::int64_t end,
               const SegmentRun& segments, void* prefix, bool streamed, const void* upcoming);
  /// The total of [begin, end), which lie in one tile, as `tile` arrives at it.
  void (*total)(const void* in, std::int64_t begin, std::int64_t end, void* total);
  /// left = left op right
  void (*combine)(void* left, const void* right);
  alignas(8) std::byte start[8];  // the neutral element
};

/// Reductions, of a whole range or of segments.
struct ReduceKernels {
  /// out[k] = reduction of segment k, from left to right.
  void (*small)(void* out, const void* in, const SegmentRun& segments);
  /// A tile of one segment: begin, accumulate any number of times (all but the last a multiple of
  /// 256 bytes), finish. The state is an array: element i joins number i, modulo its length.
  void (*begin)(void* state);
  void (*accumulate)(void* state, const void* in, std::int64_t n);
  void (*finish)(const void* state, void* out);
  /// The segments of a tile, described as for scans: the part of segment k that lies in it goes to
  /// out[k], and that of an earlier segment to `continued`.
  void (*tile)(void* out, const void* in, std::int64_t begin, std::int64_t end,
               const SegmentRun& segments, void* continued);
  /// `count` rows of `length` elements each, one behind the other, each from left to right.
  /// REQUIRES: length > 0
  void (*rows)(void* out, const void* in, std::int64_t count, std::int64_t length);
  /// left = left op right[0] op right[1] ...
  void (*combine)(void* left, const void* right, std::int64_t n);
  /// Replaces an element by the reduction of `count` copies of it; null where that would not give
  /// the same bits as combining them one by one.
  void (*repeat)(void* element, std::int64_t count);
  alignas(8) std::byte identity[8];  // of an empty segment
  alignas(8) std::byte start[8];     // what elements are combined with
};

/// Tables for every so many elements; see combine_in_lanes.
inline constexpr std::int64_t kCombineLanes = 4;

/// Combining elements with places of a table. `equal`: all n values are the first one, alone.
struct CombineLoops {
  /// Combines place positions[i] with values[i], one after the other.
  void (*combine)(void* table, const void* values, bool equal, const void* positions,
                  std::int64_t n, bool prefetch);
  /// The same with kCombineLanes tables, which follow each other at a distance of `stride` places:
  /// elements take turns, so that neighbours with equal positions do not wait for each other.
  void (*combine_in_lanes)(void* tables, std::int64_t stride, const void* values, bool equal,
                           const void* positions, std::int64_t n);
  /// The same as combine() for positions in [begin, end) only.
  void (*combine_in_range)(void* table, const void* values, bool equal, const void* positions,
                           std::int64_t n, std::uint64_t begin, std::uint64_t end);
};

/// Combining elements into the places of a table. Needs no padding.
struct CombineKernels {
  /// Makes `n` places that have met nothing.
  void (*clear)(void* table, std::int64_t n);
  CombineLoops by_position;  // positions of 64 bits, as kernels for locating make them, …
  CombineLoops by_index;     // … or INTs
  /// left[i] = left[i] op right[i], of tables.
  void (*join)(void* left, const void* right, std::int64_t n);
  /// out[i] = what place i of a table has met, the identity for nothing.
  void (*finish)(void* out, const void* table, std::int64_t n);
};

/// out[i] = draw(key, counter + i, bounds[i]). False, and nothing written, if a bound is below 1.
using DrawKernel = bool (*)(void* out, const void* bounds, std::int64_t n, std::uint64_t key,
                            std::uint64_t counter);
/// The same with one bound for all, which must be positive.
using DrawBelowKernel = void (*)(void* out, const void* bound, std::int64_t n, std::uint64_t key,
                                 std::uint64_t counter);

// Gathers and scatters go through positions; those of elements that are not moved are `nowhere`.
/// An element is fetched ahead so many elements: far enough for memory to answer, near enough for
/// the line to be still there (measured: 32 is best on tables of 4 MB and more, the gain on cached
/// ones is nil).
inline constexpr std::int64_t kPrefetchDistance = 32;
/// The position of an element that is not moved, for scatters. Gathers use 0 and look at the flag.
inline constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
/// out[i] = indices[i] + start_of[i]. An index outside [0, length_of[i]) or without a flag (flags
/// may be null) gives `nowhere`. True when a flagged index was outside.
using LocateKernel = bool (*)(std::uint64_t* out, const void* indices, const std::uint8_t* flags,
                              const std::int64_t* start_of, const std::int64_t* length_of,
                              std::int64_t n, std::uint64_t nowhere);
/// The same with one start and length for all.
using LocateInOneKernel = bool (*)(std::uint64_t* out, const void* indices,
                                   const std::uint8_t* flags, std::int64_t start,
                                   std::int64_t length, std::int64_t n, std::uint64_t nowhere);
/// Do all indices lie in [0, length)?
using IndicesBelowKernel = bool (*)(const void* indices, std::int64_t n, std::int64_t length);
/// out[i] = source[positions[i]], or 0 where there are flags and flags[i] is 0. Writes nothing
/// else.
using GatherKernel = void (*)(void* out, const void* source, const std::uint64_t* positions,
                              const std::uint8_t* flags, std::int64_t n, bool prefetch);
/// out[i] = source[indices[i]], of INTs that all lie inside.
using GatherByIndexKernel = void (*)(void* out, const void* source, const void* indices,
                                     std::int64_t n, bool prefetch);
/// The same from a progression.
using GatherProgressionKernel = void (*)(void* out, std::int64_t start, std::int64_t step,
                                         const std::uint64_t* positions, const std::uint8_t* flags,
                                         std::int64_t n);
/// out[positions[i]] = source[i] in this order, for positions in [begin, end) only. A range from 0
/// to kNowhere is all of the vector.
using ScatterKernel = void (*)(void* out, const void* source, const std::uint64_t* positions,
                               std::int64_t n, std::uint64_t begin, std::uint64_t end,
                               bool prefetch);

// Runs: elements [ends[k-1], ends[k]) of a block, from 0 on, belong to consecutive places from
// positions[k] on. None is empty, and there is at least one.
/// Writes the elements in these places of `source` to `out`, and nothing else.
using GatherRunsKernel = void (*)(void* out, const void* source, const std::int64_t* positions,
                                  const std::int64_t* ends, std::int64_t count);
/// The same of runs that begin at the addresses places[k], or, backwards, end there.
using CopyRunsKernel = void (*)(void* out, const std::uintptr_t* places, const std::int64_t* ends,
                                std::int64_t count);
/// Of joined vectors: those of their elements that lie before `end`, and not in one before it, are
/// at the address `start` plus their position times their width.
struct JoinedVector {
  std::int64_t end;
  std::uintptr_t start;
};
/// Where runs of joined vectors of elements of 2^shift bytes begin. False if one of them passes
/// from one vector to the next; then `places` means nothing.
using JoinedPlacesKernel = bool (*)(std::uintptr_t* places, const std::int64_t* positions,
                                    const std::int64_t* ends, std::int64_t count,
                                    const JoinedVector* vectors, std::int64_t vector_count,
                                    int shift);
/// The runs of elements [begin, end) of the `count` segments that they lie in: element j of segment
/// s has the place first[s] + more + j. Ends are counted from `origin` on. How many runs there are,
/// without empty ones, behind which there is room for one more; -1 if not all places are below
/// `limit`.
using ListRunsKernel = std::int64_t (*)(std::int64_t* positions, std::int64_t* ends,
                                        const void* first, std::int64_t more,
                                        const std::int64_t* starts, std::int64_t count,
                                        std::int64_t begin, std::int64_t end, std::int64_t origin,
                                        std::int64_t limit);
/// Writes elements of `source` to these places of `out`, as far as they lie in [begin, end); a
/// range from 0 to kNowhere is all of the vector.
using ScatterRunsKernel = void (*)(void* out, const void* source, const std::int64_t* positions,
                                   const std::int64_t* ends, std::int64_t count,
                                   std::uint64_t begin, std::uint64_t end);

// INTs from 0 to 255 in one byte each (Form::Narrow).
/// out[i] = bytes[i], as INT. Reads and writes nothing else.
using WidenKernel = void (*)(void* out, const std::uint8_t* bytes, std::int64_t n);
/// bytes[i] = in[i], the lowest 8 bits of it. Reads and writes nothing else.
using NarrowKernel = void (*)(std::uint8_t* bytes, const void* in, std::int64_t n);

/// Bytes from `least` on, `more` of them beside it, or those that are not among these.
struct ByteRange {
  std::uint8_t least = 0, more = 0;
  bool outside = false;
};
/// out[i] = is bytes[i] in the range? Reads and writes nothing else.
using MatchBytesKernel = void (*)(std::uint8_t* out, const std::uint8_t* bytes, ByteRange range,
                                  std::int64_t n);

// Flags as bit masks, 64 to a word.
/// The same as masks.
using MatchMasksKernel = void (*)(std::uint64_t* masks, const std::uint8_t* bytes, ByteRange range,
                                  std::int64_t n);
/// Reads no flag behind the n-th. Returns how many are set.
using FlagMasksKernel = std::int64_t (*)(std::uint64_t* masks, const std::uint8_t* flags,
                                         std::int64_t n);
/// before[w] = bits in the words before w
using MasksBeforeKernel = void (*)(std::int64_t* before, const std::uint64_t* masks,
                                   std::int64_t words);
/// out[k] = number of flags in segment k as far as it lies before `end`, as INT. Returns the number
/// of those between `begin`, where the masks begin, and the first segment. All segments begin in
/// the range. masks_before() has counted one word more than the range has.
using CountInSegmentsKernel = std::int64_t (*)(void* out, const SegmentRun& segments,
                                               std::int64_t begin, std::int64_t end,
                                               const std::uint64_t* masks,
                                               const std::int64_t* before);
/// Elements whose bit is set, one after the other; overwrites up to 64 bytes behind them. Returns
/// how many there are.
using CompressKernel = std::int64_t (*)(void* out, const void* in, const std::uint64_t* masks,
                                        std::int64_t n);

// Ranks. Keys are transformed so that unsigned order is the order wanted; `down` ranks the greatest
// element first.
/// Segments of up to this many elements are ranked without sorting and without scratch memory.
inline constexpr std::int64_t kRankFew = 32;
/// rank_segments() takes segments that begin within tuning.rank_tile elements and ranks those of up
/// to tuning.rank_longest elements.

/// Of the transformed keys: the bits in which they differ, the bounds, and whether they ascend.
struct RankSurvey {
  std::uint64_t varying, least, greatest;
  bool ascending;
};
/// What is sorted in place of the elements: (transformed key - base) >> drop, which are called
/// numbers here.
struct RankNumbers {
  const void* keys;
  bool down;
  std::uint64_t base;
  int drop;
};
/// A digit of a number.
struct RankDigit {
  int shift, bits;
};
inline constexpr std::int64_t kSortLine = 64;
/// Entries, of `entry_bytes` bytes, hold a number and where it came from. `places`, of
/// `place_bytes` each, are where the next entry of each digit goes.
using SortEntriesKernel = void (*)(void* out, const void* entries, std::int64_t n, RankDigit digit,
                                   void* places);
struct RankSortKernels {
  /// Adds how often each digit occurs among elements [begin, begin + n) to `places`.
  void (*count_numbers)(void* places, const RankNumbers& numbers, std::int64_t begin,
                        std::int64_t n, RankDigit digit);
  void (*count_entries)(void* places, const void* entries, std::int64_t n, RankDigit digit);
  /// Turns counts, those of one part behind those of the other, into places.
  void (*place)(void* places, std::int64_t digits, std::int64_t parts);
  void (*sort_numbers)(void* out, const RankNumbers& numbers, std::int64_t begin, std::int64_t n,
                       RankDigit digit, void* places);
  SortEntriesKernel sort_entries;
  SortEntriesKernel rank_entries;  // out[origin] = place, as INT
  /// out[begin + i] = place, as INT, where the digit is all of a number.
  void (*rank_numbers)(void* out, const RankNumbers& numbers, std::int64_t begin, std::int64_t n,
                       RankDigit digit, void* places);
  /// Moves keys by a digit. With `lines`, around the cache, by way of a line of kSortLine bytes for
  /// each digit there, aligned; behind them is room for another table of places.
  void (*sort_keys)(void* out, const RankNumbers& numbers, std::int64_t begin, std::int64_t n,
                    RankDigit digit, void* places, void* lines);
  std::int64_t entry_bytes, place_bytes;
};
struct RankKernels {
  /// REQUIRES: n > 0
  RankSurvey (*survey)(const void* keys, std::int64_t n, bool down);
  /// `scratch` has room for twice `room` times segment_entry_bytes, where `room` is at least the
  /// number of elements in segments of more than kRankFew and up to tuning.rank_longest elements.
  /// Only the ranks of segments of up to tuning.rank_longest elements are written.
  void (*rank_segments)(void* out, const void* keys, const std::int64_t* starts, std::int64_t count,
                        void* scratch, std::int64_t room, bool down);
  /// Writes the keys of the same segments in order. `ranks` has room for `room` INTs.
  void (*sort_segments)(void* out, const void* keys, const std::int64_t* starts, std::int64_t count,
                        void* scratch, std::int64_t room, bool down, void* ranks);
  std::int64_t segment_entry_bytes;
  RankSortKernels sort;
  RankSortKernels sort_packed;  // fewer than 2^32 elements, and numbers of 32 bits
};

/// The kernels for one instruction set and one choice of widths, indexed by operation or type.
struct Kernels {
  ElementwiseKernel elementwise[vcode::kOpCount][vcode::kDataTypes] = {};
  /// Two operands: variants 1 and 2; three: 2, 4 and 6. The others are null.
  ElementwiseKernel with_scalars[vcode::kOpCount][vcode::kDataTypes][kScalarVariants] = {};
  StreamKernel stream = nullptr;
  FillKernel fill[vcode::kDataTypes] = {};
  InterleaveKernel interleave[vcode::kDataTypes] = {};
  TransposeRowsKernel transpose_rows[vcode::kDataTypes] = {};
  ProgressionKernel progression = nullptr;
  ScanKernels scan[vcode::kOpCount][vcode::kDataTypes] = {};
  ReduceKernels reduce[vcode::kOpCount][vcode::kDataTypes] = {};
  CombineKernels combine[vcode::kOpCount][vcode::kDataTypes] = {};
  DrawKernel draw = nullptr;
  DrawBelowKernel draw_below = nullptr;
  SummarizeLengthsKernel summarize_lengths = nullptr;
  StartsKernel starts = nullptr;
  SumLengthsKernel sum_lengths = nullptr;
  ExpandKernel expand[vcode::kDataTypes] = {};
  ExpandProgressionsKernel expand_progressions = nullptr;
  ExpandSegmentsKernel expand_segments = nullptr;
  LocateKernel locate = nullptr;
  LocateInOneKernel locate_in_one = nullptr;
  IndicesBelowKernel indices_below = nullptr;
  GatherKernel gather[vcode::kDataTypes] = {};
  GatherByIndexKernel gather_by_index[vcode::kDataTypes] = {};
  GatherProgressionKernel gather_progression = nullptr;
  GatherKernel gather_bytes = nullptr;  // INTs from a source of bytes
  ScatterKernel scatter[vcode::kDataTypes] = {};
  GatherRunsKernel gather_runs[vcode::kDataTypes] = {};
  CopyRunsKernel copy_runs[vcode::kDataTypes] = {};
  CopyRunsKernel copy_backwards[vcode::kDataTypes] = {};
  JoinedPlacesKernel joined_places = nullptr;
  ListRunsKernel list_runs = nullptr;
  ScatterRunsKernel scatter_runs[vcode::kDataTypes] = {};
  FlagMasksKernel flag_masks = nullptr;
  MasksBeforeKernel masks_before = nullptr;
  CountInSegmentsKernel count_in_segments = nullptr;
  CompressKernel compress[vcode::kDataTypes] = {};
  CompressKernel compress_bytes = nullptr;  // of any value, unlike BOOLs
  WidenKernel widen = nullptr;
  NarrowKernel narrow = nullptr;
  MatchBytesKernel match_bytes = nullptr;
  MatchMasksKernel match_masks = nullptr;
  RankKernels rank[vcode::kDataTypes] = {};
};

/// Filled at the first call. The tables lie in memory that is zero from the start, so that their
/// gaps, which are most of them, take no pages.
const Kernels& kernels_for(Isa isa, Widths widths);

// Each kernel file defines one of these per instruction set; add_kernels() calls them all.
#define CVL_DECLARE_KERNELS(isa)                              \
  namespace isa {                                             \
  void add_combine_kernels(Kernels&, Widths widths);          \
  void add_elementwise_kernels(Kernels&, Widths widths);      \
  void add_expand_kernels(Kernels&, Widths widths);           \
  void add_gather_scatter_kernels(Kernels&, Widths widths);   \
  void add_interleave_kernels(Kernels&, Widths widths);       \
  void add_narrow_kernels(Kernels&, Widths widths);           \
  void add_pack_kernels(Kernels&, Widths widths);             \
  void add_rank_kernels(Kernels&, Widths widths);             \
  void add_random_kernels(Kernels&, Widths widths);           \
  void add_reduce_kernels(Kernels&, Widths widths);           \
  void add_row_reduce_kernels(Kernels&, Widths widths);       \
  void add_run_kernels(Kernels&, Widths widths);              \
  void add_scalar_operand_kernels(Kernels&, Widths widths);   \
  void add_scan_kernels(Kernels&, Widths widths);             \
  void add_segmented_reduce_kernels(Kernels&, Widths widths); \
  void add_transpose_kernels(Kernels&, Widths widths);        \
  inline void add_kernels(Kernels& kernels, Widths widths) {  \
    add_combine_kernels(kernels, widths);                     \
    add_elementwise_kernels(kernels, widths);                 \
    add_expand_kernels(kernels, widths);                      \
    add_gather_scatter_kernels(kernels, widths);              \
    add_interleave_kernels(kernels, widths);                  \
    add_narrow_kernels(kernels, widths);                      \
    add_pack_kernels(kernels, widths);                        \
    add_rank_kernels(kernels, widths);                        \
    add_random_kernels(kernels, widths);                      \
    add_reduce_kernels(kernels, widths);                      \
    add_row_reduce_kernels(kernels, widths);                  \
    add_run_kernels(kernels, widths);                         \
    add_scalar_operand_kernels(kernels, widths);              \
    add_scan_kernels(kernels, widths);                        \
    add_segmented_reduce_kernels(kernels, widths);            \
    add_transpose_kernels(kernels, widths);                   \
  }                                                           \
  }
CVL_DECLARE_KERNELS(baseline)
CVL_DECLARE_KERNELS(v3)
CVL_DECLARE_KERNELS(v4)
#undef CVL_DECLARE_KERNELS

}  // namespace cvl::cpu
