#include "vcode/call_graph.hpp"

#include <algorithm>

namespace vcode {
namespace {

// Tarjan's algorithm for strongly connected components ("Depth-first search and linear graph
// algorithms", 1972), with its own stack in place of recursion.
class Grouping {
 public:
  explicit Grouping(CallGraph& graph)
      : graph_(graph), order_(graph.first_edge.size() - 1, kUnseen), low_(order_.size()) {}

  void run() {
    graph_.group_of.assign(order_.size(), kUnseen);
    for (std::uint32_t function = 0; function < order_.size(); ++function) {
      if (order_[function] == kUnseen) visit(function);
    }
  }

 private:
  static constexpr std::uint32_t kUnseen = 0xFFFFFFFF;

  struct Visit {
    std::uint32_t function;
    std::size_t next_edge;
  };

  void enter(std::uint32_t function) {
    order_[function] = low_[function] = count_++;
    open_.push_back(function);
    visits_.push_back({function, graph_.first_edge[function]});
  }

  void visit(std::uint32_t root) {
    enter(root);
    while (!visits_.empty()) {
      Visit& visit = visits_.back();
      const std::uint32_t function = visit.function;
      if (visit.next_edge < graph_.first_edge[function + 1]) {
        const std::uint32_t callee = graph_.edges[visit.next_edge++];
        if (order_[callee] == kUnseen) {
          enter(callee);
        } else if (graph_.group_of[callee] == kUnseen) {
          low_[function] = std::min(low_[function], order_[callee]);
        }
        continue;
      }
      visits_.pop_back();
      if (!visits_.empty()) {
        std::uint32_t& caller = low_[visits_.back().function];
        caller = std::min(caller, low_[function]);
      }
      if (low_[function] == order_[function]) close_group(function);
    }
  }

  void close_group(std::uint32_t root) {
    std::vector<std::uint32_t> group;
    do {
      group.push_back(open_.back());
      graph_.group_of[open_.back()] = static_cast<std::uint32_t>(graph_.groups.size());
      open_.pop_back();
    } while (group.back() != root);
    graph_.groups.push_back(std::move(group));
  }

  CallGraph& graph_;
  std::vector<std::uint32_t> order_, low_;
  std::vector<std::uint32_t> open_;
  std::vector<Visit> visits_;
  std::uint32_t count_ = 0;
};

}  // namespace

CallGraph::CallGraph(const LinkedProgram& program) {
  first_edge.reserve(program.functions.size() + 1);
  for (const LinkedFunction& function : program.functions) {
    const auto begin = static_cast<std::ptrdiff_t>(edges.size());
    first_edge.push_back(edges.size());
    for (std::uint32_t i = function.begin; i < function.end; ++i) {
      if (program.code[i].op == Op::Call) edges.push_back(program.code[i].a);
    }
    std::sort(edges.begin() + begin, edges.end());
    edges.erase(std::unique(edges.begin() + begin, edges.end()), edges.end());
  }
  first_edge.push_back(edges.size());
  Grouping(*this).run();
}

}  // namespace vcode
