#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "fcode-opt/passes/body_reader.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

using vcode::ThunkNode;

/// All of many states is computed in every round: what has more parts than this is left to be
/// computed where it is needed. Of a single one that is done in any case.
constexpr std::size_t kLargestBody = 300, kLargestOfOne = 1000;

/// Loops inside each other.
constexpr std::size_t kDeepestLoop = 5;

/// What is known of the loops inside that write, from the last time that the function was read.
struct InnerWriters {
  std::set<std::uint32_t> functions, vectors;
  std::set<std::pair<std::uint32_t, std::uint32_t>> writes;  // functions into vectors
  std::size_t last = 0;  // of all loops inside, in the order in which they are read, from 1 on
};

/// The function has to be read again, knowing that.
struct Again {
  InnerWriters writers;
};

class LoopReader : BodyReader {
 public:
  LoopReader(const Module& module, const std::vector<bool>& recursive,
             const SerialFunction& function, const InnerWriters& writers)
      : BodyReader(module, recursive, function), single_(function.single), writers_(writers) {}

  LoopBody run(bool with_slices) {
    std::vector<ExpressionId> arguments = begin(with_slices);
    std::vector<std::uint32_t> components(body_.component.begin(),
                                          body_.component.begin() + arguments.size());
    for (const ExpressionId node : move_sequences(arguments)) {
      components.push_back(expressions()[node].id);
      arguments.push_back(node);
    }
    const Round round = this->round(main_, arguments, components, {});
    if (expressions().known(round.goes_on) == false) throw NoLoop{};
    body_.fails = round.fails;
    body_.goes_on = round.goes_on;
    if (inner_loops_write_) count(round.waits);
    const ExpressionId is_done = expressions().negation(round.waits);
    for (const ExpressionId next : round.next) write(next, is_done);
    for (const Change& change : round.changes) become(change.component, change.next);
    keep(round.inside, round.waits);
    next_.resize(body_.state.size());
    for (std::uint32_t k = 0; k < body_.state.size(); ++k) {
      body_.next.push_back(next_[k].value_or(state_node(k)));
    }
    // A loop that never ends has no results.
    const auto is_undefined = [](ExpressionId node) { return node == kUndefined; };
    if (round.results.size() != module_.functions[main_].result_types.size() ||
        std::any_of(round.results.begin(), round.results.end(), is_undefined)) {
      throw NoLoop{};
    }
    if (are_here(round.results)) {
      body_.results = round.results;
    } else if (inner_loops_write_ && !may_end_elsewhere(round.results)) {
      throw NoLoop{};
    }
    finish();
    if (body_.gives_state() && (!single_ || body_.collects || slices())) throw NoLoop{};
    return std::move(body_);
  }

 private:
  /// What the result of the next round is combined with, in an order that does not matter.
  struct Combined {
    Op op;
    Type type;
    ExpressionId term;
  };
  /// What a block comes to: it fails, it calls the function as the last that it does, or but for
  /// combining the result, or it has results.
  struct Outcome {
    ExpressionId fails, goes_on;
    std::vector<ExpressionId> next;     // empty: it does not go on
    std::vector<ExpressionId> results;  // of the next round: kUndefined
    std::optional<Combined> combined;
  };
  /// A loop inside of a round. Until it has come to its end the round waits; then it keeps its last
  /// state, which its results are computed from, until the round is done.
  struct InnerLoop {
    std::uint32_t begun;   // the component that says whether its state has a meaning: if it …
    ExpressionId begins;   // … has gone on
    ExpressionId reached;  // does the round run it, and has nothing in front of it to wait for?
    ExpressionId stays;    // in the round of its own that it is in
    std::vector<InnerLoop> inside;
  };
  struct Change {
    std::uint32_t component;
    ExpressionId now, next;
  };
  /// What a round of a loop comes to. While a loop inside goes on the state stays as it is.
  struct Round {
    ExpressionId fails, goes_on;
    ExpressionId waits;  // for a loop inside
    std::vector<Change> changes;
    std::vector<ExpressionId> next;  // arguments
    std::vector<ExpressionId> results;
    std::vector<InnerLoop> inside;
  };
  /// A loop that is being read, and what those inside are known to do so far.
  struct OpenLoop {
    std::uint32_t function;
    ExpressionId waits, fails;
    std::vector<InnerLoop> inside;
    std::optional<ExpressionId> passed;  // has the round been here before, and waited later on?
  };
  /// A round of a loop whose parameters are `arguments` now, those that are scalars being
  /// components of the state. `begun`: of a loop inside, whether its state has a meaning yet.
  Round round(std::uint32_t function, const std::vector<ExpressionId>& arguments,
              const std::vector<std::uint32_t>& components, std::optional<ExpressionId> begun) {
    if (loops_.size() == kDeepestLoop) throw NoLoop{};
    const ExpressionId never = expressions().constant(false);
    loops_.push_back({function, never, never, {}, {}});
    const Outcome outcome = call(function, arguments, 0);
    const OpenLoop loop = std::move(loops_.back());
    loops_.pop_back();
    Round round;
    round.waits = loop.waits;
    round.results = outcome.results;
    round.inside = loop.inside;
    round.fails = expressions().either(
        loop.fails, expressions().both(expressions().negation(loop.waits), outcome.fails));
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const ExpressionId now = arguments[k];
      const ExpressionId next = outcome.next.empty() ? now : outcome.next[k];
      if (components[k] != LoopBody::kNone) {
        round.changes.push_back(change(components[k], now, scalar(next), round));
      } else if (next != now) {
        // Sequences stay what they are, but for elements.
        const std::optional<Table> before = table(now), after = table(next);
        if (!before || !after || before->vector != after->vector) throw NoLoop{};
        if (begun) learn(function, before->vector);
      }
    }
    round.next = outcome.next;
    if (outcome.combined) collect(*outcome.combined, begun, round);
    // Where it waits nothing has failed.
    round.goes_on = expressions().either(
        round.waits, expressions().both(outcome.goes_on, expressions().negation(round.fails)));
    return round;
  }

  Change change(std::uint32_t component, ExpressionId now, ExpressionId next, const Round& round) {
    return {component, now, expressions().choice(round.waits, now, next)};
  }

  /// A call of a function that is a loop itself. What the round has written so far one that writes,
  /// too, writes first.
  Outcome inner_loop(std::uint32_t function, const std::vector<ExpressionId>& arguments) {
    body_.has_inner_loops = true;
    ++entered_;
    const auto writes_into = [&](const std::optional<Table>& table) {
      return table && writers_.writes.contains({function, table->vector});
    };
    const bool writes = writers_.functions.contains(function);
    has_written_ = has_written_ || writes;
    ExpressionId reached = expressions().both(expressions().negation(loops_.back().waits),
                                              expressions().negation(loops_.back().fails));
    for (const Arm& arm : arms_) reached = expressions().both(reached, is_run(arm));
    const std::uint32_t begun = begun_with(literal_node(Type::Bool, 0));
    reached = expressions().either(state_node(begun), reached);
    std::vector<ExpressionId> now;
    std::vector<std::uint32_t> components;
    for (const ExpressionId argument : arguments) {
      now.push_back(argument);
      if (writes_into(table(argument))) now.back() = written_once(argument, begun);
      components.push_back(LoopBody::kNone);
      if (is_sequence(argument)) continue;
      components.back() = begun_with(literal_node(expressions()[scalar(argument)].type, 0));
      now.back() = expressions().choice(state_node(begun), state_node(components.back()), argument);
    }
    std::vector<LoopBody::Write> before = body_.writes;
    if (writes) body_.writes.clear();
    const std::vector<Arm> arms = std::exchange(arms_, {{reached, true}});
    const Round round = this->round(function, now, components, state_node(begun));
    arms_ = arms;
    const ExpressionId goes_on = expressions().both(reached, round.goes_on);
    for (const Change& change : round.changes) {
      become(change.component, expressions().choice(goes_on, change.next, change.now));
    }
    if (writes) {
      inner_loops_write_ = true;
      // What the round before has written is there for loops inside of this one, too.
      std::vector<LoopBody::Write> of_loop = std::exchange(body_.writes, std::move(before));
      for (const ExpressionId table : now) {
        if (writes_into(this->table(table))) write(table, goes_on);
      }
      body_.writes.insert(body_.writes.end(), of_loop.begin(), of_loop.end());
      const ExpressionId is_done = expressions().both(goes_on, expressions().negation(round.waits));
      for (const ExpressionId next : round.next) {
        if (writes_into(table(next))) write(next, is_done);
      }
    }
    OpenLoop& outer = loops_.back();
    outer.waits = expressions().either(outer.waits, goes_on);
    outer.fails = expressions().either(outer.fails, expressions().both(reached, round.fails));
    outer.inside.push_back({begun, expressions().either(state_node(begun), goes_on), reached,
                            expressions().either(round.waits, expressions().negation(goes_on)),
                            round.inside});
    outer.passed.reset();
    const ExpressionId never = expressions().constant(false);
    return {never, never, {}, round.results, {}};
  }

  /// Counts the rounds, and ends at a limit.
  void count(ExpressionId waits) {
    body_.counted = {begun_with(literal_node(Type::Int, 0)), add_component(Type::Int)};
    const ExpressionId rounds = state_node(body_.counted->rounds);
    const ExpressionId stops =
        expressions().applied(Op::Equal, Type::Int, {rounds, state_node(body_.counted->limit)});
    body_.fails = expressions().either(stops, body_.fails);
    body_.goes_on = expressions().both(expressions().negation(stops), body_.goes_on);
    const ExpressionId more =
        expressions().applied(Op::Add, Type::Int, {rounds, expressions().number(1)});
    become(body_.counted->rounds, expressions().choice(waits, rounds, more));
  }

  /// The loop inside, which is that function, writes into the vector.
  void learn(std::uint32_t function, std::uint32_t vector) const {
    InnerWriters writers = writers_;
    const bool is_new = writers.writes.emplace(function, vector).second;
    if (!is_new && entered_ <= writers.last) return;
    writers.functions.insert(function);
    writers.vectors.insert(vector);
    writers.last = std::max(writers.last, entered_);
    throw Again{std::move(writers)};
  }

  /// Where the condition holds, what has been written into the sequence is written.
  void write(ExpressionId sequence, ExpressionId condition) {
    const std::optional<Table> table = this->table(sequence);
    if (!table) return;
    for (const Write& write : table->writes) {
      body_.writes.push_back({table->vector, expressions().both(condition, write.condition),
                              write.place, write.element});
    }
  }

  /// The version of a table that a loop writes. What has been written into it is written in the
  /// first round.
  ExpressionId written_once(ExpressionId sequence, std::uint32_t begun) {
    std::optional<Table> table = this->table(sequence);
    table->version = versions_[table->vector] = ++last_version_;
    const ExpressionId is_first = expressions().negation(state_node(begun));
    for (Write& write : table->writes) {
      write.condition = expressions().both(is_first, write.condition);
    }
    return add_table(std::move(*table));
  }

  /// Of a table that loops inside have written there is one version.
  void require_current(ExpressionId node) const {
    if (!is_current(node)) throw NoLoop{};
  }
  bool is_current(ExpressionId node) const {
    const std::optional<Table> table = this->table(node);
    if (!table) return true;
    const auto current = versions_.find(table->vector);
    return table->version == (current == versions_.end() ? 0 : current->second);
  }

  using Versions = std::map<std::uint32_t, std::uint32_t>;
  /// Goes on with the versions of both arms, or of the one whose results are asked for.
  void join_versions(Outcome& a, const Versions& of_a, Outcome& b, const Versions& of_b) {
    versions_ = of_a;
    versions_.insert(of_b.begin(), of_b.end());
    for (auto& [vector, version] : versions_) {
      const auto in = [&, vector = vector](const Versions& versions) {
        const auto found = versions.find(vector);
        return found == versions.end() ? 0 : found->second;
      };
      if (in(of_a) == in(of_b)) continue;
      version = ++last_version_;
      for (auto [arm, versions] : {std::pair{&a, &of_a}, std::pair{&b, &of_b}}) {
        for (auto* values : {&arm->results, &arm->next}) {
          for (ExpressionId& value : *values) {
            std::optional<Table> table = this->table(value);
            if (!table || table->vector != vector || table->version != in(*versions)) continue;
            table->version = version;
            value = add_table(std::move(*table));
          }
        }
      }
    }
  }

  /// Does the operation read an element, which a loop inside may change behind it?
  bool reads_what_changes(const Statement& statement, const Values& values) const {
    if (entered_ >= writers_.last || statement.kind != Statement::Kind::Op) return false;
    const bool fetches =
        vcode::info(statement.op).family == vcode::Family::Extract || statement.op == Op::BPermute;
    if (!fetches) return false;
    const std::optional<Table> table = this->table(values[statement.operands[0]]);
    return table && writers_.vectors.contains(table->vector);
  }

  /// What a round reads stays what it is until the round is done.
  ExpressionId kept(ExpressionId read) {
    OpenLoop& loop = loops_.back();
    if (!loop.passed) {
      const ExpressionId never = expressions().constant(false);
      const ExpressionId always = expressions().constant(true);
      const std::uint32_t passed = begun_with(literal_node(Type::Bool, 0));
      const ExpressionId here = expressions().both(expressions().negation(loop.waits),
                                                   expressions().negation(loop.fails));
      loop.inside.push_back({passed, always, here, never, {}});
      loop.passed = state_node(passed);
    }
    const std::uint32_t component = begun_with(literal_node(expressions()[read].type, 0));
    const ExpressionId value = expressions().choice(*loop.passed, state_node(component), read);
    become(component, value);
    return value;
  }

  /// Are the results scalars and sequences of the function, in which it may have written?
  bool are_here(const std::vector<ExpressionId>& results) const {
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

  /// Of a function in which loops inside write: may what it was itself give such results, from the
  /// last state on?
  bool may_end_elsewhere(const std::vector<ExpressionId>& results) const {
    return !ends_behind_writes_ &&
           std::all_of(results.begin(), results.end(), [&](ExpressionId result) {
             return result == kElsewhere || result < kSequences || is_own(result);
           });
  }

  /// Behind the last round there is one more, which finds the results and whether the function has
  /// failed: only in rounds what has been written can be read.
  void finish() {
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

  void become(std::uint32_t component, ExpressionId next) {
    if (next_.size() <= component) next_.resize(component + 1);
    next_[component] = next;
  }

  /// Loops keep their states while the rounds stay that they are in.
  void keep(const std::vector<InnerLoop>& loops, ExpressionId round_stays) {
    for (const InnerLoop& loop : loops) {
      const ExpressionId kept = expressions().both(loop.reached, round_stays);
      become(loop.begun, expressions().both(kept, loop.begins));
      keep(loop.inside, expressions().both(kept, loop.stays));
    }
  }

  Outcome call(std::uint32_t index, const std::vector<ExpressionId>& arguments, int depth) {
    Values values = values_of(index, arguments, depth);
    return block(module_.functions[index].body, values, depth);
  }

  Outcome block(const Block& block, Values& values, int depth) {
    Outcome outcome{expressions().constant(false), expressions().constant(false), {}, {}, {}};
    ExpressionId pending = kPending;  // what the result of the next round has become so far
    for (const Statement* const next : in_order(block)) {
      const Statement& statement = *next;
      if (expressions().size() > (single_ ? kLargestOfOne : kLargestBody)) throw NoLoop{};
      if (statement.kind == Statement::Kind::Call || statement.kind == Statement::Kind::If) {
        add(statement, values, depth, outcome);
      } else if (combine(statement, values, pending, outcome)) {
        values[statement.results[0]] = ++pending;
      } else {
        for (const ValueId operand : statement.operands) require_current(values[operand]);
        const ExpressionId value = value_of(statement, values);
        values[statement.results[0]] = reads_what_changes(statement, values) ? kept(value) : value;
      }
    }
    if (outcome.next.empty()) {
      for (const ValueId result : block.results) outcome.results.push_back(values[result]);
      return outcome;
    }
    // What goes on is the last that is done.
    if (block.results.size() != outcome.results.size()) throw NoLoop{};
    for (std::size_t k = 0; k < block.results.size(); ++k) {
      if (values[block.results[k]] != pending + k) throw NoLoop{};
    }
    return outcome;
  }

  /// The statements of a block. Loops that write come when they have to: what reads a table as it
  /// was before them can do so then.
  std::vector<const Statement*> in_order(const Block& block) const {
    std::vector<const Statement*> order, later;
    for (const Statement& statement : block.statements) {
      if (calls_writer(statement)) {
        later.push_back(&statement);
        continue;
      }
      std::set<ValueId> used(statement.operands.begin(), statement.operands.end());
      for (const Block* const arm : {statement.then_block.get(), statement.else_block.get()}) {
        if (arm != nullptr) for_each_use(*arm, [&](ValueId value) { used.insert(value); });
      }
      const auto is_wanted = [&](const Statement* writer) {
        return std::any_of(writer->results.begin(), writer->results.end(),
                           [&](ValueId result) { return used.contains(result); });
      };
      const auto last = std::find_if(later.rbegin(), later.rend(), is_wanted).base();
      order.insert(order.end(), later.begin(), last);
      later.erase(later.begin(), last);
      order.push_back(&statement);
    }
    order.insert(order.end(), later.begin(), later.end());
    return order;
  }

  bool calls_writer(const Statement& statement) const {
    const auto is_writer = [&](const Statement& one) {
      return one.kind == Statement::Kind::Call && writers_.functions.contains(one.index);
    };
    bool found = is_writer(statement);
    for (const Block* const arm : {statement.then_block.get(), statement.else_block.get()}) {
      if (arm == nullptr) continue;
      for_each_statement(*arm, [&](const Statement& one) { found = found || is_writer(one); });
    }
    return found;
  }

  /// A call or conditional.
  void add(const Statement& statement, Values& values, int depth, Outcome& outcome) {
    const Outcome part = statement.kind == Statement::Kind::Call
                             ? call(statement, values, depth)
                             : conditional(statement, values, depth);
    outcome.fails = expressions().either(outcome.fails, part.fails);
    const bool goes_on = !part.next.empty();
    if (goes_on && !outcome.next.empty()) throw NoLoop{};
    for (std::size_t k = 0; k < statement.results.size(); ++k) {
      values[statement.results[k]] =
          goes_on ? kPending + static_cast<ExpressionId>(k) : part.results[k];
    }
    if (!goes_on) return;
    outcome.goes_on = part.goes_on;
    outcome.next = part.next;
    outcome.results = part.results;
    outcome.combined = part.combined;
  }

  /// Does the operation combine the result of the next round? Then so it is with the results that
  /// there are without one. What that was before is not asked for again.
  bool combine(const Statement& statement, const Values& values, ExpressionId pending,
               Outcome& outcome) {
    const bool is_operation = statement.kind == Statement::Kind::Op;
    if (!is_operation || outcome.next.empty() || statement.operands.size() != 2) return false;
    const ExpressionId first = values[statement.operands[0]];
    const ExpressionId second = values[statement.operands[1]];
    if ((first == pending) == (second == pending)) return false;
    ExpressionId term = scalar(first == pending ? second : first);
    const Op op = statement.op;
    const Type type = statement.written;
    if (!identity(op, type) || outcome.results.size() != 1) throw NoLoop{};
    ExpressionId& result = outcome.results[0];
    if (result != kUndefined) result = expressions().applied(op, type, {scalar(result), term});
    if (outcome.combined) {
      if (outcome.combined->op != op || outcome.combined->type != type) throw NoLoop{};
      term = expressions().applied(op, type, {outcome.combined->term, term});
    }
    outcome.combined = Combined{op, type, term};
    return true;
  }

  /// What changes nothing; nothing for operations whose result depends on the order.
  static std::optional<ThunkNode> identity(Op op, Type type) {
    if (type == Type::Float) return std::nullopt;
    switch (op) {
      case Op::Add:
      case Op::Or:
      case Op::Xor:
        return literal_node(type, 0);
      case Op::Multiply:
        return literal_node(type, 1);
      case Op::And:
        return literal_node(type, type == Type::Bool ? 1 : -1);
      default:
        return std::nullopt;
    }
  }

  /// What the results of the next rounds are combined with is collected in a component.
  void collect(const Combined& combined, std::optional<ExpressionId> begun, Round& round) {
    if (loops_.empty()) body_.collects = true;
    const auto component = [&](const ThunkNode& number, Op op, Type type, ExpressionId term) {
      const std::uint32_t component = begun_with(number);
      ExpressionId now = state_node(component);
      if (begun) now = expressions().choice(*begun, now, expressions().add(number));
      round.changes.push_back(
          change(component, now, expressions().applied(op, type, {now, term}), round));
      return now;
    };
    const ExpressionId so_far =
        component(*identity(combined.op, combined.type), combined.op, combined.type, combined.term);
    ExpressionId& result = round.results[0];
    if (result != kUndefined) {
      result = expressions().applied(combined.op, combined.type, {so_far, scalar(result)});
    }
    if (!body_.has_inner_loops) return;
    // Steps do not tell how deep a loop is among others.
    const ExpressionId depth =
        component(literal_node(Type::Int, 0), Op::Add, Type::Int, expressions().number(1));
    const ExpressionId too_deep = expressions().applied(
        Op::GreaterEqual, Type::Int, {depth, expressions().number(LoopBody::kMostDepth)});
    round.fails = expressions().either(round.fails, too_deep);
  }

  Outcome call(const Statement& statement, const Values& values, int depth) {
    std::vector<ExpressionId> arguments = arguments_of(statement, values);
    if (recursive_[statement.index]) {
      for (const ExpressionId argument : arguments) require_current(argument);
    }
    if (statement.index != loops_.back().function) {
      const auto is_open = [&](const OpenLoop& loop) { return loop.function == statement.index; };
      if (std::any_of(loops_.begin(), loops_.end(), is_open)) throw NoLoop{};
      if (recursive_[statement.index]) return inner_loop(statement.index, arguments);
      Outcome outcome = call(statement.index, arguments, depth + 1);
      if (!outcome.next.empty()) throw NoLoop{};
      return outcome;
    }
    const auto is_pending = [](ExpressionId argument) {
      return argument >= kPending && argument < kSingle;
    };
    if (depth > 0 || std::any_of(arguments.begin(), arguments.end(), is_pending)) throw NoLoop{};
    if (statement.index == main_) {
      const std::vector<ExpressionId> moved = move_sequences(arguments);
      arguments.insert(arguments.end(), moved.begin(), moved.end());
    }
    return {expressions().constant(false),
            expressions().constant(true),
            std::move(arguments),
            std::vector<ExpressionId>(statement.results.size(), kUndefined),
            {}};
  }

  Outcome conditional(const Statement& statement, Values& values, int depth) {
    const ExpressionId condition = scalar(values[statement.operands[0]]);
    const auto arm = [&](const Block& arm, bool is_first) -> Outcome {
      // Whatever it says before it ends the program, it says when the function itself is run.
      if (arm.diverges) {
        return {expressions().constant(true),
                expressions().constant(false),
                {},
                std::vector<ExpressionId>(statement.results.size(), kUndefined),
                {}};
      }
      arms_.push_back({condition, is_first});
      const Outcome outcome =
          may_be_elsewhere(arm, depth) ? here_or_elsewhere(arm, values) : block(arm, values, depth);
      arms_.pop_back();
      return outcome;
    };
    const bool had_written = has_written_;
    const Versions before = versions_;
    Outcome a = arm(*statement.then_block, true);
    const bool a_has_written = std::exchange(has_written_, had_written);
    const Versions of_a = std::exchange(versions_, before);
    Outcome b = arm(*statement.else_block, false);
    const Versions of_b = versions_;
    const auto ends = [](const Block& arm, const Outcome& outcome) {
      return !arm.diverges && outcome.next.empty();
    };
    const bool a_ends = ends(*statement.then_block, a), b_ends = ends(*statement.else_block, b);
    if (a_ends == b_ends) {
      join_versions(a, of_a, b, of_b);
    } else {
      versions_ = a_ends ? of_a : of_b;
    }
    if (loops_.size() == 1 && a.next.empty() != b.next.empty()) {
      ends_behind_writes_ =
          ends_behind_writes_ || (a_has_written && a_ends) || (has_written_ && b_ends);
    }
    has_written_ = has_written_ || a_has_written;
    Outcome outcome{expressions().choice(condition, a.fails, b.fails),
                    expressions().choice(condition, a.goes_on, b.goes_on),
                    {},
                    merged(condition, a.results, b.results),
                    merged(condition, a, b)};
    if (a.next.empty()) {
      outcome.next = b.next;
    } else {
      outcome.next = b.next.empty() ? a.next : merged(condition, a.next, b.next);
    }
    return outcome;
  }

  /// May the function itself be what runs the arm, behind the last round?
  bool may_be_elsewhere(const Block& arm, int depth) const {
    if (!single_ || depth > 0 || loops_.size() > 1) return false;
    bool calls = false;
    for_each_statement(arm, [&](const Statement& statement) {
      calls = calls || (statement.kind == Statement::Kind::Call && statement.index == main_);
    });
    return !calls;
  }

  /// An arm that ends the loop, by the function itself if it is more than scalars.
  Outcome here_or_elsewhere(const Block& arm, Values& values) {
    const Progress before = progress();
    const std::vector<OpenLoop> loops = loops_;
    const std::vector<std::optional<ExpressionId>> next = next_;
    const std::size_t entered = entered_;
    const bool has_written = has_written_;
    const Versions versions = versions_;
    try {
      return block(arm, values, 0);
    } catch (const NoLoop&) {
      if (has_written) throw;
      go_back(before);
      loops_ = loops;
      next_ = next;
      entered_ = entered;
      has_written_ = has_written;
      versions_ = versions;
      return {expressions().constant(false),
              expressions().constant(false),
              {},
              std::vector<ExpressionId>(arm.results.size(), kElsewhere),
              {}};
    }
  }

  using BodyReader::merged;
  std::optional<Combined> merged(ExpressionId condition, const Outcome& a, const Outcome& b) {
    if (!a.combined && !b.combined) return std::nullopt;
    Combined combined = a.combined ? *a.combined : *b.combined;
    const auto term = [&](const Outcome& arm) {
      if (!arm.combined) return expressions().add(*identity(combined.op, combined.type));
      if (arm.combined->op != combined.op || arm.combined->type != combined.type) throw NoLoop{};
      return arm.combined->term;
    };
    combined.term = a.next.empty()   ? term(b)
                    : b.next.empty() ? term(a)
                                     : expressions().choice(condition, term(a), term(b));
    return combined;
  }

  const bool single_;
  const InnerWriters writers_;
  std::size_t entered_ = 0;  // loops inside, so far
  bool inner_loops_write_ = false;
  bool has_written_ = false;         // may one of them have, on the way to where we are, …
  bool ends_behind_writes_ = false;  // … or on one to an end?
  Versions versions_;                // of tables that loops inside have written
  std::uint32_t last_version_ = 0;
  std::vector<OpenLoop> loops_;  // inside each other; arms_ are of the round of the innermost one
  std::vector<std::optional<ExpressionId>> next_;  // of components; nothing: they stay as they are
};

}  // namespace

bool LoopBody::tells_whether_it_ended() const {
  return results.has_value() || counted;
}

bool LoopBody::gives_state() const {
  const auto is_sequence = [](ExpressionId result) { return result >= kSequences; };
  return !writes.empty() || !results || std::any_of(results->begin(), results->end(), is_sequence);
}

std::optional<LoopBody> loop_body(const Module& module, const std::vector<bool>& recursive,
                                  const SerialFunction& function) {
  bool with_slices = true;
  InnerWriters writers;
  for (;;) {
    try {
      return LoopReader(module, recursive, function, writers).run(with_slices);
    } catch (Again& again) {
      writers = std::move(again.writers);
    } catch (const NoLoop&) {
      // Slices may be what the end alone makes.
      if (!function.single || !with_slices) return std::nullopt;
      with_slices = false;
    }
  }
}

}  // namespace fcode
