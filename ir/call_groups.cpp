// Who calls whom.
#include <algorithm>

#include "ir/tools.hpp"
#include "vcode/strong_components.hpp"

namespace ir {
namespace {

vcode::Edges callees(const Module& module) {
  vcode::Edges table(module.functions.size());
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const Function& function = module.functions[i];
    for_each_statement(function.body, [&](const Statement& statement) {
      if (statement.kind == Statement::Kind::Call) table[i].push_back(statement.index);
    });
    for (const vcode::Instruction& instruction : function.code) {
      if (instruction.op == Op::Call) table[i].push_back(instruction.a);
    }
    std::sort(table[i].begin(), table[i].end());
    table[i].erase(std::unique(table[i].begin(), table[i].end()), table[i].end());
  }
  return table;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> call_groups(const Module& module) {
  std::vector<std::vector<std::uint32_t>> groups = vcode::strong_components(callees(module));
  for (auto& group : groups) std::sort(group.begin(), group.end());
  return groups;
}

std::vector<bool> recursive_functions(const Module& module,
                                      const std::vector<std::vector<std::uint32_t>>& groups) {
  std::vector<bool> recursive(module.functions.size());
  for (const auto& group : groups) {
    for (const std::uint32_t function : group) recursive[function] = group.size() > 1;
  }
  for (std::uint32_t k = 0; k < module.functions.size(); ++k) {
    for_each_statement(module.functions[k].body, [&](const Statement& statement) {
      if (statement.kind == Statement::Kind::Call && statement.index == k) recursive[k] = true;
    });
  }
  return recursive;
}

std::vector<bool> reachable_functions(const Module& module) {
  const vcode::Edges edges = callees(module);
  std::vector<bool> reached(module.functions.size());
  std::vector<std::uint32_t> due{module.entry};
  reached[module.entry] = true;
  while (!due.empty()) {
    const std::uint32_t function = due.back();
    due.pop_back();
    for (const std::uint32_t callee : edges[function]) {
      if (reached[callee]) continue;
      reached[callee] = true;
      due.push_back(callee);
    }
  }
  return reached;
}

}  // namespace ir
