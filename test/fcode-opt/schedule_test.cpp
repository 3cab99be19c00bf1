// Legality, steps, cost and the choice between schedules.
#include "fcode-opt/fusion/schedule.hpp"

#include <algorithm>
#include <deque>
#include <random>

#include <catch2/catch.hpp>

#include "fcode-opt/fusion/cost.hpp"
#include "fcode-opt/fusion/known_choices.hpp"
#include "fcode-opt/fusion/local_search.hpp"

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
    node.reads.push_back({300 + index % 3, kOutside, Access::Own});
    for (const auto& [producer, access] : reads) node.reads.push_back({producer, producer, access});
    graph.nodes.push_back(std::move(node));
    graph.domain_length = {-1, -1, 1};
    function_.values.assign(400, {Type::Int, {}});
    graph.function = &function_;
    graph.producers.assign(400, kOutside);
    for (NodeIndex i = 0; i <= index; ++i) graph.producers[i] = i;
    return index;
  }
  RegionGraph graph;

 private:
  std::deque<Statement> statements_;
  Function function_;
};

std::int64_t brute_force(const RegionGraph& graph, Slot slots) {
  Schedule schedule(graph.nodes.size(), 0);
  std::int64_t best = -1;
  while (true) {
    if (legal(graph, schedule)) {
      const std::int64_t price = cost(graph, steps_of(graph, schedule));
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
    CHECK(legal(graph.graph, choice.schedule));
    CHECK(choice.price == cost(graph.graph, steps_of(graph.graph, choice.schedule)));
    CHECK(choice.price == brute_force(graph.graph, 5));
    CHECK(legal(graph.graph, earliest_schedule(Precedence(graph.graph))));
    CHECK(legal(graph.graph, latest_schedule(Precedence(graph.graph))));
    CHECK(legal(graph.graph, schedule_in_order(graph.graph)));
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
  // Nodes read three vectors in turn, which count once, and each has a result.
  constexpr std::uint32_t most = kMaxKernelOperands - 3;
  for (std::uint32_t count : {most, most + 1}) {
    Graph graph;
    for (std::uint32_t i = 0; i < count; ++i) graph.add(Role::Map, {});
    CHECK(legal(graph.graph, Schedule(count, 0)) == (count <= most));
    CHECK(legal(graph.graph, earliest_schedule(Precedence(graph.graph))));
  }
}

// By pass: what is read, what is made.
using Passes = std::vector<std::pair<std::vector<ValueId>, std::vector<NodeIndex>>>;

Passes passes(const RegionGraph& graph, const Schedule& schedule) {
  Passes passes;
  for (const Step& step : steps_of(graph, schedule)) {
    passes.push_back({{}, step.makes});
    for (const Step::Operand& read : step.reads) passes.back().first.push_back(read.value);
  }
  return passes;
}

TEST_CASE("a map is part of the pass of its first reader; another pass reads a vector") {
  Graph graph;
  const NodeIndex map = graph.add(Role::Map, {});
  const NodeIndex sum = graph.add(Role::Reduce, {{map, Access::Own}});
  graph.graph.nodes[sum].output = true;
  CHECK(passes(graph.graph, {0, 0}) == Passes{{{300, 301}, {sum}}});
  CHECK(passes(graph.graph, {0, 1}) == Passes{{{300}, {map}}, {{map, 301}, {sum}}});
}

TEST_CASE("spaces of other lengths, and what has to be finished before, have passes of their own") {
  Graph graph;
  const NodeIndex first = graph.add(Role::Reduce, {}, 0);
  const NodeIndex other = graph.add(Role::Map, {}, 1);
  const NodeIndex later = graph.add(Role::Map, {{first, Access::Zero}}, 0);
  for (const NodeIndex node : {first, other, later}) graph.graph.nodes[node].output = true;
  CHECK(passes(graph.graph, {0, 0, 0}) ==
        Passes{{{300}, {first}}, {{301}, {other}}, {{first, 302}, {later}}});
}

TEST_CASE("a scatter stores its defaults in an earlier pass, over the target if that may go") {
  Graph graph;
  const NodeIndex target = graph.add(Role::Map, {}, 1);
  const NodeIndex scatter = graph.add(Role::Scatter, {{target, Access::Target}}, 0);
  graph.graph.nodes[scatter].target = 1;
  graph.graph.nodes[scatter].output = true;
  CHECK(passes(graph.graph, {0, 0}) == Passes{{{300}, {scatter}}, {{301}, {}}});
  const std::vector<Step> apart = steps_of(graph.graph, {0, 1});
  REQUIRE(apart.size() == 3);
  REQUIRE(apart[1].reads.size() == 1);
  CHECK(apart[1].reads[0].value == target);
  CHECK(apart[1].reads[0].over);
  CHECK(apart[1].makes == std::vector<NodeIndex>{scatter});
}

TEST_CASE("results are written over operands that are read at the same position only") {
  for (const Role role : {Role::Map, Role::Scan, Role::Reduce, Role::Filter}) {
    Graph graph;
    graph.add(role, {});
    graph.graph.nodes[0].output = true;
    const std::vector<Step> steps = steps_of(graph.graph, {0});
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].reads[0].over == (role == Role::Map || role == Role::Scan));
    CHECK(steps[0].reads[0].moved);
  }
  // The same operand once more, by a selection.
  Graph graph;
  const NodeIndex map = graph.add(Role::Map, {});
  const NodeIndex filter = graph.add(Role::Filter, {});
  graph.graph.nodes[filter].reads[0].value = 300;
  graph.graph.nodes[map].output = graph.graph.nodes[filter].output = true;
  const std::vector<Step> steps = steps_of(graph.graph, {0, 0});
  REQUIRE(steps.size() == 1);
  REQUIRE(steps[0].reads.size() == 1);
  CHECK_FALSE(steps[0].reads[0].over);
}

TEST_CASE("scans share passes with scatters at a price only") {
  Graph graph;
  const NodeIndex scan = graph.add(Role::Scan, {});
  const NodeIndex scatter = graph.add(Role::Scatter, {{scan, Access::Own}});
  graph.graph.nodes[scatter].output = true;
  const std::vector<Step> together = steps_of(graph.graph, {0, 0});
  REQUIRE(together.size() == 1);
  CHECK(together[0].in_order);
  for (const Step& step : steps_of(graph.graph, {0, 1})) CHECK_FALSE(step.in_order);
}

TEST_CASE("a way down ends at a schedule that is legal and no dearer") {
  std::mt19937 random(8);
  const Role roles[] = {Role::Map,  Role::Map,    Role::Reduce,
                        Role::Scan, Role::Filter, Role::Scatter};
  for (int round = 0; round < 20; ++round) {
    Graph graph;
    for (unsigned i = 0; i < 30; ++i) {
      std::vector<std::pair<NodeIndex, Access>> reads;
      for (unsigned k = random() % 3; i > 0 && k > 0; --k) {
        reads.emplace_back(random() % i, Access::Own);
      }
      const NodeIndex node = graph.add(roles[random() % 6], std::move(reads), random() % 2);
      graph.graph.nodes[node].output = random() % 4 == 0;
    }
    const Pricing pricing(graph.graph);
    const Choice chosen = choose_schedule(graph.graph);
    CHECK(legal(graph.graph, chosen.schedule));
    CHECK(chosen.price == pricing.price(chosen.schedule));
    for (const Schedule& start :
         {earliest_schedule(Precedence(graph.graph)), latest_schedule(Precedence(graph.graph))}) {
      Choice choice{start, pricing.price(start)};
      descend(pricing, choice);
      CHECK(legal(graph.graph, choice.schedule));
      CHECK(choice.price == pricing.price(choice.schedule));
      CHECK(choice.price <= pricing.price(start));
      CHECK(chosen.price <= pricing.price(start));
    }
  }
}

TEST_CASE("a way that begins at what was chosen for a similar region is legal, wherever that is") {
  std::mt19937 random(9);
  const Role roles[] = {Role::Map, Role::Reduce, Role::Scan, Role::Filter};
  for (int round = 0; round < 20; ++round) {
    Graph graph;
    for (unsigned i = 0; i < 12; ++i) {
      std::vector<std::pair<NodeIndex, Access>> reads;
      if (i > 0) reads.emplace_back(random() % i, Access::Own);
      const NodeIndex node = graph.add(roles[random() % 4], std::move(reads), random() % 2);
      graph.graph.nodes[node].output = random() % 3 == 0;
    }
    // All in the last slot there is: what has to come behind others goes further.
    const Schedule last(graph.graph.nodes.size(), 12);
    CHECK(legal(graph.graph, earliest_schedule(Precedence(graph.graph), last)));
    const Schedule before = choose_schedule(graph.graph).schedule;
    Node& given_back = graph.graph.nodes[random() % 12];
    given_back.role = Role::Opaque;
    const Choice choice = choose_schedule(graph.graph, before);
    CHECK(legal(graph.graph, choice.schedule));
    CHECK(choice.price == Pricing(graph.graph).price(choice.schedule));
  }
}

TEST_CASE("equal regions are scheduled once, others are not taken for equal") {
  KnownChoices known;
  const auto region = [](Role last, bool output) {
    Graph graph;
    const NodeIndex map = graph.add(Role::Map, {});
    graph.add(last, {{map, Access::Own}});
    graph.graph.nodes[map].output = output;
    return graph;
  };
  const Choice* sum = &known.choose(region(Role::Reduce, false).graph);
  CHECK(sum == &known.choose(region(Role::Reduce, false).graph));
  CHECK(sum != &known.choose(region(Role::Reduce, true).graph));
  CHECK(sum != &known.choose(region(Role::Filter, false).graph));
  Graph other = region(Role::Reduce, false);
  other.graph.nodes[1].reads[0].value = other.graph.nodes[0].reads[0].value;
  CHECK(sum != &known.choose(other.graph));
  CHECK(sum->price == choose_schedule(region(Role::Reduce, false).graph).price);
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
