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
  explicit PanelPlanner(const PlanPass& pass)
      : pass_(pass), depends_on_(pass.nodes.size(), kUnknown) {}

  std::optional<PanelPlan> run() {
    if (pass_.once || pass_.has_scan) return std::nullopt;
    std::vector<const PlanSink*> taken;
    for (const PlanSink& sink : pass_.sinks) {
      takes(sink) ? taken.push_back(&sink) : plan_.rest.sinks.push_back(sink);
    }
    const bool has_rows = plan_.nest.segdes != kNone || plan_.nest.row_length != 0;
    if (taken.empty() || !has_rows) return std::nullopt;
    plan_.rest.length = pass_.length;
    plan_.rest.nodes = pass_.nodes;
    for (Part* part : {&rows_, &columns_, &elements_}) begin(*part);
    plan_.states = PanelPlan::kRowLength + 1;
    for (const PlanSink* sink : taken) {
      const NodeId value = moved(elements_, sink->values[0]);
      sink->kind == PlanSink::Kind::Store ? add_store(*sink, value) : add_fold(*sink, value);
    }
    return std::move(plan_);
  }

 private:
  /// What a node depends on, as bits: the row, the column, what is fetched by both, and what has no
  /// place in a panel.
  using Dependence = unsigned;
  static constexpr Dependence kNeither = 0, kRow = 1, kColumn = 2, kBoth = 3, kFetched = 4,
                              kNoPlace = 8, kUnknown = 16;

  /// One of the passes that the pass is divided into.
  struct Part {
    Part(PlanPass& of, Dependence bits) : pass(of), made(of), depends_on(bits) {}

    PlanPass& pass;
    PassBuilder made;
    Dependence depends_on;
    std::vector<NodeId> moved;
    NodeId place = kNone;  // the number of the row or column
    NodeId row_length = kNone;
  };

  void add_fold(const PlanSink& sink, NodeId value) {
    const Type type = plan_.elements.nodes[value].type;
    const NodeId total = next_state(type);
    const NodeId result = elements_.made.combined(sink.op, type, total, value);
    plan_.folds.push_back({&sink, total, result});
    elements_.made.store(result);
  }
  void add_store(const PlanSink& sink, NodeId value) {
    plan_.stores.push_back({&sink, value});
    elements_.made.store(value);
  }

  /// Does what goes there depend on rows and columns of the same descriptor as the others, and is
  /// some of it fetched by both?
  bool takes(const PlanSink& sink) {
    const bool folds = sink.kind == PlanSink::Kind::Reduce && sink.under != kNone &&
                       pass_.nodes[sink.values[0]].type != Type::Bool;
    const bool stores = sink.kind == PlanSink::Kind::Store && sink.arrays[0] != kNone;
    if (!folds && !stores) return false;
    const NestRows nest = plan_.nest;
    const std::vector<Dependence> known = depends_on_;
    const bool fits = !folds || plan_.nest.take(sink.under);
    if (fits && find_dependence(sink.values[0]) == (kBoth | kFetched)) return true;
    plan_.nest = nest;
    depends_on_ = known;
    return false;
  }

  Dependence find_dependence(NodeId number) {
    if (depends_on_[number] == kUnknown) depends_on_[number] = dependence_of(number);
    return depends_on_[number];
  }
  Dependence dependence_of(NodeId number) {
    const PlanNode& node = pass_.nodes[number];
    switch (node.kind) {
      case Kind::Position:
        return kBoth;
      case Kind::Apply:
        if (plan_.nest.is_number(pass_, number)) return kRow;
        if (plan_.nest.is_offset(pass_, number)) return kColumn;
        return of_arguments(node);
      case Kind::SegmentNumber:
        return plan_.nest.take(node.id) ? kRow : kNoPlace;
      case Kind::SegmentOffset:
        return plan_.nest.take(node.id) ? kColumn : kNoPlace;
      case Kind::SegmentLength:
        return plan_.nest.describe(pass_, node) ? kNeither : of_arguments(node);
      case Kind::Gather: {
        const Dependence place = of_arguments(node);
        return (place & kBoth) == kBoth ? place | kFetched : place;
      }
      case Kind::Constant:
      case Kind::Size:
      case Kind::SegmentStart:
        return of_arguments(node);
      default:
        return kNoPlace;
    }
  }
  Dependence of_arguments(const PlanNode& node) {
    Dependence all = node.guard == kNone ? kNeither : find_dependence(node.guard);
    for (const NodeId arg : node.args) {
      if (arg != kNone) all |= find_dependence(arg);
    }
    return all;
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
    const Dependence depends_on = depends_on_[number] & kBoth;
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
        if (plan_.nest.is_number(pass_, number) || plan_.nest.is_offset(pass_, number)) {
          return part.place;
        }
        break;
      case Kind::SegmentLength:
        if (plan_.nest.describe(pass_, node)) return part.row_length;
        break;
      case Kind::SegmentStart:
        if (plan_.nest.describe(pass_, node))
          return apply(part, Op::Multiply, part.place, part.row_length);
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
    const Dependence depends_on = depends_on_[number] & kBoth;
    if (depends_on == kColumn) return {true, kNone, moved(columns_, number)};
    if (depends_on != kBoth) return {true, moved(rows_, number), kNone};
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
  std::vector<Dependence> depends_on_;  // by node
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
