#include "cvl-cpu/kernel_panel_plan.hpp"

#include <algorithm>

#include "cvl-cpu/kernel_pass_builder.hpp"
#include "cvl-cpu/kernel_regular.hpp"

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;
using vcode::Op;
using vcode::Type;

class PanelPlanner {
 public:
  explicit PanelPlanner(const PlanPass& pass) : pass_(pass), depends_on_(pass.nodes.size()) {}

  std::optional<PanelPlan> run() {
    if (pass_.once || pass_.has_scan) return std::nullopt;
    for (const PlanSink& sink : pass_.sinks) {
      if (!is_fold(sink)) return std::nullopt;
    }
    if (plan_.segdes == kNone) return std::nullopt;
    bool fetches = false;
    for (NodeId k = 0; k < pass_.nodes.size(); ++k) {
      const std::optional<unsigned> found = find_dependence(k);
      if (!found) return std::nullopt;
      depends_on_[k] = *found;
      fetches |= pass_.nodes[k].kind == Kind::Gather && *found == kBoth;
    }
    const auto is_of_element = [&](const PlanSink& sink) {
      return depends_on_[sink.values[0]] == kBoth;
    };
    if (!fetches || !std::all_of(pass_.sinks.begin(), pass_.sinks.end(), is_of_element)) {
      return std::nullopt;
    }
    for (Part* part : {&rows_, &columns_, &elements_}) begin(*part);
    plan_.states = PanelPlan::kRowLength + 1;
    for (const PlanSink& sink : pass_.sinks) {
      const NodeId value = moved(elements_, sink.values[0]);
      const Type type = plan_.elements.nodes[value].type;
      const NodeId total = next_state(type);
      const NodeId result = elements_.made.combined(sink.op, type, total, value);
      plan_.folds.push_back({&sink, total, result});
      elements_.made.store(result);
    }
    return std::move(plan_);
  }

 private:
  static constexpr unsigned kNeither = 0, kRow = 1, kColumn = 2, kBoth = 3;

  /// One of the passes that the pass is divided into.
  struct Part {
    Part(PlanPass& of, unsigned bits) : pass(of), made(of), depends_on(bits) {}

    PlanPass& pass;
    PassBuilder made;
    unsigned depends_on;
    std::vector<NodeId> moved;
    NodeId place = kNone;  // the number of the row or column
    NodeId row_length = kNone;
  };

  bool is_fold(const PlanSink& sink) {
    if (sink.kind != PlanSink::Kind::Reduce || sink.under == kNone) return false;
    if (pass_.nodes[sink.values[0]].type == Type::Bool) return false;
    if (plan_.segdes == kNone) plan_.segdes = sink.under;
    return plan_.segdes == sink.under;
  }

  /// Nothing: such a node has no place in a panel.
  std::optional<unsigned> find_dependence(NodeId number) {
    const PlanNode& node = pass_.nodes[number];
    switch (node.kind) {
      case Kind::Position:
        return kBoth;
      case Kind::Apply:
        if (is_of_row(row_length_of_number(pass_, number))) return kRow;
        if (is_of_row(row_length_of_offset(pass_, number))) return kColumn;
        return of_arguments(node);
      case Kind::SegmentNumber:
        return node.id == plan_.segdes ? std::optional(kRow) : std::nullopt;
      case Kind::SegmentOffset:
        return node.id == plan_.segdes ? std::optional(kColumn) : std::nullopt;
      case Kind::SegmentLength:
        return is_own(node) ? kNeither : of_arguments(node);
      case Kind::Constant:
      case Kind::Size:
      case Kind::Gather:
      case Kind::SegmentStart:
        return of_arguments(node);
      default:
        return std::nullopt;
    }
  }
  unsigned of_arguments(const PlanNode& node) const {
    unsigned all = node.guard == kNone ? kNeither : depends_on_[node.guard];
    for (const NodeId arg : node.args) {
      if (arg != kNone) all |= depends_on_[arg];
    }
    return all;
  }
  /// Does the pass divide by so many elements, to find out where in a row it is?
  bool is_of_row(std::int64_t length) {
    if (length == 0) return false;
    if (plan_.row_length == 0) plan_.row_length = length;
    return plan_.row_length == length;
  }

  void begin(Part& part) const {
    part.moved.assign(pass_.nodes.size(), kNone);
    part.row_length = part.made.state(PanelPlan::kRowLength, Type::Int);
    if (part.depends_on != kBoth) part.place = part.made.position();
  }
  /// Of the elements.
  NodeId next_state(Type type) { return elements_.made.state(plan_.states++, type); }
  static NodeId apply(Part& part, Op op, NodeId first, NodeId second) {
    return part.made.apply(op, Type::Int, {first, second});
  }

  /// A node of the pass as one of a part.
  NodeId moved(Part& part, NodeId number) {
    if (part.moved[number] == kNone) part.moved[number] = made(part, number);
    return part.moved[number];
  }
  NodeId made(Part& part, NodeId number) {
    const unsigned depends_on = depends_on_[number];
    if (part.depends_on == kBoth && depends_on == kRow) {
      return shared(rows_, plan_.of_rows, moved(rows_, number));
    }
    if (part.depends_on == kBoth && depends_on == kColumn) {
      return shared(columns_, plan_.of_columns, moved(columns_, number));
    }
    PlanNode node = pass_.nodes[number];
    switch (node.kind) {
      case Kind::Position:
        return apply(part, Op::Add, shared(rows_, plan_.of_rows, row_start()),
                     shared(columns_, plan_.of_columns, columns_.place));
      case Kind::Gather:
        if (depends_on == kBoth && node.guard == kNone) {
          const Sum place = sum_of(node.args[0]);
          if (place.separable) return fetched(node, place);
        }
        break;
      case Kind::SegmentNumber:
      case Kind::SegmentOffset:
        return part.place;
      case Kind::Apply:
        if (is_of_row(row_length_of_number(pass_, number)) ||
            is_of_row(row_length_of_offset(pass_, number))) {
          return part.place;
        }
        break;
      case Kind::SegmentLength:
        if (is_own(node)) return part.row_length;
        break;
      case Kind::SegmentStart:
        if (is_own(node)) return apply(part, Op::Multiply, part.place, part.row_length);
        break;
      default:
        break;
    }
    for (NodeId& arg : node.args) {
      if (arg != kNone) arg = moved(part, arg);
    }
    if (node.guard != kNone) node.guard = moved(part, node.guard);
    return part.made.add(node);
  }
  bool is_own(const PlanNode& node) const {
    const PlanNode& segment = pass_.nodes[node.args[0]];
    return node.id == plan_.segdes && !node.traps && segment.kind == Kind::SegmentNumber;
  }
  NodeId row_start() {
    if (row_start_ == kNone) {
      row_start_ = apply(rows_, Op::Multiply, rows_.place, rows_.row_length);
    }
    return row_start_;
  }

  /// An INT as the sum of one of the row and one of the column, modulo the range of INT.
  struct Sum {
    bool separable = true;
    NodeId of_row = kNone, of_column = kNone;
  };
  Sum sum_of(NodeId number) {
    const PlanNode& node = pass_.nodes[number];
    if (depends_on_[number] == kColumn) return {true, kNone, moved(columns_, number)};
    if (depends_on_[number] != kBoth) return {true, moved(rows_, number), kNone};
    if (node.kind == Kind::Position) return {true, row_start(), columns_.place};
    const bool subtracts = node.applies(Op::Subtract);
    if (node.written != Type::Int || !(subtracts || node.applies(Op::Add))) return {false};
    const Sum first = sum_of(node.args[0]), second = sum_of(node.args[1]);
    const Op op = subtracts ? Op::Subtract : Op::Add;
    return {first.separable && second.separable, combined(rows_, op, first.of_row, second.of_row),
            combined(columns_, op, first.of_column, second.of_column)};
  }
  static NodeId combined(Part& part, Op op, NodeId first, NodeId second) {
    if (second == kNone) return first;
    if (first != kNone) return apply(part, op, first, second);
    return op == Op::Add ? second : apply(part, op, part.made.number(0), second);
  }
  NodeId fetched(const PlanNode& node, const Sum& place) {
    for (const PanelPlan::Fetched& known : plan_.fetched) {
      const bool same_place = known.of_row == place.of_row && known.of_column == place.of_column;
      if (same_place && known.array == node.id) return known.state;
    }
    rows_.made.store(place.of_row);
    columns_.made.store(place.of_column);
    plan_.fetched.push_back({node.id, place.of_row, place.of_column, next_state(node.type)});
    return plan_.fetched.back().state;
  }
  NodeId shared(Part& from, std::vector<PanelPlan::Shared>& values, NodeId value) {
    for (const PanelPlan::Shared& known : values) {
      if (known.value == value) return known.state;
    }
    from.made.store(value);
    values.push_back({value, next_state(from.pass.nodes[value].type)});
    return values.back().state;
  }

  const PlanPass& pass_;
  PanelPlan plan_;
  std::vector<unsigned> depends_on_;
  Part rows_{plan_.rows, kRow};
  Part columns_{plan_.columns, kColumn};
  Part elements_{plan_.elements, kBoth};
  NodeId row_start_ = kNone;
};

}  // namespace

std::optional<PanelPlan> plan_panels(const PlanPass& pass) {
  return PanelPlanner(pass).run();
}

}  // namespace cvl::cpu
