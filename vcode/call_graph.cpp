#include "vcode/call_graph.hpp"

#include <algorithm>

namespace vcode {

CallGraph::CallGraph(const LinkedProgram& program)
    : callees(program.functions.size()), group_of(program.functions.size()) {
  for (std::size_t k = 0; k < callees.size(); ++k) {
    const LinkedFunction& function = program.functions[k];
    for (std::uint32_t i = function.begin; i < function.end; ++i) {
      if (program.code[i].op == Op::Call) callees[k].push_back(program.code[i].a);
    }
    std::sort(callees[k].begin(), callees[k].end());
    callees[k].erase(std::unique(callees[k].begin(), callees[k].end()), callees[k].end());
  }
  groups = strong_components(callees);
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    for (const std::uint32_t function : groups[group]) group_of[function] = group;
  }
}

}  // namespace vcode
