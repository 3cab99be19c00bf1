// Operations that move elements: permutations, EXTRACT, REPLACE, DIST, INDEX. They are instantiated
// for sizes of elements, not for types.
#include "cvl-cuda/kernels.hpp"
#include "cvl-cuda/kernels/expand_launch.hpp"
#include "cvl-cuda/kernels/map.hpp"
#include "cvl-cuda/kernels/sequence.hpp"
#include "cvl-cuda/types.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

constexpr std::uint64_t kPositionMask = (std::uint64_t{1} << kPositionBits) - 1;

/// Is there an element `index` in a segment of that length? Reports it if not.
template <class I>
KERNEL_FN bool in_segment(I index, std::int64_t length, std::int64_t position, std::int64_t segment,
                          const FailureSink& failures) {
  if (index >= 0 && static_cast<std::int64_t>(index) < length) return true;
  failures.report(position, index, segment, length);
  return false;
}

template <class I>
struct FlaggedIndex {
  I index;
  std::uint8_t flag;
};

template <class T, class I>
struct FetchBody {
  Source<T> values;
  Source<I> index;
  Source<std::uint8_t> flags;
  Segments from;
  Array<T> out;
  FailureSink failures;

  KERNEL_FN FlaggedIndex<I> find(std::int64_t i, std::int64_t) const {
    return {index[i], flags[i]};
  }
  KERNEL_FN T load(std::int64_t i, std::int64_t segment, const FlaggedIndex<I>& found) const {
    if (found.flag == 0 || !in_segment(found.index, from.length(segment), i, segment, failures)) {
      return 0;
    }
    return values[from.start(segment) + found.index];
  }
  KERNEL_FN void store(std::int64_t i, std::int64_t, const FlaggedIndex<I>&, T element) const {
    out[i] = element;
  }
};

template <class T, class I>
struct ScatterBody : SimpleSteps {
  Source<T> values;
  Source<I> index;
  Segments to;
  Array<T> out;

  struct Found {
    T value;
    I index;
  };
  KERNEL_FN Found find(std::int64_t i, std::int64_t) const { return {values[i], index[i]}; }
  KERNEL_FN void store(std::int64_t, std::int64_t segment, const Found& found, Nothing) const {
    out[to.start(segment) + found.index] = found.value;
  }
};

template <class I>
struct ClaimBody : SimpleSteps {
  Source<I> index;
  Source<std::uint8_t> flags;
  Segments to;
  Array<std::uint64_t> winners;
  std::uint64_t tag;
  FailureSink failures;

  KERNEL_FN FlaggedIndex<I> find(std::int64_t i, std::int64_t) const {
    return {index[i], flags[i]};
  }
  KERNEL_FN void store(std::int64_t i, std::int64_t segment, const FlaggedIndex<I>& found,
                       Nothing) const {
    if (found.flag == 0) return;
    if (!in_segment(found.index, to.length(segment), i, segment, failures)) return;
    atomic_max(&winners[to.start(segment) + found.index],
               tag << kPositionBits | static_cast<std::uint64_t>(i));
  }
};

template <class T>
struct ResolveBody {
  Source<T> values;
  Source<T> fallback;
  bool others;
  Array<const std::uint64_t> winners;
  std::uint64_t tag;
  Array<T> out;

  KERNEL_FN std::uint64_t find(std::int64_t place, std::int64_t) const { return winners[place]; }
  KERNEL_FN T load(std::int64_t place, std::int64_t, std::uint64_t winner) const {
    if (is_won(winner)) return values[static_cast<std::int64_t>(winner & kPositionMask)];
    return others ? fallback[place] : T{0};
  }
  KERNEL_FN void store(std::int64_t place, std::int64_t, std::uint64_t winner, T element) const {
    if (others || is_won(winner)) out[place] = element;
  }

 private:
  KERNEL_FN bool is_won(std::uint64_t winner) const { return winner >> kPositionBits == tag; }
};

template <class T, class I>
struct ExtractBody {
  Source<T> values;
  Source<I> index;
  Segments from;
  Array<T> out;
  FailureSink failures;

  KERNEL_FN I find(std::int64_t segment, std::int64_t) const { return index[segment]; }
  KERNEL_FN T load(std::int64_t segment, std::int64_t, I at) const {
    const bool valid = in_segment(at, from.length(segment), segment, segment, failures);
    return valid ? values[from.start(segment) + at] : T{0};
  }
  KERNEL_FN void store(std::int64_t segment, std::int64_t, I, T element) const {
    out[segment] = element;
  }
};

template <class T, class I>
struct ReplaceBody : SimpleSteps {
  Source<T> values;
  Source<I> index;
  Segments to;
  Array<T> out;
  FailureSink failures;

  struct Found {
    T value;
    I index;
  };
  KERNEL_FN Found find(std::int64_t segment, std::int64_t) const {
    return {values[segment], index[segment]};
  }
  KERNEL_FN void store(std::int64_t segment, std::int64_t, const Found& found, Nothing) const {
    if (in_segment(found.index, to.length(segment), segment, segment, failures)) {
      out[to.start(segment) + found.index] = found.value;
    }
  }
};

template <class T>
struct DistributeBody : SimpleSteps {
  Source<T> values;
  Array<T> out;

  KERNEL_FN T find(std::int64_t, std::int64_t segment) const { return values[segment]; }
  KERNEL_FN void store(std::int64_t i, std::int64_t, T element, Nothing) const { out[i] = element; }
};

template <class I>
struct IndexBody : SimpleSteps {
  Source<I> starts, steps;
  Segments segments;
  Array<I> out;

  struct Found {
    std::int64_t first;  // the position of the segment
    I start, step;
  };
  KERNEL_FN Found find(std::int64_t, std::int64_t segment) const {
    return {segments.start(segment), starts[segment], steps[segment]};
  }
  KERNEL_FN void store(std::int64_t i, std::int64_t, const Found& found, Nothing) const {
    out[i] = static_cast<I>(static_cast<std::uint64_t>(found.start) +
                            static_cast<std::uint64_t>(i - found.first) *
                                static_cast<std::uint64_t>(found.step));
  }
};

template <class F>
void with_bits_and_int(const MoveCall& call, const F& f) {
  with_bits(call.element_bytes,
            [&](auto bits) { with_int(call.widths, [&](auto index) { f(bits, index); }); });
}

template <class T>
Array<T> result(const MoveCall& call, std::int64_t length) {
  return {static_cast<T*>(call.out), length};
}

}  // namespace

void launch_fetch(Device& device, const MoveCall& call) {
  with_bits_and_int(call, [&](auto bits, auto index) {
    using T = typename decltype(bits)::type;
    using I = typename decltype(index)::type;
    launch_expand(device, call.to,
                  FetchBody<T, I>{Source<T>(call.values), Source<I>(call.index),
                                  Source<std::uint8_t>(call.flags), call.from,
                                  result<T>(call, call.to.total), call.failures});
  });
}

void launch_scatter(Device& device, const MoveCall& call) {
  with_bits_and_int(call, [&](auto bits, auto index) {
    using T = typename decltype(bits)::type;
    using I = typename decltype(index)::type;
    launch_expand(device, call.from,
                  ScatterBody<T, I>{{},
                                    Source<T>(call.values),
                                    Source<I>(call.index),
                                    call.to,
                                    result<T>(call, call.to.total)});
  });
}

void launch_send(Device& device, const SendCall& call) {
  with_bits_and_int(call, [&](auto bits, auto index) {
    using T = typename decltype(bits)::type;
    using I = typename decltype(index)::type;
    using Resolve = PlaceKernel<ResolveBody<T>, shape::kTargetsPerThread>;
    const std::int64_t length = call.to.total;
    const Array<std::uint64_t> winners(call.winners, length);
    const Resolve resolve{
        {Source<T>(call.values), Source<T>(call.fallback), call.others,
         Array<const std::uint64_t>(call.winners, length), call.tag, result<T>(call, length)},
        length,
        {}};
    const std::int64_t resolve_tiles = blocks_for(length, Resolve::kTile);
    if (call.claimed) return launch(device, resolve_tiles, resolve);
    const ClaimBody<I> claim{
        {},       Source<I>(call.index), Source<std::uint8_t>(call.flags), call.to, winners,
        call.tag, call.failures};
    with_expand_kernel(call.from, claim, [&](const auto& kernel, std::int64_t claim_tiles) {
      using Claim = std::decay_t<decltype(kernel)>;
      launch(device, claim_tiles + resolve_tiles,
             SequenceKernel<Claim, Resolve>{kernel, resolve, claim_tiles, resolve_tiles,
                                            call.counters, call.counters + 1});
    });
  });
}

void launch_extract(Device& device, const MoveCall& call) {
  with_bits_and_int(call, [&](auto bits, auto index) {
    using T = typename decltype(bits)::type;
    using I = typename decltype(index)::type;
    launch_places(device, call.from.count,
                  ExtractBody<T, I>{Source<T>(call.values), Source<I>(call.index), call.from,
                                    result<T>(call, call.from.count), call.failures});
  });
}

void launch_replace(Device& device, const ReplaceCall& call) {
  with_bits_and_int(call, [&](auto bits, auto index) {
    using T = typename decltype(bits)::type;
    using I = typename decltype(index)::type;
    const Array<T> out = result<T>(call, call.to.total);
    const ReplaceBody<T, I> replace{{},  Source<T>(call.values), Source<I>(call.index), call.to,
                                    out, call.failures};
    if (call.in_place) return launch_places(device, call.to.count, replace);
    using Copy = MapKernel<CopyBody<T>>;
    using Replace = PlaceKernel<ReplaceBody<T, I>, 1>;
    const std::int64_t copy_tiles = blocks_for(call.to.total, Copy::kTile);
    const std::int64_t replace_tiles = blocks_for(call.to.count, Replace::kTile);
    launch(device, copy_tiles + replace_tiles,
           SequenceKernel<Copy, Replace>{{{Source<T>(call.old), out}, call.to.total},
                                         {replace, call.to.count, {}},
                                         copy_tiles,
                                         replace_tiles,
                                         call.counters,
                                         call.counters + 1});
  });
}

void launch_distribute(Device& device, const MoveCall& call) {
  with_bits(call.element_bytes, [&](auto bits) {
    using T = typename decltype(bits)::type;
    launch_expand(device, call.to,
                  DistributeBody<T>{{}, Source<T>(call.values), result<T>(call, call.to.total)});
  });
}

void launch_index(Device& device, const IndexCall& call) {
  with_int(call.widths, [&](auto index) {
    using I = typename decltype(index)::type;
    launch_expand(device, call.segments,
                  IndexBody<I>{{},
                               Source<I>(call.starts),
                               Source<I>(call.steps),
                               call.segments,
                               Array<I>(static_cast<I*>(call.out), call.segments.total)});
  });
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
