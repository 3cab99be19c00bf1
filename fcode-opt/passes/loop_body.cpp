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

/// Calls inside each other that are put in place.
constexpr int kDeepestCall = 20;

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
    const std::size_t scalars = body_.state.size();
    for (std::uint32_t k = 0; k < parameters_.size(); ++k) {
      const bool many =
          type_of(k) == Type::Segdes && parameters_[k].kind != Parameter::Kind::Uniform;
      body_.own_segment.push_back(many ? add_component(Type::Int) : LoopBody::kNone);
      if (many) add_component(Type::Int);
    }
    const Outcome outcome = call(loop_, arguments, 0);
    if (body_.expressions.known(outcome.goes_on) == false) throw NoLoop{};
    body_.fails = outcome.fails;
    body_.goes_on =
        body_.expressions.choice(outcome.fails, body_.expressions.constant(false), outcome.goes_on);
    body_.results = outcome.results;
    // Sequences stay what they are.
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      if (body_.component[k] != LoopBody::kNone) {
        body_.next.push_back(outcome.next[k]);
      } else if (outcome.next[k] != arguments[k]) {
        throw NoLoop{};
      }
    }
    for (std::size_t k = scalars; k < body_.state.size(); ++k) {
      body_.next.push_back(state_node(static_cast<std::uint32_t>(k)));
    }
    if (outcome.combined) collect(*outcome.combined);
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
    if (result != kUndefined) result = applied(op, type, {scalar(result), term});
    if (outcome.combined) {
      if (outcome.combined->op != op || outcome.combined->type != type) throw NoLoop{};
      term = applied(op, type, {outcome.combined->term, term});
    }
    outcome.combined = Combined{op, type, term};
    return true;
  }

  /// What changes nothing; nothing for operations whose result depends on the order.
  static std::optional<ThunkNode> identity(Op op, Type type) {
    ThunkNode node;
    node.type = type;
    if (type == Type::Float) return std::nullopt;
    switch (op) {
      case Op::Add:
      case Op::Or:
      case Op::Xor:
        node.int_value = 0;
        return node;
      case Op::Multiply:
        node.int_value = 1;
        return node;
      case Op::And:
        node.int_value = type == Type::Bool ? 1 : -1;
        return node;
      default:
        return std::nullopt;
    }
  }

  void collect(const Combined& combined) {
    const ThunkNode identity = *this->identity(combined.op, combined.type);
    const std::uint32_t component = add_component(combined.type);
    const ExpressionId so_far = state_node(component);
    body_.collected = LoopBody::Collected{component, identity};
    body_.next.push_back(applied(combined.op, combined.type, {so_far, combined.term}));
    ExpressionId& result = body_.results[0];
    if (result != kUndefined) {
      result = applied(combined.op, combined.type, {so_far, scalar(result)});
    }
  }

  Outcome call(const Statement& statement, const Values& values, int depth) {
    std::vector<ExpressionId> arguments;
    for (const ValueId operand : statement.operands) arguments.push_back(values[operand]);
    if (statement.index != loop_) {
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

  Outcome conditional(const Statement& statement, Values& values, int depth) {
    const ExpressionId condition = scalar(values[statement.operands[0]]);
    const auto arm = [&](const Block& arm) -> Outcome {
      // Whatever it says before it ends the program, it says when the function itself is run.
      if (arm.diverges) {
        return {expressions().constant(true),
                expressions().constant(false),
                {},
                std::vector<ExpressionId>(statement.results.size(), kUndefined),
                {}};
      }
      return block(arm, values, depth);
    };
    const Outcome a = arm(*statement.then_block);
    const Outcome b = arm(*statement.else_block);
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
    ThunkNode zero;
    zero.type = type_of(number);
    const ExpressionId none = expressions().add(zero);
    const ExpressionId inside = lies_below(scalar(index), size(descriptor));
    const ExpressionId first = start(segments);
    if (first == kUndefined && is_parameter) return chosen(inside, number, index, none);
    ExpressionId place = index;
    if (first != kUndefined) {
      place = applied(Op::Select, Type::Int,
                      {inside, applied(Op::Add, Type::Int, {first, index}), int_constant(-1)});
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
    return applied(Op::And, Type::Bool,
                   {applied(Op::GreaterEqual, Type::Int, {index, int_constant(0)}),
                    applied(Op::Less, Type::Int, {index, limit})});
  }

  ExpressionId int_constant(std::int64_t value) {
    ThunkNode node;
    node.int_value = value;
    return expressions().add(node);
  }

  ExpressionId applied(Op op, Type written, std::initializer_list<ExpressionId> args) {
    ThunkNode node;
    node.kind = ThunkNode::Kind::Apply;
    node.op = op;
    node.written = written;
    node.type = *vcode::operand_type(vcode::info(op).results[0], written);
    std::copy(args.begin(), args.end(), node.args);
    return expressions().add(node);
  }

  /// The divisor, or 1 where it is 0: there the function fails, or does not divide.
  ExpressionId never_zero(ExpressionId divisor) {
    const ThunkNode& known = expressions()[divisor];
    if (known.kind == ThunkNode::Kind::Constant && known.int_value != 0) return divisor;
    ThunkNode node;
    node.kind = ThunkNode::Kind::If;
    node.args[0] = applied(Op::Equal, Type::Int, {divisor, int_constant(0)});
    node.args[1] = int_constant(1);
    node.args[2] = divisor;
    return expressions().add(node);
  }

  const Module& module_;
  std::uint32_t loop_;
  const std::vector<Parameter>& parameters_;
  std::set<std::uint32_t> vectors_;  // of the constants that the run gives
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
