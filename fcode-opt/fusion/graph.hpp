// The statements of one region as a graph, for choosing what to fuse.
//
// A region is straight-line code between barriers (fcode.md, R-P1). Literals and generators are not
// scheduled: whoever reads one computes it, so that edges lead through them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fcode-opt/fusion/access.hpp"
#include "fcode-opt/fusion/pieces.hpp"

namespace fcode {

using NodeIndex = std::uint32_t;
inline constexpr NodeIndex kOutside = ~NodeIndex{0};

/// A value that a node reads, itself or through generators.
struct Read {
  ValueId value = 0;
  NodeIndex producer = kOutside;
  Access access{};
  bool size = false;  // a scalar that tells how long something is
};

struct Node {
  const Statement* statement = nullptr;
  Role role = Role::Opaque;
  std::uint32_t domain = 0;  // equal numbers: index spaces that are known to be equally long
  // Of a scatter with defaults: the index space of its result, over which they are stored first.
  std::optional<std::uint32_t> target;
  bool scalar = false;         // computed once, without an index
  bool output = false;         // a result is read behind the region
  bool kept = false;           // a literal or generator that must exist as a value
  std::uint32_t weight = 0;    // elementwise operations
  std::uint32_t chain = 0;     // generators inside each other, this one included
  bool by_segment = false;     // a generator that looks up the segment of each position: cheap only
                               // where the positions come in order
  bool one_run = false;        // fetches the same for each segment, from the cache
  std::optional<Piece> piece;  // placed columns: a map over the target
  std::optional<View> view;    // is read where its elements lie: a generator
  std::uint32_t readers = 0;   // reads of results by nodes of the region
  bool new_total = false;      // Segments: nothing else that can be meant has its data length
  bool may_fail = false;       // stops the program for some elements: indices, divisors, lengths
  // What it has to come after: random numbers, checks and what they guard.
  std::vector<NodeIndex> after;
  // What an earlier kernel has to compute: it fetches from the vector that this scatter writes
  // into, and that nobody reads any more.
  std::vector<NodeIndex> apart;
  std::vector<Read> reads;  // of what has to exist before: no literals or generators

  /// Makes each element at its own index, for readers in the same pass.
  bool pointwise() const { return role == Role::Map || role == Role::Scan || role == Role::Random; }
  /// Has a slot: literals and generators that nobody needs as values have none.
  bool scheduled() const { return (role != Role::Literal && role != Role::Generator) || kept; }
  /// Is computed by a kernel, in the slot that it gets; else by its own instruction.
  bool in_kernel() const { return role != Role::Opaque && scheduled() && !kept; }
};

struct RegionGraph {
  std::vector<Node> nodes;                  // in program order
  std::vector<std::int64_t> domain_length;  // known lengths, else -1

  /// The node that makes a value, or kOutside.
  NodeIndex producer(ValueId value) const {
    return value < producers.size() ? producers[value] : kOutside;
  }
  std::vector<NodeIndex> producers;  // by value
  const Function* function = nullptr;
  const std::optional<Type>& type(ValueId value) const { return function->values[value].type; }

  /// What a value takes of the memory while the region runs.
  struct Storage {
    bool counts = false;   // else: nothing, or it is there before and behind the region
    bool dies = false;     // nobody reads it behind the region
    Linear elements;       // of a vector, segments of a descriptor
    Linear described;      // of a descriptor: elements of its segments
    bool regular = false;  // of a descriptor: all of its segments have the same unknown length
  };
  std::map<ValueId, Storage> storage;  // of the values that the region names; empty: memory plays
                                       // no part

  std::size_t scheduled_nodes() const {
    return static_cast<std::size_t>(std::count_if(
        nodes.begin(), nodes.end(), [](const Node& node) { return node.scheduled(); }));
  }
  bool is_segdes(ValueId value) const { return type(value) == Type::Segdes; }
  /// Can a kernel take the value?
  bool is_typed(ValueId value) const {
    return type(value) && (vcode::is_data(*type(value)) || is_segdes(value));
  }
};

/// `outside_uses[v]`: how often v is read by others than these statements. `native[i]`: statement i
/// is to stay an instruction of its own. `assumed[i]`: that its operands fit is assumed.
/// `pieces[i]` and `views[i]`: what piece_of() and find_views() give, asked before anything was
/// assumed (each of them empty: none).
RegionGraph build_graph(std::span<const Statement> statements, const Module& module,
                        const Function& function, Shapes& shapes,
                        const std::vector<std::uint32_t>& outside_uses,
                        const std::vector<bool>& native, const std::vector<bool>& assumed,
                        const std::vector<std::optional<Piece>>& pieces = {},
                        const std::vector<std::optional<View>>& views = {});

/// Notes Node::apart. A scatter writes into the vector that its defaults are, if nobody reads that
/// behind it, but would have to copy it if its kernel also fetched from it. Where every element of
/// the vector gets a new value a copy costs no more. `survives[v]`: v is read behind the region.
void keep_fetches_apart(RegionGraph& graph, const std::vector<bool>& survives);

/// For each node the scheduled ones that read what it makes, once for each read.
std::vector<std::vector<NodeIndex>> readers_of(const RegionGraph& graph);

/// These nodes, and the literals and generators that they are made of, in program order.
std::set<NodeIndex> with_generators(const RegionGraph& graph, std::span<const NodeIndex> members);

}  // namespace fcode
