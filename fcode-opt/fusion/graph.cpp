#include "fcode-opt/fusion/graph.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "fcode-opt/passes/ranges.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

class GraphBuilder {
 public:
  GraphBuilder(std::span<const Statement> statements, const Module& module,
               const Function& function, Shapes& shapes,
               const std::vector<std::uint32_t>& outside_uses, const std::vector<bool>& native,
               const std::vector<bool>& assumed, const std::vector<std::optional<Piece>>& pieces,
               const std::vector<std::optional<View>>& views)
      : statements_(statements),
        module_(module),
        function_(function),
        shapes_(shapes),
        outside_uses_(outside_uses),
        native_(native),
        assumed_(assumed),
        pieces_(pieces),
        views_(views) {}

  RegionGraph build() {
    graph_.producers.assign(outside_uses_.size(), kOutside);
    graph_.function = &function_;
    for (std::size_t i = 0; i < statements_.size(); ++i) add(i);
    find_new_totals();
    for (std::size_t i = 0; i < statements_.size(); ++i) find_reads(graph_.nodes[i]);
    count_readers();
    order();
    return std::move(graph_);
  }

 private:
  void add(std::size_t i) {
    Node node;
    node.statement = &statements_[i];
    node.role = role_of(*node.statement, module_, shapes_);
    if (i < pieces_.size() && pieces_[i]) {
      node.role = Role::Map;
      node.piece = pieces_[i];
    }
    if (i < views_.size() && views_[i]) {
      node.role = Role::Generator;
      node.piece.reset();
      node.view = views_[i];
    }
    // Lengths are known to fit, or assumed to. Operands of an elementwise operation may even be
    // longer than the first: that is left to the instruction.
    const bool fits = typed(*node.statement) && shapes_.lengths_fit(*node.statement);
    if ((i < native_.size() && native_[i]) || !fits) {
      node.role = Role::Opaque;
      node.piece.reset();
      node.view.reset();
    }
    // Constants that are no literals come before everything else, and so from outside.
    const bool outside = pushes_constant(*node.statement) && node.role == Role::Opaque;
    for (ValueId value : node.statement->results) {
      if (!outside) graph_.producers[value] = static_cast<NodeIndex>(i);
      node.output |= outside_uses_[value] != 0;
    }
    limit_chain(node);
    if (node.role == Role::Literal || node.role == Role::Generator) node.kept = node.output;
    node.by_segment = node.role == Role::Generator && looks_up_segments(*node.statement);
    node.one_run = node.role == Role::Map && is_copy_of_one_run(*node.statement, shapes_);
    if (node.role != Role::Opaque) {
      const Linear length =
          shapes_.equations.normal(node.piece ? shapes_.of(node.statement->results[0]).length
                                              : domain_of(*node.statement, shapes_));
      node.domain = domain(length);
      if (node.role == Role::Scatter && has_defaults(*node.statement)) {
        node.target =
            domain(shapes_.equations.normal(shapes_.of(node.statement->results[0]).length));
      }
      node.scalar = node.role == Role::Map && length == Linear::number(1);
      node.weight = node.role != Role::Map ? 0 : node.piece ? kPieceWeight : 1;
    } else {
      for (ValueId operand : node.statement->operands) {
        const NodeIndex made = graph_.producer(operand);
        if (made != kOutside) keep(made);
      }
    }
    graph_.nodes.push_back(std::move(node));
  }

  // Elementwise operations that placing pieces takes when it is turned round.
  static constexpr std::uint32_t kPieceWeight = 5;

  // Zeros are what there is without defaults.
  bool has_defaults(const Statement& scatter) const {
    const int operand = default_operand(scatter.op);
    return operand >= 0 && !is_zero(scatter.operands[static_cast<std::size_t>(operand)]);
  }

  bool is_zero(ValueId value) const {
    const NodeIndex made = graph_.producer(value);
    if (made == kOutside) return false;
    const Node& node = graph_.nodes[made];
    const Statement& statement = *node.statement;
    if (node.role == Role::Generator) {
      return statement.op == Op::Distribute && is_zero(statement.operands[0]);
    }
    if (node.role != Role::Literal || statement.kind != Statement::Kind::Const) return false;
    const vcode::Constant& constant = module_.constants[statement.index];
    switch (constant.type) {
      case Type::Int:
        return constant.ints()[0] == 0;
      case Type::Bool:
        return constant.bools()[0] == 0;
      default:
        return std::bit_cast<std::uint64_t>(constant.floats()[0]) == 0;
    }
  }

  void count_readers() {
    for (const Node& node : graph_.nodes) {
      for (const Read& read : node.reads) {
        if (read.producer != kOutside) ++graph_.nodes[read.producer].readers;
      }
    }
  }

  // Are all operands of the types that the operation takes? Kernels state them.
  bool typed(const Statement& statement) const {
    auto known = [&](ValueId value) { return function_.values[value].type.has_value(); };
    const bool all_known =
        std::all_of(statement.operands.begin(), statement.operands.end(), known) &&
        std::all_of(statement.results.begin(), statement.results.end(), known);
    if (!all_known || statement.kind != Statement::Kind::Op) return all_known;
    const std::string_view letters = vcode::info(statement.op).operands;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const std::optional<Type> wanted = vcode::operand_type(letters[i], statement.written);
      const Type found = *function_.values[statement.operands[i]].type;
      if (wanted ? found != *wanted : !vcode::is_data(found)) return false;
    }
    return true;
  }

  bool looks_up_segments(const Statement& statement) {
    const int operand = segments_operand(statement, shapes_);
    if (operand < 0) return false;
    const ValueId segdes = statement.operands[static_cast<std::size_t>(operand)];
    if (shapes_.known_element(segdes)) return false;  // arithmetic
    if (statement.op != Op::Distribute) return true;
    const NodeIndex made = graph_.producer(statement.operands[0]);
    return made == kOutside || graph_.nodes[made].role != Role::Literal;
  }

  // Generators that are computed inside each other make chains; they are short, and longer ones,
  // which only odd programs have, are cut.
  static constexpr std::uint32_t kLongestChain = 16;

  void limit_chain(Node& node) {
    if (node.role != Role::Generator) return;
    for (ValueId operand : node.statement->operands) {
      const NodeIndex made = graph_.producer(operand);
      if (made != kOutside && graph_.nodes[made].role == Role::Generator) {
        node.chain = std::max(node.chain, graph_.nodes[made].chain);
      }
    }
    if (++node.chain > kLongestChain) node.role = Role::Opaque;
  }

  // A descriptor can be the space of a kernel that makes it only if its data length is a size of
  // its own (fcode.md, rule 1): what does not depend on it and yet is as long would be of another
  // size.
  void find_new_totals() {
    std::vector<std::set<Linear>> lengths;  // of what each statement makes
    for (const Statement& statement : statements_) lengths.push_back(lengths_of(statement.results));
    const std::set<Linear> outside = outside_lengths();
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      Node& node = graph_.nodes[i];
      if (node.role != Role::Segments) continue;
      const Linear total = shapes_.equations.normal(shapes_.of(node.statement->results[0]).sum);
      node.new_total = !total.is_number() && outside.count(total) == 0;
      const std::vector<char> dependent = dependents(i);
      for (NodeIndex j = 0; j < graph_.nodes.size() && node.new_total; ++j) {
        node.new_total = dependent[j] || lengths[j].count(total) == 0;
      }
    }
  }

  std::set<Linear> lengths_of(const ValueList& values) {
    std::set<Linear> lengths;
    for (ValueId value : values) {
      const Shape& shape = shapes_.of(value);
      lengths.insert(shapes_.equations.normal(shape.length));
      if (function_.values[value].type != Type::Segdes) continue;
      lengths.insert(shapes_.equations.normal(shape.sum));
    }
    return lengths;
  }

  std::set<Linear> outside_lengths() {
    std::set<Linear> lengths;
    for (const Statement& statement : statements_) {
      for (ValueId operand : statement.operands) {
        if (graph_.producer(operand) == kOutside) lengths.merge(lengths_of({operand}));
      }
    }
    return lengths;
  }

  // The node and what is computed from it.
  std::vector<char> dependents(NodeIndex index) const {
    std::vector<char> found(graph_.nodes.size(), 0);
    found[index] = 1;
    for (NodeIndex j = index + 1; j < graph_.nodes.size(); ++j) {
      for (ValueId operand : graph_.nodes[j].statement->operands) {
        const NodeIndex made = graph_.producer(operand);
        if (made != kOutside && found[made]) found[j] = 1;
      }
    }
    return found;
  }

  // Random numbers are drawn in order, checks report in order, and nothing that a check may guard
  // comes before it.
  void order() {
    NodeIndex random = kOutside, check = kOutside;
    std::vector<bool> relies = assumed_;  // the node, or a generator that it is made of
    relies.resize(graph_.nodes.size());
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      Node& node = graph_.nodes[i];
      for (ValueId operand : node.statement->operands) {
        const NodeIndex made = graph_.producer(operand);
        const bool generated = made != kOutside && graph_.nodes[made].role == Role::Generator;
        if (generated && relies[made]) relies[i] = true;
      }
      const auto comes_after = [&](NodeIndex before) {
        if (before != kOutside) node.after.push_back(before);
      };
      if (is_random(*node.statement)) comes_after(std::exchange(random, i));
      if (node.role == Role::Assert) {
        comes_after(std::exchange(check, i));
      } else if (relies[i] || (stops(node) && !(check != kOutside && fetches_inside(node)))) {
        node.may_fail = true;
        comes_after(check);
      }
    }
  }

  static bool is_random(const Statement& statement) {
    return statement.kind == Statement::Kind::Op && statement.op == Op::Rand;
  }

  bool stops(const Node& node) {
    if (is_random(*node.statement)) {
      return !is_positive(node.statement->operands[0], module_, shapes_);
    }
    if (node.role == Role::Opaque) return may_fail(*node.statement);
    if (node.role == Role::Scatter || node.role == Role::Segments) return true;
    if (node.role != Role::Map) return false;
    const Statement& statement = *node.statement;
    return divides_ints(statement.op, statement.written) || statement.op == Op::BPermute ||
           statement.op == Op::Extract;
  }

  // Is each index known to be a place in the vector?
  bool fetches_inside(const Node& node) {
    const ValueList& operands = node.statement->operands;
    return node.role == Role::Map && node.statement->op == Op::BPermute &&
           shapes_.one_segment(operands[2]) &&
           Ranges(module_, shapes_, names_).inside(operands[1], shapes_.of(operands[0]).length);
  }

  // A value that an instruction takes has to exist; so have then the operands of its own one.
  void keep(NodeIndex index) {
    Node& node = graph_.nodes[index];
    if (node.role != Role::Literal && node.role != Role::Generator) return;
    node.kept = true;
  }

  std::uint32_t domain(const Linear& length) {
    const auto next = static_cast<std::uint32_t>(domains_.size());
    const auto [place, is_new] = domains_.try_emplace(length, next);
    if (is_new) graph_.domain_length.push_back(length.is_number() ? length.constant : -1);
    return place->second;
  }

  void find_reads(Node& node) {
    if (node.role == Role::Opaque || node.kept) {
      for (ValueId operand : node.statement->operands) {
        const NodeIndex made = graph_.producer(operand);
        if (made != kOutside) keep_with_operands(made);
        node.reads.push_back({operand, made, Access::Foreign});
      }
    }
    if (node.role == Role::Opaque || node.kept) return;
    if (node.piece) {
      find_piece_reads(node);
      return;
    }
    const std::vector<Access> how = accesses(*node.statement, shapes_);
    for (std::size_t i = 0; i < how.size(); ++i) {
      const ValueId operand = node.statement->operands[i];
      if (how[i] == Access::Foreign) {
        fetch(node, operand);
      } else {
        expand(node, operand, how[i]);
      }
    }
    leave_out_known_lengths(node);
  }

  // A vector that is asked how long it is, as for a number that is distributed over it, does not
  // have to exist where an operand that is made of it tells the same.
  void leave_out_known_lengths(Node& node) {
    std::erase_if(node.reads, [&](const Read& read) {
      return read.access == Access::Length && read.producer != kOutside &&
             std::any_of(node.reads.begin(), node.reads.end(), [&](const Read& other) {
               return other.access == Access::Own && is_made_of(other, read.producer);
             });
    });
  }

  // Is it made of what the other node makes, element by element? Looks back only so far.
  bool is_made_of(const Read& read, NodeIndex origin) const {
    constexpr std::size_t kMostNodes = 32;
    std::vector<NodeIndex> nodes = {read.producer};
    for (std::size_t k = 0; k < nodes.size() && nodes.size() < kMostNodes; ++k) {
      const NodeIndex next = nodes[k];
      if (next == origin) return true;
      if (next == kOutside || next < origin || graph_.nodes[next].role != Role::Map) continue;
      for (const Read& earlier : graph_.nodes[next].reads) {
        if (earlier.access == Access::Own) nodes.push_back(earlier.producer);
      }
    }
    return false;
  }

  // Positions in a piece are in range. What else the operation takes has to be there for the SPEC.
  void find_piece_reads(Node& node) {
    expand(node, node.piece->data, Access::Foreign);
    expand(node, node.piece->before, Access::Own);
    expand(node, node.piece->index, Access::Length);
    for (const ValueId segdes : {node.piece->from, node.piece->into}) {
      expand(node, segdes, shapes_.one_segment(segdes) ? Access::Length : Access::Descriptor);
    }
  }

  // Reading a computed position of a vector checks it; computing what a literal or a generator has
  // there would not.
  void fetch(Node& node, ValueId value) {
    const NodeIndex made = graph_.producer(value);
    if (made != kOutside && is_view(graph_.nodes[made])) {
      read_view(node, graph_.nodes[made]);
      return;
    }
    if (made != kOutside) keep_with_operands(made);
    add_read(node, {value, made, Access::Foreign});
  }

  // Even where it has to exist as a value it is read where its parts lie: the writer knows no other
  // way, and a node may be kept after its readers have been looked at.
  static bool is_view(const Node& node) { return node.view && node.view->kind != View::Kind::Half; }

  // Its elements, and what else the operations take: that has to be there for the SPEC.
  void read_view(Node& node, const Node& view) {
    const ValueList& operands = view.statement->operands;
    if (view.view->kind == View::Kind::Slice) {
      fetch(node, operands[0]);
      expand(node, operands[1], Access::Foreign);
      for (const std::size_t k : {2, 3}) expand(node, operands[k], Access::Length);
      return;
    }
    for (const ValueId part : {view.view->first, view.view->second}) {
      if (shapes_.is_scalar(part)) {
        expand(node, part, Access::Zero);
      } else {
        fetch(node, part);
      }
    }
    for (const std::size_t k : {1, 3, 4}) expand(node, operands[k], Access::Length);
    const NodeIndex half = graph_.producer(operands[2]);
    if (half == kOutside) return;
    for (const std::size_t k : {1, 2, 3, 4}) {
      expand(node, graph_.nodes[half].statement->operands[k], Access::Length);
    }
  }

  // The kept node comes before its reader, whose own pass over reads may be done already.
  void keep_with_operands(NodeIndex index) {
    Node& node = graph_.nodes[index];
    if (node.kept || (node.role != Role::Literal && node.role != Role::Generator)) return;
    node.kept = true;
    node.reads.clear();
    find_reads(node);
  }

  // Positions that are read through generators are in range.
  void expand(Node& node, ValueId value, Access access, bool size = false) {
    const NodeIndex made = graph_.producer(value);
    if (made != kOutside) {
      Node& source = graph_.nodes[made];
      if (source.role == Role::Literal) return;
      if (is_view(source)) return read_view(node, source);
      const bool in_order = access != Access::Foreign && access != Access::Segment;
      if (source.role == Role::Generator && (in_order || !source.by_segment)) {
        const std::vector<Access> how = accesses(*source.statement, shapes_);
        const bool described = size || source.statement->op == Op::MakeSegdes;
        for (std::size_t i = 0; i < how.size(); ++i) {
          expand(node, source.statement->operands[i], through(access, how[i]), described);
        }
        return;
      }
      keep_with_operands(made);
    }
    add_read(node, {value, made, access, size});
  }

  static void add_read(Node& node, const Read& read) {
    auto same = [&](const Read& other) {
      return other.value == read.value && other.access == read.access && other.size == read.size;
    };
    if (std::none_of(node.reads.begin(), node.reads.end(), same)) node.reads.push_back(read);
  }

  // How a generator's operand is read when the generator is read like `outer`.
  static Access through(Access outer, Access inner) {
    if (inner != Access::Own && inner != Access::Segment) return inner;
    switch (outer) {
      case Access::Own:
        return inner;
      case Access::Zero:
        return Access::Zero;
      case Access::Length:
      case Access::Descriptor:
        return inner == Access::Segment ? Access::Foreign : outer;
      default:
        return Access::Foreign;
    }
  }

  std::span<const Statement> statements_;
  const Module& module_;
  const Function& function_;
  Shapes& shapes_;
  const Renaming names_{0};  // values have their own names
  const std::vector<std::uint32_t>& outside_uses_;
  const std::vector<bool>& native_;
  const std::vector<bool>& assumed_;
  const std::vector<std::optional<Piece>>& pieces_;
  const std::vector<std::optional<View>>& views_;
  RegionGraph graph_;
  std::map<Linear, std::uint32_t> domains_;
};

}  // namespace

RegionGraph build_graph(std::span<const Statement> statements, const Module& module,
                        const Function& function, Shapes& shapes,
                        const std::vector<std::uint32_t>& outside_uses,
                        const std::vector<bool>& native, const std::vector<bool>& assumed,
                        const std::vector<std::optional<Piece>>& pieces,
                        const std::vector<std::optional<View>>& views) {
  return GraphBuilder(statements, module, function, shapes, outside_uses, native, assumed, pieces,
                      views)
      .build();
}

void keep_fetches_apart(RegionGraph& graph, const std::vector<bool>& survives) {
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    Node& scatter = graph.nodes[i];
    if (!scatter.target || *scatter.target == scatter.domain) continue;
    const Statement& statement = *scatter.statement;
    const ValueId into =
        statement.operands[static_cast<std::size_t>(default_operand(statement.op))];
    const auto reads = [&](const Node& node) {
      return std::any_of(node.reads.begin(), node.reads.end(),
                         [&](const Read& read) { return read.value == into; });
    };
    const auto fetches = [&](const Node& node) {
      return std::any_of(node.reads.begin(), node.reads.end(), [&](const Read& read) {
        return read.value == into &&
               (read.access == Access::Foreign || read.access == Access::Segment);
      });
    };
    const auto behind = graph.nodes.begin() + i + 1;
    if (survives[into] || std::any_of(behind, graph.nodes.end(), reads)) continue;
    for (NodeIndex k = 0; k < i; ++k) {
      if (graph.nodes[k].in_kernel() && fetches(graph.nodes[k])) scatter.apart.push_back(k);
    }
  }
}

std::vector<std::vector<NodeIndex>> readers_of(const RegionGraph& graph) {
  std::vector<std::vector<NodeIndex>> readers(graph.nodes.size());
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (!graph.nodes[i].scheduled()) continue;
    for (const Read& read : graph.nodes[i].reads) {
      if (read.producer != kOutside) readers[read.producer].push_back(i);
    }
  }
  return readers;
}

std::set<NodeIndex> with_generators(const RegionGraph& graph, std::span<const NodeIndex> members) {
  std::set<NodeIndex> found;
  std::vector<NodeIndex> open(members.begin(), members.end());
  while (!open.empty()) {
    const NodeIndex index = open.back();
    open.pop_back();
    if (!found.insert(index).second) continue;
    for (ValueId operand : graph.nodes[index].statement->operands) {
      const NodeIndex made = graph.producer(operand);
      if (made == kOutside) continue;
      const Role role = graph.nodes[made].role;
      if (role == Role::Literal || role == Role::Generator) open.push_back(made);
    }
  }
  return found;
}

}  // namespace fcode
