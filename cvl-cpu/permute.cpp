// PERMUTE, DPERMUTE, FPERMUTE, DFPERMUTE (send), BPERMUTE, BFPERMUTE (fetch).
//
// Fetches are divided by result elements. Sends are divided by ranges of the result too: each part
// looks at all elements of the segments that touch its range and writes, in source order, those
// that fall into it. So the last of several writers of one place wins for any number of threads,
// and no two threads write the same memory.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>
#include <utility>

#include "cvl-cpu/append.hpp"
#include "cvl-cpu/gather_scatter.hpp"
#include "cvl-cpu/operations.hpp"

namespace cvl::cpu {
namespace {

using vcode::Op;

/// Moves between one short segment and another, without blocks and buffers: most vectors of most
/// programs have a few elements.
class FewMoves {
 public:
  /// Reads the indices. False when they, the flags or the elements are not few plain ones, or when
  /// an index is out of range: then the general way is to be taken.
  bool prepare(const CpuBackend& cpu, const Vector& source, const Vector& index,
               const Vector* flags, const Segdes& own, const Segdes& target) {
    if (own.count != 1 || index.length > tuning.few_moves || !source.is_plain() ||
        !index.is_plain()) {
      return false;
    }
    if (flags != nullptr && !flags->is_plain()) return false;
    count_ = index.length;
    const auto limit = static_cast<std::uint64_t>(target.total);
    const std::uint8_t* flag = flags != nullptr ? elements<std::uint8_t>(*flags) : nullptr;
    for (std::int64_t i = 0; i < count_; ++i) {
      at_[i] = kSkip;
      if (flag != nullptr && flag[i] == 0) continue;
      at_[i] = int_at(cpu, index, i);
      if (static_cast<std::uint64_t>(at_[i]) >= limit) return false;
    }
    return true;
  }

  void fetch(std::size_t width, std::byte* out, const std::byte* source) const {
    by_width(width, [&](auto size) {
      for (std::int64_t i = 0; i < count_; ++i) {
        if (at_[i] == kSkip) {
          std::memset(out + i * size, 0, size);
        } else {
          std::memcpy(out + i * size, source + at_[i] * size, size);
        }
      }
    });
  }
  void send(std::size_t width, std::byte* out, const std::byte* source) const {
    by_width(width, [&](auto size) {
      for (std::int64_t i = 0; i < count_; ++i) {
        if (at_[i] != kSkip) std::memcpy(out + at_[i] * size, source + i * size, size);
      }
    });
  }

 private:
  static constexpr std::int64_t kSkip = -1;

  /// Calls move with the width as a constant.
  template <class Move>
  static void by_width(std::size_t width, const Move& move) {
    if (width == 4) {
      move(std::integral_constant<std::int64_t, 4>());
    } else if (width == 8) {
      move(std::integral_constant<std::int64_t, 8>());
    } else {
      move(std::integral_constant<std::int64_t, 1>());
    }
  }

  std::int64_t count_ = 0;
  std::int64_t at_[LargestTuning::few_moves];
};

/// Is `index` first, first+1, ... with all numbers in [0, limit)?
bool is_range(const CpuBackend& cpu, const Vector& index, std::int64_t limit) {
  if (index.form != Form::Progression || index.progression_step() != 1) return false;
  const std::int64_t first = int_at(cpu, index, 0);
  return first >= 0 && first <= limit - index.length;
}

/// Are all elements of a vector sent to one segment, which begins with them and is otherwise equal
/// elements?
bool is_append(const CpuBackend& cpu, const Value* operands) {
  const Vector& source = operands[0].vector();
  const Vector& index = operands[1].vector();
  const Vector& defaults = operands[2].vector();
  return source.form == Form::Dense && defaults.form == Form::Constant &&
         operands[3].segdes().count == 1 && is_range(cpu, index, defaults.length) &&
         int_at(cpu, index, 0) == 0;
}

/// Result of a fetch from one segment through an index vector that is held in a compact form, when
/// that says what the result is.
bool fetch_compact(CpuBackend& cpu, const Vector& source, const Vector& index, Vector& result) {
  if (is_range(cpu, index, source.length)) {
    const std::int64_t first = int_at(cpu, index, 0);
    if (first == 0 && index.length == source.length) {
      result = source;
      return true;
    }
    if (source.form != Form::Dense) return false;
    const std::int64_t width = static_cast<std::int64_t>(cpu.element_bytes(source.type));
    result = cpu.new_vector(source.type, index.length);
    copy_parallel(cpu, mutable_elements<void>(result), source.buffer->data + first * width,
                  index.length * width);
    return true;
  }
  if (index.form == Form::Constant) {
    const std::int64_t at = int_at(cpu, index, 0);
    if (at < 0 || at >= source.length) return false;
    std::byte element[sizeof(double)];
    cpu.download(source, at, 1, element);
    result = constant_vector(cpu, source.type, index.length, element);
    return true;
  }
  return false;
}

Vector fetch(CpuBackend& cpu, Op op, const Vector& source, const Vector& index, const Vector* flags,
             const Segdes& source_segdes, const Segdes& result_segdes) {
  const std::int64_t length = index.length;
  FewMoves few;
  if (few.prepare(cpu, source, index, flags, result_segdes, source_segdes)) {
    Vector result = cpu.new_vector(source.type, length);
    few.fetch(cpu.element_bytes(source.type), mutable_elements<std::byte>(result),
              elements<std::byte>(source));
    return result;
  }
  if (length > 0 && flags == nullptr && result_segdes.count == 1) {
    Vector result;
    if (fetch_compact(cpu, source, index, result)) return result;
  }
  const Segments own(cpu, result_segdes);
  const Segments target(cpu, source_segdes);
  const Locator locator(cpu, index, flags, own, target);
  const Source from(cpu, source);
  const std::int64_t width = static_cast<std::int64_t>(cpu.element_bytes(source.type));
  Vector result = cpu.new_vector(source.type, length);
  auto* out = mutable_elements<std::byte>(result);
  const bool streamed = cpu.streams(length * width);
  std::atomic<bool> failed{false};
  auto tile = [&](std::int64_t number) {
    alignas(64) std::uint64_t positions[kSegmentBlock];
    alignas(64) std::uint64_t fetched[kSegmentBlock];
    std::uint8_t flags_buffer[kSegmentBlock];
    const std::int64_t begin = number * tuning.move_tile;
    own.for_blocks(begin, std::min(begin + tuning.move_tile, length),
                   [&](const SegmentBlock& block) {
                     const std::int64_t n = block.end - block.begin;
                     const std::uint8_t* block_flags = locator.flags(block, flags_buffer);
                     if (!locator.locate(block, block_flags, positions, 0)) {
                       failed.store(true, std::memory_order_relaxed);
                       return;
                     }
                     if (streamed) {
                       from.fetch(fetched, positions, block_flags, n);
                       cpu.kernels().stream(out + block.begin * width, fetched, n * width);
                     } else {
                       from.fetch(out + block.begin * width, positions, block_flags, n);
                     }
                   });
  };
  // A random access costs about as much as reading ten elements in order, unless a core's own cache
  // has what is read.
  const std::int64_t cost = source.length * width > tuning.prefetched_bytes ? 10 : 2;
  cpu.scheduler().for_tiles(tile_count(length, tuning.move_tile), cost * length * width, tile);
  if (failed.load(std::memory_order_relaxed)) locator.fail(op);
  return result;
}

/// Sends into `result`, which holds the default elements unless `blank`.
void send(CpuBackend& cpu, Op op, Vector& result, bool blank, const Vector& source,
          const Vector& index, const Vector* flags, const Segdes& source_segdes,
          const Segdes& result_segdes) {
  FewMoves few;
  if (few.prepare(cpu, source, index, flags, source_segdes, result_segdes)) {
    const std::size_t width = cpu.element_bytes(source.type);
    auto* out = mutable_elements<std::byte>(result);
    if (blank) std::memset(out, 0, static_cast<std::size_t>(result.length) * width);
    few.send(width, out, elements<std::byte>(source));
    return;
  }
  if (!blank && flags == nullptr && source_segdes.count == 1 &&
      is_range(cpu, index, result.length)) {
    copy_elements(cpu, result, int_at(cpu, index, 0), source, source.length);
    return;
  }
  const Segments own(cpu, source_segdes);
  const Segments target(cpu, result_segdes);
  const Locator locator(cpu, index, flags, own, target);
  const Window from(cpu, source);
  const std::int64_t width = from.width();
  auto* out = mutable_elements<std::byte>(result);
  const bool prefetch = result.length * width > tuning.prefetched_bytes;
  const auto scatter = cpu.kernels().scatter[type_index(result.type)];
  // Every part goes through all indices: that pays only where each element costs a miss.
  const bool cached = !cpu.streams(result.length * width);
  const std::int64_t bytes = 10 * (source.length + result.length) * width;
  const int parts = cached || result.length == 0 ? 1
                                                 : std::min(cpu.scheduler().parts(bytes),
                                                            static_cast<int>(tuning.send_parts));
  std::atomic<bool> failed{false};
  auto run_part = [&](std::int64_t number) {
    alignas(64) std::uint64_t positions[kSegmentBlock];
    alignas(64) std::uint64_t source_buffer[kSegmentBlock];
    std::uint8_t flags_buffer[kSegmentBlock];
    const SendPart part = send_part(target, static_cast<int>(number), parts);
    if (blank) {
      std::memset(out + part.begin * width, 0,
                  static_cast<std::size_t>((part.end - part.begin) * width));
    }
    own.for_blocks(own.start(part.first_segment), own.start(part.last_segment),
                   [&](const SegmentBlock& block) {
                     const std::int64_t n = block.end - block.begin;
                     const std::uint8_t* block_flags = locator.flags(block, flags_buffer);
                     if (!locator.locate(block, block_flags, positions, kNowhere)) {
                       failed.store(true, std::memory_order_relaxed);
                     }
                     scatter(out, from.at(block.begin, n, source_buffer), positions, n,
                             static_cast<std::uint64_t>(part.begin),
                             parts == 1 ? kNowhere : static_cast<std::uint64_t>(part.end),
                             prefetch);
                   });
  };
  cpu.scheduler().for_parts(parts, run_part);
  if (failed.load(std::memory_order_relaxed)) locator.fail(op);
}

}  // namespace

void run_permute(CpuBackend& cpu, Op op, Type type, Value* operands, Value* results) {
  const Vector& source = operands[0].vector();
  const Vector& index = operands[1].vector();
  const auto flags = [&] { return &operands[2].vector(); };
  const auto segdes = [&](int k) -> const Segdes& { return operands[k].segdes(); };
  switch (op) {
    case Op::BPermute:
      results[0] = fetch(cpu, op, source, index, nullptr, segdes(2), segdes(3));
      return;
    case Op::BFPermute:
      results[0] = fetch(cpu, op, source, index, flags(), segdes(3), segdes(4));
      return;
    case Op::Permute: {
      if (segdes(2).count == 1 && is_range(cpu, index, index.length)) {
        results[0] = std::move(operands[0]);
        return;
      }
      Vector result = cpu.new_vector(type, source.length);
      send(cpu, op, result, true, source, index, nullptr, segdes(2), segdes(2));
      results[0] = std::move(result);
      return;
    }
    case Op::FPermute: {
      Vector result = cpu.new_vector(type, segdes(4).total);
      send(cpu, op, result, true, source, index, flags(), segdes(3), segdes(4));
      results[0] = std::move(result);
      return;
    }
    case Op::DPermute: {
      if (is_append(cpu, operands)) {
        const Vector& defaults = operands[2].vector();
        results[0] = appended(cpu, operands[0].vector(), defaults.length, defaults.payload);
        return;
      }
      Vector result = writable(cpu, operands[2].vector());
      send(cpu, op, result, false, source, index, nullptr, segdes(3), segdes(4));
      results[0] = std::move(result);
      return;
    }
    default: {
      Vector result = writable(cpu, operands[3].vector());
      send(cpu, op, result, false, source, index, flags(), segdes(4), segdes(5));
      results[0] = std::move(result);
    }
  }
}

}  // namespace cvl::cpu
