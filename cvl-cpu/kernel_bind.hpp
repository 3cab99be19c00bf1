// A pass with the operands of one run: what is the same everywhere is computed, vectors in memory
// are read in place, and what remains to be done for each block of elements is a list of steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "cvl-cpu/gather_scatter.hpp"
#include "cvl-cpu/kernel_program.hpp"
#include "cvl-cpu/kernel_state.hpp"
#include "cvl-cpu/segments.hpp"

namespace cvl::cpu {

/// Where the values of a node are.
struct BoundNode {
  enum class Mode : std::uint8_t {
    Uniform,  // one value for all, in `cell`
    Memory,   // element i at base + i * width
    Slot,     // computed block by block
  };
  Mode mode = Mode::Slot;
  std::uint8_t width = 0;
  const std::byte* base = nullptr;
  alignas(8) std::byte cell[8] = {};
};

/// One loop over a block.
struct BoundStep {
  enum class Kind : std::uint8_t { Apply, Copy, Progression, Walk, Gather, Find, Property, FailIf };
  Kind kind = Kind::Apply;
  std::uint8_t width = 0;  // of the result
  NodeId node = kNone;
  NodeId args[3] = {kNone, kNone, kNone};
  NodeId guard = kNone;  // BOOL block
  std::uint32_t slot = kNone;
  std::uint32_t target = kNone;  // written directly to this target instead of to the slot
  ElementwiseKernel kernel = nullptr;
  std::int64_t start = 0, stride = 0;  // Progression
  std::uint32_t first = 0, last = 0;   // Walk: range of `walked`
  const Vector* vector = nullptr;      // Gather
  const Segments* segments = nullptr;  // Walk, Find, Property
};

/// A node that is read off a walk.
struct WalkedNode {
  NodeId node = kNone;
  std::uint32_t slot = kNone;
  PlanNode::Kind kind{};
  Type type{};
  const Vector* vector = nullptr;      // Gather
  const Segments* segments = nullptr;  // SegmentLength, SegmentStart: whose
};

/// A place in memory that a node's values are written to.
struct Target {
  NodeId node = kNone;
  std::uint8_t width = 0;
  bool streamed = false;
  bool direct = false;  // step `step` writes there
  std::uint32_t step = 0;
  bool tiled = false;         // room for one tile, for each thread; else all of a result
  std::byte* base = nullptr;  // element 0 of a result
  std::size_t offset = 0;     // tiled: in the thread's memory
};

/// A program with the operands of one run.
struct BoundProgram {
  const KernelProgram* program = nullptr;
  std::vector<BoundStep> steps;
  std::vector<WalkedNode> walked;
  std::vector<NodeId> in_memory;  // nodes whose values are read in place
  std::vector<Target> targets;
  std::uint32_t slots = 0;
};

class BoundPass {
 public:
  BoundPass(KernelState& state, const PlanPass& pass);

  /// Looks at the operands. `length` is that of the pass; a pass that is `once` has length 1.
  /// Failures of what is the same everywhere are noted. True when the steps are those of the last
  /// time: then only values and places differ.
  bool bind(std::int64_t length);
  /// Adds a target of `program`. If nothing forbids it (`in_steps`), the step that computes the
  /// values writes them there.
  void add_target(BoundProgram& program, Target target, bool in_steps);

  const PlanPass& plan() const { return pass_; }
  KernelState& state() const { return state_; }
  std::int64_t length() const { return length_; }
  const BoundNode& node(NodeId node) const { return nodes_[node]; }
  bool is_uniform(NodeId node) const { return nodes_[node].mode == BoundNode::Mode::Uniform; }
  const Segments& segments(SegdesId id);
  /// Notes a failure of a node.
  void note(NodeId node, std::int64_t position, std::int64_t value, std::int64_t limit) const;
  std::int64_t int_at(const std::byte* block, std::int64_t i) const {
    return wide_ ? reinterpret_cast<const std::int64_t*>(block)[i]
                 : reinterpret_cast<const std::int32_t*>(block)[i];
  }

  BoundProgram main, epilogue, selected;

 private:
  bool bind_again();
  void find_volatile();
  void bind_node(NodeId number);
  void bind_load(NodeId number);
  void bind_apply(NodeId number);
  void bind_select(NodeId number);
  void bind_gather(NodeId number);
  void bind_segment(NodeId number);
  void bind_walked(NodeId number);
  bool drops_out(NodeId number);
  void fail_everywhere(NodeId number, std::int64_t value, std::int64_t limit);
  bool shifts(NodeId index, std::int64_t& shift) const;
  void read_in_place(NodeId number, const Vector& vector, std::int64_t shift);
  std::int64_t uniform_int(NodeId number) const { return int_at(nodes_[number].cell, 0); }
  void set_int(NodeId number, std::int64_t value);
  void set_zero(NodeId number);
  void bind_program(BoundProgram& bound, const KernelProgram& program);
  void find_needed(const KernelProgram& program);
  void add_step(BoundProgram& bound, NodeId number);
  void add_walk(BoundProgram& bound, NodeId number);
  void finish_apply(BoundStep& step) const;
  std::uint8_t width_of(Type type) const {
    return static_cast<std::uint8_t>(state_.cpu.element_bytes(type));
  }

  /// What a node turned out to be, beyond its mode.
  enum class Special : std::uint8_t { None, Copy, Fails };

  KernelState& state_;
  const PlanPass& pass_;
  PassPrograms programs_;
  std::vector<BoundNode> nodes_;
  std::vector<Special> special_;
  std::vector<NodeId> copied_;  // Special::Copy: of which node
  std::vector<bool> needed_;
  std::vector<std::optional<Segments>> segments_;
  std::vector<NodeId> volatile_;  // what bind_again() must look at
  std::vector<bool> single_;      // descriptors that had one segment
  bool bound_ = false;
  std::int64_t length_ = 0;
  bool wide_;
};

}  // namespace cvl::cpu
