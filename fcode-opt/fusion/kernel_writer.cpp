#include "fcode-opt/fusion/kernel_writer.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "fcode-opt/checks.hpp"
#include "fcode-opt/fusion/element_writer.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

using vcode::Binding;
using vcode::Family;
using vcode::SizeId;
using vcode::Space;
using Bound = KernelTables::Bound;

class KernelWriter {
 public:
  KernelWriter(const RegionGraph& graph, const std::vector<NodeIndex>& members,
               const std::vector<bool>& wanted, const Function& function, const Module& module,
               Shapes& shapes)
      : graph_(graph),
        members_(members),
        wanted_(wanted),
        module_(module),
        shapes_(shapes),
        tables_(graph, function, module, shapes) {
    tables_.inside.assign(graph.nodes.size(), 0);
    for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
      const Role role = graph.nodes[i].role;
      tables_.inside[i] = role == Role::Literal || role == Role::Generator;
    }
    for (NodeIndex i : members) tables_.inside[i] = 1;
  }

  WrittenKernel run(const ValueList& checked) {
    count_readers();
    for (NodeIndex i : members_) write(i);
    for (ValueId value : checked) {
      if (graph_.is_segdes(value)) {
        tables_.segdes(value);
      } else {
        tables_.array(value);
      }
    }
    bind_sizes();
    name_totals();
    vcode::Kernel& kernel = tables_.kernel;
    kernel.bindings = std::move(bindings_);
    return {std::move(kernel), std::move(tables_.operands), std::move(results_)};
  }

 private:
  void count_readers() {
    readers_.assign(graph_.nodes.size(), 0);
    for (NodeIndex i : members_) {
      for (const Read& read : graph_.nodes[i].reads) {
        const bool own = read.access == Access::Own || read.access == Access::Descriptor;
        if (read.producer != kOutside && own) ++readers_[read.producer];
      }
    }
  }

  bool is_wanted(ValueId value) const { return wanted_[value]; }

  // An element of a map that one other node reads is written there.
  bool has_binding(const Node& node, NodeIndex index) const {
    if (node.role == Role::Map) {
      if (is_wanted(node.statement->results[0])) return true;
      return !node.scalar && readers_[index] > 1;
    }
    if (node.role == Role::Segments) {
      return is_wanted(node.statement->results[0]) || readers_[index] > 0;
    }
    return true;
  }

  void write(NodeIndex index) {
    const Node& node = graph_.nodes[index];
    if (!has_binding(node, index)) return;
    const Statement& statement = *node.statement;
    Binding binding;
    switch (node.role) {
      case Role::Map:
        binding.kind = node.scalar ? Binding::Kind::Once : Binding::Kind::Map;
        binding.elements = thunk(statement.results[0]);
        break;
      case Role::Random:
        binding.kind = Binding::Kind::Random;
        binding.elements = thunk(statement.operands[0]);
        break;
      case Role::Reduce:
        binding.kind = Binding::Kind::Reduce;
        binding.monoids = {{statement.op, statement.written}};
        binding.elements = thunk(statement.operands[0]);
        break;
      case Role::Scan:
        binding.kind = Binding::Kind::Scan;
        binding.monoids = {{vcode::reduction_of(statement.op), statement.written}};
        binding.elements = thunk(statement.operands[0]);
        break;
      case Role::Filter:
        binding.kind = Binding::Kind::Filter;
        binding.elements = thunk(statement.operands[0]);
        binding.flags = thunk(statement.operands[1]);
        break;
      case Role::Scatter:
        fill_scatter(node, binding);
        break;
      case Role::Segments:
        binding.kind = Binding::Kind::Segments;
        binding.elements = thunk(statement.operands[0]);
        break;
      default:
        binding.kind = Binding::Kind::Assert;
        binding.elements = thunk(statement.operands[0]);
        binding.message = module_.kernels[statement.index].bindings[0].message;
        binding.exits = true;
        break;
    }
    if (binding.kind != Binding::Kind::Once) binding.space = space_of(node);
    if (binding.kind == Binding::Kind::Scatter && is_identity(binding)) as_map(binding);
    name_results(node, binding);
    bindings_.push_back(std::move(binding));
  }

  vcode::Thunk thunk(ValueId value) {
    ElementWriter writer(tables_);
    writer.result(value);
    return writer.take();
  }

  void fill_scatter(const Node& node, Binding& binding) {
    const Statement& statement = *node.statement;
    binding.kind = Binding::Kind::Scatter;
    binding.elements = thunk(statement.operands[0]);
    binding.index = thunk(statement.operands[1]);
    const bool flagged = statement.op == Op::FPermute || statement.op == Op::DFPermute;
    if (flagged) binding.flags = thunk(statement.operands[2]);
    const ValueId target = statement.operands.back();
    binding.into = space(target, shapes_.of(target).sum, target, true);
    if (!node.target) return;
    const auto defaults = static_cast<std::size_t>(default_operand(statement.op));
    binding.defaults = thunk(statement.operands[defaults]);
  }

  // Does every element go where it is, and is there nothing else?
  bool is_identity(const Binding& binding) const {
    if (!binding.flags.results.empty() || !(*binding.into == binding.space)) return false;
    const vcode::ThunkNode& to = binding.index.nodes[binding.index.results[0]];
    if (!binding.space.segmented) return to.kind == vcode::ThunkNode::Kind::Index;
    return to.kind == vcode::ThunkNode::Kind::SegOff && to.id == binding.space.id &&
           binding.index.nodes[to.args[0]].kind == vcode::ThunkNode::Kind::Index;
  }

  static void as_map(Binding& binding) {
    binding.kind = Binding::Kind::Map;
    binding.index = {};
    binding.defaults = {};
    binding.into.reset();
  }

  // The space that a descriptor describes; flat, and as long as `from` tells, if it has one
  // segment.
  Space space(ValueId segdes, const Linear& length, ValueId from, bool described) {
    if (!shapes_.one_segment(segdes)) return {true, tables_.segdes(segdes)};
    return {false, tables_.wanted_size(length, from, described)};
  }

  Space space_of(const Node& node) {
    const Statement& statement = *node.statement;
    if (node.piece) {
      const Linear& length = shapes_.of(statement.results[0]).length;
      return {false, tables_.wanted_size(length, node.piece->before, false)};
    }
    const Linear length = domain_of(statement, shapes_);
    const bool is_map =
        statement.kind == Statement::Kind::Op &&
        (vcode::info(statement.op).family == Family::Elementwise ||
         vcode::info(statement.op).family == Family::Extract || statement.op == Op::BPermute);
    const int segments = is_map ? -1 : segments_operand(statement, shapes_);
    if (segments >= 0)
      return {true, tables_.segdes(statement.operands[static_cast<std::size_t>(segments)])};
    const ValueId from = statement.op == Op::BPermute || statement.op == Op::Extract
                             ? statement.operands[1]
                             : statement.operands[0];
    return {false, tables_.wanted_size(length, from, false)};
  }

  void name_results(const Node& node, Binding& binding) {
    const ValueList& values = node.statement->results;
    SizeId length = 0;  // of what FILTER keeps
    if (node.role == Role::Filter || node.role == Role::Segments) {
      const ValueId segdes = values.back();
      const Shape shape = shapes_.of(segdes);
      length = tables_.new_size(shape.sum, node.new_total);
      const vcode::SegdesId id = tables_.new_segdes(shape.length, length, 't');
      tables_.segments.emplace(segdes, id);
      binding.segdes.push_back(id);
    }
    if (node.role != Role::Segments && !values.empty()) {
      const Type type = *tables_.function.values[values[0]].type;
      const char letter = is_wanted(values[0]) ? 'y' : 'm';
      const vcode::ArrayId id = node.role == Role::Filter
                                    ? tables_.new_array(type, length, letter)
                                    : tables_.new_array(type, shapes_.of(values[0]).length, letter);
      tables_.arrays.emplace(values[0], id);
      binding.arrays.push_back(id);
    }
    for (ValueId value : values) {
      if (!is_wanted(value)) continue;
      const bool segdes = tables_.function.values[value].type == Type::Segdes;
      add_output(segdes, segdes ? binding.segdes[0] : binding.arrays[0], value);
    }
  }

  void add_output(bool segdes, std::uint32_t id, ValueId value) {
    tables_.kernel.outputs.push_back({segdes, id});
    results_.push_back(value);
  }

  // The data length of a descriptor that stays inside has no name in a kernel's text: one that is
  // used as a size has to be a result, whoever needs it.
  void name_totals() {
    std::set<SizeId> used;
    auto note = [&](const Space& space) {
      if (!space.segmented) used.insert(space.id);
    };
    for (const Binding& binding : bindings_) {
      if (vcode::has_space(binding)) note(binding.space);
      if (binding.into) note(*binding.into);
      for (const vcode::Thunk* thunk : vcode::thunks_of(binding)) {
        for (const vcode::ThunkNode& node : thunk->nodes) {
          if (node.kind == vcode::ThunkNode::Kind::Size) used.insert(node.id);
        }
      }
    }
    for (const vcode::KernelParameter& output : tables_.kernel.outputs) {
      if (!output.segdes) used.insert(tables_.kernel.arrays[output.id].length);
    }
    for (NodeIndex i : members_) {
      const ValueId value =
          graph_.nodes[i].role == Role::Segments ? graph_.nodes[i].statement->results[0] : kNoValue;
      if (value == kNoValue || is_wanted(value) || tables_.segments.count(value) == 0) continue;
      const vcode::SegdesId id = tables_.segments.at(value);
      if (used.count(tables_.kernel.segdes[id].total) != 0) add_output(true, id, value);
    }
  }

  // ---- sizes that no operand tells ----

  // Each is bound as early as can be: in front of all else, or behind the binding that makes what
  // its number is computed from. What a size needs itself comes before it.
  void bind_sizes() {
    std::vector<Binding> sizes;
    for (std::size_t k = 0; k < tables_.wanted.size(); ++k) {
      const KernelTables::SizeWanted want = tables_.wanted[k];
      if (tables_.bound(want.size) != Bound::Before) bind_size(want, sizes);
    }
    // What was needed for one size may be an operand that tells another.
    const auto is_told = [&](const Binding& binding) { return told_by_operand(binding.size); };
    sizes.erase(std::remove_if(sizes.begin(), sizes.end(), is_told), sizes.end());
    // How many bindings it takes until something is there: none where nothing is noted.
    std::map<SizeId, std::size_t> size_there;
    std::map<vcode::ArrayId, std::size_t> array_there;
    for (std::size_t k = 0; k < bindings_.size(); ++k) {
      for (const vcode::ArrayId id : bindings_[k].arrays) array_there[id] = k + 1;
      for (const vcode::SegdesId id : bindings_[k].segdes) {
        size_there[tables_.kernel.segdes[id].total] = k + 1;
      }
    }
    std::vector<std::vector<Binding>> before(bindings_.size() + 1);
    for (Binding& binding : sizes) {
      std::size_t at = 0;
      for (const vcode::ThunkNode& node : binding.elements.nodes) {
        if (node.kind == vcode::ThunkNode::Kind::Size) at = std::max(at, size_there[node.id]);
        if (node.kind == vcode::ThunkNode::Kind::Subscript) at = std::max(at, array_there[node.id]);
      }
      size_there[binding.size] = at;
      before[at].push_back(std::move(binding));
    }
    std::vector<Binding> all;
    for (std::size_t k = 0; k < before.size(); ++k) {
      std::move(before[k].begin(), before[k].end(), std::back_inserter(all));
      if (k < bindings_.size()) all.push_back(std::move(bindings_[k]));
    }
    bindings_ = std::move(all);
  }
  bool told_by_operand(SizeId size) const {
    const vcode::Kernel& kernel = tables_.kernel;
    return std::any_of(kernel.inputs.begin(), kernel.inputs.end(),
                       [&](const vcode::KernelParameter& input) {
                         if (!input.segdes) return kernel.arrays[input.id].length == size;
                         const vcode::KernelSegdes& segdes = kernel.segdes[input.id];
                         return segdes.count == size || segdes.total == size;
                       });
  }

  void bind_size(const KernelTables::SizeWanted& want, std::vector<Binding>& sizes) {
    ValueId from = want.from;
    bool described = want.described;
    while (true) {
      const NodeIndex made = graph_.producer(from);
      if (made == kOutside || !tables_.inside[made]) {
        if (described || *tables_.function.values[from].type == Type::Segdes) {
          tables_.segdes(from);
        } else {
          tables_.array(from);
        }
        return;
      }
      const Statement& statement = *graph_.nodes[made].statement;
      if (statement.op == Op::MakeSegdes) {
        if (described) {
          bind_to_value(want.size, statement.operands[0], sizes);
          return;
        }
        from = statement.operands[0];
        continue;
      }
      const vcode::LengthTerm term = *vcode::result_length(statement.op);
      from = statement.operands[term.operand];
      described = term.described;
    }
  }

  static bool is_size(const vcode::Thunk& thunk, SizeId size) {
    const vcode::ThunkNode& node = thunk.nodes[thunk.results[0]];
    return node.kind == vcode::ThunkNode::Kind::Size && node.id == size;
  }

  void bind_to_value(SizeId size, ValueId scalar, std::vector<Binding>& sizes) {
    const std::size_t before = tables_.wanted.size();
    Binding binding;
    binding.kind = Binding::Kind::Size;
    binding.size = size;
    ElementWriter writer(tables_);
    writer.result(scalar);
    binding.elements = writer.take();
    const std::vector<KernelTables::SizeWanted> needed(
        tables_.wanted.begin() + static_cast<std::ptrdiff_t>(before), tables_.wanted.end());
    const bool of_vector = is_size(binding.elements, size);  // LENGTH of one that has this length
    if (!of_vector) tables_.bind(size, Bound::Before);
    for (const KernelTables::SizeWanted& want : needed) {
      if (tables_.bound(want.size) != Bound::Before) bind_size(want, sizes);
    }
    if (!of_vector) sizes.push_back(std::move(binding));
  }

  const RegionGraph& graph_;
  const std::vector<NodeIndex>& members_;
  const std::vector<bool>& wanted_;
  const Module& module_;
  Shapes& shapes_;
  KernelTables tables_;
  std::vector<std::uint32_t> readers_;
  std::vector<Binding> bindings_;
  ValueList results_;
};

}  // namespace

WrittenKernel write_kernel(const RegionGraph& graph, const std::vector<NodeIndex>& members,
                           const std::vector<bool>& wanted, const ValueList& checked,
                           const Function& function, const Module& module, Shapes& shapes) {
  return KernelWriter(graph, members, wanted, function, module, shapes).run(checked);
}

}  // namespace fcode
