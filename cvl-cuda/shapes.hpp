// Shapes of kernels: the numbers that were chosen and not derived, as far as the compiler must know
// them. Those that the host uses when it runs are in tuning.def. The reasons are arithmetic on
// published figures of sm_75 ... sm_120; only the runs of fused passes have been varied on a device
// (bench/results/gpu-h200.md).
//
// On the emulated device everything is small (CVL_CUDA_SMALL_SHAPES), so that some hundred elements
// fill many tiles, groups of tiles, and windows of chains.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cvl-cuda/target.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET::shape {

#if defined(CVL_CUDA_SMALL_SHAPES)
inline constexpr bool kSmall = true;
#else
inline constexpr bool kSmall = false;
#endif

/// Threads of a block. Eight blocks of 256 fill an SM of every supported architecture but sm_75 and
/// sm_86 ... sm_89 (which take four and six), and a block prefix takes eight steps. REQUIRES: a
/// power of two, and more than kLookBackWindow.
inline constexpr int kThreads = kSmall ? 16 : 256;

/// Blocks of so many threads that an SM must be able to hold: a thread has up to 64 registers.
/// Without being told so ptxas makes room for eight blocks, with 32 registers each, and keeps in
/// memory what does not fit: in maps of FLOAT half of what was loaded.
inline constexpr int kBlocks = 4;

/// Elements that a thread loads or stores at once, of which the widest one has so many bytes: 16
/// bytes, of BOOL one word instead of four single bytes. With more, lanes would leave gaps between
/// what they move at the same time.
constexpr int pack_of(std::size_t bytes) {
  return bytes > 4 ? 2 : 4;
}
template <class T>
inline constexpr int kPack = pack_of(sizeof(T));
/// Maps: elements per thread and operand in flight. With four blocks per SM, 8 elements of 4 bytes
/// in 1024 threads are 32 KiB: as much as Hopper's memory needs outstanding per SM.
inline constexpr int kMapElements = 8;

/// Elements of a thread in a tile of scans, segmented work and packs. What a tile costs whatever it
/// holds, prefixes over its threads and over the tiles before, is some 300 instructions of each
/// thread. Tiles of 4096 elements take 16 KiB of shared memory, or 34 if they have eight bytes:
/// five blocks for each SM of compute capability 9.0, and one on 7.5, whose loads of 128 bytes a
/// thread are as much as its memory needs.
inline constexpr int kItems = kSmall ? 4 : 16;

/// Predecessors that a tile of a chained scan looks at together: one warp reads their states in one
/// memory latency.
inline constexpr int kLookBackWindow = kSmall ? 4 : 32;

/// Targets that a thread of the second pass of a permutation fetches: as many independent loads as
/// cover the latency of reading a winner and then its element, at 2048 threads per SM.
inline constexpr int kTargetsPerThread = kSmall ? 2 : 8;

/// Operands of up to so many words, and the starts of up to so many segments, have room in the
/// parameters of a kernel. A kernel has up to four operands and two descriptors, whose parameters
/// must stay within the 4 KiB of all devices; and reads at places that differ from thread to thread
/// are slow there, so that larger operands are better copied.
inline constexpr int kParameterWords = 8;

/// Elements and segments together that one block can rank: 2048 keys and their tables are 29 KiB of
/// shared memory.
inline constexpr int kBlockRank = 2048;

/// Threads and positions of each, of a pass of a fused kernel whose text asks for so many.
constexpr int pass_threads(int asked) {
  return kSmall ? kThreads : asked;
}
/// Blocks of a pass of so many threads that an SM must be able to hold. Those with fewer threads
/// fold more, and have up to 128 registers a thread.
constexpr int pass_blocks(int threads) {
  return threads == kThreads ? kBlocks : kBlocks * kThreads / (2 * threads);
}
constexpr int pass_run(int asked) {
  return kSmall && asked > 2 ? 2 : asked;
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET::shape

namespace cvl::cuda::codegen {

// Shapes that the text of generated passes asks for, and what it may not ask for.

/// More things to fold than this in one pass would not fit the shared memory of a block.
inline constexpr int kMostStates = 20;
/// Threads of a block that folds so many: their states, of up to 16 bytes each, take a share of
/// the registers of a thread, and two copies of them must fit the shared memory of an emulated
/// block.
constexpr int threads_for(int states) {
  return states <= 5 ? 256 : states <= 10 ? 128 : 64;
}

/// Positions that a thread visits one after the other, in passes without running values ...
inline constexpr int kUsualRun = 8;
/// ... and in those with them, at most: a tile waits some ten times, one after the other, for a
/// prefix over the block and one over the tiles before, which 4096 positions share. A scan of FLOAT
/// takes 1.2 times as long with half of them (bench/results/gpu-h200.md).
inline constexpr int kLongestRun = 16;
/// Bytes that a thread loads or keeps of them: 32 registers, half of what 1024 threads per SM have
/// each.
inline constexpr int kMostKeptBytes = 128;
/// Descriptors, at most, whose windows fit a block with such runs: two bytes for each position.
/// With half of that seven do.
inline constexpr int kMostLongWindows = 2;

/// Bytes of a position for selected elements, which gather in shared memory to be written side by
/// side, and those of a block for them and for windows: 48 KiB is what it may have.
inline constexpr int kMostGatheredBytes = 8;
inline constexpr int kMostSharedBytes = 44 << 10;

/// For more classes of a selection than this there is no room for results of unknown length: with
/// two they take twice the memory of the operands at worst. More are counted first, in a launch of
/// its own.
inline constexpr std::int64_t kMostUncounted = 2;

}  // namespace cvl::cuda::codegen
