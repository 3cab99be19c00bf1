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

std::vector<ExpressionId> BodyReader::move_sequences(std::vector<ExpressionId>& arguments) {
  std::vector<ExpressionId> result;
  for (std::uint32_t k = 0; k < parameters_.size(); ++k) {
    if (body_.own_segment[k] == LoopBody::kNone) continue;
    Moved moved{k, kSequences + k, {}};
    for (std::uint32_t v = 0; v < parameters_.size(); ++v) {
      if (parameters_[v].descriptor == k) moved.vectors.emplace_back(v, Table{v});
    }
    if (moved.vectors.empty() && arguments[k] == moved.descriptor_now) {
      result.push_back(start(k));
      result.push_back(size(arguments[k]));
      continue;
    }
    const std::array<ExpressionId, 2> place = move(arguments, moved);
    result.insert(result.end(), place.begin(), place.end());
  }
  return result;
}

void BodyReader::begin_lists(std::vector<ExpressionId>& arguments,
                             const std::vector<ExpressionId>& now) {
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const auto length = arguments[k] == kSingle ? 1 : literal_length(arguments[k]);
    if (!length || arguments[k] == now[k] || !is_descriptor(now[k])) continue;
    const ExpressionId descriptor = descriptor_of_length(expressions().number(*length));
    for (std::size_t v = 0; v < arguments.size(); ++v) {
      std::optional<Table> table = this->table(now[v]);
      if (!table || descriptor_of(*table) != now[k]) continue;
      std::vector<ExpressionId> elements;
      if (arguments[k] == kSingle) elements = {scalar(arguments[v])};
      if (const auto* const known = elements_of(arguments[v])) elements = *known;
      if (elements.size() != static_cast<std::size_t>(*length)) throw NoLoop{};
      table->first = expressions().number(0);
      table->descriptor = descriptor;
      append(*table, expressions().number(0), elements);
      arguments[v] = add_table(std::move(*table));
    }
    arguments[k] = descriptor;
  }
}

/// Writes elements behind each other, from that one of the table on.
void BodyReader::append(Table& table, ExpressionId end, const std::vector<ExpressionId>& elements) {
  for (const ExpressionId& element : elements) {
    const bool is_last = &element == &elements.back();
    table.writes.push_back(
        {expressions().constant(true), place_in(table, end), scalar(element), is_last});
    end = expressions().applied(Op::Add, Type::Int, {end, expressions().number(1)});
  }
}

std::array<ExpressionId, 2> BodyReader::move(std::vector<ExpressionId>& arguments,
                                             const Moved& moved) {
  const ExpressionId descriptor = arguments[moved.descriptor];
  std::optional<ExpressionId> first;
  for (const auto& [argument, now] : moved.vectors) {
    const std::optional<Table> table = this->table(arguments[argument]);
    if (!table || table->vector != now.vector || descriptor_of(*table) != descriptor ||
        first.value_or(first_of(*table)) != first_of(*table)) {
      throw NoLoop{};
    }
    first = first_of(*table);
    arguments[argument] =
        add_table({now.vector, table->version, table->writes, now.first, now.descriptor});
  }
  if (!first) throw NoLoop{};
  arguments[moved.descriptor] = moved.descriptor_now;
  return {*first, size(descriptor)};
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

std::uint32_t BodyReader::add_component(Type type) {
  if (!vcode::is_data(type)) throw NoLoop{};
  body_.state.push_back(type);
  return static_cast<std::uint32_t>(body_.state.size() - 1);
}

ExpressionId BodyReader::state_node(std::uint32_t component) {
  ThunkNode node;
  node.kind = ThunkNode::Kind::State;
  node.type = body_.state[component];
  node.id = component;
  return expressions().add(node);
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

ExpressionId BodyReader::list(std::vector<ExpressionId> elements) {
  Made list{Made::Kind::List};
  list.elements = std::move(elements);
  return add_made(list);
}

const std::vector<ExpressionId>* BodyReader::elements_of(ExpressionId node) const {
  const Made* const list = made(node, Made::Kind::List);
  return list == nullptr ? nullptr : &list->elements;
}

/// Of a descriptor of one segment that the program contains.
std::optional<std::int64_t> BodyReader::literal_length(ExpressionId descriptor) const {
  if (!is_sequence(descriptor) || descriptor >= kMade) return std::nullopt;
  const std::size_t number = sequence(descriptor);
  if (number < parameters_.size()) return std::nullopt;
  const std::uint32_t index = body_.constants[number - parameters_.size()];
  const vcode::Constant& constant = module_.constants[index];
  if (is_given(module_, index) || constant.type != Type::Segdes || constant.size() != 1)
    return std::nullopt;
  return constant.ints()[0];
}

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

/// Some elements are appended to a sequence, in three steps: room for all of them, then in it the
/// elements of the sequence, then the others. The new sequence is a slice of the same vector, which
/// goes on behind the end of the old one.
std::optional<ExpressionId> BodyReader::longer(const Statement& statement, const Values& values) {
  const auto operand = [&](std::size_t k) { return values[statement.operands[k]]; };
  if (statement.op == Op::Distribute && made(operand(1), Made::Kind::Descriptor) != nullptr) {
    Made room{Made::Kind::Room};
    room.descriptor = operand(1);
    return add_made(room);
  }
  if (statement.op != Op::DPermute) return std::nullopt;
  const ExpressionId elements = operand(0), places = operand(1), whole = operand(4);
  if (const Made* const room = made(operand(2), Made::Kind::Room)) {
    const Made* const at = made(places, Made::Kind::Places);
    const bool is_front = at != nullptr && at->first == expressions().number(0);
    if (room->descriptor != whole || !is_front || at->descriptor != operand(3) ||
        !table(elements) || descriptor_of(*table(elements)) != operand(3)) {
      throw NoLoop{};
    }
    Made begun{Made::Kind::Begun};
    begun.descriptor = whole;
    begun.source = elements;
    return add_made(begun);
  }
  const Made* const begun = made(operand(2), Made::Kind::Begun);
  if (begun == nullptr || begun->descriptor != whole) return std::nullopt;
  std::vector<ExpressionId> more = {elements}, at = {places};
  if (operand(3) != kSingle) {
    const auto *const first = elements_of(elements), *const second = elements_of(places);
    if (first == nullptr || second == nullptr) throw NoLoop{};
    more = *first;
    at = *second;
  }
  Table result = *table(begun->source);
  ExpressionId place = size(descriptor_of(result));
  for (std::size_t k = 0; k < more.size(); ++k) {
    if (k >= at.size() || at[k] != place) throw NoLoop{};
    place = expressions().applied(Op::Add, Type::Int, {place, expressions().number(1)});
  }
  append(result, size(descriptor_of(result)), more);
  const auto added = static_cast<std::int64_t>(more.size());
  const ExpressionId length = expressions().applied(
      Op::Add, Type::Int, {size(descriptor_of(result)), expressions().number(added)});
  if (size(whole) != length) throw NoLoop{};
  result.first = first_of(result);
  result.descriptor = whole;
  return add_table(std::move(result));
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

std::uint32_t BodyReader::sequence(ExpressionId node) const {
  if (node < kSequences || node - kSequences >= body_.component.size()) throw NoLoop{};
  return node - kSequences;
}

ExpressionId BodyReader::size_node(std::uint32_t sequence) {
  ThunkNode node;
  node.kind = ThunkNode::Kind::Size;
  node.id = sequence;
  return expressions().add(node);
}

/// Where the elements of the own segment begin; kUndefined: at the beginning.
ExpressionId BodyReader::start(std::uint32_t descriptor) {
  const bool many =
      descriptor < parameters_.size() && body_.own_segment[descriptor] != LoopBody::kNone;
  return many ? state_node(body_.own_segment[descriptor]) : kUndefined;
}

ExpressionId BodyReader::add_made(const Made& made) {
  const auto found = std::find(made_.begin(), made_.end(), made);
  const auto number = static_cast<ExpressionId>(found - made_.begin());
  if (found == made_.end()) made_.push_back(made);
  return kMade + number;
}

const BodyReader::Made* BodyReader::made(ExpressionId node, Made::Kind kind) const {
  if (node < kMade || node - kMade >= made_.size()) return nullptr;
  const Made& found = made_[node - kMade];
  return found.kind == kind ? &found : nullptr;
}

/// Elements that lie side by side, in their order.
ExpressionId BodyReader::slice(const Statement& statement, const Values& values) {
  const ExpressionId descriptor = values[statement.operands[3]];
  const Made* const places = made(values[statement.operands[1]], Made::Kind::Places);
  if (places == nullptr || places->descriptor != descriptor) throw NoLoop{};
  const ExpressionId first = places->first;
  const Window source = window(values[statement.operands[0]], values[statement.operands[2]]);
  Table result = table(values[statement.operands[0]]).value_or(Table{source.vector});
  result.first = added(source.first, first);
  result.descriptor = descriptor;
  return add_table(std::move(result));
}

std::optional<BodyReader::Table> BodyReader::table(ExpressionId node) const {
  if (const Made* const known = made(node, Made::Kind::Written)) {
    return Table{known->vector, known->version, known->writes};
  }
  const Made* const slice = made(node, Made::Kind::Slice);
  if (slice != nullptr && slice->vector < parameters_.size()) {
    return Table{slice->vector, slice->version, slice->writes, slice->first, slice->descriptor};
  }
  if (!is_own(node)) return std::nullopt;
  const std::uint32_t number = sequence(node);
  if (!parameters_[number].descriptor) return std::nullopt;
  return Table{number};
}

ExpressionId BodyReader::add_table(Table table) {
  if (table.writes.empty() && table.version == 0 && !table.descriptor) {
    return kSequences + table.vector;
  }
  Made made{table.descriptor ? Made::Kind::Slice : Made::Kind::Written};
  made.first = table.first.value_or(0);
  made.descriptor = table.descriptor.value_or(0);
  made.vector = table.vector;
  made.version = table.version;
  made.writes = std::move(table.writes);
  return add_made(made);
}

ExpressionId BodyReader::first_of(const Table& table) {
  if (table.first) return *table.first;
  const ExpressionId first = start(*parameters_[table.vector].descriptor);
  return first == kUndefined ? expressions().number(0) : first;
}

/// Where the element is in the vector.
ExpressionId BodyReader::place_in(const Table& table, ExpressionId index) {
  return added(table.first.value_or(start(*parameters_[table.vector].descriptor)), scalar(index));
}

ExpressionId BodyReader::descriptor_of(const Table& table) const {
  return table.descriptor.value_or(kSequences + *parameters_[table.vector].descriptor);
}

ExpressionId BodyReader::descriptor_of_length(ExpressionId length) {
  return add_made({Made::Kind::Descriptor, length});
}

bool BodyReader::is_descriptor(ExpressionId node) const {
  if (made(node, Made::Kind::Descriptor) != nullptr || literal_length(node)) return true;
  return is_own(node) && type_of(sequence(node)) == Type::Segdes;
}

/// The function has checked that the place is inside.
ExpressionId BodyReader::replaced(ExpressionId vector, ExpressionId place, ExpressionId element,
                                  ExpressionId descriptor) {
  std::optional<Table> table = this->table(vector);
  if (!table || parameters_[table->vector].kind != Parameter::Kind::Uniform ||
      descriptor_of(*table) != descriptor) {
    throw NoLoop{};
  }
  const ExpressionId at = place_in(*table, place);
  table->writes.push_back({expressions().constant(true), at, scalar(element), false});
  return add_table(std::move(*table));
}

ExpressionId BodyReader::added(ExpressionId first, ExpressionId offset) {
  if (first == kUndefined) return offset;
  return expressions().applied(Op::Add, Type::Int, {first, offset});
}

/// A vector without elements that the program contains.
bool BodyReader::is_empty(ExpressionId node) const {
  if (!is_sequence(node) || node >= kMade) return false;
  const std::size_t number = sequence(node);
  if (number < parameters_.size()) return false;
  const std::uint32_t index = body_.constants[number - parameters_.size()];
  return !is_given(module_, index) && module_.constants[index].type != Type::Segdes &&
         module_.constants[index].size() == 0;
}

/// Without its elements, unless the condition holds.
ExpressionId BodyReader::shortened(Table table, ExpressionId condition) {
  for (Write& write : table.writes)
    write.condition = expressions().both(condition, write.condition);
  table.first = first_of(table);
  table.descriptor = descriptor_of_length(
      expressions().choice(condition, size(descriptor_of(table)), expressions().number(0)));
  return add_table(std::move(table));
}

BodyReader::Window BodyReader::window(ExpressionId vector, ExpressionId descriptor) {
  if (const std::optional<Table> table = this->table(vector)) {
    if (descriptor_of(*table) != descriptor) throw NoLoop{};
    const std::uint32_t segments = *parameters_[table->vector].descriptor;
    return {table->vector, segments, table->first.value_or(start(segments)), size(descriptor)};
  }
  if (const Made* const slice = made(vector, Made::Kind::Slice)) {
    if (slice->descriptor != descriptor) throw NoLoop{};
    return {slice->vector, slice->vector, slice->first, size(descriptor)};
  }
  const std::uint32_t number = sequence(vector);
  if (number < parameters_.size()) throw NoLoop{};
  return {number, number, start(sequence(descriptor)), size(descriptor)};
}

ExpressionId BodyReader::size(ExpressionId descriptor) {
  if (const auto length = literal_length(descriptor)) return expressions().number(*length);
  if (const Made* const own = made(descriptor, Made::Kind::Descriptor)) return own->length;
  const std::uint32_t number = sequence(descriptor);
  if (type_of(number) != Type::Segdes) throw NoLoop{};
  return start(number) == kUndefined ? size_node(number)
                                     : state_node(body_.own_segment[number] + 1);
}

/// Of a parameter or constant, by its number.
Type BodyReader::type_of(std::uint32_t number) const {
  if (number >= parameters_.size()) {
    return module_.constants[body_.constants[number - parameters_.size()]].type;
  }
  const Function& function = module_.functions[main_];
  return *function.values[function.parameters[number]].type;
}

/// The element, or 0 where there is none: there the function fails, or does not ask for it. What
/// is read lies in the vector, too.
ExpressionId BodyReader::element(ExpressionId vector, ExpressionId index, ExpressionId descriptor) {
  if (const auto* const known = elements_of(vector)) {
    const std::vector<ExpressionId> elements = *known;
    ExpressionId result = elements.back();
    for (std::size_t k = elements.size() - 1; k-- > 0;) {
      const ExpressionId number = expressions().number(static_cast<std::int64_t>(k));
      const ExpressionId here =
          expressions().applied(Op::Equal, Type::Int, {scalar(index), number});
      result = expressions().choice(here, elements[k], result);
    }
    return result;
  }
  const Window from = window(vector, descriptor);
  ExpressionId read = element(from, scalar(index));
  if (const std::optional<Table> written = table(vector)) {
    const ExpressionId place = place_in(*written, index);
    for (const Write& write : written->writes) {
      const ExpressionId here = expressions().applied(Op::Equal, Type::Int, {place, write.place});
      read = expressions().choice(expressions().both(write.condition, here), write.element, read);
    }
  }
  return read;
}

ExpressionId BodyReader::element(const Window& from, ExpressionId index) {
  const ExpressionId none = expressions().add(literal_node(type_of(from.vector), 0));
  const ExpressionId inside = lies_below(index, from.length);
  // A vector of the function as it is has the elements that its descriptor tells.
  const bool is_whole = from.first == kUndefined && from.segments < parameters_.size();
  if (is_whole) return chosen(inside, from.vector, index, none);
  ExpressionId place = index;
  if (from.first != kUndefined) {
    place = expressions().applied(Op::Select, Type::Int,
                                  {inside, added(from.first, index), expressions().number(-1)});
  }
  const ExpressionId exists = lies_below(place, size_node(from.segments));
  const ExpressionId read = chosen(exists, from.vector, place, none);
  return from.first == kUndefined ? expressions().choice(inside, read, none) : read;
}

ExpressionId BodyReader::chosen(ExpressionId condition, std::uint32_t vector, ExpressionId place,
                                ExpressionId otherwise) {
  ThunkNode read;
  read.kind = ThunkNode::Kind::Subscript;
  read.type = expressions()[otherwise].type;
  read.id = vector;
  read.args[0] = place;
  ThunkNode node;
  node.kind = ThunkNode::Kind::If;
  node.type = read.type;
  node.args[0] = condition;
  node.args[1] = expressions().add(read);
  node.args[2] = otherwise;
  return expressions().add(node);
}

ExpressionId BodyReader::lies_below(ExpressionId index, ExpressionId limit) {
  return expressions().applied(
      Op::And, Type::Bool,
      {expressions().applied(Op::GreaterEqual, Type::Int, {index, expressions().number(0)}),
       expressions().applied(Op::Less, Type::Int, {index, limit})});
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

std::vector<ExpressionId> BodyReader::merged(ExpressionId condition,
                                             const std::vector<ExpressionId>& a,
                                             const std::vector<ExpressionId>& b) {
  if (a.size() != b.size()) throw NoLoop{};
  std::vector<ExpressionId> result;
  for (std::size_t k = 0; k < a.size(); ++k) {
    result.push_back(merged_value(condition, a[k], b[k]));
  }
  return result;
}

ExpressionId BodyReader::merged_value(ExpressionId condition, ExpressionId a, ExpressionId b) {
  if (a == b || b == kUndefined) return a;
  if (a == kUndefined) return b;
  if (a == kElsewhere || b == kElsewhere) return kElsewhere;
  if (is_descriptor(a) && is_descriptor(b)) {
    return descriptor_of_length(expressions().choice(condition, size(a), size(b)));
  }
  const std::optional<Table> first = table(a), second = table(b);
  if (first && is_empty(b)) return shortened(*first, condition);
  if (second && is_empty(a)) return shortened(*second, expressions().negation(condition));
  if (!first || !second) return expressions().choice(condition, scalar(a), scalar(b));
  if (first->vector != second->vector || first->version != second->version) throw NoLoop{};
  // What both have written, each has written before the rest.
  Table result = *first;
  const auto [left, right] = std::mismatch(first->writes.begin(), first->writes.end(),
                                           second->writes.begin(), second->writes.end());
  result.writes.erase(result.writes.begin() + (left - first->writes.begin()), result.writes.end());
  const auto append = [&](auto from, auto end, ExpressionId where) {
    for (; from != end; ++from) {
      result.writes.push_back(
          {expressions().both(where, from->condition), from->place, from->element, from->appends});
    }
  };
  append(left, first->writes.end(), condition);
  append(right, second->writes.end(), expressions().negation(condition));
  if (first->descriptor != second->descriptor || first->first != second->first) {
    result.first = expressions().choice(condition, first_of(*first), first_of(*second));
    result.descriptor = merged_value(condition, descriptor_of(*first), descriptor_of(*second));
  }
  return add_table(std::move(result));
}

}  // namespace fcode
