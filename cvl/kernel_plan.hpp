// What a kernel does, pass by pass: the unified form that the vector libraries execute.
//
// A pass runs over one index space: it evaluates a graph of scalar values for every position and
// gives some of them to sinks. Maps that are read at their own index, generators and broadcasts are
// part of the graph of their readers, conditionals are evaluated on both sides with guards, equal
// nodes exist once, and independent bindings over one space share a pass (horizontal fusion).
// Everything here is data that depends on the kernel's text alone, on no device and no width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vcode/kernel.hpp"

namespace cvl {

using vcode::ArrayId;
using vcode::SegdesId;
using vcode::SizeId;

/// Index of a node in its pass.
using NodeId = std::uint32_t;
/// "No such node, array or descriptor".
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// A scalar value at every position of a pass. "Own" means: of the position being evaluated.
struct PlanNode {
  enum class Kind : std::uint8_t {
    Constant,       // int_value or float_value
    Size,           // the size `id` as INT (also the number of segments of a descriptor)
    Position,       // own position as INT
    Load,           // element of array `id` at the own position; arrays are at least that long
    Gather,         // element args[0] of array `id`
    Random,         // number of RAND at the own position: `id` of KernelPlan::draws, below args[0],
                    // where that is below 1: anything
    Apply,          // elementwise operation `op` with written type `written` on args
    SegmentNumber,  // own segment under descriptor `id`, whose total is the length of the pass
    SegmentOffset,  // own position within that segment
    FindSegment,    // segment that position args[0] lies in, of descriptor `id`
    SegmentLength,  // length of segment args[0] of descriptor `id`
    SegmentStart,   // first position of segment args[0] of descriptor `id`
    State,          // in the body of a loop: component `id` of the state
    Scan,           // exclusive scan (`op` is the SCAN operation) of args[0]; `id` is a descriptor
                    // whose total is the length of the pass, or kNone for all positions
  };
  Kind kind = Kind::Constant;
  vcode::Type type = vcode::Type::Int;     // of the value
  vcode::Type written = vcode::Type::Int;  // Apply, Scan
  vcode::Op op = vcode::Op::Add;           // Apply, Scan
  /// Can fail: Gather, FindSegment, SegmentLength or SegmentStart whose index may be out of range,
  /// division of INT. Other nodes of these kinds are known to be in range.
  bool traps = false;
  /// The same at all positions. Not to be evaluated when the pass has none: it may trap.
  bool uniform = false;
  /// Gather: the array is a table of the loop, whose elements change from round to round.
  bool changes = false;
  /// Depends on a Scan of the pass. Such a node is never the argument of a Scan, nor anything that
  /// a Filter or Split takes, nor, if PlanOptions say so, what a Reduce takes.
  bool after_scan = false;
  std::uint32_t id = kNone;
  NodeId args[3] = {kNone, kNone, kNone};  // smaller than the node's own
  /// BOOL node; where it is F the node is not wanted: it must not fail, and its value is anything.
  /// Only nodes that trap have one.
  NodeId guard = kNone;
  std::uint32_t binding = 0;  // the first that wants it: which failure comes first
  std::int64_t int_value = 0;
  double float_value = 0;

  bool applies(vcode::Op operation) const { return kind == Kind::Apply && op == operation; }
};

/// Where values go. Arrays that nobody reads are kNone.
struct PlanSink {
  enum class Kind : std::uint8_t {
    Store,     // arrays[0][own position] = values[0]
    Reduce,    // arrays[0] = reduction of values[0] by `op`, one element per segment or one in all
    Filter,    // arrays[k] = values[k] where flag; segdes[...], all equal, describe what is kept
    Split,     // class c, given by `flag`: arrays[c * values.size() + k], segdes[c]
    Scatter,   // arrays[k][index] = values[k] where flag (if any); the highest position wins
    Segments,  // descriptor segdes[0] with lengths values[0]; negative ones fail
    Assert,   // fails with the message of its binding where values[0] is F; of RAND: because of the
              // number `index`
    Size,     // size `size` = values[0], in a pass that is `once`; negative ones fail
    Iterate,  // arrays[k][own position] = component k of the state in which loop `loop` of the plan
              // ends that begins with values[k]
  };
  Kind kind = Kind::Store;
  vcode::Op op = vcode::Op::AddReduce;
  /// Reduce, Filter, Split, Scatter: the descriptor of the positions, or kNone for one segment.
  SegdesId under = kNone;
  /// Scatter: indices count from the start of the own segment here, or from 0 if kNone.
  SegdesId into = kNone;
  SizeId into_length = 0;  // Scatter: number of elements of the targets
  /// Scatter: the targets begin as zeros; else an earlier pass has stored their defaults.
  bool zeroed = false;
  NodeId flag = kNone;
  NodeId index = kNone;
  std::vector<NodeId> values;
  std::vector<ArrayId> arrays;
  std::vector<SegdesId> segdes;
  bool wants_segdes = false;  // Filter, Split: are any of these descriptors read by anybody?
  std::int64_t classes = 0;   // Split
  SizeId size = 0;            // Size
  std::uint32_t loop = 0;     // Iterate
  std::uint32_t binding = 0;
  /// Store: arrays that nobody reads after this pass, and this pass only at the own position, of
  /// the same length and type, or INT for FLOAT and back: the result may take over their storage
  /// if their elements are of the same size in the run.
  std::vector<ArrayId> over;
};

struct PlanPass {
  bool once = false;            // evaluated exactly once, without an index; all nodes are uniform
  SizeId length = 0;            // canonical size of the index space
  std::vector<PlanNode> nodes;  // arguments and guards before their users
  std::vector<PlanSink> sinks;  // in order of binding
  std::uint32_t first_fault = kNone;  // the first binding that can fail here
  bool has_scan = false;
};

/// What is done again and again with the state of a position.
struct PlanLoop {
  /// Nodes of a state, none of which fails. Its only sink has the condition on which the state goes
  /// on as its flag, and the next state, which has a meaning only there, as its values. Behind
  /// those stand, where each state has a stack, whether a frame is put on it, whether one is taken
  /// off, and the frame; and for each of `writes` whether, where and what is written.
  PlanPass body;
  std::int64_t rounds = 0;       // how often, at most
  std::size_t components = 0;    // of the state
  std::int64_t depth = 0;        // so many frames may be on a stack
  std::size_t stack_values = 0;  // which say what is done with it; 0: there is none

  /// An array that the rounds change, and read as it is before the round. It begins as the operand.
  struct Table {
    ArrayId operand = 0, array = 0;
  };
  std::vector<Table> tables;
  std::vector<std::uint32_t> writes;  // into which table, in this order

  const PlanSink& step() const { return body.sinks[0]; }
  bool has_stack() const { return stack_values > 0; }
  NodeId push() const { return step().values[components]; }
  NodeId pop() const { return step().values[components + 1]; }
  /// How many parts a frame has: one for each of the first components.
  std::size_t frame() const { return stack_values - 2; }
  NodeId pushed(std::size_t part) const { return step().values[components + 2 + part]; }
  /// Of a write: the condition, the place, and what is written, in this order.
  const NodeId* written(std::size_t write) const {
    return &step().values[components + stack_values + 3 * write];
  }
  /// Is it run one state after the other, by rounds that do more than to change the state?
  bool is_serial() const { return has_stack() || !writes.empty(); }
  /// Is a component of the state always what it was in the beginning?
  bool keeps(std::size_t component) const {
    if (has_stack() && component < frame()) return false;
    const PlanNode& next = body.nodes[step().values[component]];
    return next.kind == PlanNode::Kind::State && next.id == component;
  }
};

/// Random numbers that a kernel draws: one for each position of a space.
struct PlanDraw {
  std::uint32_t binding = 0;
  SizeId length = 0;  // canonical size of the space; known before any pass that needs these numbers
                      // or later ones
};

struct KernelPlan {
  const vcode::Kernel* kernel = nullptr;
  std::vector<PlanPass> passes;        // to be run in this order
  std::vector<SizeId> canonical_size;  // per size: the representative of all sizes known equal
  std::vector<PlanDraw> draws;         // in order of the stream
  std::vector<PlanLoop> loops;
  /// Per array: is it stored by a Scatter (and must then lie in memory), …
  std::vector<bool> scattered;
  /// … and the last pass that reads it; kNone: none does.
  std::vector<std::uint32_t> last_read;

  /// The place in the stream of the first number of a draw, counted from the first number of the
  /// kernel; of `draws.size()`: how many there are. `size` gives the value of a size.
  template <class Size>
  std::uint64_t drawn_before(std::size_t draw, const Size& size) const {
    std::uint64_t drawn = 0;
    for (std::size_t k = 0; k < draw; ++k)
      drawn += static_cast<std::uint64_t>(size(draws[k].length));
    return drawn;
  }

  /// Are there loops that are run one state after the other?
  bool has_serial_loops() const;
  /// Passes over index spaces, for reports: what a device would have to launch at least.
  std::size_t launches() const;
};

struct PlanOptions {
  /// May a Reduce take what depends on a Scan of its own pass? Else a later pass reduces it.
  bool reduces_scanned = true;
  /// Is an assertion about one position part of a pass without an index?
  bool asserts_once = false;
};

/// Nothing for kernels whose nested conditionals share failing operands in such a way that their
/// guards would multiply without bound. REQUIRES: the kernel has passed verification, and outlives
/// the plan.
std::optional<KernelPlan> plan_kernel(const vcode::Kernel& kernel, const PlanOptions& options = {});

/// Readable form for tests and reports: one line per node and sink.
std::string describe(const KernelPlan& plan);

}  // namespace cvl
