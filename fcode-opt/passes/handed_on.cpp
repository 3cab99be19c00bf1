#include "fcode-opt/passes/handed_on.hpp"

#include <algorithm>

#include "ir/tools.hpp"

namespace fcode {

HandedOn::HandedOn(const Module& module, const std::vector<bool>& runs_calls, Passed passed)
    : module_(module), runs_calls_(runs_calls), passed_(std::move(passed)) {
  calls_.resize(module.functions.size());
  for (std::uint32_t k = 0; k < module.functions.size(); ++k) {
    made_.emplace_back(module.functions[k].values.size());
    for_each_statement(module.functions[k].body, [&](const Statement& statement) {
      if (statement.kind == Statement::Kind::Call)
        calls_[statement.index].push_back({k, &statement});
      for (std::size_t r = 0; r < statement.results.size(); ++r) {
        made_.back()[statement.results[r]] = {&statement, r};
      }
    });
  }
}

bool HandedOn::any(std::uint32_t function, const std::vector<std::uint32_t>& operands,
                   const std::vector<bool>& ignored) {
  ignored_ = &ignored;
  seen_.clear();
  return std::any_of(operands.begin(), operands.end(), [&](std::uint32_t operand) {
    return is_parameter_handed_on(function, operand);
  });
}

bool HandedOn::is_parameter_handed_on(std::uint32_t function, std::size_t parameter) {
  const std::vector<Call>& calls = calls_[function];
  return std::any_of(calls.begin(), calls.end(), [&](const Call& call) {
    return !(*ignored_)[call.caller] &&
           is_handed_on(call.caller, call.statement->operands[parameter]);
  });
}

bool HandedOn::is_handed_on(std::uint32_t function, ValueId value) {
  if (!seen_.emplace(function, value).second) return false;
  const ValueList& parameters = module_.functions[function].parameters;
  const auto parameter = std::find(parameters.begin(), parameters.end(), value);
  if (parameter != parameters.end()) {
    return runs_calls_[function] ||
           is_parameter_handed_on(function,
                                  static_cast<std::size_t>(parameter - parameters.begin()));
  }
  const Statement& made = *made_[function][value].statement;
  const std::size_t result = made_[function][value].number;
  const auto is_one = [&](ValueId each) { return is_handed_on(function, each); };
  switch (made.kind) {
    case Statement::Kind::If: {
      const auto in_arm = [&](const Block& arm) {
        return !arm.diverges && is_one(arm.results[result]);
      };
      return in_arm(*made.then_block) || in_arm(*made.else_block);
    }
    case Statement::Kind::Call: {
      const ValueList same = passed_(made, result);
      return std::any_of(same.begin(), same.end(), is_one);
    }
    case Statement::Kind::Op:
      // These change a few elements.
      if (made.op == Op::Replace) return is_one(made.operands[0]);
      return made.op == Op::DPermute && is_one(made.operands[2]);
    default:
      return false;
  }
}

}  // namespace fcode
