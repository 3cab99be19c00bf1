// Functions of scalars that call themselves, or each other, anywhere: as a machine with a stack,
// each round of which runs from one call to the next (defunctionalized continuations: Reynolds,
// "Definitional interpreters for higher-order programming languages", 1972).
//
// One component of the state says where the machine is: at the beginning of a function, or behind
// one of its calls. Others are the parameters of the function and the results of its calls so far;
// a call that is not the last thing a function does puts them on the stack, with the place behind
// it. What a function has computed lies in components that the rounds behind a call find it in.
//
// A sequence that a function hands on with other elements is changed in place. What was there
// before goes on the stack, too: behind the call it is written back, so that the function finds its
// sequences as they were (backtracking with a trail: Warren, "An abstract Prolog instruction set",
// 1983).

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "fcode-opt/passes/body_reader.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

using vcode::ThunkNode;

/// Each round computes all of this, as long as there is no machine code for it.
constexpr std::size_t kLargestRecursion = 600;

/// Places that the machine may be at.
constexpr std::size_t kMostPlaces = 24;

class RecursionReader : BodyReader {
 public:
  RecursionReader(const Module& module, const std::vector<bool>& recursive,
                  const SerialFunction& function)
      : BodyReader(module, recursive, function), single_(function.single) {}

  LoopBody run() {
    Routine main;
    main.function = main_;
    main.arguments = begin(std::nullopt);
    for (std::size_t k = 0; k < main.arguments.size(); ++k) {
      const std::uint32_t component = body_.component[k];
      main.parameters.push_back(component);
      if (component != LoopBody::kNone) keep(component, main);
    }
    if (!sliced().empty()) {
      for (const ExpressionId node : move_sequences(main.arguments)) {
        main.arguments.push_back(node);
        main.parameters.push_back(expressions()[node].id);
        keep(main.parameters.back(), main);
      }
    }
    routines_.push_back(std::move(main));
    place_ = begun_with(literal_node(Type::Int, code_of({0, 0})));
    std::vector<Action> actions;
    for (std::size_t k = 0; k < places_.size(); ++k) {
      if (k == kMostPlaces) throw NoLoop{};
      actions.push_back(behind(places_[k]));
    }
    if (!calls_) throw NoLoop{};
    Action round = std::move(actions.back());
    for (std::size_t k = actions.size() - 1; k-- > 0;) {
      const ExpressionId here = expressions().applied(
          Op::Equal, Type::Int, {state_node(place_), expressions().number(code_of(places_[k]))});
      round = choice(here, actions[k], round);
    }
    finish(std::move(round));
    return std::move(body_);
  }

 private:
  /// An element that a call changes, and what it was before; -1: none.
  struct Undo {
    std::uint32_t vector, place, element;
  };
  /// Of a call, as components: where the routine that is called leaves its results, and where the
  /// one that calls keeps them; and what is to be written back.
  struct Results {
    std::vector<std::uint32_t> left, kept;
    std::vector<Undo> undo;
  };
  /// A function that the machine runs.
  struct Routine {
    std::uint32_t function = 0;
    std::vector<ExpressionId> arguments;
    std::vector<std::uint32_t> parameters;  // components, or kNone: sequences
    std::vector<Results> calls;             // in their order
    std::map<Type, std::size_t> used;       // slots of each type
  };
  /// Behind the call of a routine with this number, counted from 1; 0: at its beginning.
  struct Place {
    std::size_t routine = 0;
    std::size_t call = 0;
    bool operator==(const Place&) const = default;
  };
  /// What a round does, in one case: it becomes a state, of which components that are not named
  /// have no meaning, and puts such a frame on the stack, or takes one off.
  struct Action {
    std::map<std::uint32_t, ExpressionId> becomes, frame;
    ExpressionId push = 0, pop = 0;
  };
  /// A call that the round may come to.
  struct NextCall {
    std::size_t number, routine;
    ExpressionId condition;
    std::vector<Arm> arms;
    std::vector<ExpressionId> arguments;
    bool behind_another;  // that is made whenever this one would be
    std::vector<LoopBody::Write> writes;
    std::vector<ExpressionId> before;  // the elements, before each of the writes
  };

  /// Arms that fail, behind so many calls.
  struct Failure {
    std::size_t calls;
    std::vector<Arm> arms;
  };

  // --- The machine ---

  /// Places are numbered from 1: 0 is where the machine comes to its end, and -1 where it fails.
  std::int64_t code_of(const Place& place) {
    const auto found = std::find(places_.begin(), places_.end(), place);
    const auto code = found - places_.begin() + 1;
    if (found == places_.end()) places_.push_back(place);
    return code;
  }

  /// The component is one of the routine.
  void keep(std::uint32_t component, Routine& routine) {
    const Type type = body_.state[component];
    slots_[type].push_back(component);
    ++routine.used[type];
  }

  /// Another component of a routine, which it may share with other routines.
  std::uint32_t slot(Routine& routine, Type type) {
    const std::size_t number = routine.used[type]++;
    std::vector<std::uint32_t>& slots = slots_[type];
    if (number == slots.size()) slots.push_back(begun_with(literal_node(type, 0)));
    return slots[number];
  }

  /// Where a routine leaves its results.
  std::vector<std::uint32_t> values_of_results(std::uint32_t function) {
    std::map<Type, std::size_t> used;
    std::vector<std::uint32_t> components;
    for (const auto& type : module_.functions[function].result_types) {
      if (!type || !vcode::is_data(*type)) throw NoLoop{};
      std::vector<std::uint32_t>& values = values_[*type];
      const std::size_t number = used[*type]++;
      if (number == values.size()) values.push_back(begun_with(literal_node(*type, 0)));
      components.push_back(values[number]);
    }
    return components;
  }

  /// What a routine is called with is known to be a number or a sequence from its first call on.
  std::size_t routine_of(std::uint32_t function, const std::vector<ExpressionId>& arguments) {
    std::size_t number = 0;
    while (number < routines_.size() && routines_[number].function != function) ++number;
    if (number == routines_.size()) {
      // Where those of a slice begin is known of the function itself only, and what the calling
      // routine has made of its state is of its own round.
      const auto is_lost = [this](ExpressionId argument) {
        return is_sequence(argument) && (!sliced().empty() || unchanged(argument) >= kMade);
      };
      if (std::any_of(arguments.begin(), arguments.end(), is_lost)) throw NoLoop{};
      Routine routine;
      routine.function = function;
      for (const ExpressionId argument : arguments) {
        const bool is_number = !is_sequence(argument);
        routine.parameters.push_back(is_number ? slot(routine, expressions()[scalar(argument)].type)
                                               : LoopBody::kNone);
        routine.arguments.push_back(is_number ? state_node(routine.parameters.back())
                                              : unchanged(argument));
      }
      routines_.push_back(std::move(routine));
    }
    const Routine& routine = routines_[number];
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      // Sequences stay what they are, but for elements.
      const bool is_number = routine.parameters[k] != LoopBody::kNone;
      if (is_number ? is_sequence(arguments[k]) : unchanged(arguments[k]) != routine.arguments[k]) {
        throw NoLoop{};
      }
    }
    return number;
  }

  /// A sequence of the function without what has been written into it.
  ExpressionId unchanged(ExpressionId sequence) const {
    const std::optional<Table> table = this->table(sequence);
    return table && !table->descriptor ? kSequences + table->vector : sequence;
  }

  Action choice(ExpressionId condition, const Action& first, const Action& second) {
    if (const auto value = expressions().known(condition)) return *value ? first : second;
    return {merged(condition, first.becomes, second.becomes),
            merged(condition, first.frame, second.frame),
            expressions().choice(condition, first.push, second.push),
            expressions().choice(condition, first.pop, second.pop)};
  }

  std::map<std::uint32_t, ExpressionId> merged(ExpressionId condition,
                                               const std::map<std::uint32_t, ExpressionId>& first,
                                               std::map<std::uint32_t, ExpressionId> second) {
    for (const auto& [component, value] : first) {
      const auto [other, is_new] = second.try_emplace(component, value);
      if (!is_new) other->second = expressions().choice(condition, value, other->second);
    }
    return second;
  }

  void finish(Action round) {
    // Without any frame the first routine that has results is the last one.
    const bool has_stack = expressions().known(round.push) != false;
    if (!has_stack) {
      ExpressionId& next = round.becomes.try_emplace(place_, state_node(place_)).first->second;
      next = expressions().choice(round.pop, expressions().number(0), next);
    }
    for (std::uint32_t k = 0; k < body_.state.size(); ++k) {
      body_.next.push_back(component_of(round.becomes, k));
    }
    if (has_stack) give_stack(round);
    const ExpressionId zero = expressions().number(0);
    body_.goes_on = expressions().applied(Op::Greater, Type::Int, {state_node(place_), zero});
    body_.fails = expressions().applied(Op::Less, Type::Int, {state_node(place_), zero});
    std::vector<ExpressionId>& results = body_.results.emplace();
    for (const std::uint32_t component : values_of_results(main_)) {
      results.push_back(state_node(component));
    }
  }

  void give_stack(const Action& round) {
    LoopStack& stack = body_.stack.emplace();
    stack.push = round.push;
    stack.pop = round.pop;
    stack.branches = branches_;
    stack.components = kept_in_frames(round);
    for (const std::uint32_t component : stack.components) {
      stack.frame.push_back(component_of(round.frame, component));
    }
  }

  ExpressionId component_of(const std::map<std::uint32_t, ExpressionId>& values,
                            std::uint32_t component) {
    const auto found = values.find(component);
    return found == values.end() ? state_node(component) : found->second;
  }

  /// The place, and what of the routines' components changes and is read behind a call.
  std::vector<std::uint32_t> kept_in_frames(const Action& round) {
    std::vector<std::uint32_t> kept = {place_}, slots;
    for (const auto& [type, own] : slots_) {
      std::copy_if(own.begin(), own.end(), std::back_inserter(slots), [&](std::uint32_t slot) {
        return component_of(round.becomes, slot) != state_node(slot) ||
               component_of(round.frame, slot) != state_node(slot);
      });
    }
    std::vector<ExpressionId> read = {round.push, round.pop, round.frame.at(place_)};
    for (const auto& [component, value] : round.becomes) read.push_back(value);
    for (const LoopBody::Write& write : body_.writes) {
      read.insert(read.end(), {write.condition, write.place, write.element});
    }
    for (bool found = true; found;) {
      found = false;
      const vcode::Thunk thunk = expressions().thunk(read);
      for (const std::uint32_t slot : slots) {
        const bool is_read =
            std::any_of(thunk.nodes.begin(), thunk.nodes.end(), [&](const ThunkNode& node) {
              return node.kind == ThunkNode::Kind::State && node.id == slot;
            });
        if (!is_read || std::find(kept.begin(), kept.end(), slot) != kept.end()) continue;
        kept.push_back(slot);
        const auto pushed = round.frame.find(slot);
        if (pushed != round.frame.end()) read.push_back(pushed->second);
        found = true;
      }
    }
    return kept;
  }

  // --- One round ---

  /// The round that begins at a place.
  Action behind(Place place) {
    at_ = place;
    calls_so_far_ = 0;
    next_calls_.clear();
    arms_.clear();
    facts_.clear();
    failed_ = expressions().constant(false);
    failures_.clear();
    later_.clear();
    const std::uint32_t function = routines_[place.routine].function;
    std::vector<ExpressionId> arguments = routines_[place.routine].arguments;
    begin_tables(arguments);
    Values values = values_of(function, arguments, 0);
    std::vector<ExpressionId> results = block(module_.functions[function].body, values, 0);
    Action action = choice(failed_, failure(), end(function, results));
    for (std::size_t k = next_calls_.size(); k-- > 0;) {
      const NextCall& next = next_calls_[k];
      if (next.behind_another) continue;
      branches_ = branches_ || place.call > 0;
      const bool jumps = next.writes.empty() && is_last(k, results);
      action = choice(next.condition, jumps ? jump(next) : enter(next), action);
    }
    write();
    return action;
  }

  /// What the call has changed, which the round is behind, becomes what it was.
  void begin_tables(std::vector<ExpressionId>& arguments) {
    begun_.clear();
    if (at_.call == 0) return;
    const std::vector<Undo>& undo = routines_[at_.routine].calls[at_.call - 1].undo;
    for (std::size_t k = undo.size(); k-- > 0;) {
      begun_[undo[k].vector].push_back({expressions().constant(true), state_node(undo[k].place),
                                        state_node(undo[k].element), false});
    }
    for (ExpressionId& argument : arguments) {
      std::optional<Table> table = this->table(argument);
      if (!table) continue;
      table->writes = begun_[table->vector];
      argument = add_table(std::move(*table));
    }
  }

  /// What the round changes: all that is to be written back, and then what the call does that it
  /// comes to.
  void write() {
    const ExpressionId here = expressions().applied(
        Op::Equal, Type::Int, {state_node(place_), expressions().number(code_of(at_))});
    for (const auto& [vector, writes] : begun_) {
      for (const Write& write : writes) {
        body_.writes.push_back({vector, here, write.place, write.element, false});
      }
    }
    ExpressionId reached = here;
    for (const NextCall& next : next_calls_) {
      if (next.behind_another) continue;
      for (LoopBody::Write write : next.writes) {
        const ExpressionId is_made = expressions().both(reached, next.condition);
        write.condition = expressions().both(is_made, write.condition);
        body_.writes.push_back(write);
      }
      reached = expressions().both(reached, expressions().negation(next.condition));
    }
  }

  Action failure() {
    const ExpressionId never = expressions().constant(false);
    return {{{place_, expressions().number(-1)}}, {}, never, never};
  }

  /// The routine has these results.
  Action end(std::uint32_t function, const std::vector<ExpressionId>& results) {
    const std::vector<std::uint32_t> components = values_of_results(function);
    if (results.size() != components.size()) throw NoLoop{};
    Action action{{}, {}, expressions().constant(false), expressions().constant(true)};
    // No call is reached: of one that only a single arm leads to, that is not run.
    std::vector<Arm> arms = facts_;
    for (const NextCall& next : next_calls_) {
      const Arm* open = nullptr;
      int count = 0;
      for (const Arm& arm : next.arms) {
        if (value_in(facts_, arm.condition)) continue;
        open = &arm;
        ++count;
      }
      if (count == 1) arms.push_back({open->condition, !open->is_first});
    }
    for (std::size_t k = 0; k < results.size(); ++k) {
      action.becomes[components[k]] = without_calls(known(scalar(results[k]), arms));
    }
    return action;
  }

  /// What a result is when the round comes to no call: an arm that gives what a later call leaves
  /// is not run.
  ExpressionId without_calls(ExpressionId node) {
    const ThunkNode found = expressions()[node];
    if (found.kind != ThunkNode::Kind::If) return node;
    if (reads_later_call(found.args[1])) return without_calls(found.args[2]);
    if (reads_later_call(found.args[2])) return without_calls(found.args[1]);
    const ExpressionId first = without_calls(found.args[1]);
    return expressions().choice(found.args[0], first, without_calls(found.args[2]));
  }

  /// Is the value made of what a call leaves that has not been, whatever is chosen for it?
  bool reads_later_call(ExpressionId node) {
    const auto [known, is_new] = later_.try_emplace(node, false);
    if (!is_new) return known->second;
    const ThunkNode& found = expressions()[node];
    const auto reads = [&](int k) { return reads_later_call(found.args[k]); };
    bool result = false;
    if (found.kind == ThunkNode::Kind::State) {
      const std::vector<Results>& calls = routines_[at_.routine].calls;
      result = std::any_of(calls.begin() + static_cast<std::ptrdiff_t>(at_.call), calls.end(),
                           [&](const Results& call) {
                             return std::count(call.kept.begin(), call.kept.end(), found.id) != 0;
                           });
    } else if (found.kind == ThunkNode::Kind::If) {
      result = reads(1) && reads(2);
    } else {
      for (int k = 0; k < vcode::argument_count(found); ++k) result = result || reads(k);
    }
    return later_[node] = result;
  }

  /// The call takes the place of the routine.
  Action jump(const NextCall& call) {
    const ExpressionId never = expressions().constant(false);
    Action action{{{place_, expressions().number(code_of({call.routine, 0}))}}, {}, never, never};
    const std::vector<std::uint32_t>& parameters = routines_[call.routine].parameters;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      if (parameters[k] != LoopBody::kNone) action.becomes[parameters[k]] = call.arguments[k];
    }
    return action;
  }

  /// The routine is to go on behind the call.
  Action enter(const NextCall& call) {
    Action action = jump(call);
    action.push = expressions().constant(true);
    action.frame[place_] = expressions().number(code_of({at_.routine, call.number}));
    const Routine& routine = routines_[at_.routine];
    for (const std::uint32_t parameter : routine.parameters) {
      if (parameter != LoopBody::kNone) action.frame[parameter] = state_node(parameter);
    }
    for (std::size_t k = 0; k < call.writes.size(); ++k) {
      const Undo& undo = routine.calls[call.number - 1].undo[k];
      action.frame[undo.place] = expressions().choice(
          call.writes[k].condition, call.writes[k].place, expressions().number(-1));
      action.frame[undo.element] = call.before[k];
    }
    for (std::size_t k = 1; k <= at_.call; ++k) {
      const std::vector<ExpressionId> results = results_of(k);
      for (std::size_t i = 0; i < results.size(); ++i) {
        action.frame[routine.calls[k - 1].kept[i]] = results[i];
      }
    }
    return action;
  }

  /// Of a call of the routine that is at its place, has been, or comes later.
  std::vector<ExpressionId> results_of(std::size_t call) {
    const Results& results = routines_[at_.routine].calls[call - 1];
    std::vector<ExpressionId> nodes;
    for (const std::uint32_t component : call == at_.call ? results.left : results.kept) {
      nodes.push_back(state_node(component));
    }
    return nodes;
  }

  /// Is the result of the call that of the routine, which does nothing else behind it?
  bool is_last(std::size_t number, const std::vector<ExpressionId>& results) {
    const NextCall& call = next_calls_[number];
    const std::vector<ExpressionId> own = results_of(call.number);
    const bool same =
        std::equal(own.begin(), own.end(), results.begin(), results.end(),
                   [&](ExpressionId a, ExpressionId b) { return a == known(b, call.arms); });
    if (!same) return false;
    const auto is_run_with = [&](const std::vector<Arm>& arms) {
      return std::none_of(arms.begin(), arms.end(), [&](const Arm& arm) {
        return value_in(call.arms, arm.condition) == !arm.is_first;
      });
    };
    const auto first = next_calls_.begin() + static_cast<std::ptrdiff_t>(number) + 1;
    return std::none_of(first, next_calls_.end(),
                        [&](const NextCall& other) { return is_run_with(other.arms); }) &&
           std::none_of(failures_.begin(), failures_.end(), [&](const Failure& failure) {
             return failure.calls >= call.number && is_run_with(failure.arms);
           });
  }

  /// What a condition is where these arms are run.
  std::optional<bool> value_in(const std::vector<Arm>& arms, ExpressionId condition) {
    const ThunkNode& node = expressions()[condition];
    if (node.kind == ThunkNode::Kind::Apply && node.op == Op::Not) {
      const auto value = value_in(arms, node.args[0]);
      return value ? std::optional<bool>(!*value) : std::nullopt;
    }
    for (const Arm& arm : arms) {
      if (arm.condition == condition) return arm.is_first;
    }
    return std::nullopt;
  }

  /// The expression without the choices that these arms have made.
  ExpressionId known(ExpressionId node, const std::vector<Arm>& arms) {
    if (node >= kSequences) return node;
    const ThunkNode found = expressions()[node];
    if (found.kind == ThunkNode::Kind::If) {
      const auto value = value_in(arms, found.args[0]);
      return value ? known(found.args[*value ? 1 : 2], arms) : node;
    }
    const bool logic = found.kind == ThunkNode::Kind::Apply && found.type == Type::Bool &&
                       (found.op == Op::And || found.op == Op::Or);
    if (!logic) return node;
    for (const int side : {0, 1}) {
      const auto value = value_in(arms, found.args[side]);
      if (value == (found.op == Op::And)) return known(found.args[1 - side], arms);
    }
    return node;
  }

  // --- What a routine does ---

  std::vector<ExpressionId> block(const Block& block, Values& values, int depth) {
    for (const Statement& statement : block.statements) {
      if (expressions().size() > kLargestRecursion) throw NoLoop{};
      if (statement.kind == Statement::Kind::Call) {
        set(statement, call(statement, values, depth), values);
      } else if (statement.kind == Statement::Kind::If) {
        set(statement, conditional(statement, values, depth), values);
      } else {
        values[statement.results[0]] = value_of(statement, values);
      }
    }
    std::vector<ExpressionId> results;
    for (const ValueId result : block.results) results.push_back(values[result]);
    return results;
  }

  static void set(const Statement& statement, const std::vector<ExpressionId>& results,
                  Values& values) {
    if (results.size() != statement.results.size()) throw NoLoop{};
    for (std::size_t k = 0; k < results.size(); ++k) values[statement.results[k]] = results[k];
  }

  std::vector<ExpressionId> conditional(const Statement& statement, Values& values, int depth) {
    const ExpressionId condition = scalar(values[statement.operands[0]]);
    const auto arm = [&](const Block& arm, bool is_first) {
      arms_.push_back({condition, is_first});
      std::vector<ExpressionId> results(statement.results.size(), kUndefined);
      if (arm.diverges) {
        // Whatever it says before it ends the program, it says when the function itself is run.
        failed_ = expressions().either(failed_, all_hold(arms_));
        failures_.push_back({calls_so_far_, arms_});
      } else {
        results = block(arm, values, depth);
      }
      arms_.pop_back();
      return results;
    };
    const std::vector<ExpressionId> first = arm(*statement.then_block, true);
    return BodyReader::merged(condition, first, arm(*statement.else_block, false));
  }

  /// Are the arms run, given what is known where the round begins?
  ExpressionId all_hold(const std::vector<Arm>& arms) {
    ExpressionId result = expressions().constant(true);
    for (const Arm& arm : arms) {
      const auto value = value_in(facts_, arm.condition);
      if (value == arm.is_first) continue;
      if (value) return expressions().constant(false);
      result = expressions().both(result, is_run(arm));
    }
    return result;
  }

  std::vector<ExpressionId> call(const Statement& statement, const Values& values, int depth) {
    std::vector<ExpressionId> arguments = arguments_of(statement, values);
    const std::uint32_t function = statement.index;
    if (!recursive_[function]) {
      Values own = values_of(function, arguments, depth + 1);
      return block(module_.functions[function].body, own, depth + 1);
    }
    calls_ = true;
    if (function == main_ && !sliced().empty()) {
      const std::vector<ExpressionId> moved = move_sequences(arguments);
      arguments.insert(arguments.end(), moved.begin(), moved.end());
    }
    const std::size_t target = routine_of(function, arguments);
    const std::size_t number = ++calls_so_far_;
    const std::vector<LoopBody::Write> writes = writes_of(arguments);
    Routine& routine = routines_[at_.routine];
    if (number > routine.calls.size()) {
      Results& results = routine.calls.emplace_back();
      results.left = values_of_results(function);
      for (const std::uint32_t component : results.left) {
        results.kept.push_back(slot(routine, body_.state[component]));
      }
      for (const LoopBody::Write& write : writes) {
        const std::uint32_t place = slot(routine, Type::Int);
        const Type type = expressions()[write.element].type;
        results.undo.push_back({write.vector, place, slot(routine, type)});
      }
    }
    if (number == at_.call) {
      // The machine has come here, so that nothing has failed.
      facts_ = arms_;
      failed_ = expressions().constant(false);
    } else if (number > at_.call) {
      const ExpressionId condition =
          expressions().both(expressions().negation(failed_), all_hold(arms_));
      const bool behind_another =
          std::any_of(next_calls_.begin(), next_calls_.end(), [&](const NextCall& other) {
            return std::all_of(other.arms.begin(), other.arms.end(), [&](const Arm& arm) {
              return std::find(arms_.begin(), arms_.end(), arm) != arms_.end();
            });
          });
      if (expressions().known(condition) != false) {
        const std::vector<Undo>& undo = routine.calls[number - 1].undo;
        if (!std::equal(
                undo.begin(), undo.end(), writes.begin(), writes.end(),
                [](const Undo& a, const LoopBody::Write& b) { return a.vector == b.vector; })) {
          throw NoLoop{};
        }
        std::vector<ExpressionId> before = elements_before(arguments, writes);
        next_calls_.push_back({number, target, condition, arms_, std::move(arguments),
                               behind_another, writes, std::move(before)});
      }
    }
    return results_of(number);
  }

  /// What a call with these arguments changes, but for what the round begins with.
  std::vector<LoopBody::Write> writes_of(const std::vector<ExpressionId>& arguments) {
    std::map<std::uint32_t, ExpressionId> tables;
    std::vector<LoopBody::Write> writes;
    for (const ExpressionId argument : arguments) {
      const std::optional<Table> table = this->table(argument);
      if (!table) continue;
      const auto [known, is_new] = tables.emplace(table->vector, argument);
      if (known->second != argument) throw NoLoop{};
      if (!is_new) continue;
      for (std::size_t k = begun_[table->vector].size(); k < table->writes.size(); ++k) {
        const Write& write = table->writes[k];
        writes.push_back({table->vector, write.condition, write.place, write.element, false});
      }
    }
    if (!writes.empty() && (!single_ || !sliced().empty())) throw NoLoop{};
    return writes;
  }

  /// What stands at the places of the writes, when those before them have been done.
  std::vector<ExpressionId> elements_before(const std::vector<ExpressionId>& arguments,
                                            const std::vector<LoopBody::Write>& writes) {
    std::vector<ExpressionId> before(writes.size());
    for (const ExpressionId argument : arguments) {
      std::optional<Table> table = this->table(argument);
      if (!table) continue;
      for (std::size_t k = writes.size(); k-- > 0;) {
        if (writes[k].vector != table->vector) continue;
        table->writes.pop_back();
        before[k] = element(add_table(*table), writes[k].place, descriptor_of(*table));
      }
    }
    return before;
  }

  const bool single_;
  std::vector<Routine> routines_;  // that of the function itself is the first
  std::vector<Place> places_;
  std::uint32_t place_ = 0;  // the component that says where the machine is
  std::map<Type, std::vector<std::uint32_t>> slots_, values_;
  bool calls_ = false, branches_ = false;

  // While a round is read.
  Place at_;
  std::map<std::uint32_t, std::vector<Write>> begun_;  // what it begins to write, by vectors
  std::size_t calls_so_far_ = 0;
  std::vector<NextCall> next_calls_;
  std::vector<Arm> facts_;  // that are run where the round begins
  ExpressionId failed_ = 0;
  std::vector<Failure> failures_;
  std::map<ExpressionId, bool> later_;  // does it read what a later call leaves?
};

}  // namespace

std::optional<LoopBody> recursion_body(const Module& module, const std::vector<bool>& recursive,
                                       const SerialFunction& function) {
  try {
    return RecursionReader(module, recursive, function).run();
  } catch (const NoLoop&) {
    return std::nullopt;
  }
}

}  // namespace fcode
