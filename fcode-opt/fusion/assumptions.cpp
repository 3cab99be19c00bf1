#include "fcode-opt/fusion/assumptions.hpp"

#include <algorithm>
#include <utility>

#include "ir/tools.hpp"

namespace fcode {

using vcode::Family;

Assumptions::Assumptions(std::span<const Statement> statements, const Module& module,
                         Shapes& shapes, const std::vector<bool>& dropped)
    : statements_(statements),
      shapes_(shapes),
      assumed_(statements.size(), false),
      mark_(shapes.equations.mark()) {
  for (const Statement& statement : statements) {
    for (ValueId value : statement.operands) note(value);
    for (ValueId value : statement.results) note(value);
  }
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Statement& statement = statements[i];
    const bool fusible = role_of(statement, module, shapes) != Role::Opaque;
    if (dropped[i] || statement.kind != Statement::Kind::Op || !fusible) continue;
    shapes.for_each_demand(statement, [&](const Linear& left, const Linear& right) {
      if (shapes.equations.equal(left, right)) return;
      if (!shapes.equations.unite(left, right)) return;  // it fails, or cuts an operand
      assumed_[i] = true;
      rules_.push_back({i, left, right});
    });
  }
}

void Assumptions::leave() {
  shapes_.equations.leave(mark_);
}

void Assumptions::note(ValueId value) {
  if (proved_.count(value) != 0) return;
  const Equations& equations = shapes_.equations;
  Proved proved;
  proved.length = equations.normal(shapes_.of(value).length);
  proved.sum = equations.normal(shapes_.of(value).sum);
  if (const std::optional<Linear> element = shapes_.element(value)) {
    proved.element = equations.normal(*element);
  }
  proved_.emplace(value, std::move(proved));
}

/// What one kernel takes for granted.
class Assumptions::Kernel {
 public:
  Kernel(const Assumptions& all, const RegionGraph& graph, const Schedule& schedule,
         const std::vector<NodeIndex>& members)
      : all_(all),
        graph_(graph),
        schedule_(schedule),
        slot_(schedule[members[0]]),
        used_(with_generators(graph, members)) {
    for (NodeIndex i : members) find_natural(i);
    for (NodeIndex i : used_) find_terms(graph_.nodes[i]);
  }

  Checks run() {
    Checks checks;
    for (const auto& [meaning, terms] : terms_) {
      if (terms.size() == 1) continue;
      for (const Linear& term : terms) {
        if (!term.is_number()) check(meaning, term, checks);
      }
    }
    return checks;
  }

 private:
  // What the kernel takes as an operand in any case.
  void find_natural(NodeIndex index) {
    for (const Read& read : graph_.nodes[index].reads) {
      if (read.access != Access::Length && is_before(read.value)) natural_.push_back(read.value);
    }
  }

  void find_terms(const Node& node) {
    const Statement& statement = *node.statement;
    for (ValueId value : statement.operands) add_terms(value);
    // What FILTER and SEGMENTS make is of a size of its own, unless it is a space of the kernel.
    if (node.role == Role::Filter || (node.role == Role::Segments && !node.new_total)) return;
    for (ValueId value : statement.results) add_terms(value);
  }

  void add_terms(ValueId value) {
    const Proved& proved = all_.proved_.at(value);
    touched_.push_back(value);
    add_term(proved.length);
    if (is_segdes(value)) add_term(proved.sum);
    // Known numbers are written as such.
    if (proved.element && all_.shapes_.equations.number(*proved.element)) {
      add_term(*proved.element);
    }
  }

  void add_term(const Linear& proved) {
    const Linear meaning = all_.shapes_.equations.normal(proved);
    std::set<Linear>& terms = terms_[meaning];
    terms.insert(proved);
    if (meaning.is_number()) terms.insert(meaning);
  }

  // Descriptors have one more number, their data length.
  bool is_segdes(ValueId value) const { return graph_.is_segdes(value); }

  // Does the value exist before the kernel runs?
  bool is_before(ValueId value) const {
    const NodeIndex made = graph_.producer(value);
    if (made == kOutside) return graph_.is_typed(value);
    return graph_.nodes[made].scheduled() && schedule_[made] < slot_ && graph_.is_typed(value);
  }

  bool tells(ValueId value, const Linear& term) const {
    const Proved& proved = all_.proved_.at(value);
    return proved.length == term || (is_segdes(value) && proved.sum == term);
  }

  void check(const Linear& meaning, const Linear& term, Checks& checks) const {
    if (const ValueId value = teller(term); value != kNoValue) {
      const auto end = checks.values.end();
      if (std::find(checks.values.begin(), end, value) == end) checks.values.push_back(value);
    } else if (const ValueId segdes = generated(term); segdes != kNoValue) {
      checks.missing.push_back(segdes);
    } else {
      blame(meaning, checks.impossible);
    }
  }

  // A value from before that has the length, preferably one that is needed anyway, or one that
  // takes no memory: a vector may be made for nothing else.
  ValueId teller(const Linear& term) const {
    const auto finds = [&](ValueId value) { return tells(value, term) && is_before(value); };
    const auto is_free = [&](ValueId value) {
      return is_segdes(value) || graph_.producer(value) == kOutside;
    };
    for (const ValueId value : natural_) {
      if (finds(value)) return value;
    }
    for (const bool any : {false, true}) {
      for (const ValueId value : touched_) {
        if ((any || is_free(value)) && finds(value)) return value;
      }
      for (const auto& [value, proved] : all_.proved_) {
        if ((any || is_free(value)) && finds(value)) return value;
      }
    }
    return kNoValue;
  }

  // A descriptor of one segment of that length, which could be made in front of the kernel.
  ValueId generated(const Linear& term) const {
    for (NodeIndex i : used_) {
      const Node& node = graph_.nodes[i];
      if (node.role != Role::Generator || node.statement->op != Op::MakeSegdes) continue;
      if (tells(node.statement->results[0], term)) return node.statement->results[0];
    }
    return kNoValue;
  }

  // The statements that brought a length in; or else all.
  void blame(const Linear& meaning, std::vector<std::size_t>& statements) const {
    bool found = false;
    for (const Rule& rule : all_.rules_) {
      if (!all_.shapes_.equations.equal(rule.left, meaning)) continue;
      statements.push_back(rule.statement);
      found = true;
    }
    if (found) return;
    for (const Rule& rule : all_.rules_) statements.push_back(rule.statement);
  }

  const Assumptions& all_;
  const RegionGraph& graph_;
  const Schedule& schedule_;
  Slot slot_;
  std::set<NodeIndex> used_;
  std::vector<ValueId> natural_, touched_;
  std::map<Linear, std::set<Linear>> terms_;  // what is proved, by what it is taken for
};

Assumptions::Checks Assumptions::checks(const RegionGraph& graph, const Schedule& schedule,
                                        const std::vector<NodeIndex>& members) const {
  return Kernel(*this, graph, schedule, members).run();
}

}  // namespace fcode
