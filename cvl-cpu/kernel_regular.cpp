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
constexpr std::int64_t kTogether = 64;  // rows or segments

bool is_int_operation(const PlanNode& node, Op op) {
  return node.applies(op) && node.type == Type::Int && node.written == Type::Int;
}

/// Does a node compare INTs, or combine two such conditions?
bool is_condition(const PlanNode& node) {
  return orders_ints(node) ||
         ((node.applies(Op::And) || node.applies(Op::Or)) && node.written == Type::Bool);
}

class RowNumberReader {
 public:
  RowNumberReader(const PlanPass& pass, std::int64_t row_length)
      : pass_(pass), row_length_(row_length) {}

  bool read(NodeId number) {
    const PlanNode& node = pass_.nodes[number];
    if (node.type == Type::Float || result.items.size() >= kMostItems) return false;
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
    if (is_int_operation(node, Op::Select)) {
      Item item;
      item.kind = Item::Kind::Choose;
      return read_argument(node.args[0], item.args[0]) &&
             read_argument(node.args[1], item.args[1]) &&
             read_argument(node.args[2], item.args[2]) && add(item);
    }
    for (const Op op : {Op::Add, Op::Subtract, Op::Multiply, Op::Divide, Op::Modulo}) {
      if (is_int_operation(node, op)) return read_operation(node);
    }
    return is_condition(node) && read_operation(node);
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
void apply(Op op, const std::int64_t* a, const std::int64_t* b, std::int64_t count,
           std::int64_t* out) {
  const auto each = [&]<class Functor>(Functor) {
    for (std::int64_t k = 0; k < count; ++k) {
      out[k] = Functor::apply(static_cast<I>(a[k]), static_cast<I>(b[k]));
    }
  };
  switch (op) {
    case Op::Add:
      return each(ops::Add());
    case Op::Subtract:
      return each(ops::Subtract());
    case Op::Multiply:
      return each(ops::Multiply());
    case Op::Divide:
      return each(ops::Divide());
    case Op::Modulo:
      return each(ops::Modulo());
    case Op::Less:
      return each(ops::Less());
    case Op::LessEqual:
      return each(ops::LessEqual());
    case Op::Greater:
      return each(ops::Greater());
    case Op::GreaterEqual:
      return each(ops::GreaterEqual());
    case Op::Equal:
      return each(ops::Equal());
    case Op::And:
      return each(ops::And());
    default:
      return each(ops::Or());
  }
}

/// first, first + step, … for the rows or segments in turn.
struct Ascending {
  std::int64_t first = 0, step = 0;
};

/// Do INTs of 64 bits, or of 32, hold so many of the numbers?
bool fits_int(const Ascending& numbers, std::int64_t count, bool wide) {
  std::int64_t last = 0;
  if (__builtin_mul_overflow(numbers.step, count, &last) ||
      __builtin_add_overflow(numbers.first, last, &last)) {
    return false;
  }
  const auto is_word = [](std::int64_t number) {
    return number == static_cast<std::int32_t>(number);
  };
  return wide || (is_word(numbers.first) && is_word(last));
}

/// What two of these give, if that ascends and INTs hold it.
std::optional<Ascending> applied(Op op, const Ascending& a, const Ascending& b, std::int64_t count,
                                 bool wide) {
  Ascending result;
  bool fits = true;
  switch (op) {
    case Op::Add:
      fits = !__builtin_add_overflow(a.first, b.first, &result.first) &&
             !__builtin_add_overflow(a.step, b.step, &result.step);
      break;
    case Op::Subtract:
      fits = !__builtin_sub_overflow(a.first, b.first, &result.first) &&
             !__builtin_sub_overflow(a.step, b.step, &result.step);
      break;
    case Op::Multiply: {
      const Ascending& factor = a.step == 0 ? a : b;
      const Ascending& other = a.step == 0 ? b : a;
      fits = factor.step == 0 &&
             !__builtin_mul_overflow(factor.first, other.first, &result.first) &&
             !__builtin_mul_overflow(factor.first, other.step, &result.step);
      break;
    }
    case Op::Divide:
    case Op::Modulo:
      fits = b.step == 0 && b.first > 0 && a.first >= 0 && a.step >= 0 && a.step % b.first == 0;
      if (!fits) break;
      result = op == Op::Divide ? Ascending{a.first / b.first, a.step / b.first}
                                : Ascending{a.first % b.first, 0};
      break;
    default:
      fits = false;
  }
  if (!fits || !fits_int(result, count, wide)) return std::nullopt;
  return result;
}

/// Quotients, or what remains, of ascending numbers, without a division for each.
/// REQUIRES: 0 <= first, 0 <= step <= divisor
void divide_ascending(Op op, const Ascending& numbers, std::int64_t divisor, std::int64_t count,
                      std::int64_t* out) {
  std::int64_t quotient = numbers.first / divisor, rest = numbers.first % divisor;
  for (std::int64_t k = 0; k < count; ++k) {
    out[k] = op == Op::Divide ? quotient : rest;
    rest += numbers.step;
    const std::int64_t beyond = rest >= divisor ? 1 : 0;
    rest -= beyond * divisor;
    quotient += beyond;
  }
}

std::int64_t element(const Vector& vector, std::int64_t at, bool wide) {
  if (vector.form == Form::Progression) {
    const std::int64_t number = ops::Add::apply(
        vector.progression_start(), ops::Multiply::apply(vector.progression_step(), at));
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

bool orders_ints(const PlanNode& node) {
  const auto applies = [&](Op op) { return node.applies(op); };
  return node.written == Type::Int &&
         (applies(Op::Less) || applies(Op::LessEqual) || applies(Op::Greater) ||
          applies(Op::GreaterEqual) || applies(Op::Equal));
}

bool NestRows::take(SegdesId id) {
  if (segdes == kNone) segdes = id;
  return segdes == id;
}

bool NestRows::take_length(std::int64_t length) {
  if (length == 0) return false;
  if (row_length == 0) row_length = length;
  return row_length == length;
}

bool NestRows::is_number(const PlanPass& pass, NodeId node) {
  return take_length(row_length_of_number(pass, node));
}

bool NestRows::is_offset(const PlanPass& pass, NodeId node) {
  return take_length(row_length_of_offset(pass, node));
}

bool NestRows::describe(const PlanPass& pass, const PlanNode& node) const {
  const PlanNode& segment = pass.nodes[node.args[0]];
  return node.id == segdes && !node.traps && segment.kind == Kind::SegmentNumber &&
         segment.id == segdes;
}

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

bool RowNumber::evaluate(std::int64_t first, const std::int64_t* starts, std::int64_t count,
                         bool wide, std::int64_t* out) const {
  if (count == 1) return evaluate_one(segdes == kNone ? starts[0] : first, wide, *out);
  for (std::int64_t k = 0; k < count; k += kTogether) {
    const std::int64_t some = std::min(kTogether, count - k);
    if (!evaluate_some(first + k, starts + k, some, wide, out + k)) return false;
  }
  return true;
}

// Of one row nothing has to be told about others.
bool RowNumber::evaluate_one(std::int64_t place, bool wide, std::int64_t& out) const {
  std::int64_t numbers[kMostItems];
  for (std::uint32_t k = 0; k < items.size(); ++k) {
    const Item& item = items[k];
    const std::int64_t *x = &numbers[item.args[0]], *y = &numbers[item.args[1]];
    switch (item.kind) {
      case Item::Kind::Place:
        numbers[k] = place;
        break;
      case Item::Kind::Number:
        numbers[k] = item.number;
        break;
      case Item::Kind::Choose:
        numbers[k] = *x != 0 ? *y : numbers[item.args[2]];
        break;
      case Item::Kind::Element:
        if (*x < 0 || *x >= item.vector->length) return false;
        numbers[k] = element(*item.vector, *x, wide);
        break;
      case Item::Kind::Apply:
        if (wide) {
          apply<std::int64_t>(item.op, x, y, 1, &numbers[k]);
        } else {
          apply<std::int32_t>(item.op, x, y, 1, &numbers[k]);
        }
    }
  }
  out = numbers[items.size() - 1];
  return true;
}

bool RowNumber::evaluate_some(std::int64_t first, const std::int64_t* starts, std::int64_t count,
                              bool wide, std::int64_t* out) const {
  // An item is put down as ascending numbers, or else one by one.
  std::optional<Ascending> known[kMostItems];
  std::int64_t room[kMostItems][kTogether];
  const auto numbers = [&](std::uint32_t item) {
    if (known[item]) {
      for (std::int64_t s = 0; s < count; ++s) {
        room[item][s] = known[item]->first + s * known[item]->step;
      }
    }
    return room[item];
  };
  for (std::uint32_t k = 0; k < items.size(); ++k) {
    const Item& item = items[k];
    if (item.kind == Item::Kind::Place) {
      const std::int64_t distance = count == 1 ? 0 : starts[1] - starts[0];
      known[k] = segdes == kNone ? Ascending{starts[0], distance} : Ascending{first, 1};
      // GCOVR_EXCL_START: vectors of 2^31 elements
      if (!fits_int(*known[k], count, wide)) {
        numbers(k);
        known[k].reset();
      }
      // GCOVR_EXCL_STOP
    } else if (item.kind == Item::Kind::Number) {
      known[k] = Ascending{item.number, 0};
    } else if (item.kind == Item::Kind::Choose) {
      const std::int64_t* chosen = numbers(item.args[0]);
      const std::int64_t *then = numbers(item.args[1]), *otherwise = numbers(item.args[2]);
      for (std::int64_t s = 0; s < count; ++s) room[k][s] = chosen[s] != 0 ? then[s] : otherwise[s];
    } else if (item.kind == Item::Kind::Element) {
      const std::int64_t* indices = numbers(item.args[0]);
      for (std::int64_t s = 0; s < count; ++s) {
        if (indices[s] < 0 || indices[s] >= item.vector->length) return false;
        room[k][s] = element(*item.vector, indices[s], wide);
      }
    } else {
      const auto &a = known[item.args[0]], &b = known[item.args[1]];
      if (a && b) known[k] = applied(item.op, *a, *b, count, wide);
      if (known[k]) continue;
      const bool divides = item.op == Op::Divide || item.op == Op::Modulo;
      if (divides && a && b && b->step == 0 && a->first >= 0 && a->step >= 0 &&
          a->step <= b->first && b->first > 0) {
        divide_ascending(item.op, *a, b->first, count, room[k]);
      } else if (wide) {
        apply<std::int64_t>(item.op, numbers(item.args[0]), numbers(item.args[1]), count, room[k]);
      } else {
        apply<std::int32_t>(item.op, numbers(item.args[0]), numbers(item.args[1]), count, room[k]);
      }
    }
  }
  std::copy_n(numbers(static_cast<std::uint32_t>(items.size() - 1)), count, out);
  return true;
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
