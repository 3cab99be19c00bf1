// Reductions of a pass. The order of combination is that of the operation (reduce.cpp), and so are
// the bits of FLOAT results.

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "cvl-cpu/kernel_sink.hpp"
#include "cvl-cpu/kernel_storage.hpp"
#include "cvl-cpu/kernel_strides.hpp"
#include "cvl-cpu/movement.hpp"

namespace cvl::cpu {
namespace {

class ReduceSink : public KernelReduction {
 public:
  ReduceSink(BoundPass& pass, const PlanSink& sink, BoundProgram& program)
      : KernelReduction(pass, sink, program),
        value_(sink.values[0]),
        type_(type_of(value_)),
        width_(width_of(type_)),
        kernels_(cpu_.kernels().reduce[static_cast<std::size_t>(sink.op)][type_index(type_)]) {}

  void open_empty() override {
    const std::int64_t count = sink_.under == kNone ? 1 : state_.segdes[sink_.under].count;
    put(constant_vector(cpu_, type_, count, kernels_.identity));
  }

  Need open(std::size_t& tile_bytes) override {
    const Segdes* segments = segdes();
    const std::int64_t count = segments == nullptr ? 1 : segments->count;
    if (repeated(segments, count) || (segments == nullptr && extreme())) {
      work_ = Work::Small;
      return Need::Nothing;
    }
    put(cpu_.new_vector(type_, count));
    out_ = checked_storage(cpu_, result(), 0, count);
    if (length() <= tuning.small_length) {
      work_ = Work::Small;
    } else if (segments == nullptr) {
      work_ = Work::Accumulate;
      any_ = false;
    } else {
      work_ = Work::Fold;
      segments_ = &pass_.segments(sink_.under);
      rows_ = type_ != Type::Bool && are_rows(*segments);
      find_values(tile_bytes);
    }
    return Need::Blocks;
  }

  const Segments* folded() const override { return work_ == Work::Fold ? segments_ : nullptr; }
  bool folds_rows() const override { return rows_; }
  NodeId value() const override { return value_; }
  vcode::Op op() const override { return sink_.op; }
  Type type() const override { return type_; }
  bool asks_for_any() const override {
    return work_ == Work::Accumulate && sink_.op == vcode::Op::OrReduce && type_ == Type::Bool;
  }

  void begin_round(std::int64_t tiles) override {
    if (work_ != Work::Small) parts_.assign(static_cast<std::size_t>(tiles), Part());
  }
  void begin_tile(const KernelTile&, std::byte* state) override {
    if (work_ == Work::Accumulate) kernels_.begin(state);
  }

  void block(BlockEvaluator& values, const KernelTile&, std::byte* state, std::int64_t,
             std::int64_t n) override {
    if (work_ == Work::Accumulate) {
      kernels_.accumulate(state, values.filled(value_, n), n);
    } else if (work_ == Work::Small) {
      const Segdes* segments = segdes();
      kernels_.small(out_, values.filled(value_, n),
                     segments == nullptr ? SegmentRun{nullptr, n, 0, 1} : all_segments(*segments));
    }
  }

  void end_tile(const KernelTile& tile, std::byte* state, std::byte* tile_memory) override {
    if (work_ == Work::Small) return;
    Part& part = parts_[static_cast<std::size_t>(tile.in_round)];
    if (work_ == Work::Accumulate) {
      Element own;
      kernels_.finish(state, own.bytes);
      if (asks_for_any()) {
        part.element.bytes[0] |= own.bytes[0];  // of ranges of the tile
      } else {
        part.element = own;
      }
      return;
    }
    const std::byte* in =
        memory_ != nullptr ? memory_ : element_zero(tile_memory + offset_, tile.begin * width_);
    const Segments::Begun begun = segments_->begun_in(tile.begin, tile.end);
    const bool continues = begun.run.count == 0 || begun.run.start > tile.begin;
    if (continues) part.segment = begun.first - 1;
    checked_storage(cpu_, result(), begun.first, begun.first + begun.run.count);
    if (rows_) {
      reduce_rows(kernels_, width_, out_ + begun.first * width_, in, begun.run, tile.end);
      const std::int64_t end = begun.run.count > 0 ? begun.run.start : tile.end;
      part.row.assign(in + tile.begin * width_, in + end * width_);
      return;
    }
    Element nobodys;
    kernels_.tile(out_ + begun.first * width_, in, tile.begin, tile.end, begun.run,
                  continues ? part.element.bytes : nobodys.bytes);
  }

  std::byte* begin_pieces(std::int64_t first, std::int64_t end) override {
    checked_storage(cpu_, result(), first, end);
    return out_;
  }
  std::byte* continued_piece(const KernelTile& tile, std::int64_t segment) override {
    Part& part = parts_[static_cast<std::size_t>(tile.in_round)];
    part.segment = segment;
    return part.element.bytes;
  }
  void put_empty(std::int64_t segment) override {
    std::memcpy(out_ + segment * width_, kernels_.identity, static_cast<std::size_t>(width_));
  }
  void put_any(const KernelTile& tile) override {
    parts_[static_cast<std::size_t>(tile.in_round)].element.bytes[0] = std::byte{1};
  }

  void end_round(std::int64_t) override {
    if (work_ == Work::Small) return;
    for (const Part& part : parts_) {
      if (work_ == Work::Accumulate) {
        if (any_) {
          kernels_.combine(out_, part.element.bytes, 1);
        } else {
          std::memcpy(out_, part.element.bytes, static_cast<std::size_t>(width_));
        }
        any_ = true;
      } else if (part.segment >= 0 && rows_) {
        kernels_.combine(out_ + part.segment * width_, part.row.data(),
                         static_cast<std::int64_t>(part.row.size()) / width_);
      } else if (part.segment >= 0) {
        kernels_.combine(out_ + part.segment * width_, part.element.bytes, 1);
      }
    }
  }

  void close() override {
    if (work_ != Work::Fold) return;
    const std::int64_t begun = segments_->first_from(length());  // empty ones follow
    cpu_.kernels().fill[type_index(type_)](out_ + begun * width_, kernels_.identity,
                                           segments_->count() - begun);
  }

 private:
  enum class Work : std::uint8_t { Small, Accumulate, Fold };
  /// What a tile has: of everything, or of a segment that begins before it.
  struct Part {
    std::int64_t segment = -1;  // none
    Element element{};
    std::vector<std::byte> row;  // elements of a row
  };

  Vector& result() { return state_.arrays[sink_.arrays[0]]; }
  void put(Vector vector) { result() = std::move(vector); }

  /// Equal elements in equal segments: one reduction answers for all.
  bool repeated(const Segdes* segments, std::int64_t count) {
    if (!pass_.is_uniform(value_) || kernels_.repeat == nullptr) return false;
    if (segments != nullptr && !segments->uniform) return false;
    Element element;
    std::memcpy(element.bytes, pass_.node(value_).cell, sizeof element.bytes);
    kernels_.repeat(element.bytes, segments == nullptr ? length() : segments->uniform_length);
    put(constant_vector(cpu_, type_, count, element.bytes));
    return true;
  }

  /// The least or greatest of numbers that are equally far apart.
  bool extreme() {
    const bool greatest = sink_.op == vcode::Op::MaxReduce;
    if (!strided_ || !(greatest || sink_.op == vcode::Op::MinReduce)) return false;
    const std::optional<Extremes> found = find_extremes(pass_, *strided_);
    if (!found) return false;
    put(make_int(cpu_.widths(), greatest ? found->greatest : found->least));
    return true;
  }

  /// Segments are folded when all of a tile is there: in place if the values lie in memory.
  void find_values(std::size_t& tile_bytes) {
    const BoundNode& node = pass_.node(value_);
    const bool aligned = reinterpret_cast<std::uintptr_t>(node.base) % Heap::kAlignment == 0;
    memory_ = nullptr;
    if (node.mode == BoundNode::Mode::Memory && aligned) {
      memory_ = node.base;
      return;
    }
    Target target;
    target.node = value_;
    target.width = static_cast<std::uint8_t>(width_);
    target.tiled = true;
    target.offset = offset_ = tile_bytes;
    pass_.add_target(program_, target, true);
    // A tile may end with a row.
    const std::int64_t elements =
        std::min(length(), fold_tile_length(cpu_) + (rows_ ? tuning.longest_row : 0));
    tile_bytes += tile_room(elements, width_);
  }

  NodeId value_;
  Type type_;
  std::int64_t width_;
  const ReduceKernels& kernels_;
  const std::optional<StridedIndex> strided_ = find_strided_index(pass_.plan(), value_);
  Work work_ = Work::Small;
  std::byte* out_ = nullptr;
  bool any_ = false;
  std::vector<Part> parts_;
  const Segments* segments_ = nullptr;
  bool rows_ = false;
  const std::byte* memory_ = nullptr;
  std::size_t offset_ = 0;
};

}  // namespace

std::unique_ptr<KernelReduction> KernelReduction::make(BoundPass& pass, const PlanSink& sink,
                                                       BoundProgram& program) {
  return std::make_unique<ReduceSink>(pass, sink, program);
}

}  // namespace cvl::cpu
