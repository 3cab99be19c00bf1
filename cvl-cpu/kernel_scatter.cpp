// Scatters of a pass. Of several writers of one place the one with the highest position wins: a
// thread writes one range of the targets, and all positions in order that fall into it.

#include <cstring>
#include <vector>

#include "cvl-cpu/gather_scatter.hpp"
#include "cvl-cpu/kernel_sink.hpp"
#include "cvl-cpu/movement.hpp"
#include "cvl/kernel_fault.hpp"

namespace cvl::cpu {
namespace {

class Scatter : public KernelSink {
 public:
  using KernelSink::KernelSink;

  void open_empty() override {
    clear();
    check_segments();
  }

  Need open(std::size_t&) override {
    clear();
    check_segments();
    segmented_ = sink_.under != kNone;
    if (segmented_) {
      own_ = &pass_.segments(sink_.under);
      into_ = &pass_.segments(sink_.into);
    }
    target_length_ = state_.size(sink_.into_length);
    return Need::Blocks;
  }

  void block(BlockEvaluator& values, const KernelTile& tile, std::byte*, std::int64_t begin,
             std::int64_t n) override {
    alignas(64) std::uint64_t positions[kSegmentBlock];
    alignas(64) std::int64_t index_memory[kSegmentBlock + 8];
    alignas(64) std::uint8_t flag_memory[kSegmentBlock + 64];
    std::memcpy(index_memory, values.filled(sink_.index, n),
                static_cast<std::size_t>(n * width_of(Type::Int)));
    const auto* indices = reinterpret_cast<const std::byte*>(index_memory);
    const std::uint8_t* flags = nullptr;
    if (sink_.flag != kNone) {
      std::memcpy(flag_memory, values.filled(sink_.flag, n), static_cast<std::size_t>(n));
      flags = flag_memory;
    }
    locate(positions, indices, flags, begin, n);
    const auto cut = [&](int part) {
      return part == tile.parts ? kNowhere
                                : static_cast<std::uint64_t>(target_length_ / tile.parts * part);
    };
    for (std::size_t k = 0; k < sink_.arrays.size(); ++k) {
      Vector& target = state_.arrays[sink_.arrays[k]];
      const bool prefetch = target.length * width_of(target.type) > kPrefetchBytes;
      cpu_.kernels().scatter[type_index(target.type)](
          mutable_elements<std::byte>(target), values.filled(sink_.values[k], n), positions, n,
          cut(tile.part), cut(tile.part + 1), prefetch);
    }
  }

  /// Only where each element costs a miss: in a cache that they share, two threads that write next
  /// to each other take three times as long as one.
  bool pays_in_parts() const override {
    std::int64_t bytes = 0;
    for (const ArrayId array : sink_.arrays) {
      bytes += target_length_ * width_of(state_.arrays[array].type);
    }
    return static_cast<std::size_t>(bytes) >= cpu_.stream_bytes();
  }

 private:
  void clear() {
    if (!sink_.zeroed) return;
    for (std::size_t k = 0; k < sink_.arrays.size(); ++k) {
      Vector& target = state_.arrays[sink_.arrays[k]];
      target = cpu_.new_vector(type_of(sink_.values[k]), state_.size(sink_.into_length));
      std::memset(mutable_elements<std::byte>(target), 0,
                  static_cast<std::size_t>(target.length * width_of(target.type)));
    }
  }

  void check_segments() {
    if (sink_.under == kNone) return;
    const std::int64_t own = state_.segdes[sink_.under].count;
    const std::int64_t into = state_.segdes[sink_.into].count;
    if (own != into) throw segment_mismatch(kernel(), sink_.under, own, sink_.into, into);
  }

  void locate(std::uint64_t* positions, const std::byte* indices, const std::uint8_t* flags,
              std::int64_t begin, std::int64_t n) {
    if (!segmented_) {
      if (cpu_.kernels().locate_in_one(positions, indices, flags, 0, target_length_, n, kNowhere)) {
        note(indices, flags, begin, 0, n, target_length_);
      }
      return;
    }
    own_->for_blocks(begin, begin + n, [&](const SegmentBlock& block) {
      locate_segments(block, positions, indices, flags, begin);
    });
  }

  void locate_segments(const SegmentBlock& block, std::uint64_t* positions,
                       const std::byte* indices, const std::uint8_t* flags, std::int64_t begin) {
    constexpr std::int64_t kSlack = 8;
    alignas(64) std::int64_t start_of[kSegmentBlock + kSlack];
    alignas(64) std::int64_t length_of[kSegmentBlock + kSlack];
    StartsBuffer<kSegmentBlock> buffer;
    const std::int64_t* targets = into_->starts(block.first, block.count, buffer);
    cpu_.kernels().expand_segments(start_of, length_of, block.starts, targets, block.count,
                                   block.begin, block.end);
    const std::int64_t from = block.begin - begin;
    const std::int64_t n = block.end - block.begin;
    const std::uint8_t* own_flags = flags == nullptr ? nullptr : flags + from;
    if (!cpu_.kernels().locate(positions + from, indices + from * width_of(Type::Int), own_flags,
                               start_of, length_of, n, kNowhere)) {
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      if (note(indices, flags, begin, from + i, from + i + 1, length_of[i])) return;
    }
  }

  /// Notes the first of the wrong indices [from, to) of a block.
  bool note(const std::byte* indices, const std::uint8_t* flags, std::int64_t begin,
            std::int64_t from, std::int64_t to, std::int64_t limit) {
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t index = pass_.int_at(indices, i);
      if ((flags != nullptr && flags[i] == 0) || (index >= 0 && index < limit)) continue;
      KernelFault fault;
      fault.kind = KernelFault::Kind::Index;
      fault.binding = sink_.binding;
      fault.position = begin + i;
      fault.id = sink_.arrays.empty() ? 0 : sink_.arrays[0];
      fault.value = index;
      fault.limit = limit;
      fault.count = length();
      state_.faults.note(fault);
      return true;
    }
    return false;
  }

  bool segmented_ = false;
  const Segments* own_ = nullptr;
  const Segments* into_ = nullptr;
  std::int64_t target_length_ = 0;
};

}  // namespace

std::unique_ptr<KernelSink> make_scatter(BoundPass& pass, const PlanSink& sink,
                                         BoundProgram& program) {
  return std::make_unique<Scatter>(pass, sink, program);
}

}  // namespace cvl::cpu
