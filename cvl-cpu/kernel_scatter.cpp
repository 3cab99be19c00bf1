// Scatters of a pass. Of several writers of one place the one with the highest position wins: where
// there may be several, a thread writes one range of the targets, and all positions in order that
// fall into it.

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "cvl-cpu/append.hpp"
#include "cvl-cpu/gather_scatter.hpp"
#include "cvl-cpu/kernel_sink.hpp"
#include "cvl-cpu/kernel_storage.hpp"
#include "cvl-cpu/kernel_strides.hpp"
#include "cvl-cpu/movement.hpp"
#include "cvl/kernel_fault.hpp"

namespace cvl::cpu {
namespace {

class Scatter : public KernelSink {
 public:
  using KernelSink::KernelSink;

  void open_empty() override {
    covered_ = false;
    fills_gaps_ = false;
    clear();
    check_segments();
  }

  Need open(std::size_t&) override {
    fills_gaps_ = false;
    if (places_) {
      clear();
      target_length_ = state_.size(sink_.into_length);
      return Need::Nothing;
    }
    if (keeps_order()) {
      for (std::size_t k = 0; k < sink_.arrays.size(); ++k) put_in_order(k);
      return Need::Nothing;
    }
    fills_gaps_ = sink_.zeroed && in_order && !alone && pass_.scatters_runs(sink_);
    filled_ = 0;
    clear();
    widen_targets();
    check_segments();
    segmented_ = sink_.under != kNone;
    if (segmented_) {
      own_ = &pass_.segments(sink_.under);
      into_ = &pass_.segments(sink_.into);
    }
    target_length_ = state_.size(sink_.into_length);
    runs_ = pass_.scatter_runs(program_, sink_);
    return Need::Blocks;
  }

  void begin_tile(const KernelTile&, std::byte*) override { check_targets(); }

  void block(BlockEvaluator& values, const KernelTile& tile, std::byte*, std::int64_t begin,
             std::int64_t n) override {
    if (const RunTable* runs = values.runs(runs_)) {
      if (fills_gaps_) fill_gaps(*runs, n);
      put_runs(values, tile, *runs, n);
    } else {
      if (fills_gaps_) fill_to(target_length_);
      put_elements(values, tile, begin, n);
    }
  }

  void close() override {
    if (fills_gaps_) fill_to(target_length_);
    // All places have the same value, so that it does not matter who comes last.
    if (!places_) return;
    check_targets();
    for (std::size_t k = 0; k < sink_.arrays.size(); ++k) {
      fill_places(cpu_, state_.arrays[sink_.arrays[k]], pass_.node(sink_.values[k]).cell, *places_);
    }
    places_.reset();
  }

  bool is_free_of_races(bool several_threads) override {
    covered_ = false;
    places_ = find_places();
    if (places_ || keeps_order()) return true;
    if (!several_threads) return false;
    const bool by_runs = pass_.scatters_runs(sink_);
    // The elements of a segment have places of their own, and so has each segment.
    if (sink_.into != kNone) return by_runs;
    if (!by_runs) {
      return index_interleaves() || pass_.differs(sink_.index, [&] { return ascends(); });
    }
    if (!program_.by_runs) return false;
    const BoundRuns& runs = program_.runs[pass_.scatter_runs(program_, sink_)];
    if (!pass_.differs(sink_.index, [&] { return runs_are_distinct(cpu_, runs, length()); })) {
      return false;
    }
    covered_ = length() == state_.size(sink_.into_length);
    return true;
  }

  SegdesId stays_in() const override { return sink_.into == kNone ? kNone : sink_.under; }

  /// A place costs more than the bytes in it.
  std::int64_t cost() const override {
    if (keeps_order()) return 0;
    std::int64_t bytes = 0;
    for (const NodeId value : sink_.values) bytes += 8 + width_of(type_of(value));
    return bytes;
  }

  /// Only where each element costs a miss: in a cache that they share, two threads that write next
  /// to each other take three times as long as one. And where the parts have nothing else to do.
  bool pays_in_parts() const override {
    if (keeps_order()) return true;
    if (program_.by_runs && program_.run_steps.steps.empty()) return true;
    std::int64_t bytes = 0;
    for (const NodeId value : sink_.values) {
      bytes += state_.size(sink_.into_length) * width_of(type_of(value));
    }
    return cpu_.streams(bytes);
  }

  /// Without races, tiles are shared between threads.
  bool moves_memory() const override {
    const auto ends_in_memory = [&](NodeId node) { return pass_.ends_in_memory(node); };
    return !free_of_races && !pass_.scatters_runs(sink_) && sink_.under == kNone &&
           sink_.flag == kNone && ends_in_memory(sink_.index) &&
           std::all_of(sink_.values.begin(), sink_.values.end(), ends_in_memory);
  }

  void move_range(std::int64_t first, std::int64_t last) override {
    alignas(64) std::uint64_t positions[kSegmentBlock];
    check_targets();
    const std::byte* indices = pass_.final_values(sink_.index);
    const std::int64_t index_width = width_of(Type::Int);
    for (std::size_t k = 0; k < sink_.arrays.size(); ++k) {
      const std::byte* values = pass_.final_values(sink_.values[k]);
      const std::int64_t width = width_of(type_of(sink_.values[k]));
      if (sink_.zeroed) zero(state_.arrays[sink_.arrays[k]]);
      for (std::int64_t begin = first; begin < last; begin += tuning.segment_block) {
        const std::int64_t n = std::min(tuning.segment_block, last - begin);
        locate(positions, indices + begin * index_width, nullptr, begin, n);
        send(k, values + begin * width, positions, n, 0, kNowhere);
      }
    }
  }

 private:
  /// Where the same is written everywhere, places that need not be looked at one by one.
  std::optional<std::vector<StridedPlaces>> find_places() {
    const auto is_uniform = [&](NodeId value) { return pass_.is_uniform(value); };
    if (!strided_ || sink_.flag != kNone || sink_.under != kNone ||
        !std::all_of(sink_.values.begin(), sink_.values.end(), is_uniform)) {
      return std::nullopt;
    }
    const std::int64_t greatest = cpu_.element_bytes(Type::Int) == 4
                                      ? std::numeric_limits<std::int32_t>::max()
                                      : std::numeric_limits<std::int64_t>::max();
    std::int64_t widest = 1;
    for (const NodeId value : sink_.values) widest = std::max(widest, width_of(type_of(value)));
    return find_strided_places(pass_, *strided_, std::min(state_.size(sink_.into_length), greatest),
                               widest);
  }

  /// Is every element of vectors that are there sent to its own position, as under the rank of a
  /// vector that was in order, or when something is going to be appended?
  bool keeps_order() const {
    const std::vector<PlanNode>& nodes = pass_.plan().nodes;
    const auto vector_of = [&](NodeId node) -> const Vector* {
      if (nodes[node].kind != PlanNode::Kind::Load) return nullptr;
      const Vector& vector = state_.arrays[nodes[node].id];
      return vector.length == length() ? &vector : nullptr;
    };
    const auto is_position = [&](NodeId node) {
      if (nodes[node].kind == PlanNode::Kind::Position) return true;
      const Vector* index = vector_of(node);
      return index != nullptr && index->form == Form::Progression &&
             index->progression_start() == 0 && index->progression_step() == 1;
    };
    return sink_.under == kNone && sink_.flag == kNone && sink_.zeroed &&
           state_.size(sink_.into_length) >= length() && is_position(sink_.index) &&
           std::all_of(sink_.values.begin(), sink_.values.end(), vector_of);
  }

  /// The target begins with the vector that the values are, which may give it its storage: whoever
  /// else reads that reads the elements that both have in common, and nobody overwrites what two
  /// vectors share.
  void put_in_order(std::size_t component) {
    Vector& values = state_.arrays[pass_.plan().nodes[sink_.values[component]].id];
    const std::int64_t targets = state_.size(sink_.into_length);
    const std::int64_t zero = 0;
    state_.arrays[sink_.arrays[component]] =
        targets == length() ? values : appended(cpu_, values, targets, &zero);
  }

  /// Is the index a vector in which every element is greater than the one before?
  bool ascends() const {
    const PlanNode& index = pass_.plan().nodes[sink_.index];
    if (index.kind != PlanNode::Kind::Load) return false;
    const Vector& vector = state_.arrays[index.id];
    if (vector.form != Form::Dense) return false;
    const auto in_order = [&](const auto* numbers) {
      constexpr std::int64_t kLook = 1024;  // most that do not ascend show that soon
      for (std::int64_t i = 1; i < length(); i += kLook) {
        bool good = true;
        const std::int64_t end = std::min(i + kLook, length());
        for (std::int64_t k = i; k < end; ++k) good &= numbers[k - 1] < numbers[k];
        if (!good) return false;
      }
      return true;
    };
    return cpu_.element_bytes(Type::Int) == 4 ? in_order(elements<std::int32_t>(vector))
                                              : in_order(elements<std::int64_t>(vector));
  }

  /// Is the index q + r * n, where q and r are quotient and remainder of the own position divided
  /// by the same, and n is greater than all q?
  bool index_interleaves() const {
    const auto apply = [&](NodeId number, vcode::Op op) {
      const PlanNode& node = pass_.plan().nodes[number];
      return node.applies(op) ? node.args : nullptr;
    };
    const auto divisor_of_position = [&](NodeId number, vcode::Op op) -> std::int64_t {
      const NodeId* args = apply(number, op);
      if (args == nullptr || !pass_.is_uniform(args[1])) return 0;
      if (pass_.plan().nodes[args[0]].kind != PlanNode::Kind::Position) return 0;
      return uniform(args[1]);
    };
    const NodeId* sum = apply(sink_.index, vcode::Op::Add);
    if (sum == nullptr) return false;
    const NodeId* product = apply(sum[1], vcode::Op::Multiply);
    if (product == nullptr || !pass_.is_uniform(product[1])) return false;
    const std::int64_t divisor = divisor_of_position(sum[0], vcode::Op::Divide);
    if (divisor <= 0 || divisor != divisor_of_position(product[0], vcode::Op::Modulo)) return false;
    const std::int64_t n = uniform(product[1]);
    const std::int64_t targets = state_.size(sink_.into_length);
    // No index wraps around: the greatest r * n is a place.
    return n > (length() - 1) / divisor && (divisor == 1 || n <= targets / (divisor - 1));
  }

  std::int64_t uniform(NodeId number) const { return pass_.int_at(pass_.node(number).cell, 0); }

  std::uint64_t cut(const KernelTile& tile, int part) const {
    return part == tile.parts ? kNowhere
                              : static_cast<std::uint64_t>(target_length_ / tile.parts * part);
  }

  void put_runs(BlockEvaluator& values, const KernelTile& tile, const RunTable& runs,
                std::int64_t n) {
    for (std::size_t k = 0; k < sink_.arrays.size(); ++k) {
      Vector& target = state_.arrays[sink_.arrays[k]];
      alignas(64) std::byte bytes[kSegmentBlock];
      cpu_.kernels().scatter_runs[moved_type(target)](
          mutable_elements<std::byte>(target), stored(target, values, k, bytes, n), runs.positions,
          runs.ends, runs.count, cut(tile, tile.part), cut(tile, tile.part + 1));
    }
  }

  void put_elements(BlockEvaluator& values, const KernelTile& tile, std::int64_t begin,
                    std::int64_t n) {
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
    for (std::size_t k = 0; k < sink_.arrays.size(); ++k) {
      alignas(64) std::byte bytes[kSegmentBlock];
      send(k, stored(state_.arrays[sink_.arrays[k]], values, k, bytes, n), positions, n,
           cut(tile, tile.part), cut(tile, tile.part + 1));
    }
  }

  /// A block of values as the target holds them, perhaps written to `bytes`.
  const std::byte* stored(const Vector& target, BlockEvaluator& values, std::size_t component,
                          std::byte* bytes, std::int64_t n) const {
    if (target.form != Form::Narrow) return values.filled(sink_.values[component], n);
    values.narrow(bytes, sink_.values[component], n);
    return bytes;
  }
  /// The type of whose elements those of the target have the size: which is moved does not matter.
  static std::size_t moved_type(const Vector& target) {
    return type_index(target.form == Form::Narrow ? Type::Bool : target.type);
  }

  /// Sends n values to those of their positions that lie in [from, to).
  void send(std::size_t component, const std::byte* values, const std::uint64_t* positions,
            std::int64_t n, std::uint64_t from, std::uint64_t to) {
    Vector& target = state_.arrays[sink_.arrays[component]];
    const bool prefetch = target.length * cpu_.stored_bytes(target) > tuning.prefetched_bytes;
    cpu_.kernels().scatter[moved_type(target)](mutable_elements<std::byte>(target), values,
                                               positions, n, from, to, prefetch);
  }

  /// Is every place that a checked index can name a place of the targets?
  void check_targets() {
    for (const ArrayId array : sink_.arrays) {
      checked_storage(cpu_, state_.arrays[array], 0, target_length_);
    }
  }

  void clear() {
    if (!sink_.zeroed) return;
    for (std::size_t k = 0; k < sink_.arrays.size(); ++k) {
      Vector& target = state_.arrays[sink_.arrays[k]];
      const std::int64_t places = state_.size(sink_.into_length);
      const NodeId value = sink_.values[k];
      target = alone ? cpu_.new_vector(type_of(value), places) : room_for(value, places);
      if (covered_ || fills_gaps_ || alone) continue;
      zero_parallel(cpu_, mutable_elements<void>(target), places * cpu_.stored_bytes(target));
    }
  }

  /// Zeros between runs, and behind the last of those so far: where runs come in order, as parts of
  /// what is put together do, nothing is written twice, or, where they are short, in the cache.
  void fill_gaps(const RunTable& runs, std::int64_t n) {
    constexpr std::int64_t kShort = 16;
    const bool one_by_one = n >= runs.count * kShort;
    std::int64_t begin = 0, last = filled_;
    for (std::int64_t k = 0; k < runs.count; ++k) {
      if (one_by_one) fill_to(runs.positions[k]);
      last = std::max(last, runs.positions[k] + runs.ends[k] - begin);
      if (one_by_one) filled_ = last;
      begin = runs.ends[k];
    }
    fill_to(last);
  }

  /// Zeros up to an element, where nothing has been written yet.
  void fill_to(std::int64_t end) {
    if (end <= filled_) return;
    for (const ArrayId array : sink_.arrays) {
      Vector& target = state_.arrays[array];
      const std::int64_t width = cpu_.stored_bytes(target);
      std::memset(mutable_elements<std::byte>(target) + filled_ * width, 0,
                  static_cast<std::size_t>((end - filled_) * width));
    }
    filled_ = end;
  }

  /// Where values do not fit bytes, or are moved as they are, elements that do make room.
  void widen_targets() {
    for (std::size_t k = 0; k < sink_.arrays.size(); ++k) {
      Vector& target = state_.arrays[sink_.arrays[k]];
      if (target.form != Form::Narrow) continue;
      if (!alone && pass_.joins_bytes(sink_.values[k])) continue;
      target = fills_gaps_ ? cpu_.new_vector(target.type, target.length) : writable(cpu_, target);
    }
  }

  /// On this thread: the elements are in its cache when they are written.
  void zero(Vector& target) {
    std::memset(mutable_elements<void>(target), 0,
                static_cast<std::size_t>(target.length * width_of(target.type)));
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

  const std::optional<StridedIndex> strided_ = find_strided_index(pass_.plan(), sink_.index);
  std::optional<std::vector<StridedPlaces>> places_;
  std::uint32_t runs_ = kNone;
  bool covered_ = false;     // does every target get an element?
  bool fills_gaps_ = false;  // are zeros written as far as blocks have come?
  std::int64_t filled_ = 0;  // targets that have elements or zeros
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
