#include "fcode-opt/passes/loop_functions.hpp"

#include <map>
#include <memory>
#include <utility>

#include "fcode-opt/passes/loop_kernel.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

/// A list of n elements gets room for twice as many and a thousand more; then, as elements may
/// leave it at its front, for so many more as it had room for, up to this. Of a very long one,
/// which an INT can hardly count, it is not twice as many.
constexpr std::int64_t kLeastRoom = 1000, kMostForOthers = 100'000, kMostDoubled = 500'000'000;

/// To copy so many elements takes about as long as a few rounds of a loop take without a kernel.
constexpr std::int64_t kMostOfShortOnes = 10'000;

class LoopFunction {
 public:
  LoopFunction(Module& module, const Function& function, const SerialFunction& serial,
               const LoopBody& body, const LoopCalls& calls)
      : module_(module), serial_(serial), body_(body), calls_(calls) {
    function_.name = function.name;
    function_.origin = function.origin;
    function_.result_types = function.result_types;
    for (const ValueId parameter : function.parameters) {
      add_parameter(function.values[parameter].type);
    }
  }

  Function run(std::int64_t most_rounds) {
    ValueList operands = function_.parameters;
    std::vector<Place> places;
    for (std::size_t k = 0; k < body_.lists.size(); ++k) {
      places.push_back({add_parameter(Type::Int), add_parameter(Type::Int)});
    }
    if (serial_.single) operands.insert(operands.begin() + serial_.own, describe(number(1)));
    for (const std::uint32_t constant : body_.constants) {
      Statement pushed = make_const(module_, function_, constant, function_.origin);
      if (is_given(module_, constant)) pushed.kind = Statement::Kind::Given;
      operands.push_back(add(std::move(pushed))[0]);
    }
    const std::size_t limit = operands.size();
    if (body_.counted) operands.push_back(number(most_rounds));
    for (const Place& place : places) {
      operands.push_back(place.first);
      operands.push_back(place.length);
    }
    const Outcome outcome = run_kernel(operands);
    ValueList& results = function_.body.results;
    if (!body_.tells_whether_it_ended()) {
      results = go_on(outcome);
      return std::move(function_);
    }
    results = choose(
        outcome.left,
        [&] {
          const auto in_the_middle = [&] {
            if (!body_.counted) return stopped(outcome, outcome.is_full);
            operands[limit] = outcome.rounds;
            return stopped(run_kernel(operands), outcome.is_full);
          };
          if (!body_.is_nearly_full) return in_the_middle();
          return choose(
              outcome.is_nearly_full, [&] { return in_more_room(outcome); }, in_the_middle);
        },
        [&] { return body_.results ? ended(outcome) : go_on(outcome); });
    return std::move(function_);
  }

  Function room() {
    ValueList operands = function_.parameters;
    ValueList places;
    for (const std::uint32_t list : body_.lists) {
      places.push_back(number(0));
      places.push_back(op(Op::Lengths, Type::Int, {operands[list]}));
      if (body_.is_full) grow(operands, list, places.back(), number(kLeastRoom));
    }
    operands.insert(operands.end(), places.begin(), places.end());
    function_.body.results = call(calls_.in_room, std::move(operands));
    return std::move(function_);
  }

  Function by_length(const std::vector<std::uint32_t>& parameters) {
    ValueId is_long = constant(bool_constant(false));
    for (const std::uint32_t parameter : parameters) {
      const ValueId own = function_.parameters[*serial_.parameters[parameter].descriptor];
      const ValueId length = op(Op::Lengths, Type::Int, {own});
      const ValueId exceeds = op(Op::Greater, Type::Int, {length, number(kMostOfShortOnes)});
      is_long = op(Op::Or, Type::Bool, {is_long, exceeds});
    }
    function_.body.results = choose(
        is_long, [&] { return call(calls_.rest, function_.parameters); },
        [&] { return call(calls_.for_short_ones, function_.parameters); });
    return std::move(function_);
  }

 private:
  struct Place {
    ValueId first, length;
  };
  /// What the kernel has come to.
  struct Outcome {
    ValueList scalars;          // of the results
    ValueList state;            // what the parameters have become
    std::vector<Place> places;  // of the lists
    ValueId rounds = kNoValue, is_full = kNoValue, is_nearly_full = kNoValue, left = kNoValue;
  };

  Outcome run_kernel(ValueList operands) {
    const ValueList results =
        add(make_run(module_, function_, calls_.kernel, std::move(operands), function_.origin));
    auto next = results.begin();
    Outcome outcome;
    outcome.state = function_.parameters;
    outcome.state.resize(outcome.state.size() - 2 * body_.lists.size());
    if (body_.results) {
      for (const ExpressionId result : *body_.results) {
        if (result < LoopBody::kSequences) outcome.scalars.push_back(*next++);
      }
    }
    for (std::uint32_t k = 0; body_.gives_state() && k < serial_.parameters.size(); ++k) {
      if (is_in_state(body_, k)) outcome.state[k] = *next++;
    }
    for (std::size_t k = 0; k < body_.lists.size(); ++k) {
      const ValueId first = *next++;
      outcome.places.push_back({first, *next++});
    }
    if (body_.counted) outcome.rounds = *next++;
    if (body_.is_full) outcome.is_full = *next++;
    if (body_.is_nearly_full) outcome.is_nearly_full = *next++;
    if (body_.tells_whether_it_ended()) outcome.left = *next++;
    return outcome;
  }

  /// The results of the loop.
  ValueList ended(const Outcome& outcome) {
    const ValueList state = without_room(outcome);
    ValueList results;
    auto scalar = outcome.scalars.begin();
    for (const ExpressionId result : *body_.results) {
      const bool is_scalar = result < LoopBody::kSequences;
      results.push_back(is_scalar ? *scalar++ : state[result - LoopBody::kSequences]);
    }
    return results;
  }

  /// What the function as it was gives, from the last state of the loop on, or from the beginning.
  ValueList go_on(const Outcome& outcome) { return call(calls_.rest, without_room(outcome)); }

  /// The loop has not come to its end.
  ValueList stopped(const Outcome& outcome, ValueId is_full) {
    if (!body_.is_full) return go_on(outcome);
    return choose(
        is_full, [&] { return in_more_room(outcome); }, [&] { return go_on(outcome); });
  }

  ValueList in_more_room(const Outcome& outcome) {
    ValueList operands = without_room(outcome);
    for (std::size_t k = 0; k < body_.lists.size(); ++k) {
      const std::uint32_t list = body_.lists[k];
      const ValueId length = outcome.places[k].length;
      const ValueId room = op(Op::Lengths, Type::Int, {outcome.state[list]});
      grow(operands, list, length, at_most(room, kMostForOthers));
      operands.push_back(number(0));
      operands.push_back(length);
    }
    return call(calls_.in_room, std::move(operands));
  }

  /// The state, in which lists are what the function itself has for them.
  ValueList without_room(const Outcome& outcome) {
    ValueList state = outcome.state;
    for (std::size_t k = 0; k < body_.lists.size(); ++k) {
      const ValueId room = state[body_.lists[k]];
      const ValueId own = describe(outcome.places[k].length);
      const ValueId places = op(Op::Index, Type::Int, {outcome.places[k].first, number(1), own});
      state[body_.lists[k]] = own;
      for_each_vector(body_.lists[k], [&](std::uint32_t vector) {
        state[vector] =
            op(Op::BPermute, type_of(state[vector]), {state[vector], places, room, own});
      });
    }
    return state;
  }

  /// Puts the vectors of a list, which is so long, into longer ones.
  void grow(ValueList& operands, std::uint32_t list, ValueId length, ValueId more) {
    const ValueId doubled = op(Op::Add, Type::Int, {length, at_most(length, kMostDoubled)});
    const ValueId room = describe(op(Op::Add, Type::Int, {doubled, more}));
    const ValueId own = std::exchange(operands[list], room);
    const ValueId places = op(Op::Index, Type::Int, {number(0), number(1), own});
    for_each_vector(list, [&](std::uint32_t vector) {
      const Type type = type_of(operands[vector]);
      const ValueId zero = constant(null_constant(type));
      const ValueId zeros = op(Op::Distribute, type, {zero, room});
      operands[vector] = op(Op::DPermute, type, {operands[vector], places, zeros, own, room});
    });
  }

  template <class Visit>
  void for_each_vector(std::uint32_t list, Visit visit) const {
    for (std::uint32_t k = 0; k < serial_.parameters.size(); ++k) {
      if (serial_.parameters[k].descriptor == list) visit(k);
    }
  }

  // ---- Statements

  ValueId add_parameter(std::optional<Type> type) {
    function_.parameters.push_back(new_value(function_, type, function_.origin));
    return function_.parameters.back();
  }

  Type type_of(ValueId value) const { return *function_.values[value].type; }

  ValueList add(Statement statement) {
    block_->statements.push_back(std::move(statement));
    return block_->statements.back().results;
  }

  ValueId op(Op op, Type type, ValueList operands) {
    return add(make_op(function_, op, type, std::move(operands), function_.origin))[0];
  }

  ValueId constant(vcode::Constant constant) {
    const std::uint32_t index = add_constant(module_, std::move(constant));
    return add(make_const(module_, function_, index, function_.origin))[0];
  }

  ValueId number(std::int64_t value) { return constant(int_constant(value)); }

  ValueId at_most(ValueId value, std::int64_t bound) {
    const ValueId most = number(bound);
    const ValueId is_less = op(Op::Less, Type::Int, {value, most});
    return op(Op::Select, Type::Int, {is_less, value, most});
  }

  ValueId describe(ValueId length) { return op(Op::MakeSegdes, Type::Int, {length}); }

  ValueList call(std::uint32_t function, ValueList operands) {
    Statement call;
    call.kind = Statement::Kind::Call;
    call.index = function;
    call.origin = function_.origin;
    call.operands = std::move(operands);
    call.results = new_results();
    return add(std::move(call));
  }

  ValueList new_results() {
    ValueList results;
    for (const std::optional<Type>& type : function_.result_types) {
      results.push_back(new_value(function_, type, function_.origin));
    }
    return results;
  }

  /// A conditional with the results of the function.
  template <class Then, class Else>
  ValueList choose(ValueId condition, Then then_arm, Else else_arm) {
    Statement choice;
    choice.kind = Statement::Kind::If;
    choice.origin = function_.origin;
    choice.operands = {condition};
    choice.then_block = std::make_unique<Block>();
    choice.else_block = std::make_unique<Block>();
    Block* const outer = std::exchange(block_, choice.then_block.get());
    choice.then_block->results = then_arm();
    block_ = choice.else_block.get();
    choice.else_block->results = else_arm();
    block_ = outer;
    choice.results = new_results();
    return add(std::move(choice));
  }

  Module& module_;
  const SerialFunction& serial_;
  const LoopBody& body_;
  const LoopCalls calls_;
  Function function_;
  Block* block_ = &function_.body;  // that is being written
};

}  // namespace

Function loop_function(Module& module, const Function& function, const SerialFunction& serial,
                       const LoopBody& body, const LoopCalls& calls, std::int64_t most_rounds) {
  return LoopFunction(module, function, serial, body, calls).run(most_rounds);
}

Function choose_by_length(Module& module, const Function& function, const SerialFunction& serial,
                          const LoopBody& body, const LoopCalls& calls,
                          const std::vector<std::uint32_t>& parameters) {
  return LoopFunction(module, function, serial, body, calls).by_length(parameters);
}

Function give_room(Module& module, const Function& function, const SerialFunction& serial,
                   const LoopBody& body, const LoopCalls& calls) {
  return LoopFunction(module, function, serial, body, calls).room();
}

}  // namespace fcode
