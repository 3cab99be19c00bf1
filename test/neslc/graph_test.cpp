// Pictures of vector operations: what is drawn, with which values and borders, and where.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "contains.hpp"
#include "neslc/graph/cells.hpp"
#include "neslc/graph/graph_command.hpp"
#include "neslc/graph/layout.hpp"
#include "neslc/graph/recorder.hpp"
#include "occurrences.hpp"
#include "process.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

using ::testing::contains;
using ::testing::occurrences;
using Frames = std::vector<std::vector<std::string>>;

/// The operations that the last form of a text runs, those that no result needs left out.
graph::DataFlow flow_of(const std::string& text) {
  vinterp::Options machine;
  machine.backend = "cpu";
  machine.threads = 1;
  ShowOptions quiet;
  quiet.values = false;
  Toplevel top(machine, quiet);
  const std::vector<ParsedForm> forms = parse_program(make_source(text)).forms;
  for (std::size_t i = 0; i + 1 < forms.size(); ++i) REQUIRE(top.process(forms[i]) == kOk);
  const Checked checked = top.session().check(forms.back().form);
  REQUIRE(checked);
  const graph::Nesting nesting(*checked.form->body);
  graph::DataFlow flow;
  const Evaluation evaluation =
      top.evaluator().evaluate_watched(*checked.form, [&](const SourceMap& places) {
        return std::make_unique<graph::Recorder>(places, nesting, top.evaluator().backend(), flow);
      });
  REQUIRE(evaluation.status == Evaluation::Status::Done);
  flow.prune();
  flow.find_segments();
  return flow;
}

/// The first operation of that name.
const graph::Operation& find(const graph::DataFlow& flow, std::string_view name) {
  const auto found =
      std::find_if(flow.operations.begin(), flow.operations.end(),
                   [&](const graph::Operation& one) { return vcode::info(one.op).text == name; });
  REQUIRE(found != flow.operations.end());
  return *found;
}

Frames frames(const graph::DataFlow& flow, std::size_t datum) {
  return graph::Cells(flow, datum).frames();
}

const std::string kNested = "{sum({x * x : x in v}) : v in [[1, 2], [3, 4, 5]]};";

TEST_CASE("graph: operations have their values, segments, levels and places") {
  const graph::DataFlow flow = flow_of(kNested);
  const graph::Operation& product = find(flow, "*");
  CHECK(product.level == 2);
  CHECK(product.text == "x * x");
  CHECK(frames(flow, product.in[0]) == Frames{{"1", "2"}, {"3", "4", "5"}});
  CHECK(frames(flow, product.out[0]) == Frames{{"1", "4"}, {"9", "16", "25"}});
  const graph::Operation& sum = find(flow, "+_REDUCE");
  CHECK(sum.level == 1);
  CHECK(sum.text == "sum({x * x : x in v})");
  CHECK(sum.in[0] == product.out[0]);
  CHECK(frames(flow, sum.out[0]) == Frames{{"5", "50"}});
  CHECK(flow.data[product.in[0]].text == "[[1, 2], [3, 4, 5]]");
}

TEST_CASE("graph: elements of all types, empty segments, variables and long vectors") {
  const graph::DataFlow flow =
      flow_of("v = [[1.5], [] float, [2.0, -0.25]];\n{{x > 1.0 : x in w} : w in v};");
  const graph::Operation& greater = find(flow, ">");
  CHECK(frames(flow, greater.in[0]) == Frames{{"1.5"}, {}, {"2", "-0.25"}});
  CHECK(frames(flow, greater.out[0]) == Frames{{"T"}, {}, {"T", "F"}});
  CHECK(flow.data[greater.in[0]].text == "v");
  const graph::DataFlow large = flow_of("{x + 1 : x in [0:1000000]};");
  const Frames cells = frames(large, find(large, "+").out[0]);
  REQUIRE(cells.size() == 1);
  REQUIRE(cells[0].size() == graph::kShownElements + 1);
  CHECK(cells[0].front() == "1");
  CHECK(cells[0].back() == "... 1000000 in all");
  // A segment that is cut, and those behind it.
  const graph::DataFlow cut = flow_of("{{x * x : x in [0:n]} : n in [10, 10, 10]};");
  const Frames shown = frames(cut, find(cut, "*").out[0]);
  REQUIRE(shown.size() == 2);
  CHECK(shown[0].size() == 10);
  CHECK(shown[1].size() == 7);
  CHECK(shown[1].back() == "... 30 in all");
  // More segments than are shown.
  const graph::DataFlow empty = flow_of("{{y + 1 : y in [0:x / 20]} : x in [0:21]};");
  const Frames first = frames(empty, find(empty, "+").out[0]);
  REQUIRE(first.size() == graph::kShownElements);
  CHECK(first[0].empty());
  CHECK(first.back() == std::vector<std::string>{"... 1 in all"});
  // No segments at all.
  const graph::DataFlow none = flow_of("v = {x in [[1]] | #x > 5};\n{{y * y : y in x} : x in v};");
  CHECK(frames(none, find(none, "*").out[0]) == Frames{{}});
}

TEST_CASE("graph: levels count through calls of functions") {
  const graph::DataFlow flow = flow_of(
      "function total(s) = sum({x * x : x in s});\n"
      "function deep(n, s) = if n == 0 then total(s) + 1 else deep(n - 1, s);\n"
      "{deep(1, v) : v in [[1, 2], [3]]};");
  CHECK(find(flow, "*").level == 2);
  CHECK(find(flow, "+_REDUCE").level == 1);
  CHECK(find(flow, "*").text == "x * x");
  CHECK(find(flow_of("sum([1, 2]);"), "+_REDUCE").level == 0);
}

TEST_CASE("graph: checks and conditions are left out, constants and descriptors come once") {
  const graph::DataFlow index = flow_of("[4, 5, 6][1];");
  REQUIRE(index.operations.size() == 1);
  CHECK(vcode::info(index.operations[0].op).text == "EXTRACT");
  // The descriptor is a constant of the program, which the code makes several times.
  const graph::DataFlow flow = flow_of("v = [[1], [2, 3]];\n{{x + #w : x in w} : w in v};");
  std::vector<std::string> names;
  for (const graph::Operation& one : flow.operations) {
    names.emplace_back(vcode::info(one.op).text);
  }
  CHECK(names == std::vector<std::string>{"LENGTHS", "DIST", "+"});
  const graph::Operation& lengths = flow.operations[0];
  const graph::Operation& copies = flow.operations[1];
  CHECK(lengths.in[0] == copies.in[1]);
  CHECK(frames(flow, copies.out[0]) == Frames{{"1"}, {"2", "2"}});
  // What is the same for all elements of the inner one belongs to the outer one.
  CHECK(lengths.level == 1);
  CHECK(copies.level == 2);
}

TEST_CASE("graph: segments win over a vector seen as one segment") {
  const graph::DataFlow flow = flow_of("{{x in w | x > 1} : w in [[3, 1], [2, 5], [] int]};");
  const graph::Operation& pack = find(flow, "PACK");
  CHECK(frames(flow, find(flow, ">").in[0]) == Frames{{"3", "1"}, {"2", "5"}, {}});
  CHECK(frames(flow, pack.in[1]) == Frames{{"T", "F"}, {"T", "T"}, {}});
  CHECK(frames(flow, pack.out[0]) == Frames{{"3"}, {"2", "5"}, {}});
}

TEST_CASE("graph: layers lead downward and vertices do not overlap") {
  // 0 and 1 are sources; 3 needs 0 beyond a layer.
  std::vector<graph::Vertex> vertices = {{.width = 60, .height = 20, .source = true},
                                         {.width = 80, .height = 20, .source = true},
                                         {.width = 100, .height = 40},
                                         {.width = 50, .height = 40},
                                         {.width = 70, .height = 30}};
  std::vector<graph::Edge> edges;
  for (const auto& [from, to] : {std::pair{0U, 2U}, {1, 2}, {0, 3}, {2, 3}, {2, 4}, {3, 4}}) {
    edges.push_back({.from = from, .to = to});
  }
  const graph::Size size = graph::lay_out(vertices, edges);
  for (const graph::Edge& edge : edges) {
    const graph::Vertex& from = vertices[edge.from];
    CHECK(from.corner.y + from.height < vertices[edge.to].corner.y);
  }
  for (std::size_t a = 0; a < vertices.size(); ++a) {
    const graph::Vertex& one = vertices[a];
    CHECK(one.corner.x >= -0.001);
    CHECK(one.corner.x + one.width <= size.width + 0.001);
    CHECK(one.corner.y + one.height <= size.height + 0.001);
    for (std::size_t b = 0; b < a; ++b) {
      const graph::Vertex& other = vertices[b];
      const bool beside = one.corner.x >= other.corner.x + other.width - 0.001 ||
                          other.corner.x >= one.corner.x + one.width - 0.001;
      const bool below = one.corner.y >= other.corner.y + other.height ||
                         other.corner.y >= one.corner.y + one.height;
      CHECK((beside || below));
    }
  }
  // From 0 to 3 past the layer of 2: a way down, between its bends.
  REQUIRE(edges[2].bends.size() == 2);
  CHECK(edges[2].bends[0].x == edges[2].bends[1].x);
  CHECK(edges[2].bends[0].y < edges[2].bends[1].y);
  std::vector<graph::Vertex> single = {{.width = 10, .height = 20}};
  std::vector<graph::Edge> none;
  const graph::Size alone = graph::lay_out(single, none);
  CHECK(alone.width == 10);
  CHECK(alone.height == 20);
}

TEST_CASE("nesl graph writes the picture of an expression") {
  const Folder folder;
  folder.write("f.nesl", "function squares(v) = {x * x : x in v};\n" + kNested + "\n");
  const Output file = run(nesl("graph f.nesl -o f.svg"), folder);
  CHECK(file.status == 0);
  CHECK(file.out.empty());
  const std::string svg = read_file(folder.path() / "f.svg");
  CHECK(svg.starts_with("<svg "));
  CHECK(contains(svg, ">2 vector operations<"));
  CHECK(contains(svg, ">[5, 50] : [int]<"));
  for (const char* text : {">*<", ">+_REDUCE<", ">x * x<", ">16<", ">result<"}) {
    INFO(text);
    CHECK(occurrences(svg, text) == 1);
  }
  CHECK(contains(svg, ">for all elements of { } at once<"));
  CHECK(contains(svg, ">for all elements of 2 nested { } at once<"));
  // Only numbers that have names are called something.
  const std::string named = run(nesl("graph -e 'a = 5; {x * a - 7 : x in [1, 2]}'"), folder).out;
  CHECK(contains(named, ">a<"));
  CHECK(occurrences(named, ">7<") == 3);  // the constant and its copies
  const Output out = run(nesl("graph f.nesl 'squares([1 < 2, F])'"), folder);
  CHECK(out.status == 1);
  CHECK(out.out.empty());
  CHECK(contains(run(nesl("graph f.nesl 'squares([7])'"), folder).out, ">49<"));
  CHECK(contains(run(nesl("graph -e '\"a<b\"'"), folder).out, "&lt;"));
}

TEST_CASE("nesl graph: what cannot be drawn is said") {
  const Folder folder;
  folder.write("f.nesl", "function down(n) = if n == 0 then 0 else 1 + down(n - 1);\n1;\n");
  const Output many = run(nesl("graph f.nesl 'down(1000)'"), folder);
  CHECK(many.status == 1);
  CHECK(contains(many.err, "vector operations are too many for a picture of at most 120"));
  const Output more = run(nesl("graph f.nesl 'down(100000)'"), folder);
  CHECK(contains(more.err, "more than 5000 vector operations are too many"));
  CHECK(run(nesl("graph f.nesl 'down(5)'"), folder).status == 0);
  const Output failing = run(nesl("graph f.nesl '[1, 2][5]'"), folder);
  CHECK(failing.status == 3);
  CHECK(failing.out.empty());
  CHECK(contains(failing.err, "index 5, length 2"));
  CHECK(run(nesl("graph f.nesl 'down('"), folder).status == 1);
  CHECK(run(nesl("graph f.nesl 'down'"), folder).status == 0);  // a function, without data
  CHECK(contains(run(nesl("graph -e 'function g(x) = x'")).err, "there is no expression to draw"));
}

TEST_CASE(":graph writes a picture from the prompt, but not from the sandbox") {
  const Folder folder;
  folder.write("input",
               "a = [1, 2];\n:graph {x + 1 : x in a}\n:graph sum.svg sum(\na)\n:graph a[9]\n");
  const Output output = run(nesl("< input"), folder);
  CHECK(contains(output.out, "graph.svg: 2 vector operations\n"));
  CHECK(contains(output.out, "sum.svg: 1 vector operation\n"));
  CHECK(contains(output.err, "index 9, length 2"));
  CHECK(contains(read_file(folder.path() / "graph.svg"), ">[2, 3] : [int]<"));
  CHECK(contains(read_file(folder.path() / "sum.svg"), ">3 : int<"));
  folder.write("again", ":graph x.svg 1 + 1\n");
  const Output refused = run(nesl("--sandbox < again"), folder);
  CHECK(contains(refused.err, "--sandbox forbids `:graph`, which writes files"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "x.svg"));
}

}  // namespace
}  // namespace neslc::testing
