// RANK_UP and RANK_DOWN: small ones in one launch; of the others what surrounds the sort, keys
// before it and ranks after it.
#include <cstring>

#include "cvl-cuda/kernels.hpp"
#include "cvl-cuda/kernels/block_rank.hpp"
#include "cvl-cuda/kernels/expand_launch.hpp"
#include "cvl-cuda/types.hpp"
#include "cvl/scalar_ops.hpp"
#include "cvl/sort_key.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

/// An unsigned number that orders as the element does.
struct Sortable {
  template <class T>
  static KERNEL_FN auto of(T element) {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    Bits bits;
    memcpy(&bits, &element, sizeof bits);
    return sort_key<Bits, !std::is_integral_v<T>>(bits);
  }
};

template <class T, class Key, class Position>
struct KeyBody : SimpleSteps {
  Source<T> operand;
  bool descending;
  bool with_segment;
  int element_bits;
  std::uint64_t least;
  Array<Key> keys;
  Array<Position> positions;

  KERNEL_FN T find(std::int64_t i, std::int64_t) const { return operand[i]; }
  KERNEL_FN void store(std::int64_t i, std::int64_t segment, T element, Nothing) const {
    auto bits = Sortable::of(element);
    if (descending) bits = ~bits;  // equal keys keep their order either way
    Key key = static_cast<Key>(bits - static_cast<decltype(bits)>(least));
    if (with_segment) key |= static_cast<Key>(segment) << element_bits;
    keys[i] = key;
    positions[i] = static_cast<Position>(i);
  }
};

struct SegmentIdBody : SimpleSteps {
  Array<std::uint32_t> ids;

  KERNEL_FN Nothing find(std::int64_t, std::int64_t) const { return {}; }
  KERNEL_FN void store(std::int64_t i, std::int64_t segment, Nothing, Nothing) const {
    ids[i] = static_cast<std::uint32_t>(segment);
  }
};

template <class Position>
struct SegmentKeyBody {
  Array<const Position> positions;
  Array<const std::uint32_t> ids;
  Array<std::uint32_t> keys;

  KERNEL_FN Position find(std::int64_t k, std::int64_t) const { return positions[k]; }
  KERNEL_FN std::uint32_t load(std::int64_t, std::int64_t, Position position) const {
    return ids[static_cast<std::int64_t>(position)];
  }
  KERNEL_FN void store(std::int64_t k, std::int64_t, Position, std::uint32_t id) const {
    keys[k] = id;
  }
};

template <class I, class Position>
struct PlaceBody : SimpleSteps {
  Segments segments;
  Array<const Position> positions;
  Array<I> ranks;

  struct Found {
    Position position;
    std::int64_t first;  // the place of the segment
  };
  KERNEL_FN Found find(std::int64_t k, std::int64_t segment) const {
    return {positions[k], segments.start(segment)};
  }
  KERNEL_FN void store(std::int64_t k, std::int64_t, const Found& found, Nothing) const {
    ranks[static_cast<std::int64_t>(found.position)] = static_cast<I>(k - found.first);
  }
};

template <class F>
void with_position(std::size_t bytes, const F& f) {
  if (bytes == 8) {
    f(std::type_identity<std::uint64_t>());
  } else {
    f(std::type_identity<std::uint32_t>());
  }
}

template <class T, class Key, class Position>
void launch_typed_keys(Device& device, const RankKeysCall& call) {
  const std::int64_t length = call.segments.total;
  launch_expand(
      device, call.segments,
      KeyBody<T, Key, Position>{{},
                                Source<T>(call.operand),
                                call.descending,
                                call.with_segment,
                                call.element_bits,
                                call.least,
                                Array<Key>(static_cast<Key*>(call.keys), length),
                                Array<Position>(static_cast<Position*>(call.positions), length)});
}

template <class T>
void launch_keys_of(Device& device, const RankKeysCall& call) {
  with_position(call.position_bytes, [&](auto position) {
    using Position = typename decltype(position)::type;
    if constexpr (sizeof(T) == 4 || std::is_integral_v<T>) {
      if (call.key_bytes == 4) {
        return launch_typed_keys<T, std::uint32_t, Position>(device, call);
      }
    }
    launch_typed_keys<T, std::uint64_t, Position>(device, call);
  });
}

/// Calls f with the type of the elements of a call.
template <class Call, class F>
void with_element_type(const Call& call, const F& f) {
  if (call.type == Type::Int) {
    with_int(call.widths, f);
  } else {
    with_float(call.widths, f);
  }
}

}  // namespace

void launch_block_rank(Device& device, const BlockRankCall& call) {
  with_element_type(call, [&](auto type) {
    using T = typename decltype(type)::type;
    with_int(call.widths, [&](auto int_type) {
      using I = typename decltype(int_type)::type;
      if constexpr (std::is_same_v<T, I> || ops::is_float<T>) {
        launch(device, 1,
               BlockRankKernel<T, I, Sortable>{
                   Source<T>(call.operand), call.segments, call.descending,
                   Array<I>(static_cast<I*>(call.ranks), call.segments.total)});
      }
    });
  });
}

void launch_rank_keys(Device& device, const RankKeysCall& call) {
  with_element_type(
      call, [&](auto type) { launch_keys_of<typename decltype(type)::type>(device, call); });
}

void launch_segment_keys(Device& device, const Segments& segments, std::size_t position_bytes,
                         const void* positions, std::uint32_t* ids, std::uint32_t* keys) {
  const std::int64_t length = segments.total;
  launch_expand(device, segments, SegmentIdBody{{}, Array<std::uint32_t>(ids, length)});
  with_position(position_bytes, [&](auto position) {
    using Position = typename decltype(position)::type;
    launch_places(device, length,
                  SegmentKeyBody<Position>{
                      Array<const Position>(static_cast<const Position*>(positions), length),
                      Array<const std::uint32_t>(ids, length), Array<std::uint32_t>(keys, length)});
  });
}

void launch_rank_places(Device& device, const Widths& widths, const Segments& segments,
                        std::size_t position_bytes, const void* positions, void* ranks) {
  const std::int64_t length = segments.total;
  with_int(widths, [&](auto type) {
    using I = typename decltype(type)::type;
    with_position(position_bytes, [&](auto position) {
      using Position = typename decltype(position)::type;
      launch_expand(device, segments,
                    PlaceBody<I, Position>{
                        {},
                        segments,
                        Array<const Position>(static_cast<const Position*>(positions), length),
                        Array<I>(static_cast<I*>(ranks), length)});
    });
  });
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
