#include <algorithm>
#include <optional>
#include <utility>

#include "fcode-opt/passes/loop_tables.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

using vcode::ThunkNode;

/// All of many states is computed in every round: what has more parts than this is left to be
/// computed where it is needed. Of a single one that is done in any case.
constexpr std::size_t kLargestBody = 300, kLargestOfOne = 1000;

/// Loops inside each other.
constexpr std::size_t kDeepestLoop = 5;

class LoopReader : LoopTables {
 public:
  LoopReader(const Module& module, const std::vector<bool>& recursive,
             const SerialFunction& function, const LoopFacts& facts)
      : LoopTables(module, recursive, function, facts), single_(function.single) {}

  LoopBody run() {
    std::set<std::uint32_t> sliced;
    for (std::uint32_t k = 0; k < parameters_.size(); ++k) {
      if (moves(main_, k)) sliced.insert(k);
    }
    std::vector<ExpressionId> arguments = begin(std::move(sliced));
    std::vector<std::uint32_t> components(body_.component.begin(),
                                          body_.component.begin() + arguments.size());
    for (const ExpressionId node : move_sequences(arguments)) {
      components.push_back(expressions()[node].id);
      arguments.push_back(node);
    }
    const Round round = this->round(main_, arguments, components, {}, {});
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
    const auto places = places_of(round.results);
    if (places) {
      body_.results = round.results;
    } else if (inner_loops_write_ && !may_end_elsewhere(round.results)) {
      throw NoLoop{};
    }
    if (body_.gives_state()) {
      if (!single_ || body_.collects) throw NoLoop{};
      body_.lists.assign(this->sliced().begin(), this->sliced().end());
    }
    add_last_round(is_done, places.value_or(Places()));
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
    std::vector<ExpressionId> arguments;  // of the round
    std::vector<Moved> moved;             // of a loop inside
    ExpressionId waits, fails;
    std::vector<InnerLoop> inside = {};
    /// Has the round been here before, and waited later on?
    std::optional<ExpressionId> passed = {};
  };
  /// A round of a loop whose parameters are `arguments` now, those that are scalars being
  /// components of the state; behind the parameters there is what tells where sequences begin of
  /// which it hands on slices, and how long they are. `begun`: of a loop inside, whether its state
  /// has a meaning yet.
  Round round(std::uint32_t function, const std::vector<ExpressionId>& arguments,
              const std::vector<std::uint32_t>& components, std::optional<ExpressionId> begun,
              std::vector<Moved> moved) {
    if (loops_.size() == kDeepestLoop) throw NoLoop{};
    const ExpressionId never = expressions().constant(false);
    loops_.push_back({function, arguments, std::move(moved), never, never});
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
        // Sequences stay what they are, but for elements, and for where they are in their vectors.
        const std::optional<Table> before = table(now), after = table(next);
        if (!before || !after || before->vector != after->vector || before->first != after->first ||
            before->descriptor != after->descriptor) {
          throw NoLoop{};
        }
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

  /// A call of a function that is a loop itself.
  Outcome inner_loop(std::uint32_t function, const std::vector<ExpressionId>& arguments) {
    body_.has_inner_loops = true;
    ++entered_;
    has_written_ = has_written_ || writes(function);
    ExpressionId reached = expressions().both(expressions().negation(loops_.back().waits),
                                              expressions().negation(loops_.back().fails));
    for (const Arm& arm : arms_) reached = expressions().both(reached, is_run(arm));
    const std::uint32_t begun = begun_with(literal_node(Type::Bool, 0));
    reached = expressions().either(state_node(begun), reached);
    std::vector<ExpressionId> now = arguments;
    std::vector<std::uint32_t> components(arguments.size(), LoopBody::kNone);
    const auto component = [&](ExpressionId argument) {
      components.push_back(begun_with(literal_node(expressions()[scalar(argument)].type, 0)));
      return expressions().choice(state_node(begun), state_node(components.back()), argument);
    };
    std::vector<Moved> moved;
    for (std::uint32_t k = 0; k < arguments.size(); ++k) {
      if (!is_sequence(arguments[k])) {
        now[k] = component(arguments[k]);
        components[k] = components.back();
        components.pop_back();
      } else if (moves(function, k)) {
        moved.push_back(moved_by(k, now, component));
      }
    }
    for (ExpressionId& each : now) {
      if (writes_into(function, each)) each = begun_version(each, state_node(begun));
    }
    std::vector<LoopBody::Write> before = std::exchange(body_.writes, {});
    const std::vector<Arm> arms = std::exchange(arms_, {{reached, true}});
    const Round round = this->round(function, now, components, state_node(begun), std::move(moved));
    arms_ = arms;
    const ExpressionId goes_on = expressions().both(reached, round.goes_on);
    for (const Change& change : round.changes) {
      become(change.component, expressions().choice(goes_on, change.next, change.now));
    }
    // What has been written before it comes first, also where a loop inside of this one goes on.
    const std::vector<LoopBody::Write> inside = std::exchange(body_.writes, std::move(before));
    const auto write_all = [&](const std::vector<ExpressionId>& sequences, ExpressionId condition) {
      for (const ExpressionId sequence : sequences) {
        if (writes_into(function, sequence)) write(sequence, condition);
      }
    };
    write_all(now, goes_on);
    body_.writes.insert(body_.writes.end(), inside.begin(), inside.end());
    write_all(round.next, expressions().both(goes_on, expressions().negation(round.waits)));
    inner_loops_write_ = inner_loops_write_ || writes(function);
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

  /// A sequence that a loop inside hands on slices of, as it is in each round: where it begins and
  /// how long it is are components, which stand behind the arguments.
  template <class Component>
  Moved moved_by(std::uint32_t descriptor, std::vector<ExpressionId>& arguments,
                 Component component) {
    Moved moved{descriptor, 0, {}};
    std::optional<ExpressionId> first;
    for (std::uint32_t k = 0; k < arguments.size(); ++k) {
      std::optional<Table> table = this->table(arguments[k]);
      if (!table || descriptor_of(*table) != arguments[descriptor]) continue;
      if (first.value_or(first_of(*table)) != first_of(*table)) throw NoLoop{};
      first = first_of(*table);
      moved.vectors.emplace_back(k, std::move(*table));
    }
    if (!first) throw NoLoop{};
    const ExpressionId length = size(arguments[descriptor]);
    arguments.push_back(component(*first));
    arguments.push_back(component(length));
    moved.descriptor_now = arguments[descriptor] = descriptor_of_length(arguments.back());
    for (auto& [k, table] : moved.vectors) {
      table.first = *(arguments.end() - 2);
      table.descriptor = moved.descriptor_now;
      arguments[k] = add_table(table);
    }
    return moved;
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

  /// Of a function in which loops inside write: may what it was itself give such results, from the
  /// last state on?
  bool may_end_elsewhere(const std::vector<ExpressionId>& results) const {
    return !ends_behind_writes_ &&
           std::all_of(results.begin(), results.end(), [&](ExpressionId result) {
             return result == kElsewhere || result < kSequences || is_own(result);
           });
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
        // What the function goes on with is as it was before.
        if (!outcome.next.empty() && calls_writer(statement)) throw NoLoop{};
        add(statement, values, depth, outcome);
      } else if (combine(statement, values, pending, outcome)) {
        values[statement.results[0]] = ++pending;
      } else {
        for (const ValueId operand : statement.operands) require_current(values[operand]);
        const ExpressionId value = value_of(statement, values);
        const bool is_kept = value < kSequences && reads_what_changes(statement, values);
        values[statement.results[0]] = is_kept ? kept(value) : value;
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
    const OpenLoop& loop = loops_.back();
    begin_lists(arguments, loop.arguments);
    for (std::uint32_t k = 0; k < arguments.size(); ++k) {
      const bool is_other = is_descriptor(loop.arguments[k]) && arguments[k] != loop.arguments[k];
      if (is_other && !moves(loop.function, k)) learn_move(loop.function, k);
    }
    if (statement.index == main_) {
      const std::vector<ExpressionId> moved = move_sequences(arguments);
      arguments.insert(arguments.end(), moved.begin(), moved.end());
    }
    for (const Moved& moved : loop.moved) {
      const std::array<ExpressionId, 2> place = move(arguments, moved);
      arguments.insert(arguments.end(), place.begin(), place.end());
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
      join_versions({&a.results, &a.next}, of_a, {&b.results, &b.next}, of_b);
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
    const bool inner_loops_write = inner_loops_write_;
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
      inner_loops_write_ = inner_loops_write;
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
  bool inner_loops_write_ = false;
  bool has_written_ = false;         // may one of them have, on the way to where we are, …
  bool ends_behind_writes_ = false;  // … or on one to an end?
  std::vector<OpenLoop> loops_;  // inside each other; arms_ are of the round of the innermost one
  std::vector<std::optional<ExpressionId>> next_;  // of components; nothing: they stay as they are
};

}  // namespace

bool LoopBody::tells_whether_it_ended() const {
  return results.has_value() || counted || !lists.empty();
}

bool LoopBody::gives_state() const {
  const auto is_sequence = [](ExpressionId result) { return result >= kSequences; };
  if (stack) return false;
  return !writes.empty() || !results || std::any_of(results->begin(), results->end(), is_sequence);
}

std::optional<LoopBody> loop_body(const Module& module, const std::vector<bool>& recursive,
                                  const SerialFunction& function) {
  LoopFacts facts;
  for (;;) {
    try {
      return LoopReader(module, recursive, function, facts).run();
    } catch (Again& again) {
      facts = std::move(again.facts);
    } catch (const NoLoop&) {
      return std::nullopt;
    }
  }
}

}  // namespace fcode
