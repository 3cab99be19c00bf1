#include "fcode-opt/passes/body_sequences.hpp"

#include <algorithm>

#include "ir/tools.hpp"

namespace fcode {

using vcode::ThunkNode;

std::vector<ExpressionId> BodySequences::move_sequences(std::vector<ExpressionId>& arguments) {
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

void BodySequences::begin_lists(std::vector<ExpressionId>& arguments,
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
void BodySequences::append(Table& table, ExpressionId end,
                           const std::vector<ExpressionId>& elements) {
  for (const ExpressionId& element : elements) {
    const bool is_last = &element == &elements.back();
    table.writes.push_back(
        {expressions().constant(true), place_in(table, end), scalar(element), is_last});
    end = expressions().applied(Op::Add, Type::Int, {end, expressions().number(1)});
  }
}

std::array<ExpressionId, 2> BodySequences::move(std::vector<ExpressionId>& arguments,
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

std::uint32_t BodySequences::add_component(Type type) {
  if (!vcode::is_data(type)) throw NoLoop{};
  body_.state.push_back(type);
  return static_cast<std::uint32_t>(body_.state.size() - 1);
}

ExpressionId BodySequences::state_node(std::uint32_t component) {
  ThunkNode node;
  node.kind = ThunkNode::Kind::State;
  node.type = body_.state[component];
  node.id = component;
  return expressions().add(node);
}

ExpressionId BodySequences::list(std::vector<ExpressionId> elements) {
  Made list{Made::Kind::List};
  list.elements = std::move(elements);
  return add_made(list);
}

const std::vector<ExpressionId>* BodySequences::elements_of(ExpressionId node) const {
  const Made* const list = made(node, Made::Kind::List);
  return list == nullptr ? nullptr : &list->elements;
}

/// The constant that it is, if the program contains it.
const vcode::Constant* BodySequences::literal_of(ExpressionId node) const {
  if (!is_sequence(node) || node >= kMade) return nullptr;
  const std::size_t number = sequence(node);
  if (number < parameters_.size()) return nullptr;
  const std::uint32_t index = body_.constants[number - parameters_.size()];
  return is_given(module_, index) ? nullptr : &module_.constants[index];
}

std::optional<std::int64_t> BodySequences::literal_length(ExpressionId descriptor) const {
  const vcode::Constant* const constant = literal_of(descriptor);
  const bool is_single =
      constant != nullptr && constant->type == Type::Segdes && constant->size() == 1;
  return is_single ? std::optional<std::int64_t>(constant->ints()[0]) : std::nullopt;
}

/// Some elements are appended to a sequence, in three steps: room for all of them, then in it the
/// elements of the sequence, then the others. The new sequence is a slice of the same vector, which
/// goes on behind the end of the old one.
std::optional<ExpressionId> BodySequences::longer(const Statement& statement,
                                                  const Values& values) {
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

std::uint32_t BodySequences::sequence(ExpressionId node) const {
  if (node < kSequences || node - kSequences >= body_.component.size()) throw NoLoop{};
  return node - kSequences;
}

ExpressionId BodySequences::size_node(std::uint32_t sequence) {
  ThunkNode node;
  node.kind = ThunkNode::Kind::Size;
  node.id = sequence;
  return expressions().add(node);
}

/// Where the elements of the own segment begin; kUndefined: at the beginning.
ExpressionId BodySequences::start(std::uint32_t descriptor) {
  const bool many =
      descriptor < parameters_.size() && body_.own_segment[descriptor] != LoopBody::kNone;
  return many ? state_node(body_.own_segment[descriptor]) : kUndefined;
}

ExpressionId BodySequences::add_made(const Made& made) {
  const auto found = std::find(made_.begin(), made_.end(), made);
  const auto number = static_cast<ExpressionId>(found - made_.begin());
  if (found == made_.end()) made_.push_back(made);
  return kMade + number;
}

const BodySequences::Made* BodySequences::made(ExpressionId node, Made::Kind kind) const {
  if (node < kMade || node - kMade >= made_.size()) return nullptr;
  const Made& found = made_[node - kMade];
  return found.kind == kind ? &found : nullptr;
}

/// Elements that lie side by side, in their order.
ExpressionId BodySequences::slice(const Statement& statement, const Values& values) {
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

std::optional<BodySequences::Table> BodySequences::table(ExpressionId node) const {
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

ExpressionId BodySequences::add_table(Table table) {
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

ExpressionId BodySequences::first_of(const Table& table) {
  if (table.first) return *table.first;
  const ExpressionId first = start(*parameters_[table.vector].descriptor);
  return first == kUndefined ? expressions().number(0) : first;
}

/// Where the element is in the vector.
ExpressionId BodySequences::place_in(const Table& table, ExpressionId index) {
  return added(table.first.value_or(start(*parameters_[table.vector].descriptor)), scalar(index));
}

ExpressionId BodySequences::descriptor_of(const Table& table) const {
  return table.descriptor.value_or(kSequences + *parameters_[table.vector].descriptor);
}

ExpressionId BodySequences::descriptor_of_length(ExpressionId length) {
  return add_made({Made::Kind::Descriptor, length});
}

bool BodySequences::is_descriptor(ExpressionId node) const {
  if (made(node, Made::Kind::Descriptor) != nullptr || literal_length(node)) return true;
  return is_own(node) && type_of(sequence(node)) == Type::Segdes;
}

/// The function has checked that the place is inside.
ExpressionId BodySequences::replaced(ExpressionId vector, ExpressionId place, ExpressionId element,
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

ExpressionId BodySequences::added(ExpressionId first, ExpressionId offset) {
  if (first == kUndefined) return offset;
  return expressions().applied(Op::Add, Type::Int, {first, offset});
}

/// Is it a vector without elements that the program contains?
bool BodySequences::is_empty(ExpressionId node) const {
  const vcode::Constant* const constant = literal_of(node);
  return constant != nullptr && constant->type != Type::Segdes && constant->size() == 0;
}

/// Without its elements, unless the condition holds.
ExpressionId BodySequences::shortened(Table table, ExpressionId condition) {
  for (Write& write : table.writes)
    write.condition = expressions().both(condition, write.condition);
  table.first = first_of(table);
  table.descriptor = descriptor_of_length(
      expressions().choice(condition, size(descriptor_of(table)), expressions().number(0)));
  return add_table(std::move(table));
}

BodySequences::Window BodySequences::window(ExpressionId vector, ExpressionId descriptor) {
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

ExpressionId BodySequences::size(ExpressionId descriptor) {
  if (const auto length = literal_length(descriptor)) return expressions().number(*length);
  if (const Made* const own = made(descriptor, Made::Kind::Descriptor)) return own->length;
  const std::uint32_t number = sequence(descriptor);
  if (type_of(number) != Type::Segdes) throw NoLoop{};
  return start(number) == kUndefined ? size_node(number)
                                     : state_node(body_.own_segment[number] + 1);
}

Type BodySequences::type_of(std::uint32_t number) const {
  if (number >= parameters_.size()) {
    return module_.constants[body_.constants[number - parameters_.size()]].type;
  }
  const Function& function = module_.functions[main_];
  return *function.values[function.parameters[number]].type;
}

/// The element, or 0 where there is none: there the function fails, or does not ask for it. What
/// is read lies in the vector, too.
ExpressionId BodySequences::element(ExpressionId vector, ExpressionId index,
                                    ExpressionId descriptor) {
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

ExpressionId BodySequences::element(const Window& from, ExpressionId index) {
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

ExpressionId BodySequences::chosen(ExpressionId condition, std::uint32_t vector, ExpressionId place,
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

ExpressionId BodySequences::lies_below(ExpressionId index, ExpressionId limit) {
  return expressions().applied(
      Op::And, Type::Bool,
      {expressions().applied(Op::GreaterEqual, Type::Int, {index, expressions().number(0)}),
       expressions().applied(Op::Less, Type::Int, {index, limit})});
}

std::vector<ExpressionId> BodySequences::merged(ExpressionId condition,
                                                const std::vector<ExpressionId>& a,
                                                const std::vector<ExpressionId>& b) {
  if (a.size() != b.size()) throw NoLoop{};
  std::vector<ExpressionId> result;
  for (std::size_t k = 0; k < a.size(); ++k) {
    result.push_back(merged_value(condition, a[k], b[k]));
  }
  return result;
}

ExpressionId BodySequences::merged_value(ExpressionId condition, ExpressionId a, ExpressionId b) {
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
