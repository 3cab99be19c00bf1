#include "fcode-opt/shapes/shapes.hpp"

#include <algorithm>
#include <numeric>

#include "vcode/numbers.hpp"

namespace fcode {

using vcode::Family;

void Shapes::define(ValueId value, Shape shape) {
  if (value >= shapes_.size()) shapes_.resize(table_size(value));
  shapes_[value] = std::move(shape);
}

Shape Shapes::unknown() {
  return {equations.unknown(), equations.unknown(), new_content(), false, {}};
}

bool Shapes::same_length(ValueId a, ValueId b) {
  return a == b || equations.equal(of(a).length, of(b).length);
}

bool Shapes::uniform(ValueId value) {
  return of(value).uniform || is_scalar(value);
}

std::optional<Linear> Shapes::element(ValueId value) {
  const Shape& shape = of(value);
  if (is_number(shape.length, 1)) return shape.sum;
  if (shape.uniform) return shape.element;
  return std::nullopt;
}

std::optional<std::int64_t> Shapes::known_element(ValueId value) {
  const std::optional<Linear> common = element(value);
  const auto number = common ? equations.number(*common) : std::nullopt;
  return number && vcode::fits_32_bits(*number) ? number : std::nullopt;
}

bool Shapes::same_segments(ValueId a, ValueId b) {
  if (a == b || of(a).content == of(b).content) return true;
  const std::optional<Linear> x = element(a), y = element(b);
  return x && y && equations.equal(*x, *y) && same_length(a, b);
}

const Definition* Shapes::definition(ValueId value) const {
  if (value >= definitions_.size() || !definitions_[value].kind) return nullptr;
  return &definitions_[value];
}

bool Shapes::obey_rules(const Statement& statement) {
  bool possible = true;
  for (const ValueId operand : statement.operands) of(operand);  // met: shapes stay where they are
  for (const vcode::LengthRule& rule : vcode::length_rules(statement.op)) {
    possible &= equations.unite(term(statement, rule.left), term(statement, rule.right));
  }
  return possible;
}

Shape Shapes::constant(const vcode::Constant& constant) {
  Shape shape = unknown();
  shape.length = Linear::number(static_cast<std::int64_t>(constant.size()));
  if (constant.type != Type::Int && constant.type != Type::Segdes) {
    shape.uniform = constant.size() == 1;
    return shape;
  }
  const std::vector<std::int64_t>& elements = constant.ints();
  std::int64_t sum = 0;
  bool fits = true;
  for (std::int64_t element : elements) fits &= !__builtin_add_overflow(sum, element, &sum);
  if (fits) shape.sum = Linear::number(sum);
  shape.uniform = !elements.empty() && std::adjacent_find(elements.begin(), elements.end(),
                                                          std::not_equal_to<>()) == elements.end();
  if (shape.uniform) shape.element = Linear::number(elements[0]);
  return shape;
}

Shape Shapes::given(const GivenShape& known) {
  Shape shape = unknown();
  shape.length = Linear::number(known.length);
  if (known.described != 0 || known.each) shape.sum = Linear::number(known.described);
  shape.uniform = known.each.has_value();
  if (known.each) shape.element = Linear::number(*known.each);
  return shape;
}

// Sums and scalar values of INT arithmetic; wrapping around is left out of account, because lengths
// that wrap are an error of their own.
Shape Shapes::elementwise(const Statement& statement) {
  const ValueList& operands = statement.operands;
  Shape shape = unknown();
  shape.length = of(operands[0]).length;
  shape.uniform = std::all_of(operands.begin(), operands.end(),
                              [&](ValueId operand) { return uniform(operand); });
  if (shape.uniform) shape.element = equations.unknown();
  const bool add = statement.op == Op::Add, subtract = statement.op == Op::Subtract;
  if (statement.written != Type::Int || !(add || subtract || statement.op == Op::Multiply)) {
    return shape;
  }
  const ValueId x = operands[0], y = operands[1];
  const std::optional<Linear> ex = element(x), ey = element(y);
  if (ex && ey) {
    shape.element = add ? *ex + *ey : subtract ? *ex - *ey : equations.product(*ex, *ey);
    shape.sum = equations.product(shape.element, shape.length);
    return shape;
  }
  if (!same_length(x, y)) return shape;
  if (add) shape.sum = of(x).sum + of(y).sum;
  if (subtract) shape.sum = of(x).sum - of(y).sum;
  if (statement.op == Op::Multiply && (ex || ey)) {
    shape.sum = ex ? equations.product(*ex, of(y).sum) : equations.product(*ey, of(x).sum);
  }
  return shape;
}

Shape Shapes::distribute(const Statement& statement) {
  const ValueId value = statement.operands[0], segdes = statement.operands[1];
  Shape shape = unknown();
  shape.length = of(segdes).sum;
  shape.uniform = one_segment(segdes) || uniform(value);
  if (!shape.uniform) return shape;
  shape.element = element(value).value_or(of(value).sum);
  shape.sum = equations.product(shape.element, shape.length);
  return shape;
}

// One descriptor for all packs by the same flags and segments. Of segments that are kept or dropped
// as a whole as many elements are left as the lengths say that are packed by the same flags.
void Shapes::pack(const Statement& statement) {
  const ValueId flags = statement.operands[1], segdes = statement.operands[2];
  const auto sum_of = [&](ValueId choice, Content numbers) -> const Linear& {
    const auto [sum, is_new] = sums_.try_emplace({choice, numbers});
    if (is_new) sum->second = equations.unknown();
    return sum->second;
  };
  const auto [place, is_new] = packed_.try_emplace({flags, of(segdes).content});
  if (is_new) {
    place->second = unknown();
    place->second.length = of(segdes).length;
    const Definition* spread = definition(flags);
    if (spread && spread->is(Op::Distribute)) {
      place->second.sum = sum_of(spread->operands[0], of(spread->operands[1]).content);
    }
  }
  Shape data = unknown();
  data.length = place->second.sum;
  if (statement.written == Type::Int) {
    data.sum = sum_of(flags, of(statement.operands[0]).content);
  }
  // Elements of a vector of equal ones, whichever they are. What they add up to is an equation: it
  // may rest on others, which do not hold behind an arm.
  if (const std::optional<Linear> each = element(statement.operands[0])) {
    data.uniform = true;
    data.element = *each;
    equations.unite(data.sum, equations.product(data.element, data.length));
  }
  define(statement.results[0], std::move(data));
  define(statement.results[1], place->second);
}

// Lengths that the operands have as well.
void Shapes::run(const Statement& statement, const vcode::Kernel& kernel) {
  const auto length = [&](vcode::SizeId size) -> std::optional<Linear> {
    if (const auto literal = kernel.sizes[size].literal) return Linear::number(*literal);
    for (std::size_t k = 0; k < kernel.inputs.size(); ++k) {
      const vcode::KernelParameter input = kernel.inputs[k];
      const Shape& shape = of(statement.operands[k]);
      if (!input.segdes && kernel.arrays[input.id].length == size) return shape.length;
      if (input.segdes && kernel.segdes[input.id].count == size) return shape.length;
      if (input.segdes && kernel.segdes[input.id].total == size) return shape.sum;
    }
    return std::nullopt;
  };
  for (std::size_t k = 0; k < kernel.outputs.size(); ++k) {
    const vcode::KernelParameter output = kernel.outputs[k];
    Shape shape = unknown();
    const auto known =
        length(output.segdes ? kernel.segdes[output.id].count : kernel.arrays[output.id].length);
    if (known) shape.length = *known;
    const auto total = output.segdes ? length(kernel.segdes[output.id].total) : std::nullopt;
    if (total) shape.sum = *total;
    define(statement.results[k], std::move(shape));
  }
}

// Does the operation fetch one element, by a number, of a vector that is known to be longer?
bool Shapes::fetches_inside(const Statement& statement) {
  const bool fetches = statement.op == Op::Extract ||
                       (statement.op == Op::BPermute && is_scalar(statement.operands[1]) &&
                        one_segment(statement.operands[3]));
  if (!fetches || !one_segment(statement.operands[2])) return false;
  const std::optional<std::int64_t> place = known_element(statement.operands[1]);
  if (!place || *place < 0 || !fits(statement.operands[0], statement.operands[2])) return false;
  const Linear& length = of(statement.operands[0]).length;
  if (const auto known = equations.number(length)) return *place < *known;
  return std::any_of(orders_.begin(), orders_.end(), [&](const Order& order) {
    return is_number(order.less, *place) && equations.equal(order.more, length);
  });
}

Shape Shapes::result(const Statement& statement) {
  const ValueList& operands = statement.operands;
  Shape shape = unknown();
  switch (vcode::info(statement.op).family) {
    case Family::Elementwise:
      return elementwise(statement);
    case Family::Distribute:
      return distribute(statement);
    case Family::MakeSegdes:
    case Family::Lengths:
      return of(operands[0]);
    case Family::Length:
      shape.length = Linear::number(1);
      shape.sum = of(operands[0]).length;
      return shape;
    default:
      break;
  }
  if (const auto term = vcode::result_length(statement.op)) {
    const Shape& from = of(operands[term->operand]);
    shape.length = term->described ? from.sum : from.length;
  }
  // What is fetched from equal elements is one of them. Where that fails nothing may take its
  // place.
  if (const auto each = element(operands[0]); each && fetches_inside(statement)) {
    shape.uniform = true;
    shape.element = *each;
    shape.sum = equations.product(*each, shape.length);
  }
  const bool sums = statement.op == Op::AddReduce || statement.op == Op::AddCombine;
  if (sums && statement.written == Type::Int) shape.sum = of(operands[0]).sum;
  return shape;
}

bool Shapes::step(const Statement& statement, const Module& module) {
  for (std::uint32_t i = 0; i < statement.results.size(); ++i) {
    const ValueId id = statement.results[i];
    if (id >= definitions_.size()) definitions_.resize(table_size(id));
    definitions_[id] = definition_of(statement, i);
  }
  if (statement.kind == Statement::Kind::Const) {
    define(statement.results[0], constant(module.constants[statement.index]));
    return true;
  }
  if (statement.kind == Statement::Kind::Given) {
    const auto known = module.given_shapes.find(statement.index);
    define(statement.results[0],
           known == module.given_shapes.end() ? unknown() : given(known->second));
    return true;
  }
  if (statement.kind == Statement::Kind::Run) {
    run(statement, module.kernels[statement.index]);
    return true;
  }
  if (statement.kind != Statement::Kind::Op || !vcode::info(statement.op).is_vector_op()) {
    for (ValueId id : statement.results) define(id, unknown());
    return true;
  }
  const bool possible = !trust_rules_ || obey_rules(statement);
  if (statement.op == Op::Pack) {
    pack(statement);
  } else {
    define(statement.results[0], result(statement));
  }
  return possible;
}

}  // namespace fcode
