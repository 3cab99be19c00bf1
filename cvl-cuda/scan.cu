// Scans, and the offsets of descriptors, which are a scan too.
#include "cvl-cuda/kernels.hpp"
#include "cvl-cuda/kernels/fold_launch.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

template <class Op, class T, bool kFlat>
void launch_typed_scan(Device& device, const FoldCall& call, const Workspace& workspace) {
  using Kernel = ScanKernel<Op, T, kFlat>;
  const auto tile = fold_tile<Op, T, kFlat>(call);
  const std::int64_t tiles = blocks_for(tile.items, Kernel::Tile::kTile);
  launch(
      device, tiles,
      Kernel{tile, Array<T>(static_cast<T*>(call.out), call.segments.total), {workspace, tiles}});
}

template <class Op, vcode::Argument kArgument>
void launch_scan_of(Device& device, const FoldCall& call, const Workspace& workspace) {
  with_fold_type<kArgument>(call, [&](auto type) {
    using T = typename decltype(type)::type;
    if (call.segments.count == 1) {
      launch_typed_scan<Op, T, true>(device, call, workspace);
    } else {
      launch_typed_scan<Op, T, false>(device, call, workspace);
    }
  });
}

// ---- offsets ----

/// Sums of lengths that remember an overflow: all lengths are 0 or more, so -1 is free for it.
struct OffsetFold {
  using State = std::int64_t;
  static KERNEL_FN State neutral() { return 0; }
  static KERNEL_FN State combine(State a, State b) {
    if (a < 0 || b < 0) return -1;
    const auto sum = static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b);
    return sum >> 63 != 0 ? -1 : static_cast<State>(sum);
  }
};

template <class I>
struct OffsetsKernel {
  using State = std::int64_t;
  static constexpr int kThreads = shape::kThreads;
  static constexpr int kItems = shape::kItems;
  static constexpr int kTile = kThreads * kItems;
  struct Shared {
    TileElements<State, kTile> elements;
    ScanShared<State> scan;
    ChainShared<State> chain;
    State total;
  };

  Source<I> lengths;
  std::int64_t count;
  Array<State> offsets;
  State* total;
  Chain<State> chain;
  FailureSink failures;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared& shared) const {
    const std::int64_t number = chain.take_tile(block, shared.chain);
    const std::int64_t begin = number * kTile;
    const int items = count - begin < kTile ? static_cast<int>(count - begin) : kTile;
    block.each([&](int thread) {
      I own[kItems];
      load_striped<kItems>(thread, lengths, begin, items, own);
      for (int k = 0; k < kItems; ++k) {
        const int place = thread + k * kThreads;
        if (place >= items) continue;
        if (own[k] < 0) failures.report(begin + place, own[k]);
        shared.elements[place] = own[k] < 0 ? 0 : own[k];
      }
    });
    typename Block::template PerThread<State> state;
    block.each([&](int thread) {
      State sum = 0;
      for (int k = thread * kItems; k < (thread + 1) * kItems && k < items; ++k) {
        sum = OffsetFold::combine(sum, shared.elements[k]);
      }
      state[thread] = sum;
    });
    exclusive_scan<OffsetFold>(block, state, shared.scan, shared.total);
    chain.template prefix<OffsetFold>(block, number, shared.total, shared.chain);
    block.each([&](int thread) {
      State running = OffsetFold::combine(shared.chain.prefix, state[thread]);
      for (int k = thread * kItems; k < (thread + 1) * kItems && k < items; ++k) {
        const State length = shared.elements[k];
        shared.elements[k] = running;
        running = OffsetFold::combine(running, length);
      }
    });
    block.each([&](int thread) {
      for (int k = thread; k < items; k += kThreads) offsets[begin + k] = shared.elements[k];
      if (thread == 0 && begin + items == count) {
        const State sum = OffsetFold::combine(shared.chain.prefix, shared.total);
        offsets[count] = sum;
        *total = sum;
      }
    });
  }
};

template <class I>
struct LengthsKernel {
  static constexpr int kThreads = shape::kThreads;
  struct Shared {};

  Array<const std::int64_t> offsets;
  Array<I> lengths;
  std::int64_t count;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared&) const {
    block.each([&](int thread) {
      const std::int64_t segment = block.index() * kThreads + thread;
      if (segment < count) {
        lengths[segment] = static_cast<I>(offsets[segment + 1] - offsets[segment]);
      }
    });
  }
};

}  // namespace

std::int64_t fold_tiles(std::int64_t elements, std::int64_t segments) {
  // Segmented folds have the smallest tiles; one bound serves all.
  constexpr std::int64_t kFree = shape::kPack<std::uint8_t>;
  return blocks_for(elements + segments, shape::kItems * shape::kThreads - kFree);
}

std::int64_t scan_words(std::int64_t tiles) {
  return OrderedChain<std::int64_t>::slots(tiles) * kPlainStateWords;
}

void launch_scan(Device& device, const FoldCall& call, const Workspace& workspace) {
  switch (call.op) {
#define SCAN(id, text, types, combiner, doc) \
  case Op::id:                               \
    return launch_scan_of<ops::combiner, vcode::Argument::types>(device, call, workspace);
#include "vcode/opcodes.def"
    default:
      return;
  }
}

void launch_offsets(Device& device, const OffsetsCall& call, const Workspace& workspace) {
  with_int(call.widths, [&](auto type) {
    using I = typename decltype(type)::type;
    using Kernel = OffsetsKernel<I>;
    const std::int64_t tiles = blocks_for(call.count, Kernel::kTile);
    launch(device, tiles,
           Kernel{Source<I>(call.lengths), call.count,
                  Array<std::int64_t>(call.offsets, call.count + 1), call.total,
                  Chain<std::int64_t>(workspace, tiles), call.failures});
  });
}

void launch_lengths(Device& device, const Widths& widths, const std::int64_t* offsets,
                    std::int64_t count, void* lengths) {
  with_int(widths, [&](auto type) {
    using I = typename decltype(type)::type;
    launch(device, blocks_for(count, LengthsKernel<I>::kThreads),
           LengthsKernel<I>{Array<const std::int64_t>(offsets, count + 1),
                            Array<I>(static_cast<I*>(lengths), count), count});
  });
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
