// Reads functions of scalars as expressions of a state (LoopBody): what loops and recursion have in
// common. Whatever cannot be part of a kernel's rounds is thrown as NoLoop.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "fcode-opt/passes/body_sequences.hpp"

namespace fcode {

class BodyReader : protected BodySequences {
 public:
  BodyReader(const Module& module, const std::vector<bool>& recursive,
             const SerialFunction& function)
      : BodySequences(module, function), recursive_(recursive) {}

 protected:
  /// A condition, and which of its arms it is.
  struct Arm {
    ExpressionId condition;
    bool is_first;
    bool operator==(const Arm&) const = default;
  };

  /// Calls inside each other that are put in place, and loops inside each other.
  static constexpr int kDeepestCall = 20;

  /// The parameters of the function: components of the state, and sequences. It hands on slices of
  /// those that `sliced` are descriptors of; nothing: of all, if it makes slices at all.
  std::vector<ExpressionId> begin(std::optional<std::set<std::uint32_t>> sliced);

  /// What has been read so far, to go back to.
  struct Progress {
    LoopBody body;
    std::set<std::uint32_t> vectors;
    std::vector<Made> made;
    std::vector<Arm> arms;
  };
  Progress progress() const;
  void go_back(Progress progress);

  std::uint32_t begun_with(const vcode::ThunkNode& number);

  /// Of the constants that the run gives, which are vectors? Those that something is fetched from.
  void find_vectors(const Block& block);
  /// The values of a function that is called with these arguments, as far as they are known then.
  /// REQUIRES: it can be read, being so deep in calls.
  Values values_of(std::uint32_t function, const std::vector<ExpressionId>& arguments, int depth);

  /// What an operation gives, or a constant. REQUIRES: it is no call and no conditional.
  ExpressionId value_of(const Statement& statement, const Values& values);
  static std::vector<ExpressionId> arguments_of(const Statement& call, const Values& values);
  /// Is the arm run, when its conditional is reached?
  ExpressionId is_run(const Arm& arm);

  const std::vector<bool>& recursive_;  // functions: recursive_functions()
  std::vector<Arm> arms_;               // that are being read, from the outermost one inward

 private:
  bool makes_slices(std::uint32_t function, std::set<std::uint32_t>& seen) const;
  ExpressionId parameter(std::optional<Type> type);
  ExpressionId constant(std::uint32_t constant, bool is_sequence);
  ExpressionId given(std::uint32_t index);
  ExpressionId literal(std::uint32_t index);
  ExpressionId operation(const Statement& statement, const Values& values);
  std::optional<ExpressionId> of_lists(const Statement& statement, const Values& values);
  ExpressionId folded(Op reduction, Type type, const std::vector<ExpressionId>& elements);
  ExpressionId applied(const Statement& statement, const std::vector<ExpressionId>& operands);
  ExpressionId never_zero(ExpressionId divisor);

  std::set<std::uint32_t> vectors_;  // of the constants that the run gives
};

}  // namespace fcode
