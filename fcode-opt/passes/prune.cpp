#include "fcode-opt/passes/passes.hpp"
#include "ir/tools.hpp"

namespace fcode {

bool prune(Module& module) {
  for (Function& function : module.functions) function.serial.reset();
  const std::vector<bool> reached = reachable_functions(module);
  std::vector<std::uint32_t> number(module.functions.size());
  std::vector<Function> kept;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    number[i] = static_cast<std::uint32_t>(kept.size());
    if (reached[i]) kept.push_back(std::move(module.functions[i]));
  }
  const bool changed = kept.size() != module.functions.size();
  module.functions = std::move(kept);
  if (!changed) return false;
  module.entry = number[module.entry];
  for (Function& function : module.functions) {
    for_each_statement(function.body, [&](Statement& statement) {
      if (statement.kind == Statement::Kind::Call) statement.index = number[statement.index];
    });
    for (vcode::Instruction& instruction : function.code) {
      if (instruction.op == Op::Call) instruction.a = number[instruction.a];
    }
  }
  return true;
}

}  // namespace fcode
