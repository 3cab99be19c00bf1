#include "cvl-cpu/kernel_regular.hpp"

#include <algorithm>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;
using Item = RowNumber::Item;
using vcode::Op;

constexpr std::size_t kMostItems = 24;

bool is_int_operation(const PlanNode& node, Op op) {
  return node.applies(op) && node.type == Type::Int && node.written == Type::Int;
}

class RowNumberReader {
 public:
  RowNumberReader(const PlanPass& pass, std::int64_t row_length)
      : pass_(pass), row_length_(row_length) {}

  bool read(NodeId number) {
    const PlanNode& node = pass_.nodes[number];
    if (node.type != Type::Int || result.items.size() >= kMostItems) return false;
    if (node.uniform) {
      Item item;
      item.node = number;
      return add(item);
    }
    if (node.kind == Kind::Gather) {
      Item item;
      item.kind = Item::Kind::Element;
      item.node = number;
      return node.guard == kNone && read_argument(node.args[0], item.args[0]) && add(item);
    }
    if (node.kind == Kind::SegmentNumber && row_length_ == 0) {
      if (result.segdes != kNone && result.segdes != node.id) return false;
      result.segdes = node.id;
      return add_place();
    }
    for (const Op op : {Op::Add, Op::Subtract, Op::Multiply, Op::Divide, Op::Modulo}) {
      if (is_int_operation(node, op)) return read_operation(node);
    }
    return false;
  }

  RowNumber result;

 private:
  bool add(const Item& item) {
    result.items.push_back(item);
    return true;
  }
  bool add_place() {
    Item place;
    place.kind = Item::Kind::Place;
    return add(place);
  }
  bool read_argument(NodeId number, std::uint32_t& place) {
    if (!read(number)) return false;
    place = static_cast<std::uint32_t>(result.items.size() - 1);
    return true;
  }
  bool read_operation(const PlanNode& node) {
    Item item;
    item.kind = Item::Kind::Apply;
    item.op = node.op;
    if (node.traps) return false;
    if (is_row_of_position(node)) {
      add_place();
      item.args[0] = static_cast<std::uint32_t>(result.items.size() - 1);
    } else if (!read_argument(node.args[0], item.args[0])) {
      return false;
    }
    return read_argument(node.args[1], item.args[1]) && add(item);
  }
  /// Is it the own position divided by a multiple of the length of a row?
  bool is_row_of_position(const PlanNode& node) const {
    const PlanNode& divisor = pass_.nodes[node.args[1]];
    return row_length_ != 0 && node.op == Op::Divide &&
           pass_.nodes[node.args[0]].kind == Kind::Position && divisor.kind == Kind::Constant &&
           divisor.int_value > 0 && divisor.int_value % row_length_ == 0;
  }

  const PlanPass& pass_;
  std::int64_t row_length_;
};

template <class I>
std::int64_t applied(Op op, std::int64_t first, std::int64_t second) {
  const auto a = static_cast<I>(first), b = static_cast<I>(second);
  switch (op) {
    case Op::Add:
      return ops::Add::apply(a, b);
    case Op::Subtract:
      return ops::Subtract::apply(a, b);
    case Op::Multiply:
      return ops::Multiply::apply(a, b);
    case Op::Divide:
      return ops::Divide::apply(a, b);
    default:
      return ops::Modulo::apply(a, b);
  }
}

std::int64_t element(const Vector& vector, std::int64_t at, bool wide) {
  if (vector.form == Form::Progression) {
    const std::int64_t number =
        applied<std::int64_t>(Op::Add, vector.progression_start(),
                              applied<std::int64_t>(Op::Multiply, vector.progression_step(), at));
    return wide ? number : static_cast<std::int32_t>(number);
  }
  const std::int64_t place = vector.form == Form::Constant ? 0 : at;
  return wide ? elements<std::int64_t>(vector)[place] : elements<std::int32_t>(vector)[place];
}

/// Of the own position combined by `op` with the length.
std::int64_t row_length(const PlanPass& pass, NodeId number, Op op) {
  const PlanNode& node = pass.nodes[number];
  if (!is_int_operation(node, op)) return 0;
  const PlanNode& divisor = pass.nodes[node.args[1]];
  const bool divides = pass.nodes[node.args[0]].kind == Kind::Position &&
                       divisor.kind == Kind::Constant && divisor.int_value > 0;
  return divides ? divisor.int_value : 0;
}

}  // namespace

std::int64_t row_length_of_offset(const PlanPass& pass, NodeId node) {
  return row_length(pass, node, Op::Modulo);
}

std::int64_t row_length_of_number(const PlanPass& pass, NodeId node) {
  return row_length(pass, node, Op::Divide);
}

std::int64_t row_length_of_read(const PlanPass& pass, NodeId number) {
  const PlanNode& node = pass.nodes[number];
  if (node.kind == Kind::Gather) {
    return node.guard == kNone ? row_length_of_number(pass, node.args[0]) : 0;
  }
  return std::max(row_length_of_number(pass, number), row_length_of_offset(pass, number));
}

std::optional<std::int64_t> RowNumber::at(std::int64_t segment, std::int64_t start,
                                          bool wide) const {
  std::int64_t values[kMostItems];
  std::size_t count = 0;
  for (const Item& item : items) {
    std::int64_t value = item.number;
    if (item.kind == Item::Kind::Place) {
      value = segdes == kNone ? start : segment;
    } else if (item.kind == Item::Kind::Apply) {
      const std::int64_t a = values[item.args[0]], b = values[item.args[1]];
      value = wide ? applied<std::int64_t>(item.op, a, b) : applied<std::int32_t>(item.op, a, b);
    } else if (item.kind == Item::Kind::Element) {
      const std::int64_t index = values[item.args[0]];
      if (index < 0 || index >= item.vector->length) return std::nullopt;
      value = element(*item.vector, index, wide);
    }
    values[count++] = value;
  }
  return values[count - 1];
}

std::optional<RowNumber> find_row_number(const PlanPass& pass, NodeId node,
                                         std::int64_t row_length) {
  RowNumberReader reader(pass, row_length);
  if (!reader.read(node) || reader.result.items.size() > kMostItems) return std::nullopt;
  return std::move(reader.result);
}

std::optional<RowNumber> find_segment_number(const PlanPass& pass, NodeId node) {
  std::optional<RowNumber> result = find_row_number(pass, node, 0);
  if (result && result->segdes == kNone) result.reset();
  return result;
}

}  // namespace cvl::cpu
