#include "fcode-opt/fusion/element_writer.hpp"

#include <string>

namespace fcode {

using vcode::ArrayId;
using vcode::Family;
using vcode::SegdesId;
using vcode::SizeId;

// ---- the kernel's tables ----

SizeId KernelTables::add_size(const Linear& known) {
  vcode::KernelSize size;
  if (known.is_number() && known.constant >= 0) {
    size.literal = known.constant;
  } else {
    size.name = new_name('n');
  }
  bound_.push_back(size.literal ? Bound::Before : Bound::No);
  kernel.sizes.push_back(std::move(size));
  return static_cast<SizeId>(kernel.sizes.size() - 1);
}

SizeId KernelTables::size(const Linear& length) {
  const Linear known = shapes.equations.normal(length);
  const auto [place, is_new] = sizes_.try_emplace(known);
  if (is_new) place->second = add_size(known);
  return place->second;
}

SizeId KernelTables::new_size(const Linear& length, bool only_one) {
  const Linear known = shapes.equations.normal(length);
  const SizeId id = add_size(shapes.equations.unknown());
  bind(id, Bound::Later);
  if (only_one) sizes_.try_emplace(known, id);
  return id;
}

std::string KernelTables::new_name(char letter) {
  return letter + std::to_string(numbers_[static_cast<unsigned char>(letter)]++);
}

ArrayId KernelTables::new_array(Type type, SizeId length, char letter) {
  kernel.arrays.push_back({new_name(letter), type, length});
  return static_cast<ArrayId>(kernel.arrays.size() - 1);
}

ArrayId KernelTables::new_array(Type type, const Linear& length, char letter) {
  return new_array(type, size(length), letter);
}

SegdesId KernelTables::new_segdes(const Linear& count, SizeId total, char letter) {
  const SizeId count_id = size(count);
  kernel.segdes.push_back({new_name(letter), count_id, total});
  return static_cast<SegdesId>(kernel.segdes.size() - 1);
}

ArrayId KernelTables::array(ValueId value) {
  if (const auto known = arrays.find(value); known != arrays.end()) return known->second;
  const ArrayId id = new_array(*function.values[value].type, shapes.of(value).length, 'x');
  arrays.emplace(value, id);
  kernel.inputs.push_back({false, id});
  operands.push_back(value);
  bind(kernel.arrays[id].length, Bound::Before);
  return id;
}

SegdesId KernelTables::segdes(ValueId value) {
  if (const auto known = segments.find(value); known != segments.end()) return known->second;
  const SegdesId id = new_segdes(shapes.of(value).length, size(shapes.of(value).sum), 's');
  segments.emplace(value, id);
  kernel.inputs.push_back({true, id});
  operands.push_back(value);
  bind(kernel.segdes[id].count, Bound::Before);
  bind(kernel.segdes[id].total, Bound::Before);
  return id;
}

SizeId KernelTables::wanted_size(const Linear& length, ValueId from, bool described) {
  const SizeId id = size(length);
  if (bound(id) == Bound::No) wanted.push_back({id, from, described});
  return id;
}

// ---- nodes ----

std::uint32_t ElementWriter::add(Node node) {
  thunk_.nodes.push_back(std::move(node));
  return static_cast<std::uint32_t>(thunk_.nodes.size() - 1);
}

std::uint32_t ElementWriter::number(std::int64_t value) {
  const auto key = std::pair(~ValueId{0} - 1, static_cast<std::uint32_t>(value));
  const bool kept = value >= 0 && value <= 1;
  if (const auto known = known_.find(key); kept && known != known_.end()) return known->second;
  Node node;
  node.int_value = value;
  const std::uint32_t id = add(std::move(node));
  if (kept) known_.emplace(key, id);
  return id;
}

std::uint32_t ElementWriter::index() {
  const auto key = std::pair(~ValueId{0}, 0u);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  Node node;
  node.kind = Node::Kind::Index;
  const std::uint32_t id = add(std::move(node));
  known_.emplace(key, id);
  return id;
}

bool ElementWriter::is_number(std::uint32_t node, std::int64_t value) const {
  const Node& it = thunk_.nodes[node];
  return it.kind == Node::Kind::Constant && it.type == Type::Int && it.int_value == value;
}

std::uint32_t ElementWriter::literal(const vcode::Constant& constant) {
  Node node;
  node.type = constant.type;
  if (constant.type == Type::Float) {
    node.float_value = constant.floats()[0];
  } else if (constant.type == Type::Bool) {
    node.int_value = constant.bools()[0];
  } else {
    return number(constant.ints()[0]);
  }
  return add(std::move(node));
}

std::uint32_t ElementWriter::apply(Op op, Type written, std::vector<std::uint32_t> arguments) {
  if (written == Type::Int && op == Op::Add && is_number(arguments[0], 0)) return arguments[1];
  if (written == Type::Int && op == Op::Add && is_number(arguments[1], 0)) return arguments[0];
  if (written == Type::Int && op == Op::Multiply) {
    for (int i = 0; i < 2; ++i) {
      if (is_number(arguments[static_cast<std::size_t>(i)], 1))
        return arguments[static_cast<std::size_t>(1 - i)];
      if (is_number(arguments[static_cast<std::size_t>(i)], 0))
        return arguments[static_cast<std::size_t>(i)];
    }
  }
  if (op == Op::Divide) {
    if (const auto factor = vcode::exact_reciprocal(thunk_.nodes[arguments[1]])) {
      return apply(Op::Multiply, Type::Float, {arguments[0], add(*factor)});
    }
  }
  Node node;
  node.kind = Node::Kind::Apply;
  node.op = op;
  node.written = written;
  node.type = vcode::operand_type(vcode::info(op).results[0], written).value_or(Type::Int);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    node.args[i] = arguments[static_cast<std::size_t>(i)];
  return add(std::move(node));
}

std::uint32_t ElementWriter::subscript(ArrayId array, std::uint32_t at) {
  Node node;
  node.kind = Node::Kind::Subscript;
  node.type = tables_.kernel.arrays[array].type;
  node.id = array;
  node.args[0] = at;
  return add(std::move(node));
}

// Of uniform segments everything is arithmetic.
std::uint32_t ElementWriter::uniform_segment(Node::Kind kind, std::int64_t length,
                                             std::uint32_t at) {
  switch (kind) {
    case Node::Kind::SegNo:
      return length == 1 ? at : apply(Op::Divide, Type::Int, {at, number(length)});
    case Node::Kind::SegOff:
      return length == 1 ? zero() : apply(Op::Modulo, Type::Int, {at, number(length)});
    case Node::Kind::SegStart:
      return apply(Op::Multiply, Type::Int, {at, number(length)});
    default:
      return number(length);
  }
}

std::uint32_t ElementWriter::segment_node(Node::Kind kind, ValueId segdes, std::uint32_t at) {
  const auto length = tables_.shapes.known_element(segdes);
  if (length && *length > 0) {
    return uniform_segment(kind, *length, at);
  }
  Node node;
  node.kind = kind;
  node.id = tables_.segdes(segdes);
  node.args[0] = at;
  return add(std::move(node));
}

std::uint32_t ElementWriter::length_of(ValueId value, bool described) {
  const Shape& shape = tables_.shapes.of(value);
  const Linear& length = described ? shape.sum : shape.length;
  if (const std::optional<std::int64_t> known = tables_.shapes.equations.number(length)) {
    return number(*known);
  }
  Node node;
  node.kind = Node::Kind::Size;
  node.id = tables_.wanted_size(length, value, described);
  return add(std::move(node));
}

// ---- elements ----

std::uint32_t ElementWriter::own(ValueId value) {
  return element(value, tables_.shapes.is_scalar(value) ? zero() : index());
}

std::uint32_t ElementWriter::element(ValueId value, std::uint32_t at) {
  if (const auto known = known_.find({value, at}); known != known_.end()) return known->second;
  const NodeIndex made = tables_.graph.producer(value);
  std::uint32_t result;
  const auto local = tables_.arrays.find(value);
  const bool in_order = is_number(at, 0) || thunk_.nodes[at].kind == Node::Kind::Index;
  const bool stored = made == kOutside || !tables_.inside[made] ||
                      (!in_order && is_value(tables_.graph.nodes[made]));
  if (stored) {
    result = subscript(tables_.array(value), at);
  } else if (local != tables_.arrays.end() && readable(tables_.graph.nodes[made], at)) {
    result = subscript(local->second, at);
  } else {
    result = compute(*tables_.graph.nodes[made].statement, at);
  }
  known_.emplace(std::pair(value, at), result);
  return result;
}

// Is a generator read out of order a vector in memory? Others are computed at any position.
bool ElementWriter::is_value(const fcode::Node& maker) {
  return maker.role == Role::Generator && maker.by_segment;
}

// May a vector that this kernel makes be read here (fcode.md, rule 3)? Otherwise its elements are
// computed again.
bool ElementWriter::readable(const fcode::Node& maker, std::uint32_t at) const {
  if (maker.role == Role::Reduce) return true;
  return !maker.scalar && thunk_.nodes[at].kind == Node::Kind::Index;
}

std::uint32_t ElementWriter::per_segment(ValueId value, ValueId segdes, std::uint32_t at) {
  const auto known = tables_.shapes.known_element(value);
  if (known) return number(*known);
  if (tables_.shapes.one_segment(segdes)) return element(value, zero());
  return element(value, segment_node(Node::Kind::SegNo, segdes, at));
}

std::uint32_t ElementWriter::index_element(const Statement& statement, std::uint32_t at) {
  const ValueId segdes = statement.operands[2];
  const std::uint32_t start = per_segment(statement.operands[0], segdes, at);
  const std::uint32_t step = per_segment(statement.operands[1], segdes, at);
  std::uint32_t steps =
      tables_.shapes.one_segment(segdes) ? at : segment_node(Node::Kind::SegOff, segdes, at);
  // Backwards as a difference, which libraries know as a run.
  if (is_number(step, -1)) return apply(Op::Subtract, Type::Int, {start, steps});
  steps = apply(Op::Multiply, Type::Int, {steps, step});
  return apply(Op::Add, Type::Int, {start, steps});
}

// An index counts from the start of its segment. One outside of it has to fail, although there may
// be an element: -1 is outside of everything.
std::uint32_t ElementWriter::fetch(ValueId source, std::uint32_t index, ValueId segdes,
                                   std::uint32_t segment) {
  if (tables_.shapes.one_segment(segdes)) return checked(source, index);
  const std::uint32_t start = segment_node(Node::Kind::SegStart, segdes, segment);
  const std::uint32_t length = segment_node(Node::Kind::SegLen, segdes, segment);
  const std::uint32_t inside = apply(Op::And, Type::Bool,
                                     {apply(Op::GreaterEqual, Type::Int, {index, zero()}),
                                      apply(Op::Less, Type::Int, {index, length})});
  const std::uint32_t position = apply(Op::Add, Type::Int, {start, index});
  return checked(source, apply(Op::Select, Type::Int, {inside, position, number(-1)}));
}

// An element of the piece, or what was there before.
std::uint32_t ElementWriter::placed(const Statement& statement, std::uint32_t at) {
  const Piece piece = *tables_.graph.nodes[tables_.graph.producer(statement.results[0])].piece;
  const std::uint32_t segment = uniform_segment(Node::Kind::SegNo, piece.target, at);
  const std::uint32_t offset = uniform_segment(Node::Kind::SegOff, piece.target, at);
  std::uint32_t inside;
  std::uint32_t position = segment;
  if (piece.length == 1) {
    inside = apply(Op::Equal, Type::Int, {offset, number(piece.start)});
  } else {
    inside = apply(Op::And, Type::Bool,
                   {apply(Op::GreaterEqual, Type::Int, {offset, number(piece.start)}),
                    apply(Op::Less, Type::Int, {offset, number(piece.start + piece.length)})});
    const std::uint32_t first = uniform_segment(Node::Kind::SegStart, piece.length, segment);
    const std::uint32_t inner = apply(Op::Subtract, Type::Int, {offset, number(piece.start)});
    position = apply(Op::Add, Type::Int, {first, inner});
  }
  Node choice;
  choice.kind = Node::Kind::If;
  choice.args[0] = inside;
  choice.args[1] = element(piece.data, position);
  choice.args[2] = element(piece.before, at);
  choice.type = thunk_.nodes[choice.args[1]].type;
  return add(std::move(choice));
}

// An element of the first vector, or else of the second.
std::uint32_t ElementWriter::joined(const View& join, std::uint32_t at) {
  const std::uint32_t length = length_of(join.first, false);
  Node choice;
  choice.kind = Node::Kind::If;
  choice.args[0] = apply(Op::Less, Type::Int, {at, length});
  choice.args[1] = part(join.first, at);
  choice.args[2] = part(join.second, apply(Op::Subtract, Type::Int, {at, length}));
  choice.type = thunk_.nodes[choice.args[1]].type;
  return add(std::move(choice));
}

// Of a single element there is no other one.
std::uint32_t ElementWriter::part(ValueId source, std::uint32_t at) {
  return tables_.shapes.is_scalar(source) ? element(source, zero()) : checked(source, at);
}

// Reading a vector checks the position; computing what a literal or a generator has there would
// not.
std::uint32_t ElementWriter::checked(ValueId source, std::uint32_t at) {
  const NodeIndex made = tables_.graph.producer(source);
  if (made == kOutside || tables_.graph.nodes[made].view) return element(source, at);
  const Role role = tables_.graph.nodes[made].role;
  if (role != Role::Literal && role != Role::Generator) return element(source, at);
  return subscript(tables_.array(source), at);
}

std::uint32_t ElementWriter::compute(const Statement& statement, std::uint32_t at) {
  if (statement.kind == Statement::Kind::Const) {
    return literal(tables_.module.constants[statement.index]);
  }
  return operation(statement, at);
}

std::uint32_t ElementWriter::operation(const Statement& statement, std::uint32_t at) {
  const ValueList& operands = statement.operands;
  switch (vcode::info(statement.op).family) {
    case Family::Distribute:
      return per_segment(operands[0], operands[1], at);
    case Family::Index:
      return index_element(statement, at);
    case Family::Length:
      return length_of(operands[0], false);
    case Family::Lengths:
      if (tables_.shapes.one_segment(operands[0])) return length_of(operands[0], true);
      return segment_node(Node::Kind::SegLen, operands[0], at);
    case Family::Extract:
      return fetch(operands[0], element(operands[1], at), operands[2], at);
    case Family::Replace:
      return placed(statement, at);
    case Family::Permute: {
      if (statement.op == Op::DPermute) {
        const fcode::Node& node = tables_.graph.nodes[tables_.graph.producer(statement.results[0])];
        return node.view ? joined(*node.view, at) : placed(statement, at);
      }
      const std::uint32_t place = element(operands[1], at);
      const bool one = tables_.shapes.one_segment(operands[2]);
      const std::uint32_t segment = one ? 0 : segment_node(Node::Kind::SegNo, operands[3], at);
      return fetch(operands[0], place, operands[2], segment);
    }
    default: {
      std::vector<std::uint32_t> arguments;
      for (ValueId operand : operands) arguments.push_back(element(operand, at));
      return apply(statement.op, statement.written, std::move(arguments));
    }
  }
}

}  // namespace fcode
