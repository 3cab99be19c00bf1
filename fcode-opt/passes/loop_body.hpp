// A function of scalars that calls itself last, or only combines what that gives with a number, as
// a loop: one round of it in expressions. Loops inside of its rounds are part of it: a step is then
// a round of the innermost loop that goes on (loop flattening: Ghuloum and Fisher, "Flattening and
// parallelizing irregular, recurrent loop nests", PPoPP 1995).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "fcode-opt/ir.hpp"
#include "fcode-opt/passes/expressions.hpp"
#include "vcode/kernel.hpp"

namespace fcode {

/// What rounds do with the stack that each state has, as ITERATE has it.
struct LoopStack {
  ExpressionId push = 0, pop = 0;
  bool branches = false;                  // are there calls behind others, as in a tree?
  std::vector<std::uint32_t> components;  // what a frame that is taken off becomes, …
  std::vector<ExpressionId> frame;        // … and what one consists of that is put on the stack
};

/// The state consists of those parameters of the function that are scalars, of where the own
/// elements of its sequences begin and how many there are, of constants, and of what loops inside
/// have come to. The vectors stay the same in all rounds. Sequences are known by numbers:
/// parameters by their own, and behind those the constants. Of them the expressions read elements
/// (Subscript, `id` being the vector's number) and lengths (Size, `id` being the number of a
/// descriptor, or of a constant vector; of a descriptor with many segments: the length of all). A
/// state either goes on or has come to its end; then it gives the results, or fails, as the
/// function says in its own way.
struct LoopBody {
  /// From here on: sequences, by their numbers.
  static constexpr ExpressionId kSequences = ExpressionId{1} << 31;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// Of calls inside each other, where their results are combined with numbers: about what the
  /// machine usually allows.
  static constexpr std::int64_t kMostDepth = 1'000'000;

  Expressions expressions;
  /// Indices into Module::constants: those that the run gives, and sequences.
  std::vector<std::uint32_t> constants;
  std::vector<Type> state;  // the types of the components
  /// Which component is each parameter, and behind those each constant; of sequences: kNone.
  std::vector<std::uint32_t> component;
  /// Of each parameter that is a descriptor with many segments, or if the function hands on slices
  /// of its sequences: which component is where the own segment begins; the next one is its length.
  std::vector<std::uint32_t> own_segment;  // others: kNone
  /// A component that begins with the same number for all.
  struct Begun {
    std::uint32_t component = 0;
    vcode::ThunkNode number;
  };
  std::vector<Begun> begun;
  /// Are results combined with numbers, so that each round is a call inside of the one before?
  bool collects = false;
  bool has_inner_loops = false;
  /// Where loops inside write, a state that has not come to its end may be in the middle of a
  /// round, where the function itself cannot go on. So the rounds are counted, which end at a
  /// limit: up to the last one that was whole they are done again.
  struct Counted {
    std::uint32_t rounds = 0, limit = 0;  // components
  };
  std::optional<Counted> counted;
  ExpressionId goes_on = 0, fails = 0;
  std::vector<ExpressionId> next;  // has a meaning where the state goes on
  /// What a round writes into the vectors of parameters, in this order.
  struct Write {
    std::uint32_t vector = 0;  // number
    ExpressionId condition = 0, place = 0, element = 0;
    bool appends = false;  // behind the end of the sequence, as the last element of that write
  };
  std::vector<Write> writes;
  bool writes_into(std::uint32_t vector) const {
    return std::any_of(writes.begin(), writes.end(),
                       [&](const Write& write) { return write.vector == vector; });
  }
  /// Sequences that are slices of their vectors, also in the last state: the state says where they
  /// begin and how long they are (own_segment). Their descriptors, if they are asked for.
  std::vector<std::uint32_t> lists;
  /// Is the last state one that appends to a list more than its vector has room for? That may be in
  /// the middle of a round, if these are counted; so a whole round is the last one already where
  /// there may be too little room for the next one.
  std::optional<ExpressionId> is_full, is_nearly_full;
  /// Expressions, or kSequences and the number of a parameter. Nothing if the function itself has
  /// to give them.
  std::optional<std::vector<ExpressionId>> results;
  /// Does the function need the last state, to go on from there or to give results? With a stack it
  /// does not: it begins anew.
  bool gives_state() const;
  /// Is there a state that has not come to its end, which the function as it was is called for?
  bool tells_whether_it_ended() const;
  /// Of a function that calls itself otherwise.
  std::optional<LoopStack> stack;
};

/// Nothing if the function is not such a loop, or too large for one. `recursive`: functions, by
/// recursive_functions().
std::optional<LoopBody> loop_body(const Module& module, const std::vector<bool>& recursive,
                                  const SerialFunction& function);

/// The same of a function that calls itself anywhere, or others that do.
std::optional<LoopBody> recursion_body(const Module& module, const std::vector<bool>& recursive,
                                       const SerialFunction& function);

}  // namespace fcode
