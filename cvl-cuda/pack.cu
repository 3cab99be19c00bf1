// PACK: the flagged elements, in order, and where the new segments begin.
//
// One pass: flags and elements are read once, tiles find their places by a chained prefix, kept
// elements are gathered in shared memory so that they are written side by side. The flags of a tile
// are bits with a count for each word, so that how many elements are kept before any other one is a
// matter of a word: its place, and for the ends of segments (segment_tile.hpp), where the new
// segments begin.
#include "cvl-cuda/kernels.hpp"
#include "cvl-cuda/kernels/block_scan.hpp"
#include "cvl-cuda/kernels/segment_tile.hpp"
#include "cvl-cuda/kernels/tile_elements.hpp"
#include "cvl-cuda/launch.hpp"
#include "cvl-cuda/types.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

struct KeptFold {
  using State = std::int64_t;
  static KERNEL_FN State neutral() { return 0; }
  static KERNEL_FN State combine(State a, State b) { return a + b; }
};

template <class T, bool kFlat>
struct PackKernel {
  static constexpr int kThreads = shape::kThreads;
  static constexpr int kItems = shape::kItems;
  static constexpr int kTile = kThreads * kItems;
  struct Nothing {};
  struct Shared {
    T kept[kTile];
    CountedBits<kTile> flagged;
    std::conditional_t<kFlat, Nothing, TileRange> range;
    ScanShared<int> scan;
    ChainShared<std::int64_t> chain;
    int total;
  };
  struct Items {
    T of[kItems];
  };

  Source<T> values;
  Source<std::uint8_t> flags;
  Segments segments;
  std::int64_t items;
  Array<T> out;
  Array<std::int64_t> offsets;
  std::int64_t* kept;
  Chain<std::int64_t> chain;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared& shared) const {
    const std::int64_t number = chain.take_tile(block, shared.chain);
    const std::int64_t begin = number * kTile;
    const int count = items - begin < kTile ? static_cast<int>(items - begin) : kTile;
    block.each([&](int thread) {
      shared.flagged.bits.clear(thread);
      if constexpr (!kFlat) shared.range.find(segments, begin, count, thread);
    });
    std::int64_t first = begin;
    int elements = count;
    if constexpr (!kFlat) {
      first = shared.range.first_element(begin);
      elements = count - shared.range.ends();
    }
    typename Block::template PerThread<Items> own;
    block.each([&](int thread) {
      std::uint8_t own_flags[kItems];
      load_striped<kItems>(thread, flags, first, elements, own_flags);
      load_striped<kItems>(thread, values, first, elements, own[thread].of);
      for (int k = 0; k < kItems; ++k) {
        const bool flagged = thread + k * kThreads < elements && own_flags[k] != 0;
        shared.flagged.bits.set_striped(thread, k, flagged);
      }
    });
    typename Block::template PerThread<int> scratch;
    shared.flagged.count(block, scratch, shared.scan, shared.total);
    chain.template prefix<KeptFold>(block, number, shared.total, shared.chain);

    const std::int64_t target = shared.chain.prefix;
    block.each([&](int thread) {
      for (int k = 0; k < kItems; ++k) {
        const BitPlace place = BitPlace::striped(thread, k);
        if (shared.flagged[place]) shared.kept[shared.flagged.before(place)] = own[thread].of[k];
      }
      if constexpr (!kFlat) {
        if (thread == 0 && begin == 0) offsets[0] = 0;
        const std::int64_t ending = shared.range.first_segment();
        for_segments(segments, ending, shared.range.ends(), thread,
                     [&](int k, std::int64_t, std::int64_t end) {
                       // There are fewer elements than places, as the end itself is an item.
                       const BitPlace place = BitPlace::of(static_cast<int>(end - first));
                       offsets[ending + k + 1] = target + shared.flagged.before(place);
                     });
      }
    });
    block.each([&](int thread) {
      for (int k = thread; k < shared.total; k += kThreads) out[target + k] = shared.kept[k];
      if (thread == 0 && begin + count == items) *kept = target + shared.total;
    });
  }
};

template <class T, bool kFlat>
void launch_typed_pack(Device& device, const PackCall& call, const Workspace& workspace) {
  using Kernel = PackKernel<T, kFlat>;
  const std::int64_t items = call.segments.total + (kFlat ? 0 : call.segments.count);
  const std::int64_t tiles = blocks_for(items, Kernel::kTile);
  const std::int64_t starts = call.offsets == nullptr ? 0 : call.segments.count + 1;
  launch(device, tiles,
         Kernel{Source<T>(call.values), Source<std::uint8_t>(call.flags), call.segments, items,
                Array<T>(static_cast<T*>(call.out), call.room),
                Array<std::int64_t>(call.offsets, starts), call.kept,
                Chain<std::int64_t>(workspace, tiles)});
}

}  // namespace

void launch_pack(Device& device, const PackCall& call, const Workspace& workspace) {
  with_bits(call.element_bytes, [&](auto bits) {
    using T = typename decltype(bits)::type;
    if (call.segments.count == 1) {
      launch_typed_pack<T, true>(device, call, workspace);
    } else {
      launch_typed_pack<T, false>(device, call, workspace);
    }
  });
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
