// +_COMBINE, MAX_COMBINE and the like: each place of the result reduces what is sent to it.
//
// Where there are several elements for each place, the source is cut into shares, each of which has
// a table of the whole result to itself; the tables are combined in order. A table that lies in the
// L1 cache four times is there for every fourth element of a share, so that equal indices do not
// wait for each other. Where places are many, the result is cut into ranges, as for PERMUTE, and
// each place meets its elements in source order. Which way is taken, and the number of shares,
// depend on lengths only: the order in which FLOATs are combined does not show the number of
// threads.

#include <algorithm>
#include <atomic>
#include <vector>

#include "cvl-cpu/gather_scatter.hpp"
#include "cvl-cpu/operations.hpp"

namespace cvl::cpu {
namespace {

class Combination {
 public:
  Combination(CpuBackend& cpu, vcode::Op op, Type type, const Value* operands)
      : cpu_(cpu),
        op_(op),
        kernels_(cpu.kernels().combine[static_cast<std::size_t>(op)][type_index(type)]),
        values_(operands[0].vector()),
        own_(cpu, operands[2].segdes()),
        target_(cpu, operands[3].segdes()),
        index_(operands[1].vector()),
        locator_(cpu, index_, nullptr, own_, target_),
        width_(static_cast<std::int64_t>(cpu.element_bytes(type))),
        result_(cpu.new_vector(type, target_.total())),
        out_(mutable_elements<std::byte>(result_)),
        prefetch_(bytes_of(target_.total()) > tuning.prefetched_bytes) {}

  Vector run() {
    const std::int64_t most = own_.total() / tuning.combine_per_place;
    const bool in_lanes = target_.total() <= most / kCombineLanes &&
                          bytes_of(target_.total()) <= tuning.combine_lane_bytes / kCombineLanes;
    lanes_ = in_lanes ? kCombineLanes : 1;
    const std::int64_t shares =
        std::min({tuning.combine_shares, own_.total() / tuning.combine_share,
                  most / std::max<std::int64_t>(target_.total() * lanes_, 1)});
    if (shares > 1 || (shares == 1 && in_lanes)) {
      run_shares(shares);
    } else {
      run_ranges();
    }
    if (failed_.load(std::memory_order_relaxed)) locator_.fail(op_);
    return std::move(result_);
  }

 private:
  std::int64_t bytes_of(std::int64_t elements) const { return elements * width_; }

  /// Some elements and where they belong.
  struct Located {
    const CombineLoops& loops;  // for such positions
    const std::byte* values;
    bool equal;  // one value for all
    const void* positions;
    std::int64_t n;
  };

  /// Calls combine(Located) for blocks of elements [begin, end).
  template <class Combine>
  void for_located(std::int64_t begin, std::int64_t end, const Combine& combine) {
    alignas(64) std::uint64_t positions[kSegmentBlock];
    alignas(64) std::uint64_t buffer[kSegmentBlock];
    const Window values(cpu_, values_);
    const bool equal = values_.form == Form::Constant;
    const auto values_at = [&](std::int64_t i, std::int64_t n) {
      return equal ? reinterpret_cast<const std::byte*>(values_.payload) : values.at(i, n, buffer);
    };
    if (target_.count() == 1) {  // indices are positions
      const Window indices(cpu_, index_);
      for (std::int64_t i = begin; i < end; i += tuning.segment_block) {
        const std::int64_t n = std::min(tuning.segment_block, end - i);
        const std::byte* from = indices.at(i, n, positions);
        if (!cpu_.kernels().indices_below(from, n, target_.total())) {
          failed_.store(true, std::memory_order_relaxed);
          return;
        }
        combine(Located{kernels_.by_index, values_at(i, n), equal, from, n});
      }
      return;
    }
    own_.for_blocks(begin, end, [&](const SegmentBlock& block) {
      const std::int64_t n = block.end - block.begin;
      if (!locator_.locate(block, nullptr, positions, kNowhere)) {
        failed_.store(true, std::memory_order_relaxed);
        return;
      }
      combine(Located{kernels_.by_position, values_at(block.begin, n), equal, positions, n});
    });
  }

  /// Tables: lane 0 of share 0, which is the result, then lane 1, and so on.
  void run_shares(std::int64_t shares) {
    const std::int64_t places = target_.total();
    const std::int64_t stride = (places + 63) / 64 * 64;  // so that no two share a cache line
    const std::int64_t tables = shares * lanes_;
    const Ref<Buffer> memory =
        cpu_.heap().allocate(static_cast<std::size_t>(tables * bytes_of(stride)));
    auto body = [&](std::int64_t share) {
      std::byte* table = memory->data + share * lanes_ * bytes_of(stride);
      kernels_.clear(table, lanes_ * stride);
      const auto cut = [&](std::int64_t k) {
        return own_.total() / shares * k + std::min(k, own_.total() % shares);
      };
      for_located(cut(share), cut(share + 1), [&](const Located& some) {
        const auto& [loops, values, equal, positions, n] = some;
        if (lanes_ > 1) {
          loops.combine_in_lanes(table, stride, values, equal, positions, n);
        } else {
          loops.combine(table, values, equal, positions, n, prefetch_);
        }
      });
    };
    // An element costs a few times what reading it does.
    cpu_.scheduler().for_tiles(shares, 4 * bytes_of(own_.total()), body);
    auto join = [&](std::int64_t tile) {
      const std::int64_t begin = tile * tuning.move_tile;
      const std::int64_t n = std::min(tuning.move_tile, places - begin);
      std::byte* first = memory->data + bytes_of(begin);
      for (std::int64_t k = 1; k < tables; ++k) {
        kernels_.join(first, first + k * bytes_of(stride), n);
      }
      kernels_.finish(out_ + bytes_of(begin), first, n);
    };
    cpu_.scheduler().for_tiles(tile_count(places, tuning.move_tile), tables * bytes_of(places),
                               join);
  }

  void run_ranges() {
    const std::vector<SendPart> parts = cut_into_parts();
    auto body = [&](std::int64_t number) {
      const SendPart& part = parts[static_cast<std::size_t>(number)];
      kernels_.clear(out_ + bytes_of(part.begin), part.end - part.begin);
      for_located(own_.start(part.first_segment), own_.start(part.last_segment),
                  [&](const Located& some) {
                    const auto& [loops, values, equal, positions, n] = some;
                    if (parts.size() == 1) {
                      loops.combine(out_, values, equal, positions, n, prefetch_);
                    } else {
                      loops.combine_in_range(out_, values, equal, positions, n,
                                             static_cast<std::uint64_t>(part.begin),
                                             static_cast<std::uint64_t>(part.end));
                    }
                  });
      std::byte* range = out_ + bytes_of(part.begin);
      kernels_.finish(range, range, part.end - part.begin);
    };
    cpu_.scheduler().for_parts(static_cast<int>(parts.size()), body);
  }

  /// One part for each thread, if they have different segments to look at: to look at elements
  /// twice pays only where each of them costs a miss.
  std::vector<SendPart> cut_into_parts() {
    const std::int64_t bytes = 4 * bytes_of(own_.total() + target_.total());
    const int count = target_.total() == 0 ? 1
                                           : std::min(cpu_.scheduler().parts(bytes),
                                                      static_cast<int>(tuning.send_parts));
    std::vector<SendPart> parts;
    std::int64_t looked_at = 0;
    for (int k = 0; k < count; ++k) {
      const SendPart& part = parts.emplace_back(send_part(target_, k, count));
      looked_at += own_.start(part.last_segment) - own_.start(part.first_segment);
    }
    const bool repeated = looked_at > own_.total() + own_.total() / 4;
    if (repeated && !cpu_.streams(bytes_of(target_.total()))) return {send_part(target_, 0, 1)};
    return parts;
  }

  CpuBackend& cpu_;
  vcode::Op op_;
  const CombineKernels& kernels_;
  const Vector& values_;
  Segments own_, target_;
  const Vector& index_;
  Locator locator_;
  std::int64_t width_;
  Vector result_;
  std::byte* out_;
  bool prefetch_;
  std::int64_t lanes_ = 1;
  std::atomic<bool> failed_{false};
};

}  // namespace

void run_combine(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results) {
  results[0] = Combination(cpu, op, type, operands).run();
}

}  // namespace cvl::cpu
