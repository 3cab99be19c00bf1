// A pass with the operands of one run: what is the same everywhere is computed, vectors in memory
// are read in place, and what remains to be done for each block of elements is a list of steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cvl-cpu/gather_scatter.hpp"
#include "cvl-cpu/kernel_joins.hpp"
#include "cvl-cpu/kernel_program.hpp"
#include "cvl-cpu/kernel_runs.hpp"
#include "cvl-cpu/kernel_state.hpp"
#include "cvl-cpu/native_code.hpp"
#include "cvl-cpu/segments.hpp"

namespace cvl::cpu {

/// Where the values of a node are.
struct BoundNode {
  enum class Mode : std::uint8_t {
    Uniform,  // one value for all, in `cell`
    Memory,   // element i at base + i * width
    Narrow,   // the byte at base + i, widened block by block
    Slot,     // computed block by block
  };
  Mode mode = Mode::Slot;
  std::uint8_t width = 0;
  const std::byte* base = nullptr;
  alignas(8) std::byte cell[8] = {};
};

/// One loop over a block.
struct BoundStep {
  enum class Kind : std::uint8_t {
    Apply,
    Copy,
    Progression,
    Widen,
    CompareBytes,
    Random,
    Walk,
    Gather,
    GatherRuns,
    JoinedRuns,
    Find,
    Property,
    FailIf,
    Native,
  };
  Kind kind = Kind::Apply;
  std::uint8_t width = 0;  // of the result
  bool left_out = false;   // in this run
  NodeId node = kNone;
  NodeId args[3] = {kNone, kNone, kNone};
  NodeId guard = kNone;  // BOOL block
  std::uint32_t slot = kNone;
  std::uint32_t target = kNone;  // written directly to this target instead of to the slot
  ElementwiseKernel kernel = nullptr;
  std::int64_t start = 0, stride = 0;  // Progression
  std::uint32_t first = 0, last = 0;   // Walk: range of `walked`
  const NativeCode* code = nullptr;    // Native, …
  std::uint32_t covered = 0;           // … and the number of steps behind it that it stands for
  const Vector* vector = nullptr;      // Gather, GatherRuns
  std::uint32_t runs = kNone;          // GatherRuns, JoinedRuns
  std::uint32_t join = kNone;          // JoinedRuns
  const Segments* segments = nullptr;  // Walk, Find, Property
};

/// What is done for a block of elements.
struct BoundSteps {
  /// Are there elements that are fetched one by one?
  bool fetch() const {
    return std::any_of(steps.begin(), steps.end(),
                       [](const BoundStep& step) { return step.kind == BoundStep::Kind::Gather; });
  }

  std::vector<BoundStep> steps;
  std::vector<WalkedNode> walked;
};

/// A place in memory that a node's values are written to.
struct Target {
  NodeId node = kNone;
  std::uint8_t width = 0;
  bool streamed = false;
  bool narrow = false;        // INTs that are kept in a byte each: width is 1
  bool direct = false;        // the step that computes it writes there
  bool tiled = false;         // room for one tile, for each thread; else all of a result
  bool overwrites = false;    // an operand lies there, of which each element is read first
  Vector* result = nullptr;   // that …
  std::byte* base = nullptr;  // … and its element 0
  std::size_t offset = 0;     // tiled: in the thread's memory
};

/// How the elements lie that a step gathers: as wide as its result, in a byte each, or nowhere,
/// because all are the same or they count.
enum class GatheredForm : std::uint8_t { None, Whole, Bytes, Same, Counted };

/// A reduction of a node's values.
struct NodeFold {
  NodeId node;
  vcode::Op op;
  bool operator==(const NodeFold&) const = default;
};

/// What is wanted of the elements of a segment: numbers that are folded, whether any flag is T, and
/// what is stored.
struct PieceResults {
  std::vector<NodeFold> numbers;
  std::vector<NodeId> flags, stored;
  bool side_by_side = false;  // of rows: NativePieces
  bool operator==(const PieceResults&) const = default;
  std::size_t count() const { return numbers.size() + flags.size() + stored.size(); }
  void clear() {
    numbers.clear();
    flags.clear();
    stored.clear();
  }
};

/// Places in the rows of NativePieces.
struct PiecePlaces {
  std::vector<std::uint32_t> nodes;    // per node: where it is read; kNone: it is not
  std::vector<std::uint32_t> results;  // per result, in the order of PieceResults
  std::uint32_t words = 1;             // of a row
};

/// The steps of a program with machine code in place of some, which pays where much is computed.
struct NativeSteps {
  BoundSteps steps;  // empty: there is no code
  std::uint32_t slots = 0;
  std::vector<std::unique_ptr<NativeCode>> code;
  /// Of the body of a loop: many rounds of it, in place of one by steps.
  std::unique_ptr<NativeCode> rounds;
  /// Plain code for rounds that was there before, which other threads may still be running.
  std::unique_ptr<NativeCode> plain_rounds;
  bool is_plain = false;  // the code for rounds

  /// What code is made for: steps, or rounds of many states, or of few.
  enum class Form : std::uint8_t { Steps, Rounds, SerialRounds };

  /// How a step is run that code was made for, and how the vector lies that rounds gather from.
  struct Use {
    std::uint32_t target = kNone;
    bool overwrites = false, left_out = false;
    GatheredForm form = GatheredForm::None;
    bool operator==(const Use&) const = default;
  };
  bool made = false;          // or found that there can be none
  bool tried_rounds = false;  // while the loop was running
  Form form = Form::Steps;
  bool by_runs = false;
  std::vector<Use> uses;             // of the steps of usual()
  std::vector<bool> begins_uniform;  // of the body of a loop, see BoundPass
  std::int64_t work = 0;             // elements times steps so far, while it is not made
};

/// Machine code for what is wanted of pieces of segments.
struct PieceCode {
  std::unique_ptr<NativeCode> code;
  PiecePlaces places;
  /// What was wanted when it was made, or found to be impossible, and whether by the steps for a
  /// block of which all runs are known.
  std::optional<PieceResults> made_for;
  bool by_runs = false;
};

/// A program with the operands of one run.
struct BoundProgram {
  /// The steps for a block of which all runs are known, or else for any block.
  const BoundSteps& usual() const { return by_runs ? run_steps : element_steps; }
  /// The steps for a block, of which all runs that there are are `known` or not.
  const BoundSteps& steps_for(bool known) const {
    if (known != by_runs) return element_steps;
    return native.steps.steps.empty() ? usual() : native.steps;
  }
  std::uint32_t slots_in_use() const { return std::max(slots, native.slots); }

  const KernelProgram* program = nullptr;
  BoundSteps element_steps;
  BoundSteps run_steps;  // in place of those, when the runs of a block are known
  std::vector<BoundRuns> runs;
  std::vector<BoundJoin> joins;
  /// Rows of a regular nest, off which run_steps read what is the same in each, by a walk.
  std::int64_t row_length = 0;  // 0: there are none
  std::optional<Segments> rows;
  bool run_able = false;          // can it do without the indices, given the runs?
  bool by_runs = false;           // and is that worth while with the operands of this run?
  NativeSteps native;             // in place of usual()
  PieceCode pieces;               // in place of all
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
  bool bind(std::int64_t length) {
    const bool again = bind_again(length);
    if (!again) bind_anew(length);
    return again;
  }
  /// The same if the steps are those of the last time; otherwise false, and nothing is bound.
  bool bind_again(std::int64_t length);
  /// The same when they are not.
  void bind_anew(std::int64_t length);
  /// Adds a target of `program`. If nothing forbids it (`in_steps`), the step that computes the
  /// values writes them there.
  void add_target(BoundProgram& program, Target target, bool in_steps);
  /// Leaves out the step of a node, whose values no other step may need.
  void leave_out(BoundProgram& program, NodeId node);

  const PlanPass& plan() const { return pass_; }
  KernelState& state() const { return state_; }
  std::int64_t length() const { return length_; }
  /// The runs that may take the place of a scatter's index, or kNone.
  std::uint32_t scatter_runs(const BoundProgram& program, const PlanSink& sink) const;
  /// May runs take the place of the index of a gather?
  bool gathers_runs(NodeId number) const;
  /// May runs take the place of the choice between joined vectors?
  bool joins_runs(NodeId number) const;
  /// May runs take the place of the index of a scatter?
  bool scatters_runs(const PlanSink& sink) const;
  /// Do all positions have different indices? `find()` finds it out, once in a run of the kernel
  /// for all scatters that have the index.
  template <class Find>
  bool differs(NodeId index, const Find& find) {
    for (const auto& [known, different] : different_) {
      if (known == index) return different;
    }
    return different_.emplace_back(index, find()).second;
  }
  const BoundNode& node(NodeId node) const { return nodes_[node]; }
  bool is_uniform(NodeId node) const { return nodes_[node].mode == BoundNode::Mode::Uniform; }
  /// Does a node only choose from elements of vectors that are known to fit bytes?
  bool fits_bytes(NodeId node) const { return fits_bytes_[node]; }
  /// Can its values be written into a Narrow vector?
  bool joins_bytes(NodeId node) const;
  /// Is it a comparison of a Narrow vector's elements with the same everywhere? Then the bytes are
  /// compared.
  bool compares_bytes(NodeId number) const;
  /// Do the values of a node lie in memory when all blocks have been evaluated? Either they are
  /// read in place, or the pass stores them.
  bool ends_in_memory(NodeId node) const;
  /// Where that is. REQUIRES: ends_in_memory(), all blocks have been evaluated.
  const std::byte* final_values(NodeId node) const;
  const Segments& segments(SegdesId id);
  /// A node that is read off a walk, with the operands of this run.
  WalkedNode walked_node(NodeId number, std::uint32_t slot);
  /// The place in the stream of the number at position 0 of a draw of the plan.
  std::uint64_t stream_at(std::uint32_t draw) const { return stream_at_[draw]; }
  /// Notes a failure of a node.
  void note(NodeId node, std::int64_t position, std::int64_t value, std::int64_t limit) const;
  /// Notes the first of the n indices of a gather, of positions from `begin` on, that is wanted
  /// (all are without flags) and not below `limit`.
  void note_index(NodeId gather, const std::byte* indices, const std::uint8_t* flags,
                  std::int64_t begin, std::int64_t n, std::int64_t limit) const;
  std::int64_t int_at(const std::byte* block, std::int64_t i) const {
    return wide_ ? reinterpret_cast<const std::int64_t*>(block)[i]
                 : reinterpret_cast<const std::int32_t*>(block)[i];
  }

  BoundProgram main, epilogue, selected;
  /// Of the body of a loop, before bind(): per component of the state the element that it is at all
  /// positions and in all rounds, or null. The others lie where BlockEvaluator::set_memory() says.
  std::vector<const std::byte*> uniform_state;
  /// And which of the others are one element at all positions when they begin.
  std::vector<bool> begins_uniform;
  /// Must operands stay as they are until all blocks have been evaluated, on all threads?
  bool keeps_operands = false;
  /// Those that must in any case.
  std::vector<ArrayId> kept;

 private:
  void begin(std::int64_t length);
  bool has_same_steps();
  void find_volatile();
  void bind_node(NodeId number);
  void bind_load(NodeId number);
  void bind_apply(NodeId number);
  void bind_select(NodeId number);
  void bind_gather(NodeId number);
  void bind_segment(NodeId number);
  void bind_walked(NodeId number);
  void bind_state(NodeId number);
  void find_bytes();
  bool drops_out(NodeId number);
  const PlanSink* store_of(NodeId node) const;
  void fail_everywhere(NodeId number, std::int64_t value, std::int64_t limit);
  bool shifts(NodeId index, std::int64_t& shift) const;
  void read_in_place(NodeId number, const Vector& vector, std::int64_t shift);
  std::int64_t uniform_int(NodeId number) const { return int_at(nodes_[number].cell, 0); }
  void set_int(NodeId number, std::int64_t value);
  void set_zero(NodeId number);
  void bind_program(BoundProgram& bound, const KernelProgram& program);
  void find_needed(const KernelProgram& program, const BoundProgram* by_runs);
  static bool stays_inside(const WalkedNode& walked, const Segments* segments);
  static bool is_shared_by_runs(NodeId number, const BoundProgram& bound);
  void find_run_indices();
  void bind_runs(BoundProgram& bound);
  void add_run_steps(BoundProgram& bound);
  static std::uint32_t row_place(const BoundProgram& bound, const BoundRuns& last,
                                 const BoundStage& added);
  static BoundSum bound_sum(const BoundRuns& runs, const RunSum& sum);
  static bool add_up(BoundSum& sum, const std::vector<BoundStage>& stages);
  std::uint32_t add_runs(BoundProgram& bound, NodeId index, const PlanSink* scatter = nullptr);
  bool reads_row(NodeId number, const BoundProgram& bound) const;
  void find_rows(BoundProgram& bound) const;
  void add_row_walk(BoundProgram& bound, const BoundStep& read);
  std::optional<Segdes> rows_of(std::int64_t row_length) const;
  bool renew_rows(BoundProgram& bound) const;
  bool bind_rows(BoundRuns& runs);
  bool bind_numbers(BoundRuns& runs) const;
  bool renew_join(BoundJoin& join) const;
  bool fill_block(Type type, const std::byte* element, std::int64_t count, bool narrow,
                  std::vector<std::byte>& out) const;
  std::optional<std::int64_t> sum_of(const std::vector<JoinedRead::Shift>& shifts) const;
  void find_first_places(BoundRuns& runs) const;
  void renew_runs(BoundProgram& bound);
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
  std::vector<std::optional<RunIndex>> run_indices_;  // per node that is an index
  std::vector<std::optional<JoinedRead>> joined_;     // per node
  PassPrograms programs_;
  std::vector<BoundNode> nodes_;
  std::vector<Special> special_;
  std::vector<NodeId> copied_;  // Special::Copy: of which node
  std::vector<bool> fits_bytes_;
  std::vector<bool> needed_;
  std::vector<bool> caught_;  // whose failures keep runs from being used
  std::vector<std::optional<Segments>> segments_;
  /// A node that depends on the operands, and what the steps take it for.
  struct Volatile {
    NodeId node;
    BoundNode::Mode mode;
    Special special;
    NodeId copied;
    bool operator==(const Volatile&) const = default;
  };
  Volatile what_is(NodeId node) const {
    return {node, nodes_[node].mode, special_[node], copied_[node]};
  }
  std::vector<Volatile> volatile_;
  std::vector<bool> single_;                        // descriptors that had one segment
  std::vector<std::uint64_t> stream_at_;            // by draw of the plan
  std::vector<std::pair<NodeId, bool>> different_;  // see differs()
  bool bound_ = false;
  std::int64_t length_ = 0;
  bool wide_;
};

}  // namespace cvl::cpu
