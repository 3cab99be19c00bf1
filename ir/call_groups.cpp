// Who calls whom.
#include <algorithm>

#include "ir/tools.hpp"

namespace ir {
namespace {

std::vector<std::vector<std::uint32_t>> callees(const Module& module) {
  std::vector<std::vector<std::uint32_t>> table(module.functions.size());
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

// Tarjan, "Depth-first search and linear graph algorithms" (1972), with a stack of its own: chains
// of calls may be long.
class Components {
 public:
  explicit Components(const std::vector<std::vector<std::uint32_t>>& edges)
      : edges_(edges), number_(edges.size()), low_(edges.size()), open_(edges.size()) {}

  std::vector<std::vector<std::uint32_t>> run() {
    for (std::uint32_t node = 0; node < edges_.size(); ++node) {
      if (number_[node] == 0) visit(node);
    }
    return std::move(groups_);
  }

 private:
  struct Step {
    std::uint32_t node;
    std::size_t edge;
  };

  void enter(std::uint32_t node) {
    number_[node] = low_[node] = ++last_;
    path_.push_back(node);
    open_[node] = true;
    steps_.push_back({node, 0});
  }

  void visit(std::uint32_t root) {
    enter(root);
    while (!steps_.empty()) {
      const std::uint32_t node = steps_.back().node;
      if (steps_.back().edge < edges_[node].size()) {
        const std::uint32_t next = edges_[node][steps_.back().edge++];
        if (number_[next] == 0) {
          enter(next);
        } else if (open_[next]) {
          low_[node] = std::min(low_[node], number_[next]);
        }
        continue;
      }
      steps_.pop_back();
      if (!steps_.empty()) {
        const std::uint32_t parent = steps_.back().node;
        low_[parent] = std::min(low_[parent], low_[node]);
      }
      if (low_[node] == number_[node]) close(node);
    }
  }

  void close(std::uint32_t root) {
    std::vector<std::uint32_t> group;
    std::uint32_t node;
    do {
      node = path_.back();
      path_.pop_back();
      open_[node] = false;
      group.push_back(node);
    } while (node != root);
    std::sort(group.begin(), group.end());
    groups_.push_back(std::move(group));
  }

  const std::vector<std::vector<std::uint32_t>>& edges_;
  std::vector<std::uint32_t> number_, low_;  // number 0: not yet seen
  std::vector<bool> open_;
  std::uint32_t last_ = 0;
  std::vector<std::uint32_t> path_;
  std::vector<Step> steps_;
  std::vector<std::vector<std::uint32_t>> groups_;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> strong_components(
    const std::vector<std::vector<std::uint32_t>>& edges) {
  return Components(edges).run();
}

std::vector<std::vector<std::uint32_t>> call_groups(const Module& module) {
  return strong_components(callees(module));
}

std::vector<bool> reachable_functions(const Module& module) {
  const auto edges = callees(module);
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
