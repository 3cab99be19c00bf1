#include "fcode-opt/passes/body_reader.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ir/tools.hpp"
#include "vcode/numbers.hpp"

namespace fcode {

using vcode::Family;
using vcode::ThunkNode;

BodyReader::Progress BodyReader::progress() const {
  return {body_, vectors_, made_, arms_};
}

void BodyReader::go_back(Progress progress) {
  body_ = std::move(progress.body);
  vectors_ = std::move(progress.vectors);
  made_ = std::move(progress.made);
  arms_ = std::move(progress.arms);
}

std::vector<ExpressionId> BodyReader::begin(std::optional<std::set<std::uint32_t>> sliced) {
  const Function& function = module_.functions[main_];
  if (function.opaque || function.parameters.size() != parameters_.size()) throw NoLoop{};
  find_vectors(function.body);
  std::vector<ExpressionId> arguments;
  for (const ValueId parameter : function.parameters) {
    arguments.push_back(this->parameter(function.values[parameter].type));
  }
  std::set<std::uint32_t> seen;
  const bool slices_all = !sliced && makes_slices(main_, seen);
  sliced_ = std::move(sliced).value_or(std::set<std::uint32_t>());
  for (std::uint32_t k = 0; k < parameters_.size(); ++k) {
    if (slices_all && type_of(k) == Type::Segdes) sliced_.insert(k);
    const bool begins_anywhere =
        sliced_.contains(k) || parameters_[k].kind != Parameter::Kind::Uniform;
    const bool known = type_of(k) == Type::Segdes && begins_anywhere;
    body_.own_segment.push_back(known ? add_component(Type::Int) : LoopBody::kNone);
    if (known) add_component(Type::Int);
  }
  return arguments;
}

bool BodyReader::makes_slices(std::uint32_t function, std::set<std::uint32_t>& seen) const {
  if (!seen.insert(function).second) return false;
  bool found = false;
  for_each_statement(module_.functions[function].body, [&](const Statement& statement) {
    found = found || (statement.kind == Statement::Kind::Op && statement.op == Op::MakeSegdes) ||
            (statement.kind == Statement::Kind::Call && makes_slices(statement.index, seen));
  });
  return found;
}

ExpressionId BodyReader::parameter(std::optional<Type> type) {
  if (!type) throw NoLoop{};
  const std::size_t number = body_.component.size();
  if (*type == Type::Segdes || parameters_[number].descriptor) {
    body_.component.push_back(LoopBody::kNone);
    return kSequences + static_cast<ExpressionId>(number);
  }
  body_.component.push_back(add_component(*type));
  return state_node(body_.component.back());
}

/// Of the constants that the run gives, which are vectors? Those that something is fetched from.
void BodyReader::find_vectors(const Block& block) {
  std::set<ValueId> fetched;
  for_each_statement(block, [&](const Statement& statement) {
    const bool fetches =
        statement.kind == Statement::Kind::Op &&
        (vcode::info(statement.op).family == Family::Extract || statement.op == Op::BPermute);
    if (fetches) fetched.insert(statement.operands[0]);
  });
  for_each_statement(block, [&](const Statement& statement) {
    if (statement.kind == Statement::Kind::Given && fetched.contains(statement.results[0])) {
      vectors_.insert(statement.index);
    }
  });
}

/// A constant that is no literal: a component, or a sequence.
ExpressionId BodyReader::constant(std::uint32_t constant, bool is_sequence) {
  auto found = std::find(body_.constants.begin(), body_.constants.end(), constant);
  const auto number =
      parameters_.size() + static_cast<std::size_t>(std::distance(body_.constants.begin(), found));
  if (found == body_.constants.end()) {
    body_.constants.push_back(constant);
    body_.component.push_back(is_sequence ? LoopBody::kNone
                                          : add_component(module_.constants[constant].type));
  }
  return is_sequence ? kSequences + static_cast<ExpressionId>(number)
                     : state_node(body_.component[number]);
}

ExpressionId BodyReader::given(std::uint32_t index) {
  const bool describes = module_.constants[index].type == Type::Segdes;
  if (describes) {
    const auto shape = module_.given_shapes.find(index);
    if (shape == module_.given_shapes.end() || shape->second.length != 1) throw NoLoop{};
  }
  return constant(index, describes || vectors_.contains(index));
}

ExpressionId BodyReader::literal(std::uint32_t index) {
  const vcode::Constant& constant = module_.constants[index];
  if (constant.type == Type::Segdes && constant.size() == 1) {
    return constant.ints()[0] == 1 ? kSingle : this->constant(index, true);
  }
  if (constant.size() != 1) return this->constant(index, true);
  if (!vcode::is_data(constant.type)) throw NoLoop{};
  ThunkNode node;
  node.type = constant.type;
  if (constant.type == Type::Float) {
    node.float_value = constant.floats()[0];
    if (!std::isfinite(node.float_value)) throw NoLoop{};
  } else {
    node.int_value = constant.type == Type::Bool ? constant.bools()[0] : constant.ints()[0];
    if (!vcode::fits_32_bits(node.int_value)) throw NoLoop{};
  }
  return expressions().add(node);
}

/// A sequence of more elements is no list.
constexpr std::int64_t kLongestList = 8;

/// What an operation gives that makes or takes lists.
std::optional<ExpressionId> BodyReader::of_lists(const Statement& statement, const Values& values) {
  const vcode::OpInfo& info = vcode::info(statement.op);
  const auto operand = [&](std::size_t k) { return values[statement.operands[k]]; };
  if (statement.op == Op::Distribute) {
    if (operand(1) == kSingle) return scalar(operand(0));
    const auto length = literal_length(operand(1));
    if (!length || *length < 1 || *length > kLongestList) return std::nullopt;
    return list(std::vector<ExpressionId>(static_cast<std::size_t>(*length), scalar(operand(0))));
  }
  if (statement.op == Op::Index) {
    if (operand(2) == kSingle) return scalar(operand(0));
    const auto length = literal_length(operand(2));
    if (!length || *length < 1 || *length > kLongestList) return std::nullopt;
    std::vector<ExpressionId> numbers = {scalar(operand(0))};
    while (numbers.size() < static_cast<std::size_t>(*length)) {
      numbers.push_back(
          expressions().applied(Op::Add, Type::Int, {numbers.back(), scalar(operand(1))}));
    }
    return list(std::move(numbers));
  }
  const auto* const first = statement.operands.empty() ? nullptr : elements_of(operand(0));
  if (info.family == Family::Elementwise) {
    std::optional<std::size_t> length;
    for (const ValueId each : statement.operands) {
      if (const auto* const elements = elements_of(values[each])) length = elements->size();
    }
    if (!length) return std::nullopt;
    std::vector<ExpressionId> results;
    for (std::size_t k = 0; k < *length; ++k) {
      std::vector<ExpressionId> operands;
      for (const ValueId each : statement.operands) {
        const auto* const elements = elements_of(values[each]);
        if (elements == nullptr || elements->size() != *length) throw NoLoop{};
        operands.push_back((*elements)[k]);
      }
      results.push_back(applied(statement, operands));
    }
    return list(std::move(results));
  }
  if (first == nullptr) return std::nullopt;
  const std::vector<ExpressionId> elements = *first;  // lists move when others are made
  const auto is_whole = [&](ExpressionId descriptor) {
    return literal_length(descriptor) == static_cast<std::int64_t>(elements.size());
  };
  if (info.family == Family::Reduce && is_whole(operand(1))) {
    return folded(statement.op, statement.written, elements);
  }
  if (statement.op == Op::Replace && is_whole(operand(3))) {
    const ThunkNode& place = expressions()[scalar(operand(1))];
    const auto at = static_cast<std::size_t>(place.int_value);
    if (place.kind != ThunkNode::Kind::Constant || at >= elements.size()) throw NoLoop{};
    std::vector<ExpressionId> changed = elements;
    changed[at] = scalar(operand(2));
    return list(std::move(changed));
  }
  const auto* const places = statement.op == Op::DPermute ? elements_of(operand(1)) : nullptr;
  if (places != nullptr && places->size() == elements.size() && is_whole(operand(3))) {
    const std::vector<ExpressionId> at = *places;
    ExpressionId vector = operand(2);
    for (std::size_t k = 0; k < elements.size(); ++k) {
      vector = replaced(vector, at[k], elements[k], operand(4));
    }
    return vector;
  }
  return std::nullopt;
}

/// INTs and BOOLs, whose order does not matter.
ExpressionId BodyReader::folded(Op reduction, Type type,
                                const std::vector<ExpressionId>& elements) {
  if (type == Type::Float) throw NoLoop{};
  const auto combined = [&](ExpressionId a, ExpressionId b) {
    const auto select = [&](Op compares) {
      const ExpressionId first = expressions().applied(compares, type, {a, b});
      return expressions().applied(Op::Select, type, {first, a, b});
    };
    switch (reduction) {
      case Op::AddReduce:
        return expressions().applied(Op::Add, type, {a, b});
      case Op::MultiplyReduce:
        return expressions().applied(Op::Multiply, type, {a, b});
      case Op::MaxReduce:
        return select(Op::Greater);
      case Op::MinReduce:
        return select(Op::Less);
      case Op::AndReduce:
        return expressions().applied(Op::And, type, {a, b});
      case Op::OrReduce:
        return expressions().applied(Op::Or, type, {a, b});
      default:
        throw NoLoop{};
    }
  };
  ExpressionId result = elements[0];
  for (std::size_t k = 1; k < elements.size(); ++k) result = combined(result, elements[k]);
  return result;
}

ExpressionId BodyReader::operation(const Statement& statement, const Values& values) {
  if (const auto found = longer(statement, values)) return *found;
  if (const auto found = of_lists(statement, values)) return *found;
  const vcode::OpInfo& info = vcode::info(statement.op);
  const auto operand = [&](std::size_t k) { return values[statement.operands[k]]; };
  if (info.family == Family::Lengths) return size(operand(0));
  if (statement.op == Op::MakeSegdes) return descriptor_of_length(scalar(operand(0)));
  if (statement.op == Op::Index) {
    if (scalar(operand(1)) != expressions().number(1) || !is_descriptor(operand(2))) {
      throw NoLoop{};
    }
    return add_made({Made::Kind::Places, 0, scalar(operand(0)), operand(2)});
  }
  if (info.family == Family::Extract) return element(operand(0), operand(1), operand(2));
  if (statement.op == Op::BPermute && operand(3) == kSingle) {
    return element(operand(0), operand(1), operand(2));
  }
  if (statement.op == Op::BPermute) return slice(statement, values);
  if (statement.op == Op::Replace) {
    return replaced(operand(0), operand(1), operand(2), operand(3));
  }
  if (statement.op == Op::DPermute && operand(3) == kSingle) {
    return replaced(operand(2), operand(1), operand(0), operand(4));
  }
  if (info.family != Family::Elementwise) throw NoLoop{};
  std::vector<ExpressionId> operands;
  for (const ValueId each : statement.operands) operands.push_back(values[each]);
  return applied(statement, operands);
}

ExpressionId BodyReader::applied(const Statement& statement,
                                 const std::vector<ExpressionId>& operands) {
  ThunkNode node;
  node.kind = ThunkNode::Kind::Apply;
  node.op = statement.op;
  node.written = statement.written;
  node.type = *vcode::operand_type(vcode::info(statement.op).results[0], statement.written);
  for (std::size_t k = 0; k < operands.size(); ++k) node.args[k] = scalar(operands[k]);
  if (divides_ints(statement.op, statement.written)) node.args[1] = never_zero(node.args[1]);
  if (statement.op == Op::Divide) {
    if (const auto factor = vcode::exact_reciprocal(expressions()[node.args[1]])) {
      node.op = Op::Multiply;
      node.args[1] = expressions().add(*factor);
    }
  }
  return expressions().add(node);
}

/// The divisor, or 1 where it is 0: there the function fails, or does not divide.
ExpressionId BodyReader::never_zero(ExpressionId divisor) {
  const ThunkNode& known = expressions()[divisor];
  if (known.kind == ThunkNode::Kind::Constant && known.int_value != 0) return divisor;
  const ExpressionId is_zero =
      expressions().applied(Op::Equal, Type::Int, {divisor, expressions().number(0)});
  return expressions().choice(is_zero, expressions().number(1), divisor);
}

BodyReader::Values BodyReader::values_of(std::uint32_t index,
                                         const std::vector<ExpressionId>& arguments, int depth) {
  const Function& function = module_.functions[index];
  if (function.opaque || depth > kDeepestCall) throw NoLoop{};
  if (depth > 0) find_vectors(function.body);
  Values values(function.values.size(), kUndefined);
  for (std::size_t k = 0; k < function.parameters.size(); ++k) {
    values[function.parameters[k]] = arguments[k];
  }
  return values;
}

ExpressionId BodyReader::value_of(const Statement& statement, const Values& values) {
  switch (statement.kind) {
    case Statement::Kind::Op:
      return operation(statement, values);
    case Statement::Kind::Const:
      return literal(statement.index);
    case Statement::Kind::Given:
      return given(statement.index);
    default:
      throw NoLoop{};
  }
}

std::vector<ExpressionId> BodyReader::arguments_of(const Statement& call, const Values& values) {
  std::vector<ExpressionId> arguments;
  for (const ValueId operand : call.operands) arguments.push_back(values[operand]);
  return arguments;
}

ExpressionId BodyReader::is_run(const Arm& arm) {
  return arm.is_first ? arm.condition : expressions().negation(arm.condition);
}

std::uint32_t BodyReader::begun_with(const ThunkNode& number) {
  const std::uint32_t component = add_component(number.type);
  body_.begun.push_back({component, number});
  return component;
}

}  // namespace fcode
