// Every number of this library that was chosen and not derived, with its reason. The reasons are
// arithmetic on published figures of sm_75 ... sm_120; none was measured yet (see docs/cuda.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace cvl::cuda::tuning {

/// Threads of a block. Eight blocks of 256 fill an SM of every supported architecture but sm_75 and
/// sm_86 ... sm_89 (which take four and six), and a block prefix takes eight steps.
inline constexpr int kThreads = 256;

/// Maps: elements that a thread loads at once. Four elements are one 16-byte load of INT and two of
/// FLOAT; of BOOL they are one word instead of four single bytes.
inline constexpr int kPack = 4;
/// Packs per thread and operand in flight. With eight blocks per SM, 2 x 16 bytes x 2048 threads
/// are 64 KiB: more than the 32-48 KiB that Hopper's memory needs outstanding per SM.
inline constexpr int kPacksPerThread = 2;

/// Tiles of scans, segmented work and packs: bytes of shared memory for the elements of one tile.
/// 16 KiB together with the tables of a segmented tile leave room for six or more blocks per SM.
inline constexpr int kTileBytes = 16 << 10;
/// Elements per thread of such a tile: 16 of up to four bytes, 8 of eight bytes.
template <class T>
inline constexpr int kItems = kTileBytes / kThreads / (sizeof(T) < 4 ? 4 : sizeof(T));

/// Predecessors that a tile of a chained scan looks at together: one warp reads their states in one
/// memory latency.
inline constexpr int kLookBackWindow = 32;

/// Flat reductions: tiles that a block adds up; at most kReduceBlocks partial results, so that the
/// last block folds them with four loads per thread. The split depends on the length alone.
inline constexpr std::int64_t kReduceTile = 4096;
inline constexpr std::int64_t kReduceBlocks = 1024;

/// Segmented reductions: at most this many partial results, which one block
/// folds at the end. 16384 states of 16 bytes are 256 KiB: under 10 microseconds for one SM.
inline constexpr std::int64_t kCarryBlocks = 16384;

/// Operands of up to so many words, and the starts of up to so many segments, travel in the
/// parameters of a kernel. A kernel has up to four operands and two descriptors, whose parameters
/// must stay within the 4 KiB of all devices; and reads at places that differ from thread to thread
/// are slow there, so that larger operands are better copied.
inline constexpr int kParameterWords = 8;

/// Parameters of a generated pass: what CUDA 12.1 and newer allow on every supported device.
inline constexpr std::size_t kParameterBytes = 32764;

/// Ranks over up to this many elements and segments together are made by one block in one launch:
/// 2048 keys and their tables are 29 KiB of shared memory.
inline constexpr int kBlockRank = 2048;

/// Vectors up to this many elements stay on the host and are computed there: a host operation on
/// 1024 elements takes about as long as one kernel launch (2-3 microseconds).
inline constexpr std::int64_t kHostElements = 1024;

/// A packed vector is copied to a smaller block when its own would be this many times too large.
inline constexpr std::size_t kPackSlack = 2;

/// Bytes of one half of the pinned staging area. Copies reach the speed of the bus from about 1 MiB
/// on; two halves let the host fill one while the other is on its way.
inline constexpr std::size_t kStagingBytes = std::size_t{4} << 20;

}  // namespace cvl::cuda::tuning
