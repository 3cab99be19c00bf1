#include "fcode-opt/passes/loop_body.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>
#include <utility>

#include "ir/tools.hpp"
#include "vcode/numbers.hpp"

namespace fcode {
namespace {

using vcode::Family;
using vcode::ThunkNode;

constexpr ExpressionId kUndefined = ~ExpressionId{0};
/// From here on: sequences of the loop, by their numbers, …
constexpr ExpressionId kSequences = ExpressionId{1} << 31;
/// … and results of the next round, by theirs.
constexpr ExpressionId kPending = kSequences + (ExpressionId{1} << 30);
/// The descriptor of one segment of one element.
constexpr ExpressionId kSingle = kUndefined - 1;

/// All of a state is computed in every round: what has more parts than this is left to be computed
/// where it is needed.
constexpr std::size_t kLargestBody = 300;

/// Calls inside each other that are put in place, and loops inside each other.
constexpr int kDeepestCall = 20;
constexpr std::size_t kDeepestLoop = 5;

/// Thrown where the function is no loop.
struct NoLoop {};

class Reader {
 public:
  using Parameter = SerialFunction::Parameter;

  Reader(const Module& module, const SerialFunction& function)
      : module_(module), loop_(function.function), parameters_(function.parameters) {}

  LoopBody run() {
    const Function& function = module_.functions[loop_];
    if (function.opaque || function.parameters.size() != parameters_.size()) throw NoLoop{};
    find_vectors(function.body);
    std::vector<ExpressionId> arguments;
    for (const ValueId parameter : function.parameters) {
      arguments.push_back(this->parameter(function.values[parameter].type));
    }
    for (std::uint32_t k = 0; k < parameters_.size(); ++k) {
      const bool many =
          type_of(k) == Type::Segdes && parameters_[k].kind != Parameter::Kind::Uniform;
      body_.own_segment.push_back(many ? add_component(Type::Int) : LoopBody::kNone);
      if (many) add_component(Type::Int);
    }
    const std::vector<std::uint32_t> components(body_.component.begin(),
                                                body_.component.begin() + arguments.size());
    const Round round = this->round(loop_, arguments, components, {});
    if (expressions().known(round.goes_on) == false) throw NoLoop{};
    body_.fails = round.fails;
    body_.goes_on = round.goes_on;
    body_.results = round.results;
    for (const Change& change : round.changes) next_[change.component] = change.next;
    keep(round.inside, round.waits);
    for (std::uint32_t k = 0; k < body_.state.size(); ++k) {
      body_.next.push_back(next_[k].value_or(state_node(k)));
    }
    // A loop that never ends has no results.
    const auto undefined = [](ExpressionId node) { return node >= kSequences; };
    if (body_.results.size() != function.result_types.size() ||
        std::any_of(body_.results.begin(), body_.results.end(), undefined)) {
      throw NoLoop{};
    }
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
  using Values = std::vector<ExpressionId>;  // of a function, by ValueId

  /// A loop inside of a round. Until it has come to its end the round waits; then it keeps its last
  /// state, which its results are computed from, until the round is done.
  struct InnerLoop {
    std::uint32_t begun;   // the component that says whether its state has a meaning
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
    std::vector<ExpressionId> results;
    std::vector<InnerLoop> inside;
  };
  /// A loop that is being read, and what those inside are known to do so far.
  struct OpenLoop {
    std::uint32_t function;
    ExpressionId waits, fails;
    std::vector<InnerLoop> inside;
  };
  /// A condition of the arms that are being read, and which of its arms that is.
  struct Arm {
    ExpressionId condition;
    bool is_first;
  };

  Expressions& expressions() { return body_.expressions; }

  ExpressionId parameter(std::optional<Type> type) {
    if (!type) throw NoLoop{};
    const std::size_t number = body_.component.size();
    if (*type == Type::Segdes || parameters_[number].descriptor) {
      body_.component.push_back(LoopBody::kNone);
      return kSequences + static_cast<ExpressionId>(number);
    }
    body_.component.push_back(add_component(*type));
    return state_node(body_.component.back());
  }

  std::uint32_t add_component(Type type) {
    if (!vcode::is_data(type)) throw NoLoop{};
    body_.state.push_back(type);
    next_.emplace_back();
    return static_cast<std::uint32_t>(body_.state.size() - 1);
  }

  ExpressionId state_node(std::uint32_t component) {
    ThunkNode node;
    node.kind = ThunkNode::Kind::State;
    node.type = body_.state[component];
    node.id = component;
    return expressions().add(node);
  }

  /// Of the constants that the run gives, which are vectors? Those that something is fetched from.
  void find_vectors(const Block& block) {
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
  ExpressionId constant(std::uint32_t constant, bool is_sequence) {
    auto found = std::find(body_.constants.begin(), body_.constants.end(), constant);
    const auto number = parameters_.size() +
                        static_cast<std::size_t>(std::distance(body_.constants.begin(), found));
    if (found == body_.constants.end()) {
      body_.constants.push_back(constant);
      body_.component.push_back(is_sequence ? LoopBody::kNone
                                            : add_component(module_.constants[constant].type));
    }
    return is_sequence ? kSequences + static_cast<ExpressionId>(number)
                       : state_node(body_.component[number]);
  }

  ExpressionId given(std::uint32_t index) {
    const bool describes = module_.constants[index].type == Type::Segdes;
    if (describes) {
      const auto shape = module_.given_shapes.find(index);
      if (shape == module_.given_shapes.end() || shape->second.length != 1) throw NoLoop{};
    }
    return constant(index, describes || vectors_.contains(index));
  }

  /// A round of a loop whose parameters are `arguments` now, those that are scalars being
  /// components of the state. `begun`: of a loop inside, whether its state has a meaning yet.
  Round round(std::uint32_t function, const std::vector<ExpressionId>& arguments,
              const std::vector<std::uint32_t>& components, std::optional<ExpressionId> begun) {
    if (loops_.size() == kDeepestLoop) throw NoLoop{};
    const ExpressionId never = expressions().constant(false);
    loops_.push_back({function, never, never, {}});
    const Outcome outcome = call(function, arguments, 0);
    const OpenLoop loop = std::move(loops_.back());
    loops_.pop_back();
    Round round;
    round.waits = loop.waits;
    round.results = outcome.results;
    round.inside = loop.inside;
    round.fails = expressions().either(
        loop.fails, expressions().both(expressions().negation(loop.waits), outcome.fails));
    round.goes_on = expressions().either(loop.waits, outcome.goes_on);
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const ExpressionId now = arguments[k];
      const ExpressionId next = outcome.next.empty() ? now : outcome.next[k];
      if (components[k] != LoopBody::kNone) {
        round.changes.push_back(change(components[k], now, scalar(next), round));
      } else if (next != now) {
        throw NoLoop{};  // sequences stay what they are
      }
    }
    if (outcome.combined) collect(*outcome.combined, begun, round);
    round.goes_on = expressions().both(expressions().negation(round.fails), round.goes_on);
    return round;
  }

  Change change(std::uint32_t component, ExpressionId now, ExpressionId next, const Round& round) {
    return {component, now, expressions().choice(round.waits, now, next)};
  }

  /// A call of a function that is a loop itself.
  Outcome inner_loop(std::uint32_t function, const std::vector<ExpressionId>& arguments) {
    body_.has_inner_loops = true;
    ExpressionId reached = expressions().both(expressions().negation(loops_.back().waits),
                                              expressions().negation(loops_.back().fails));
    for (const Arm& arm : arms_) {
      reached = expressions().both(
          reached, arm.is_first ? arm.condition : expressions().negation(arm.condition));
    }
    const std::uint32_t begun = begun_with(literal_node(Type::Bool, 0));
    std::vector<ExpressionId> now;
    std::vector<std::uint32_t> components;
    for (const ExpressionId argument : arguments) {
      const bool is_sequence = argument >= kSequences && argument < kPending;
      now.push_back(argument);
      components.push_back(LoopBody::kNone);
      if (is_sequence) continue;
      components.back() = begun_with(literal_node(expressions()[scalar(argument)].type, 0));
      now.back() = expressions().choice(state_node(begun), state_node(components.back()), argument);
    }
    const std::vector<Arm> arms = std::exchange(arms_, {{reached, true}});
    const Round round = this->round(function, now, components, state_node(begun));
    arms_ = arms;
    const ExpressionId goes_on = expressions().both(reached, round.goes_on);
    for (const Change& change : round.changes) {
      next_[change.component] = expressions().choice(goes_on, change.next, change.now);
    }
    OpenLoop& outer = loops_.back();
    outer.waits = expressions().either(outer.waits, goes_on);
    outer.fails = expressions().either(outer.fails, expressions().both(reached, round.fails));
    outer.inside.push_back({begun, reached,
                            expressions().either(round.waits, expressions().negation(goes_on)),
                            round.inside});
    const ExpressionId never = expressions().constant(false);
    return {never, never, {}, round.results, {}};
  }

  std::uint32_t begun_with(const ThunkNode& number) {
    const std::uint32_t component = add_component(number.type);
    body_.begun.push_back({component, number});
    return component;
  }

  /// Loops keep their states while the rounds stay that they are in.
  void keep(const std::vector<InnerLoop>& loops, ExpressionId round_stays) {
    for (const InnerLoop& loop : loops) {
      const ExpressionId kept = expressions().both(loop.reached, round_stays);
      next_[loop.begun] = kept;
      keep(loop.inside, expressions().both(kept, loop.stays));
    }
  }

  Outcome call(std::uint32_t index, const std::vector<ExpressionId>& arguments, int depth) {
    const Function& function = module_.functions[index];
    if (function.opaque || depth > kDeepestCall) throw NoLoop{};
    if (depth > 0) find_vectors(function.body);
    Values values(function.values.size(), kUndefined);
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      values[function.parameters[k]] = arguments[k];
    }
    return block(function.body, values, depth);
  }

  Outcome block(const Block& block, Values& values, int depth) {
    Outcome outcome{expressions().constant(false), expressions().constant(false), {}, {}, {}};
    ExpressionId pending = kPending;  // what the result of the next round has become so far
    for (const Statement& statement : block.statements) {
      if (expressions().size() > kLargestBody) throw NoLoop{};
      switch (statement.kind) {
        case Statement::Kind::Op:
          values[statement.results[0]] = combine(statement, values, pending, outcome)
                                             ? ++pending
                                             : operation(statement, values);
          break;
        case Statement::Kind::Const:
          values[statement.results[0]] = literal(statement.index);
          break;
        case Statement::Kind::Given:
          values[statement.results[0]] = given(statement.index);
          break;
        case Statement::Kind::Call:
        case Statement::Kind::If:
          add(statement, values, depth, outcome);
          break;
        default:
          throw NoLoop{};
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
    if (outcome.next.empty() || statement.operands.size() != 2) return false;
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
    std::vector<ExpressionId> arguments;
    for (const ValueId operand : statement.operands) arguments.push_back(values[operand]);
    if (statement.index != loops_.back().function) {
      const auto is_open = [&](const OpenLoop& loop) { return loop.function == statement.index; };
      if (std::any_of(loops_.begin(), loops_.end(), is_open)) throw NoLoop{};
      if (calls_itself(statement.index)) return inner_loop(statement.index, arguments);
      Outcome outcome = call(statement.index, arguments, depth + 1);
      if (!outcome.next.empty()) throw NoLoop{};
      return outcome;
    }
    const auto is_pending = [](ExpressionId argument) {
      return argument >= kPending && argument < kSingle;
    };
    if (depth > 0 || std::any_of(arguments.begin(), arguments.end(), is_pending)) throw NoLoop{};
    return {expressions().constant(false),
            expressions().constant(true),
            std::move(arguments),
            std::vector<ExpressionId>(statement.results.size(), kUndefined),
            {}};
  }

  bool calls_itself(std::uint32_t function) const {
    bool found = false;
    for_each_statement(module_.functions[function].body, [&](const Statement& statement) {
      found = found || (statement.kind == Statement::Kind::Call && statement.index == function);
    });
    return found;
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
      const Outcome outcome = block(arm, values, depth);
      arms_.pop_back();
      return outcome;
    };
    const Outcome a = arm(*statement.then_block, true);
    const Outcome b = arm(*statement.else_block, false);
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

  /// Where only one of two is defined, the other one has no meaning.
  std::vector<ExpressionId> merged(ExpressionId condition, const std::vector<ExpressionId>& a,
                                   const std::vector<ExpressionId>& b) {
    if (a.size() != b.size()) throw NoLoop{};
    std::vector<ExpressionId> result;
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (a[k] == b[k] || b[k] == kUndefined) {
        result.push_back(a[k]);
      } else if (a[k] == kUndefined) {
        result.push_back(b[k]);
      } else {
        result.push_back(expressions().choice(condition, scalar(a[k]), scalar(b[k])));
      }
    }
    return result;
  }

  ExpressionId literal(std::uint32_t index) {
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

  static ExpressionId scalar(ExpressionId node) {
    if (node >= kSequences) throw NoLoop{};
    return node;
  }

  ExpressionId operation(const Statement& statement, const Values& values) {
    const vcode::OpInfo& info = vcode::info(statement.op);
    const auto operand = [&](std::size_t k) { return values[statement.operands[k]]; };
    if (info.family == Family::Lengths) return size(operand(0));
    if (info.family == Family::Extract) return element(operand(0), operand(1), operand(2));
    if (statement.op == Op::BPermute && operand(3) == kSingle) {
      return element(operand(0), operand(1), operand(2));
    }
    if (info.family != Family::Elementwise) throw NoLoop{};
    ThunkNode node;
    node.kind = ThunkNode::Kind::Apply;
    node.op = statement.op;
    node.written = statement.written;
    node.type = *vcode::operand_type(info.results[0], statement.written);
    for (std::size_t k = 0; k < statement.operands.size(); ++k) {
      node.args[k] = scalar(operand(k));
    }
    if (divides_ints(statement.op, statement.written)) node.args[1] = never_zero(node.args[1]);
    if (statement.op == Op::Divide) {
      if (const auto factor = vcode::exact_reciprocal(expressions()[node.args[1]])) {
        node.op = Op::Multiply;
        node.args[1] = expressions().add(*factor);
      }
    }
    return expressions().add(node);
  }

  std::uint32_t sequence(ExpressionId node) const {
    if (node < kSequences || node - kSequences >= body_.component.size()) throw NoLoop{};
    return node - kSequences;
  }

  ExpressionId size_node(std::uint32_t sequence) {
    ThunkNode node;
    node.kind = ThunkNode::Kind::Size;
    node.id = sequence;
    return expressions().add(node);
  }

  /// Where the elements of the own segment begin; kUndefined: at the beginning.
  ExpressionId start(std::uint32_t descriptor) {
    const bool many =
        descriptor < parameters_.size() && body_.own_segment[descriptor] != LoopBody::kNone;
    return many ? state_node(body_.own_segment[descriptor]) : kUndefined;
  }

  ExpressionId size(ExpressionId descriptor) {
    const std::uint32_t number = sequence(descriptor);
    if (type_of(number) != Type::Segdes) throw NoLoop{};
    return start(number) == kUndefined ? size_node(number)
                                       : state_node(body_.own_segment[number] + 1);
  }

  /// Of a parameter or constant, by its number.
  Type type_of(std::uint32_t number) const {
    if (number >= parameters_.size()) {
      return module_.constants[body_.constants[number - parameters_.size()]].type;
    }
    const Function& function = module_.functions[loop_];
    return *function.values[function.parameters[number]].type;
  }

  /// The element, or 0 where there is none: there the function fails, or does not ask for it. What
  /// is read lies in the vector, too.
  ExpressionId element(ExpressionId vector, ExpressionId index, ExpressionId descriptor) {
    const std::uint32_t number = sequence(vector);
    const std::uint32_t segments = sequence(descriptor);
    const bool is_parameter = number < parameters_.size();
    if (is_parameter && parameters_[number].descriptor != segments) throw NoLoop{};
    const ExpressionId none = expressions().add(literal_node(type_of(number), 0));
    const ExpressionId inside = lies_below(scalar(index), size(descriptor));
    const ExpressionId first = start(segments);
    if (first == kUndefined && is_parameter) return chosen(inside, number, index, none);
    ExpressionId place = index;
    if (first != kUndefined) {
      place =
          expressions().applied(Op::Select, Type::Int,
                                {inside, expressions().applied(Op::Add, Type::Int, {first, index}),
                                 expressions().number(-1)});
    }
    const ExpressionId exists = lies_below(place, size_node(is_parameter ? segments : number));
    const ExpressionId read = chosen(exists, number, place, none);
    return first == kUndefined ? expressions().choice(inside, read, none) : read;
  }

  ExpressionId chosen(ExpressionId condition, std::uint32_t vector, ExpressionId place,
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

  ExpressionId lies_below(ExpressionId index, ExpressionId limit) {
    return expressions().applied(
        Op::And, Type::Bool,
        {expressions().applied(Op::GreaterEqual, Type::Int, {index, expressions().number(0)}),
         expressions().applied(Op::Less, Type::Int, {index, limit})});
  }

  /// The divisor, or 1 where it is 0: there the function fails, or does not divide.
  ExpressionId never_zero(ExpressionId divisor) {
    const ThunkNode& known = expressions()[divisor];
    if (known.kind == ThunkNode::Kind::Constant && known.int_value != 0) return divisor;
    const ExpressionId is_zero =
        expressions().applied(Op::Equal, Type::Int, {divisor, expressions().number(0)});
    return expressions().choice(is_zero, expressions().number(1), divisor);
  }

  const Module& module_;
  std::uint32_t loop_;
  const std::vector<Parameter>& parameters_;
  std::set<std::uint32_t> vectors_;                // of the constants that the run gives
  std::vector<OpenLoop> loops_;                    // inside each other
  std::vector<Arm> arms_;                          // of the round of the innermost one
  std::vector<std::optional<ExpressionId>> next_;  // of components; nothing: they stay as they are
  LoopBody body_;
};

}  // namespace

std::optional<LoopBody> loop_body(const Module& module, const SerialFunction& function) {
  try {
    return Reader(module, function).run();
  } catch (const NoLoop&) {
    return std::nullopt;
  }
}

}  // namespace fcode
