// Legality, cost and the choice between schedules.
#include "fcode-opt/fusion/schedule.hpp"

#include <algorithm>
#include <deque>
#include <random>

#include <catch2/catch.hpp>

namespace fcode::testing {
namespace {

/// A graph of its own statements: node i has value i as its result.
class Graph {
 public:
  NodeIndex add(Role role, std::vector<std::pair<NodeIndex, Access>> reads,
                std::uint32_t domain = 0) {
    const auto index = static_cast<NodeIndex>(graph.nodes.size());
    Statement statement;
    statement.results = {index};
    statements_.push_back(std::move(statement));
    Node node;
    node.statement = &statements_.back();
    node.role = role;
    node.domain = domain;
    node.weight = role == Role::Map ? 1 : 0;
    node.reads.push_back({100 + index % 3, kOutside, Access::Own});
    for (const auto& [producer, access] : reads) node.reads.push_back({producer, producer, access});
    graph.nodes.push_back(std::move(node));
    graph.domain_length = {-1, -1, 1};
    return index;
  }
  RegionGraph graph;

 private:
  std::deque<Statement> statements_;
};

std::int64_t brute_force(const RegionGraph& graph, Slot slots) {
  Schedule schedule(graph.nodes.size(), 0);
  std::int64_t best = -1;
  while (true) {
    if (legal(graph, schedule)) {
      const std::int64_t price = cost(graph, schedule);
      if (best < 0 || price < best) best = price;
    }
    std::size_t i = 0;
    while (i < schedule.size() && ++schedule[i] == slots) schedule[i++] = 0;
    if (i == schedule.size()) return best;
  }
}

TEST_CASE("the search finds what trying everything finds") {
  std::mt19937 random(5);
  const Role roles[] = {Role::Map, Role::Map, Role::Map, Role::Reduce, Role::Scan, Role::Filter};
  for (int round = 0; round < 60; ++round) {
    Graph graph;
    const unsigned count = 2 + random() % 5;
    for (unsigned i = 0; i < count; ++i) {
      std::vector<std::pair<NodeIndex, Access>> reads;
      for (unsigned k = random() % 3; i > 0 && k > 0; --k) {
        reads.emplace_back(random() % i, Access::Own);
      }
      const NodeIndex node = graph.add(roles[random() % 6], std::move(reads), random() % 2);
      graph.graph.nodes[node].output = random() % 3 == 0;
    }
    const Choice choice = choose_schedule(graph.graph);
    CHECK(choice.exact);
    CHECK(legal(graph.graph, choice.schedule));
    CHECK(choice.price == cost(graph.graph, choice.schedule));
    CHECK(choice.price == brute_force(graph.graph, 5));
    CHECK(legal(graph.graph, earliest_schedule(graph.graph)));
    CHECK(legal(graph.graph, latest_schedule(graph.graph)));
  }
}

TEST_CASE("what needs a finished result waits for it") {
  for (Role barrier : {Role::Reduce, Role::Filter, Role::Scatter}) {
    Graph graph;
    const NodeIndex first = graph.add(barrier, {});
    graph.add(Role::Map, {{first, Access::Own}});
    CHECK_FALSE(legal(graph.graph, {0, 0}));
    CHECK(legal(graph.graph, {0, 1}));
    CHECK_FALSE(legal(graph.graph, {1, 0}));
  }
}

TEST_CASE("a map may follow a scan in its kernel, another scan or a filter may not") {
  Graph graph;
  const NodeIndex scan = graph.add(Role::Scan, {});
  const NodeIndex map = graph.add(Role::Map, {{scan, Access::Own}});
  graph.add(Role::Filter, {{map, Access::Own}});
  CHECK(legal(graph.graph, {0, 0, 1}));
  CHECK_FALSE(legal(graph.graph, {0, 0, 0}));
}

TEST_CASE("spaces that are not known to be equal do not meet at their own index") {
  Graph graph;
  const NodeIndex map = graph.add(Role::Map, {}, 0);
  graph.add(Role::Map, {{map, Access::Own}}, 1);
  CHECK_FALSE(legal(graph.graph, {0, 0}));
  CHECK(legal(graph.graph, {0, 1}));
}

TEST_CASE("checks and random numbers keep their order") {
  Graph graph;
  graph.add(Role::Assert, {});
  const NodeIndex second = graph.add(Role::Assert, {});
  graph.graph.nodes[second].after = {0};
  CHECK(legal(graph.graph, {0, 0}));
  CHECK_FALSE(legal(graph.graph, {1, 0}));
}

TEST_CASE("only cheap maps are computed again at other positions") {
  for (std::uint32_t weight : {kMaxRecomputedOperations, kMaxRecomputedOperations + 1}) {
    Graph graph;
    const NodeIndex map = graph.add(Role::Map, {});
    graph.graph.nodes[map].weight = weight;
    graph.add(Role::Map, {{map, Access::Segment}});
    CHECK(legal(graph.graph, {0, 0}) == (weight <= kMaxRecomputedOperations));
  }
}

TEST_CASE("kernels have bounded numbers of operands and nodes") {
  // Each node has one operand and one result.
  for (std::uint32_t count : {kMaxKernelOperands / 2, kMaxKernelOperands / 2 + 1}) {
    Graph graph;
    for (std::uint32_t i = 0; i < count; ++i) graph.add(Role::Map, {});
    CHECK(legal(graph.graph, Schedule(count, 0)) == (count <= kMaxKernelOperands / 2));
    CHECK(legal(graph.graph, earliest_schedule(graph.graph)));
  }
}

TEST_CASE("a filter and its reader together cost more than the filter alone: squares and total") {
  // total = sum a; {x * x / total : x in a}: two kernels, and the squares go with either.
  Graph graph;
  const NodeIndex total = graph.add(Role::Reduce, {});
  const NodeIndex squares = graph.add(Role::Map, {});
  const NodeIndex quotient =
      graph.add(Role::Map, {{squares, Access::Own}, {total, Access::Foreign}});
  graph.graph.nodes[quotient].output = true;
  const Choice choice = choose_schedule(graph.graph);
  CHECK(choice.schedule[total] < choice.schedule[quotient]);
  CHECK(choice.schedule[squares] == choice.schedule[quotient]);
}

}  // namespace
}  // namespace fcode::testing
