// A kernel definition of FCODE: a straight-line list of second-order array combinators whose
// elements are computed by scalar expressions over an index ("thunks").
//
// The combinators are those of lambda-cu (Robinson, Lippmeier, Keller: "Fusing Filters with Integer
// Linear Programming", 2014) with pull thunks, flat or segmented. A kernel is data only: it is
// parsed and printed here, made by the optimizer, and realised by the vector libraries. Its meaning
// is that of evaluating the bindings one after the other (docs/fcode.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vcode/instruction.hpp"
#include "vcode/opcodes.hpp"
#include "vcode/source.hpp"

namespace vcode {

/// Indices into the tables of one kernel.
using SizeId = std::uint32_t;
using ArrayId = std::uint32_t;
using SegdesId = std::uint32_t;

/// A length: a literal, or a name that is bound by the first IN that mentions it, by SIZE, or by
/// the result of FILTER, SPLIT or SEGMENTS.
struct KernelSize {
  std::string name;  // empty for a literal
  std::optional<std::int64_t> literal;
};

/// A vector that the kernel reads or makes.
struct KernelArray {
  std::string name;
  Type type = Type::Int;  // Int, Bool or Float
  SizeId length = 0;
};

/// A segment descriptor that the kernel reads or makes.
struct KernelSegdes {
  std::string name;
  SizeId count = 0;  // number of segments
  SizeId total = 0;  // number of elements
};

/// One operand or result of the kernel, in stack order (deepest first).
struct KernelParameter {
  bool segdes = false;
  std::uint32_t id = 0;  // ArrayId or SegdesId
};

/// The index space of a binding: 0 … length-1, or the elements of a descriptor.
struct Space {
  bool segmented = false;
  std::uint32_t id = 0;  // SizeId or SegdesId
  bool operator==(const Space&) const = default;
};

/// One node of a scalar expression. Evaluation is by need: a node that no result needs for the
/// elements at hand, because it lies in the branch of an IF that is not taken, is not evaluated and
/// cannot fail.
struct ThunkNode {
  enum class Kind : std::uint8_t {
    Index,      // the thunk's index: position in its space
    Size,       // a size as INT; id = SizeId
    Constant,   // a literal of `type`
    Subscript,  // element args[0] of array `id`; out of range is a run-time error
    Apply,      // elementwise operation `op` with written type `written` on args
    If,         // args[0] ? args[1] : args[2]; evaluates one branch only
    SegNo,      // number of the segment that position args[0] lies in, of descriptor `id`
    SegOff,     // offset of position args[0] within its segment
    SegLen,     // length of segment args[0]
    SegStart,   // first position of segment args[0]
    SegCount,   // number of segments (NSEG)
    State,      // component `id` of the state of ITERATE
  };
  Kind kind = Kind::Constant;
  Type type = Type::Int;     // of the value
  Op op = Op::Add;           // Apply
  Type written = Type::Int;  // Apply: the type written after the operation's word
  std::uint32_t id = 0;      // Size, Subscript, Seg…, State
  std::uint32_t args[3] = {};
  std::int64_t int_value = 0;  // Constant: INT, or BOOL as 0 or 1
  double float_value = 0;  // Constant FLOAT; literals are written so that they read back exactly
  Span span;               // place in the text, if it came from one
};

/// How many of ThunkNode::args are used; none makes the node a leaf.
int argument_count(const ThunkNode& node);

/// Is ThunkNode::id a descriptor?
bool names_descriptor(const ThunkNode& node);

/// A function of the index with one or more results. `nodes` are in dependency order: arguments
/// come before their users. A node with several users is evaluated once (printed with LET).
struct Thunk {
  std::vector<ThunkNode> nodes;
  std::vector<std::uint32_t> results;
};

/// `+ INT`, `MAX FLOAT`, …: `op` is the reduction (Op::AddReduce …) whose combiner and identity it
/// uses.
struct Monoid {
  Op op = Op::AddReduce;
  Type type = Type::Int;
};

/// What a round of ITERATE writes into a table, which begins as an operand.
struct TableWrite {
  ArrayId operand = 0;
  Thunk thunk;  // of the state: whether anything is written, at which element, and what
};

struct Binding {
  enum class Kind : std::uint8_t {
    Size,      // SIZE result = elements (no index)
    Assert,    // stops the program with `message` if `elements` is F anywhere (see `exits`)
    Map,       // arrays[k][i] = elements[k](i)
    Random,    // arrays[0][i] = a number from 0 up to, but not including, elements[0](i): the next
               // numbers of RAND, in order of the index
    Scan,      // exclusive, one monoid per component
    Reduce,    // one monoid per component; one element per segment (flat: one)
    Filter,    // elements[k](i) where flags(i); then the descriptor of what was kept
    Split,     // for each class c in order: elements[k](i) where flags(i) = c, then a descriptor
    Scatter,   // arrays[k][index(i)] = elements[k](i), where flags(i) if given; else defaults[k](j)
    Segments,  // descriptor whose lengths are elements(i)
    Once,      // arrays[k][0] = elements[k] (no index)
    Iterate,   // a state for each position, which begins as elements(i) and becomes next(state) as
               // long as flags(state), but at most `rounds` times: arrays[k][i] = its component k;
               // behind those the tables, in order of their first writes
  };
  Kind kind = Kind::Map;
  Space space;                   // unused by Size and Once
  std::vector<ArrayId> arrays;   // results; Split: class by class
  std::vector<SegdesId> segdes;  // results of Filter (1), Split (classes), Segments (1)
  SizeId size = 0;               // Size: what it binds
  Thunk elements;
  Thunk flags;  // Filter: predicate; Split: class number; Scatter: optional condition; Iterate: of
                // the state, not of an index: does it go on?
  Thunk index;  // Scatter: target position (within its segment if segmented)
  std::optional<Space> into;  // Scatter: target space
  Thunk defaults;             // Scatter: over `into`; no results: zeros
  Thunk next;                 // Iterate: of the state
  std::int64_t rounds = 0;    // Iterate
  /// Iterate, if each state has a stack (docs/fcode.md), else without results: functions of the
  /// state. Of `push` the first result tells whether a frame is put on the stack, which consists of
  /// the other ones, that of `pop` whether the topmost one is taken off; its parts are what the
  /// first components become.
  Thunk push, pop;
  std::int64_t depth = 0;  // Iterate: so many frames may be on a stack
  /// Iterate: what each round writes, in this order. The functions of the state read a table in
  /// place of its operand, as it is before the round.
  std::vector<TableWrite> writes;
  std::int64_t classes = 0;     // Split
  std::vector<Monoid> monoids;  // Scan, Reduce
  std::string message;          // Assert
  /// Assert: the message is written as by WRITE CHAR, and the program ends as by EXIT; otherwise it
  /// is the message of a run-time error.
  bool exits = false;
  std::string comment;  // printed above the binding; no part of the meaning
  Span span;
};

/// The functions of a binding; those that it does not have are without results.
std::vector<const Thunk*> thunks_of(const Binding& binding);

/// The operands that tables begin as, in order of their first writes.
std::vector<ArrayId> tables_of(const Binding& binding);

struct Kernel {
  std::string name;
  Span name_span;
  std::vector<KernelSize> sizes;
  std::vector<KernelArray> arrays;
  std::vector<KernelSegdes> segdes;
  std::vector<KernelParameter> inputs, outputs;
  std::vector<Binding> bindings;
  std::vector<Instruction> spec;  // the VCODE it replaces, if has_spec; no Op::Return
  bool has_spec = false;
  std::string comment;  // printed above the definition; no part of the meaning
};

/// The type of the value on the stack: Segdes for a descriptor.
Type parameter_type(const Kernel& kernel, KernelParameter parameter);

/// Does it only compute, so that it may be left out when nobody needs its results, run twice, or
/// exchanged with others? It does not if it contains ASSERT or RAND.
bool is_pure(const Kernel& kernel);

/// Does the binding compute something for each position of a space? Those of SIZE and ONCE do not.
inline bool has_space(const Binding& binding) {
  return binding.kind != Binding::Kind::Size && binding.kind != Binding::Kind::Once;
}

/// Are both the same number whatever the operands are: the same id, or equal literals?
bool same_size(const Kernel& kernel, SizeId a, SizeId b);
/// Is a division by a node of the thunk known not to be one by zero? The node is a literal,
/// `(IF (= INT d 0) c d)`, or `(IF (> INT d b) d c)`, with literals c and b, of which b is not
/// negative; SELECT may stand for IF.
bool is_never_zero(const Thunk& thunk, std::uint32_t node);
/// Of a divisor that is a power of two: the FLOAT literal by which to multiply instead. The
/// products are the quotients, bit by bit and in every width: both round the same number.
std::optional<ThunkNode> exact_reciprocal(const ThunkNode& divisor);
/// Is the node `(IF (AND BOOL (>= INT e 0) (< INT e n)) x[e] c)`, n being the length of x? Then
/// x[e] cannot fail there.
bool reads_inside(const Kernel& kernel, const Thunk& thunk, std::uint32_t node);
/// Is node `subscript` of the thunk read only where that cannot fail: does reads_inside() hold of
/// all its users?
bool is_guarded(const Kernel& kernel, const Thunk& thunk, std::uint32_t subscript);
/// The number of positions of a space.
SizeId length_of_space(const Kernel& kernel, Space space);
/// Do both spaces have the same positions (rule 4)? A descriptor has those of its total.
bool same_space(const Kernel& kernel, Space a, Space b);

/// Are both the same but for the numbers of ids and nodes, unused nodes, comments and places? Nodes
/// other than leaves must be shared in both or in neither. SPECs are compared by same_program().
bool same_kernel(const Kernel& a, const Kernel& b);

}  // namespace vcode
