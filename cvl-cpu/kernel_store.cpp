// Results that have one element per position, lengths of descriptors, and checks.

#include <algorithm>
#include <cstring>
#include <utility>

#include "cvl-cpu/kernel_sink.hpp"
#include "cvl-cpu/kernel_storage.hpp"
#include "cvl-cpu/movement.hpp"
#include "cvl-cpu/narrow.hpp"
#include "cvl-cpu/operations.hpp"

namespace cvl::cpu {
namespace {

/// Store.
class Store : public KernelSink {
 public:
  Store(BoundPass& pass, const PlanSink& sink, BoundProgram& program)
      : KernelSink(pass, sink, program) {
    for (const ArrayId array : sink.over) {
      if (may_overwrite(array)) over_.push_back(array);
    }
    twin_ = find_twin();
    only_stored_ = is_only_stored();
  }

  void open_empty() override { put(cpu_.new_vector(type_of(sink_.values[0]), 0)); }

  Need open(std::size_t&) override {
    const NodeId value = sink_.values[0];
    const Type type = type_of(value);
    if (twin_ != kNone) return Need::Nothing;
    if (alone) {
      put(cpu_.new_vector(type, length()));
      pass_.leave_out(program_, value);
      return Need::Nothing;
    }
    Vector ready;
    if (compact(value, type, ready)) {
      put(std::move(ready));
      return Need::Nothing;
    }
    Target target;
    target.node = value;
    put(room(value, type));
    Vector& result = target_vector();
    target.narrow = result.form == Form::Narrow;
    target.width = static_cast<std::uint8_t>(cpu_.stored_bytes(result));
    target.result = &result;
    target.base = mutable_elements<std::byte>(result);
    target.overwrites = taken_over_;
    target.streamed =
        !taken_over_ && result.form == Form::Dense && cpu_.streams(length() * target.width);
    // What is overwritten must have been read: only the last step may write over an operand.
    const std::vector<BoundStep>& steps = program_.element_steps.steps;
    const bool last = !steps.empty() && steps.back().node == value;
    pass_.add_target(program_, target, !target.narrow && (!taken_over_ || last));
    return Need::Targets;
  }

  /// Values that are written in their order, or left where they are.
  std::int64_t cost() const override { return 0; }

  void close() override {
    if (twin_ != kNone) put(state_.arrays[twin_]);
    SegdesTables* const tables = started_tables();
    if (tables != nullptr && std::exchange(tables->starts_asked_for, true)) {
      tables->starts = target_vector();
    }
  }

  /// A gather that nothing else needs, through an index at random. A twin writes nothing.
  bool moves_memory() const override {
    const NodeId value = sink_.values[0];
    const PlanNode& node = pass_.plan().nodes[value];
    return twin_ == kNone && node.kind == PlanNode::Kind::Gather && node.guard == kNone &&
           only_stored_ && !pass_.gathers_runs(value) &&
           pass_.node(value).mode == BoundNode::Mode::Slot &&
           state_.arrays[node.id].form == Form::Dense && pass_.ends_in_memory(node.args[0]);
  }
  bool moves_in_ranges() const override { return true; }
  void keep_operands() override {
    const std::vector<PlanNode>& nodes = pass_.plan().nodes;
    const PlanNode& index = nodes[nodes[sink_.values[0]].args[0]];
    if (index.kind == PlanNode::Kind::Load) pass_.kept.push_back(index.id);
  }

  void move_range(std::int64_t first, std::int64_t last) override {
    alignas(64) std::uint64_t gathered[kSegmentBlock];
    const PlanNode& node = pass_.plan().nodes[sink_.values[0]];
    const Vector& vector = state_.arrays[node.id];
    const Source source(cpu_, vector);
    const std::byte* indices = pass_.final_values(node.args[0]);
    const std::int64_t index_width = width_of(Type::Int);
    const std::int64_t width = width_of(node.type);
    const bool streamed = cpu_.streams(length() * width);
    std::byte* out = checked_storage(cpu_, target_vector(), first, last) + first * width;
    for (std::int64_t begin = first; begin < last; begin += tuning.segment_block) {
      const std::int64_t n = std::min(tuning.segment_block, last - begin);
      const std::byte* block = indices + begin * index_width;
      if (!cpu_.kernels().indices_below(block, n, vector.length)) {
        pass_.note_index(sink_.values[0], block, nullptr, begin, n, vector.length);
        return;
      }
      source.fetch_by_index(streamed ? static_cast<void*>(gathered) : out, block, n);
      if (streamed) cpu_.kernels().stream(out, gathered, n * width);
      out += n * width;
    }
  }

 protected:
  virtual Vector& target_vector() { return state_.arrays[sink_.arrays[0]]; }
  virtual bool must_lie_in_memory() const { return state_.plan.scattered[sink_.arrays[0]]; }
  void put(Vector vector) { target_vector() = std::move(vector); }

 private:
  /// Is storing all that the pass does with the values? Whoever else stores them either is a twin
  /// or moves them by itself, like this sink: what moves_memory() looks at is the same for all.
  bool is_only_stored() const {
    const NodeId value = sink_.values[0];
    const PlanPass& plan = pass_.plan();
    const auto takes = [&](const auto& values) {
      return std::find(std::begin(values), std::end(values), value) != std::end(values);
    };
    return std::none_of(plan.nodes.begin(), plan.nodes.end(),
                        [&](const PlanNode& node) { return takes(node.args); }) &&
           std::none_of(plan.sinks.begin(), plan.sinks.end(), [&](const PlanSink& other) {
             const bool stores =
                 other.kind == PlanSink::Kind::Store || other.kind == PlanSink::Kind::Segments;
             return other.flag == value || other.index == value || (!stores && takes(other.values));
           });
  }

  /// An array of the same elements that the pass stores before this one: both share its storage.
  ArrayId find_twin() const {
    const auto scattered = [&](const PlanSink& sink) {
      return sink.kind == PlanSink::Kind::Store && state_.plan.scattered[sink.arrays[0]];
    };
    if (scattered(sink_)) return kNone;
    for (const PlanSink& other : pass_.plan().sinks) {
      if (&other == &sink_) return kNone;
      const bool stored = other.kind == PlanSink::Kind::Store && other.values == sink_.values;
      if (stored && !scattered(other)) return other.arrays[0];
    }
    return kNone;
  }

  /// Results that need no evaluation.
  bool compact(NodeId value, Type type, Vector& result) {
    const PlanNode& node = pass_.plan().nodes[value];
    const bool short_vector = Vector::fits_inline(length(), cpu_.element_bytes(type));
    if (node.kind == PlanNode::Kind::Load) {
      const Vector& source = state_.arrays[node.id];
      if (source.length != length()) return false;
      if (must_lie_in_memory()) {
        Vector copy = source;
        if (reads_last(node.id)) state_.arrays[node.id].buffer.reset();
        result = copy.form == Form::Narrow ? writable_bytes(cpu_, copy) : writable(cpu_, copy);
      } else {
        result = source;
      }
      return true;
    }
    if (must_lie_in_memory()) return false;
    if (const SegdesTables* tables = started_tables(); tables && tables->starts.length > 0) {
      result = tables->starts;
      return true;
    }
    if (is_beginning(node, value)) {
      result = state_.arrays[node.id];
      result.length = length();
      return true;
    }
    if (pass_.is_uniform(value)) {
      result = constant_vector(cpu_, type, length(), pass_.node(value).cell);
      return true;
    }
    if (node.kind == PlanNode::Kind::Position && !short_vector) {
      result = make_int(cpu_.widths(), length() - 1);  // the last one must fit
      result.form = Form::Progression;
      result.length = length();
      result.inline_elements<std::int64_t>()[0] = 0;
      result.inline_elements<std::int64_t>()[1] = 1;
      return true;
    }
    return false;
  }

  /// The tables of a descriptor if the starts of all of its segments are what is stored.
  SegdesTables* started_tables() const {
    const std::vector<PlanNode>& nodes = pass_.plan().nodes;
    const PlanNode& node = nodes[sink_.values[0]];
    const bool starts = node.kind == PlanNode::Kind::SegmentStart &&
                        nodes[node.args[0]].kind == PlanNode::Kind::Position;
    if (!starts || must_lie_in_memory()) return nullptr;
    const Segdes& segdes = state_.segdes[node.id];
    return segdes.count == length() ? segdes.tables.get() : nullptr;
  }

  /// Is it the first elements of a vector, and most of them? Then both share the storage: what is
  /// cut off is not worth a copy of the rest.
  bool is_beginning(const PlanNode& node, NodeId value) const {
    if (node.kind != PlanNode::Kind::Gather || pass_.node(value).mode == BoundNode::Mode::Slot) {
      return false;
    }
    const Vector& source = state_.arrays[node.id];
    const bool stored = source.form == Form::Dense || source.form == Form::Narrow;
    return stored && pass_.node(value).base == elements<std::byte>(source) &&
           !Vector::fits_inline(length(), cpu_.element_bytes(source.type)) &&
           length() >= source.length - source.length / 4;
  }

  /// Is this the last that becomes of an array?
  bool reads_last(ArrayId array) const {
    if (std::find(sink_.over.begin(), sink_.over.end(), array) == sink_.over.end()) return false;
    const PlanPass& plan = pass_.plan();
    return std::none_of(plan.sinks.begin(), plan.sinks.end(), [&](const PlanSink& other) {
      return &other != &sink_ &&
             std::any_of(other.values.begin(), other.values.end(),
                         [&](NodeId value) { return value == sink_.values[0]; });
    });
  }

  /// Everything else that reads the array has been evaluated when the result is written?
  bool may_overwrite(ArrayId array) const {
    const PlanPass& plan = pass_.plan();
    const auto is_load = [&](NodeId node) {
      return node != kNone && plan.nodes[node].kind == PlanNode::Kind::Load &&
             plan.nodes[node].id == array;
    };
    const bool epilogue = is_after_scan(plan, sink_);
    for (const PlanNode& node : plan.nodes) {
      for (const NodeId arg : node.args) {
        if (is_load(arg) && !epilogue && (node.after_scan || plan.has_scan)) return false;
      }
    }
    for (const PlanSink& sink : plan.sinks) {
      if (is_load(sink.flag) || is_load(sink.index)) return false;
      for (const NodeId value : sink.values) {
        if (is_load(value)) return false;
      }
    }
    return true;
  }

  Vector room(NodeId value, Type type) {
    taken_over_ = false;
    if (pass_.fits_bytes(value) && !must_lie_in_memory()) return room_for(value, length());
    if (pass_.keeps_operands) return cpu_.new_vector(type, length());
    for (const ArrayId array : over_) {
      if (std::find(pass_.kept.begin(), pass_.kept.end(), array) != pass_.kept.end()) continue;
      Vector& dying = state_.arrays[array];
      if (width_of(dying.type) != width_of(type)) continue;
      Vector result = cpu_.new_vector_over(type, length(), dying);
      if (dying.form == Form::Dense && result.buffer.get() == dying.buffer.get()) {
        taken_over_ = true;
        return result;
      }
      if (result.form != Form::Dense) return result;
    }
    return cpu_.new_vector(type, length());
  }

  std::vector<ArrayId> over_;
  ArrayId twin_ = kNone;
  bool only_stored_ = false;
  bool taken_over_ = false;
};

/// Segments: the lengths are stored and then become a descriptor.
class StoreLengths : public Store {
 public:
  using Store::Store;
  void open_empty() override {
    Store::open_empty();
    close();
  }
  void close() override {
    Store::close();
    state_.put(sink_.segdes[0], made());
  }

 protected:
  Vector& target_vector() override { return lengths_; }
  bool must_lie_in_memory() const override { return false; }

 private:
  /// Behind a failure, for the passes that go on: empty segments.
  Segdes made() {
    const Segdes none = Segdes::regular(lengths_.length, 0);
    if (state_.faults.any() && state_.faults.binding() <= sink_.binding) return none;
    Value operand(std::move(lengths_)), result;
    try {
      run_make_segdes(cpu_, vcode::Op::MakeSegdes, Type::Int, &operand, &result);
    } catch (const Failure& failure) {
      if (failure.code() != vcode::ErrorCode::NegativeLength) throw;
      note_negative(operand.vector());
      return none;
    }
    return std::move(result.segdes());
  }

  void note_negative(const Vector& lengths) {
    KernelFault fault;
    fault.kind = KernelFault::Kind::Length;
    fault.binding = sink_.binding;
    while (int_at(cpu_, lengths, fault.position) >= 0) ++fault.position;
    fault.value = int_at(cpu_, lengths, fault.position);
    fault.count = lengths.length;
    state_.faults.note(fault);
  }

  Vector lengths_;
};

/// Assert.
class Assertion : public KernelSink {
 public:
  using KernelSink::KernelSink;
  void open_empty() override {}
  Need open(std::size_t&) override {
    if (!pass_.is_uniform(sink_.values[0])) return Need::Blocks;
    if (pass_.node(sink_.values[0]).cell[0] == std::byte{0})
      fail(0, sink_.index == kNone ? nullptr : pass_.node(sink_.index).cell);
    return Need::Nothing;
  }
  void block(BlockEvaluator& values, const KernelTile&, std::byte*, std::int64_t begin,
             std::int64_t n) override {
    const std::byte* flags = values.at(sink_.values[0]);
    const void* bad = std::memchr(flags, 0, static_cast<std::size_t>(n));
    if (bad == nullptr) return;
    const std::int64_t at = static_cast<const std::byte*>(bad) - flags;
    fail(begin + at,
         sink_.index == kNone ? nullptr : values.filled(sink_.index, n) + at * int_bytes());
  }

 private:
  std::int64_t int_bytes() const { return width_of(Type::Int); }
  /// `number`: the INT that is to blame, if one is.
  void fail(std::int64_t position, const std::byte* number) {
    KernelFault fault;
    fault.kind = KernelFault::Kind::Assertion;
    if (number != nullptr) {
      fault.kind = KernelFault::Kind::Random;
      fault.value = pass_.int_at(number, 0);
    }
    fault.binding = sink_.binding;
    fault.position = position;
    fault.count = length();
    state_.faults.note(fault);
  }
};

}  // namespace

std::unique_ptr<KernelSink> make_store(BoundPass& pass, const PlanSink& sink,
                                       BoundProgram& program) {
  if (sink.kind == PlanSink::Kind::Segments) {
    return std::make_unique<StoreLengths>(pass, sink, program);
  }
  return std::make_unique<Store>(pass, sink, program);
}

std::unique_ptr<KernelSink> make_assertion(BoundPass& pass, const PlanSink& sink,
                                           BoundProgram& program) {
  return std::make_unique<Assertion>(pass, sink, program);
}

}  // namespace cvl::cpu
