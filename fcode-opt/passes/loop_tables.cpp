#include "fcode-opt/passes/loop_tables.hpp"

#include <algorithm>
#include <optional>

#include "ir/tools.hpp"

namespace fcode {

using vcode::ThunkNode;

void LoopTables::learn(std::uint32_t function, std::uint32_t vector) const {
  InnerWriters writers = writers_;
  const bool is_new = writers.writes.emplace(function, vector).second;
  if (!is_new && entered_ <= writers.last) return;
  writers.last = std::max(writers.last, entered_);
  throw Again{std::move(writers)};
}

bool LoopTables::writes(std::uint32_t function) const {
  return std::any_of(writers_.writes.begin(), writers_.writes.end(),
                     [&](const auto& write) { return write.first == function; });
}

bool LoopTables::writes_into(std::uint32_t function, ExpressionId sequence) const {
  const std::optional<Table> table = this->table(sequence);
  return table && writers_.writes.contains({function, table->vector});
}

void LoopTables::write(ExpressionId sequence, ExpressionId condition) {
  const std::optional<Table> table = this->table(sequence);
  if (!table) return;
  for (const Write& write : table->writes) {
    body_.writes.push_back({table->vector, expressions().both(condition, write.condition),
                            write.place, write.element});
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
  if (entered_ >= writers_.last || statement.kind != Statement::Kind::Op) return false;
  const bool fetches =
      vcode::info(statement.op).family == vcode::Family::Extract || statement.op == Op::BPermute;
  if (!fetches) return false;
  const std::optional<Table> table = this->table(values[statement.operands[0]]);
  return table && std::any_of(writers_.writes.begin(), writers_.writes.end(),
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

bool LoopTables::are_here(const std::vector<ExpressionId>& results) const {
  for (const ExpressionId result : results) {
    if (!is_current(result)) return false;
    if (result < kSequences || is_own(result)) continue;
    const std::optional<Table> written = table(result);
    if (!written) return false;
    for (const ExpressionId other : results) {
      const std::optional<Table> also = table(other);
      if (other != result && also && also->vector == written->vector) return false;
    }
  }
  return true;
}

void LoopTables::add_last_round() {
  if (!body_.tells_whether_it_ended()) return;
  std::vector<ExpressionId> results = body_.results.value_or(std::vector<ExpressionId>());
  const auto is_changed = [](ExpressionId result) { return result >= kMade; };
  if (body_.writes.empty() && std::none_of(results.begin(), results.end(), is_changed)) return;
  const ExpressionId goes_on = body_.goes_on;
  for (std::uint32_t k = 0; k < body_.next.size(); ++k) {
    body_.next[k] = expressions().choice(goes_on, body_.next[k], state_node(k));
  }
  for (LoopBody::Write& write : body_.writes) {
    write.condition = expressions().both(goes_on, write.condition);
  }
  const auto found = [&](const ThunkNode& before, ExpressionId value) {
    const ExpressionId component = state_node(begun_with(before));
    body_.next.push_back(expressions().choice(goes_on, component, value));
    return component;
  };
  const ExpressionId has_ended =
      expressions().both(expressions().negation(goes_on), expressions().negation(body_.fails));
  std::set<ExpressionId> changed;
  for (ExpressionId& result : results) {
    if (result >= kSequences) {
      if (changed.insert(result).second) write(result, has_ended);
      if (is_changed(result)) result = kSequences + table(result)->vector;
      continue;
    }
    result = found(literal_node(expressions()[result].type, 0), result);
  }
  if (body_.results) body_.results = std::move(results);
  enum { kGoesOn, kHasEnded, kFails };
  const ExpressionId end = expressions().choice(body_.fails, expressions().number(kFails),
                                                expressions().number(kHasEnded));
  const ExpressionId how = found(literal_node(Type::Int, kGoesOn), end);
  const auto is = [&](std::int64_t number) {
    return expressions().applied(Op::Equal, Type::Int, {how, expressions().number(number)});
  };
  body_.goes_on = is(kGoesOn);
  body_.fails = is(kFails);
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
