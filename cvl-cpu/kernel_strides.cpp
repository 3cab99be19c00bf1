#include "cvl-cpu/kernel_strides.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;
using vcode::Op;

/// Places that a segment must have on the average for each range of the targets. With fewer,
/// finding the first one of a range takes longer than computing indices. Estimated.
constexpr std::int64_t kPlacesOfRange = 16;
/// Segments whose places are listed at most: a megabyte and a half.
constexpr std::int64_t kMostListed = 1 << 16;

class StrideReader {
 public:
  explicit StrideReader(const PlanPass& pass) : pass_(pass) {}

  std::optional<StridedIndex> read(NodeId index) {
    const PlanNode& sum = pass_.nodes[index];
    if (!sum.applies(Op::Add)) return std::nullopt;
    for (const int k : {0, 1}) {
      result_ = {};
      if (read_product(sum.args[k]) && is_same_in_segment(sum.args[1 - k])) {
        result_.start = sum.args[1 - k];
        return result_;
      }
    }
    return std::nullopt;
  }

 private:
  bool read_product(NodeId number) {
    const PlanNode& product = pass_.nodes[number];
    if (!product.applies(Op::Multiply)) return false;
    for (const int k : {0, 1}) {
      const PlanNode& offset = pass_.nodes[product.args[k]];
      if (offset.kind != Kind::SegmentOffset && offset.kind != Kind::Position) continue;
      result_.segdes = offset.kind == Kind::Position ? kNone : offset.id;
      result_.stride = product.args[1 - k];
      return is_same_in_segment(result_.stride);
    }
    return false;
  }

  bool is_same_in_segment(NodeId number) const {
    const PlanNode& node = pass_.nodes[number];
    if (node.uniform) return true;
    return result_.segdes != kNone && is_walked(pass_, number) &&
           node.kind != Kind::SegmentOffset && walked_segdes(pass_, number) == result_.segdes;
  }

  const PlanPass& pass_;
  StridedIndex result_;
};

/// One number for each segment of a block.
class SegmentNumbers {
 public:
  SegmentNumbers(BoundPass& pass, NodeId node) : pass_(pass), node_(node) {
    if (!pass.is_uniform(node)) walked_ = pass.walked_node(node, kNone);
  }
  /// Looks at segments [first, first + count). REQUIRES: count <= kSegmentBlock
  void move_to(std::int64_t first, std::int64_t count) {
    values_ = pass_.is_uniform(node_)
                  ? pass_.node(node_).cell
                  : segment_values(pass_.state().cpu, walked_, first, count, buffer_);
  }
  std::int64_t operator[](std::int64_t k) const {
    return pass_.int_at(values_, pass_.is_uniform(node_) ? 0 : k);
  }

 private:
  BoundPass& pass_;
  NodeId node_;
  WalkedNode walked_;
  const std::byte* values_ = nullptr;
  alignas(64) std::int64_t buffer_[kSegmentBlock + 8];
};

/// The numbers of a segment: from first to last, the next one being `stride` away.
struct Stretch {
  std::int64_t first, last, stride, count;

  std::int64_t least() const { return std::min(first, last); }
  std::int64_t greatest() const { return std::max(first, last); }
};

/// Calls visit(Stretch) for all segments that have elements, as long as it returns true. False if
/// it did not, if the index cannot be had by segments, or if numbers do not fit 64 bits.
template <class Visit>
bool for_stretches(BoundPass& pass, const StridedIndex& index, const Visit& visit) {
  const bool single = index.segdes == kNone || pass.state().segdes[index.segdes].count == 1;
  for (const NodeId node : {index.start, index.stride}) {
    if (!pass.is_uniform(node) && (single || !is_walked(pass.plan(), node))) return false;
  }
  SegmentNumbers starts(pass, index.start), strides(pass, index.stride);
  const auto give = [&](std::int64_t k, std::int64_t count) {
    if (count == 0) return true;
    Stretch stretch{starts[k], 0, strides[k], count};
    return !__builtin_mul_overflow(stretch.stride, count - 1, &stretch.last) &&
           !__builtin_add_overflow(stretch.first, stretch.last, &stretch.last) && visit(stretch);
  };
  if (single) {
    starts.move_to(0, 1);
    strides.move_to(0, 1);
    return give(0, pass.length());
  }
  const Segments& segments = pass.segments(index.segdes);
  StartsBuffer<kSegmentBlock> buffer;
  for (std::int64_t first = 0; first < segments.count(); first += tuning.segment_block) {
    const std::int64_t count = std::min(tuning.segment_block, segments.count() - first);
    starts.move_to(first, count);
    strides.move_to(first, count);
    const std::int64_t* bounds = segments.starts(first, count, buffer);
    for (std::int64_t k = 0; k < count; ++k) {
      if (!give(k, bounds[k + 1] - bounds[k])) return false;
    }
  }
  return true;
}

/// Are segments so long on the average that looking at them pays, `times` times?
bool are_long(BoundPass& pass, const StridedIndex& index, std::int64_t times) {
  if (index.segdes == kNone) return true;
  const Segdes& segdes = pass.state().segdes[index.segdes];
  return segdes.count == 1 || segdes.total / kPlacesOfRange / times >= segdes.count;
}

/// Writes to the places in [begin, end).
template <class E>
void fill_range(E* out, E element, const StridedPlaces& places, std::int64_t begin,
                std::int64_t end) {
  const auto first_from = [&](std::int64_t position) {
    if (position <= places.start) return std::int64_t{0};
    return std::min((position - places.start - 1) / places.stride + 1, places.count);
  };
  const std::int64_t from = places.start + first_from(begin) * places.stride;
  const std::int64_t to = places.start + first_from(end) * places.stride;
  for (std::int64_t at = from; at < to; at += places.stride) out[at] = element;
}

template <class E>
void fill_all(CpuBackend& cpu, Vector& target, const std::byte* element,
              const std::vector<StridedPlaces>& places) {
  E value;
  std::memcpy(&value, element, sizeof value);
  E* const out = mutable_elements<E>(target);
  const std::int64_t range = tuning.copy_tile_bytes / static_cast<std::int64_t>(sizeof value);
  std::int64_t count = 0;
  for (const StridedPlaces& some : places) count += some.count;
  auto tile = [&](std::int64_t number) {
    for (const StridedPlaces& some : places) {
      fill_range(out, value, some, number * range, (number + 1) * range);
    }
  };
  cpu.scheduler().for_tiles(tile_count(target.length, range),
                            count * static_cast<std::int64_t>(sizeof value), tile);
}

}  // namespace

std::optional<StridedIndex> find_strided_index(const PlanPass& pass, NodeId index) {
  return StrideReader(pass).read(index);
}

std::optional<Extremes> find_extremes(BoundPass& pass, const StridedIndex& index) {
  if (!are_long(pass, index, 1)) return std::nullopt;
  using Limits = std::numeric_limits<std::int64_t>;
  Extremes found{Limits::max(), Limits::min()};
  const bool all = for_stretches(pass, index, [&](const Stretch& stretch) {
    found.least = std::min(found.least, stretch.least());
    found.greatest = std::max(found.greatest, stretch.greatest());
    return true;
  });
  const bool wide = pass.state().cpu.element_bytes(Type::Int) == 8;
  const auto fits = [&](std::int64_t number) {
    return wide || number == static_cast<std::int32_t>(number);
  };
  if (!all || !fits(found.least) || !fits(found.greatest)) return std::nullopt;
  return found;
}

std::optional<std::vector<StridedPlaces>> find_strided_places(BoundPass& pass,
                                                              const StridedIndex& index,
                                                              std::int64_t limit,
                                                              std::int64_t element_bytes) {
  const std::int64_t range = tuning.copy_tile_bytes / element_bytes;
  const bool few = index.segdes == kNone || pass.state().segdes[index.segdes].count <= kMostListed;
  if (!few || !are_long(pass, index, tile_count(limit, range))) return std::nullopt;
  std::vector<StridedPlaces> result;
  const bool all = for_stretches(pass, index, [&](const Stretch& stretch) {
    if (stretch.least() < 0 || stretch.greatest() >= limit) return false;
    if (stretch.stride == 0) {
      result.push_back({stretch.first, 1, 1});
    } else {
      result.push_back({stretch.least(), std::abs(stretch.stride), stretch.count});
    }
    return true;
  });
  if (!all) return std::nullopt;
  return result;
}

void fill_places(CpuBackend& cpu, Vector& target, const std::byte* element,
                 const std::vector<StridedPlaces>& places) {
  switch (cpu.element_bytes(target.type)) {
    case 1:
      return fill_all<std::uint8_t>(cpu, target, element, places);
    case 4:
      return fill_all<std::uint32_t>(cpu, target, element, places);
    default:
      return fill_all<std::uint64_t>(cpu, target, element, places);
  }
}

}  // namespace cvl::cpu
