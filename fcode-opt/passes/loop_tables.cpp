#include "fcode-opt/passes/loop_tables.hpp"

#include <algorithm>
#include <optional>

#include "ir/tools.hpp"

namespace fcode {

using vcode::ThunkNode;

void LoopTables::learn(std::uint32_t function, std::uint32_t vector) const {
  LoopFacts facts = facts_;
  const bool is_new = facts.writes.emplace(function, vector).second;
  if (!is_new && entered_ <= facts.last) return;
  facts.last = std::max(facts.last, entered_);
  throw Again{std::move(facts)};
}

void LoopTables::learn_move(std::uint32_t function, std::uint32_t argument) const {
  LoopFacts facts = facts_;
  facts.moves.emplace(function, argument);
  throw Again{std::move(facts)};
}

bool LoopTables::writes(std::uint32_t function) const {
  return std::any_of(facts_.writes.begin(), facts_.writes.end(),
                     [&](const auto& write) { return write.first == function; });
}

bool LoopTables::writes_into(std::uint32_t function, ExpressionId sequence) const {
  const std::optional<Table> table = this->table(sequence);
  return table && facts_.writes.contains({function, table->vector});
}

void LoopTables::write(ExpressionId sequence, ExpressionId condition) {
  const std::optional<Table> table = this->table(sequence);
  if (!table) return;
  for (const Write& write : table->writes) {
    body_.writes.push_back({table->vector, expressions().both(condition, write.condition),
                            write.place, write.element, write.appends});
  }
}

ExpressionId LoopTables::begun_version(ExpressionId sequence, ExpressionId has_begun) {
  std::optional<Table> table = this->table(sequence);
  table->version = versions_[table->vector] = ++last_version_;
  const ExpressionId is_first = expressions().negation(has_begun);
  for (Write& write : table->writes) {
    write.condition = expressions().both(is_first, write.condition);
  }
  return add_table(std::move(*table));
}

bool LoopTables::is_current(ExpressionId node) const {
  const std::optional<Table> table = this->table(node);
  if (!table) return true;
  const auto current = versions_.find(table->vector);
  return table->version == (current == versions_.end() ? 0 : current->second);
}

void LoopTables::require_current(ExpressionId node) const {
  if (!is_current(node)) throw NoLoop{};
}

void LoopTables::join_versions(const Made& in_a, const Versions& of_a, const Made& in_b,
                               const Versions& of_b) {
  const auto version_in = [](const Versions& versions, std::uint32_t vector) {
    const auto found = versions.find(vector);
    return found == versions.end() ? 0 : found->second;
  };
  const auto rename = [&](const Made& made, std::uint32_t vector, std::uint32_t from,
                          std::uint32_t to) {
    for (std::vector<ExpressionId>* const values : made) {
      for (ExpressionId& value : *values) {
        std::optional<Table> table = this->table(value);
        if (!table || table->vector != vector || table->version != from) continue;
        table->version = to;
        value = add_table(std::move(*table));
      }
    }
  };
  versions_ = of_a;
  versions_.insert(of_b.begin(), of_b.end());
  for (auto& [vector, version] : versions_) {
    const std::uint32_t a = version_in(of_a, vector), b = version_in(of_b, vector);
    if (a == b) continue;
    version = ++last_version_;
    rename(in_a, vector, a, version);
    rename(in_b, vector, b, version);
  }
}

bool LoopTables::reads_what_changes(const Statement& statement, const Values& values) const {
  if (entered_ >= facts_.last || statement.kind != Statement::Kind::Op) return false;
  const bool fetches =
      vcode::info(statement.op).family == vcode::Family::Extract || statement.op == Op::BPermute;
  if (!fetches) return false;
  const std::optional<Table> table = this->table(values[statement.operands[0]]);
  return table && std::any_of(facts_.writes.begin(), facts_.writes.end(),
                              [&](const auto& write) { return write.second == table->vector; });
}

std::vector<const Statement*> LoopTables::in_order(const Block& block) const {
  std::vector<const Statement*> order, later;
  for (const Statement& statement : block.statements) {
    if (calls_writer(statement)) {
      later.push_back(&statement);
      continue;
    }
    order.push_back(&statement);
    if (later.empty()) continue;
    std::set<ValueId> used(statement.operands.begin(), statement.operands.end());
    for (const Block* const arm : {statement.then_block.get(), statement.else_block.get()}) {
      if (arm != nullptr) for_each_use(*arm, [&](ValueId value) { used.insert(value); });
    }
    const auto is_wanted = [&](const Statement* writer) {
      return std::any_of(writer->results.begin(), writer->results.end(),
                         [&](ValueId result) { return used.contains(result); });
    };
    const auto last = std::find_if(later.rbegin(), later.rend(), is_wanted).base();
    order.insert(order.end() - 1, later.begin(), last);
    later.erase(later.begin(), last);
  }
  order.insert(order.end(), later.begin(), later.end());
  return order;
}

std::optional<LoopTables::Places> LoopTables::places_of(const std::vector<ExpressionId>& results) {
  Places places;
  for (const ExpressionId result : results) {
    if (!is_current(result)) return std::nullopt;
    const std::optional<Table> table = this->table(result);
    if (!table) continue;
    for (const ExpressionId other : results) {
      const std::optional<Table> also = this->table(other);
      if (other != result && also && also->vector == table->vector) return std::nullopt;
    }
    const std::uint32_t descriptor = *parameters_[table->vector].descriptor;
    if (!sliced().contains(descriptor)) {
      if (table->descriptor) return std::nullopt;
      continue;
    }
    const Place place{descriptor_of(*table), first_of(*table)};
    const auto [known, is_new] = places.emplace(descriptor, place);
    if (known->second.descriptor != place.descriptor || known->second.first != place.first)
      return std::nullopt;
  }
  const auto is_here = [&](ExpressionId result) {
    if (result < kSequences || table(result)) return true;
    const auto of_result = [&](const auto& each) { return each.second.descriptor == result; };
    if (std::any_of(places.begin(), places.end(), of_result)) return true;
    return is_own(result) && !places.contains(result - kSequences);
  };
  if (!std::all_of(results.begin(), results.end(), is_here)) return std::nullopt;
  return places;
}

/// Do the writes from there on append what their vectors have no room for?
ExpressionId LoopTables::overflows(std::size_t from) {
  ExpressionId result = expressions().constant(false);
  for (std::size_t k = from; k < body_.writes.size(); ++k) {
    const LoopBody::Write& write = body_.writes[k];
    if (!write.appends) continue;
    const std::uint32_t list = *parameters_[write.vector].descriptor;
    if (!std::count(body_.lists.begin(), body_.lists.end(), list)) throw NoLoop{};
    const ExpressionId room = size_node(list);
    const ExpressionId is_behind =
        expressions().applied(Op::GreaterEqual, Type::Int, {write.place, room});
    result = expressions().either(result, expressions().both(write.condition, is_behind));
  }
  return result;
}

/// Does a list end in the last eighth of its vector when the round is done?
ExpressionId LoopTables::leaves_little_room() {
  const auto applied = [&](Op op, ExpressionId a, ExpressionId b) {
    return expressions().applied(op, Type::Int, {a, b});
  };
  ExpressionId result = expressions().constant(false);
  for (const std::uint32_t list : body_.lists) {
    const auto is_appended = [&](const LoopBody::Write& write) {
      return write.appends && parameters_[write.vector].descriptor == list;
    };
    if (std::none_of(body_.writes.begin(), body_.writes.end(), is_appended)) continue;
    const std::uint32_t first = body_.own_segment[list];
    const ExpressionId end = applied(Op::Add, body_.next[first], body_.next[first + 1]);
    const ExpressionId room = size_node(list);
    const ExpressionId eighth = applied(Op::Divide, room, expressions().number(8));
    result =
        expressions().either(result, applied(Op::Greater, applied(Op::Add, end, eighth), room));
  }
  return result;
}

void LoopTables::add_last_round(ExpressionId is_whole, const Places& places) {
  if (!body_.tells_whether_it_ended()) return;
  std::vector<ExpressionId> results = body_.results.value_or(std::vector<ExpressionId>());
  const auto is_changed = [](ExpressionId result) { return result >= kMade; };
  if (body_.writes.empty() && std::none_of(results.begin(), results.end(), is_changed)) return;
  // What is written in the end, and then whether all writes have room.
  const std::size_t in_rounds = body_.writes.size();
  ExpressionId has_ended = expressions().both(expressions().negation(body_.goes_on),
                                              expressions().negation(body_.fails));
  for (const ExpressionId result : std::set<ExpressionId>(results.begin(), results.end())) {
    write(result, has_ended);
  }
  const ExpressionId is_full =
      expressions().either(expressions().both(body_.goes_on, overflows(0)), overflows(in_rounds));
  const ExpressionId is_nearly_full = body_.counted
                                          ? expressions().both(is_whole, leaves_little_room())
                                          : expressions().constant(false);
  const ExpressionId has_room = expressions().negation(is_full);
  const ExpressionId goes_on = expressions().both(body_.goes_on, has_room);
  has_ended = expressions().both(has_ended, has_room);
  for (std::size_t k = 0; k < body_.writes.size(); ++k) {
    ExpressionId& condition = body_.writes[k].condition;
    condition = expressions().both(k < in_rounds ? goes_on : has_room, condition);
  }
  for (std::uint32_t k = 0; k < body_.next.size(); ++k) {
    body_.next[k] = expressions().choice(goes_on, body_.next[k], state_node(k));
  }
  for (const auto& [descriptor, place] : places) {
    const std::uint32_t first = body_.own_segment[descriptor];
    body_.next[first] = expressions().choice(has_ended, place.first, body_.next[first]);
    body_.next[first + 1] =
        expressions().choice(has_ended, size(place.descriptor), body_.next[first + 1]);
  }
  const auto found = [&](const ThunkNode& before, ExpressionId value) {
    const ExpressionId component = state_node(begun_with(before));
    body_.next.push_back(expressions().choice(goes_on, component, value));
    return component;
  };
  for (ExpressionId& result : results) {
    if (const std::optional<Table> table = this->table(result)) {
      result = kSequences + table->vector;
    } else if (is_changed(result)) {
      const auto here = std::find_if(places.begin(), places.end(), [&](const auto& each) {
        return each.second.descriptor == result;
      });
      result = kSequences + here->first;
    } else if (result < kSequences) {
      result = found(literal_node(expressions()[result].type, 0), result);
    }
  }
  if (body_.results) body_.results = std::move(results);
  enum { kGoesOn, kHasEnded, kFails, kIsFull, kIsNearlyFull };
  ExpressionId end = expressions().choice(body_.fails, expressions().number(kFails),
                                          expressions().number(kHasEnded));
  end = expressions().choice(is_full, expressions().number(kIsFull), end);
  const ExpressionId how = found(literal_node(Type::Int, kGoesOn), end);
  ExpressionId& stops = body_.next.back();
  stops = expressions().choice(expressions().both(goes_on, is_nearly_full),
                               expressions().number(kIsNearlyFull), stops);
  const auto is = [&](std::int64_t number) {
    return expressions().applied(Op::Equal, Type::Int, {how, expressions().number(number)});
  };
  body_.goes_on = is(kGoesOn);
  body_.fails = is(kFails);
  const auto stop = [&](ExpressionId condition, std::int64_t number,
                        std::optional<ExpressionId>& flag) {
    if (expressions().known(condition) == false) return;
    flag = is(number);
    body_.fails = expressions().either(body_.fails, *flag);
  };
  stop(is_full, kIsFull, body_.is_full);
  stop(is_nearly_full, kIsNearlyFull, body_.is_nearly_full);
}

bool LoopTables::calls_writer(const Statement& statement) const {
  bool found = statement.kind == Statement::Kind::Call && writes(statement.index);
  for (const Block* const arm : {statement.then_block.get(), statement.else_block.get()}) {
    if (arm == nullptr) continue;
    for_each_statement(*arm, [&](const Statement& one) {
      found = found || (one.kind == Statement::Kind::Call && writes(one.index));
    });
  }
  return found;
}

}  // namespace fcode
