// PACK: the flagged elements, in order, and where the new segments begin.
//
// One pass: flags and elements are read once, tiles find their places by a chained prefix, kept
// elements are gathered in shared memory so that they are written side by side. Tiles are cut by
// the merge path of segments (segment_tile.hpp), so that the starts of the new segments, the
// numbers of kept elements before the ends of the old ones, fall out of the same walk.
#include "cvl-cuda/kernels.hpp"
#include "cvl-cuda/kernels/fold.hpp"
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
  static constexpr int kItems = shape::kItems<T>;
  static constexpr int kTile = kThreads * kItems;
  struct NoMarks {};
  struct Shared {
    T kept[kTile];
    std::uint8_t flags[kTile];
    std::uint16_t place[kTile];  // of the flagged elements, in `kept`
    std::conditional_t<kFlat, NoMarks, TileMarks<kTile>> marks;
    ScanShared<int> scan;
    ChainShared<std::int64_t> chain;
    int total;
  };
  static_assert(kTile <= 65535);

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
    typename Block::template PerThread<int> ends_before;
    std::int64_t first = begin;
    int elements = count;
    if constexpr (!kFlat) {
      mark_segments<kItems>(block, segments, begin, count, shared.marks, ends_before);
      first = begin - shared.marks.first;
      elements = count - shared.marks.ends;
    }
    block.each([&](int thread) {
      load_striped<kItems>(thread, flags, first, elements,
                           [&](int k, std::uint8_t flag) { shared.flags[k] = flag; });
    });

    typename Block::template PerThread<int> before;
    block.each([&](int thread) {
      int flagged = 0;
      walk(
          thread, count, shared, ends_before,
          [&](int element) { flagged += shared.flags[element]; }, [](std::int64_t) {});
      before[thread] = flagged;
    });
    exclusive_scan<CountFold>(block, before, shared.scan, shared.total);
    chain.template prefix<KeptFold>(block, number, shared.total, shared.chain);

    const std::int64_t target = shared.chain.prefix;
    block.each([&](int thread) {
      int flagged = before[thread];
      walk(
          thread, count, shared, ends_before,
          [&](int element) {
            shared.place[element] = static_cast<std::uint16_t>(flagged);
            flagged += shared.flags[element];
          },
          [&](std::int64_t segment) { offsets[segment + 1] = target + flagged; });
      if (thread == 0 && begin == 0 && offsets) offsets[0] = 0;
    });
    block.each([&](int thread) {
      load_striped<kItems>(thread, values, first, elements, [&](int k, T element) {
        if (shared.flags[k] != 0) shared.kept[shared.place[k]] = element;
      });
    });
    block.each([&](int thread) {
      for (int k = thread; k < shared.total; k += kThreads) out[target + k] = shared.kept[k];
      if (thread == 0 && begin + count == items) *kept = target + shared.total;
    });
  }

 private:
  template <class PerThreadInt, class OnElement, class OnEnd>
  KERNEL_FN static void walk(int thread, int count, const Shared& shared, PerThreadInt& ends_before,
                             const OnElement& on_element, const OnEnd& on_end) {
    walk_items<kItems, kFlat>(thread, count, shared.marks, ends_before, on_element, on_end);
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
