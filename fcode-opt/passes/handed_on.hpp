// Sequences that recursion hands on from call to call.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "fcode-opt/ir.hpp"

namespace fcode {

/// Tells whether a value is one that a recursion has been called with, be it with a few other
/// elements: then each of its calls does little more than what depends on other things than how
/// long the value is.
class HandedOn {
 public:
  /// Of a call, the operands that one of its results may be, if it is no new value.
  using Passed = std::function<ValueList(const Statement& call, std::size_t result)>;

  /// `runs_calls`: functions whose calls of themselves are calls of the machine. All must outlive
  /// this.
  HandedOn(const Module& module, const std::vector<bool>& runs_calls, Passed passed);

  /// Is an operand of a call of the function like that? Not where a function with `ignored` calls.
  bool any(std::uint32_t function, const std::vector<std::uint32_t>& operands,
           const std::vector<bool>& ignored);

 private:
  bool is_handed_on(std::uint32_t function, ValueId value);
  bool is_parameter_handed_on(std::uint32_t function, std::size_t parameter);

  struct Call {
    std::uint32_t caller;
    const Statement* statement;
  };
  /// What a value is: which result of which statement.
  struct Result {
    const Statement* statement = nullptr;
    std::size_t number = 0;
  };

  const Module& module_;
  const std::vector<bool>& runs_calls_;
  const Passed passed_;
  std::vector<std::vector<Call>> calls_;   // by callee
  std::vector<std::vector<Result>> made_;  // by function and value
  const std::vector<bool>* ignored_ = nullptr;
  std::set<std::pair<std::uint32_t, ValueId>> seen_;
};

}  // namespace fcode
