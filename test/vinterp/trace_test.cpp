#include "machine/trace.hpp"

#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <catch2/catch.hpp>

#include "host_backend.hpp"
#include "machine/chrome_trace.hpp"
#include "observed_program.hpp"

namespace {

using boost::property_tree::ptree;
using vinterp_test::HostBackend;
using vinterp_test::lines_of;
using vinterp_test::linked;
using vinterp_test::step_at;

const char* const kTraced =
    "FUNC MAIN_1\n"
    "CONST INT (1 2 3) COPY 1 0\n"
    "+ INT\n"
    "CALL INNER_2\n"
    "RET\n"
    "FUNC INNER_2\n"
    "I_TO_F\n"
    "RET\n";

/// A program in the middle of `+ INT`.
struct Fixture {
  Fixture() {
    stack = {backend.floats({1.5}), backend.segdes({2, 0}), backend.ints({1, 2, 3}),
             backend.ints({4, 5, 6})};
    step = step_at(program, 2);
    step.stack = stack;
  }
  vinterp::TextSink sink() {
    return [this](std::string_view piece) {
      text += piece;
      return true;
    };
  }

  HostBackend backend;
  vcode::LinkedProgram program = linked(kTraced);
  std::vector<cvl::Value> stack;
  vinterp::Step step;
  std::string text;
};

TEST_CASE("a trace shows line, function, stack depth, instruction and operands") {
  Fixture f;
  vinterp::Trace trace(f.backend, f.program, {.instructions = true, .values_per_vector = 2},
                       f.sink());
  trace.before(f.step);
  const auto lines = lines_of(f.text);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "  line function                  stack  instruction          operands");
  CHECK(lines[1] ==
        "     3 MAIN_1                        4  + INT                "
        "( 1 2 ... 3 elements ) ( 4 5 ... 3 elements )");
}

TEST_CASE("a trace shows what there is when the stack is too short") {
  Fixture f;
  vinterp::Trace trace(f.backend, f.program, {.instructions = true}, f.sink());
  f.step.stack = std::span<const cvl::Value>(f.stack).first(1);
  trace.before(f.step);
  CHECK(lines_of(f.text)[1].ends_with("+ INT                ( 1.50000000000000e+00 )"));
}

TEST_CASE("a trace line without operands ends with its instruction") {
  Fixture f;
  vinterp::Trace trace(f.backend, f.program, {.instructions = true}, f.sink());
  f.step = step_at(f.program, 3);
  f.step.stack = f.stack;
  trace.before(f.step);
  CHECK(lines_of(f.text)[1] == "     4 MAIN_1                        4  CALL INNER_2");
}

TEST_CASE("the classic debug switches") {
  Fixture f;
  SECTION("command") {
    vinterp::Trace trace(f.backend, f.program, {.command = true}, f.sink());
    trace.before(f.step);
    CHECK(f.text == "+ INT\n");
  }
  SECTION("stack") {
    vinterp::Trace trace(f.backend, f.program, {.stack = true}, f.sink());
    trace.before(f.step);
    CHECK(f.text == "1(Float) 2(Segdes) 3(Int) 3(Int) \n");
  }
  SECTION("values") {
    vinterp::Trace trace(f.backend, f.program, {.values = true}, f.sink());
    trace.before(f.step);
    CHECK(f.text ==
          "1(Float) 2(Segdes) 3(Int) 3(Int) \n( 1.50000000000000e+00 )\n[ 2 0 ]\n( 1 2 3 )\n"
          "( 4 5 6 )\n");
  }
}

TEST_CASE("a trace ends at its limit of lines and says so once") {
  Fixture f;
  vinterp::Trace trace(f.backend, f.program, {.command = true, .max_lines = 2}, f.sink());
  for (int i = 0; i < 5; ++i) trace.before(f.step);
  CHECK(f.text == "+ INT\n+ INT\nvinterp: the trace ends here, after 2 lines\n");
}

TEST_CASE("a trace ends when nobody listens") {
  Fixture f;
  int calls = 0;
  vinterp::Trace trace(f.backend, f.program, {.command = true}, [&](std::string_view) {
    ++calls;
    return false;
  });
  trace.before(f.step);
  trace.before(f.step);
  CHECK(calls == 1);
}

// ---- the Chrome trace ----

ptree written(vinterp::ChromeTrace& trace) {
  std::stringstream text;
  CHECK(trace.write([&](std::string_view piece) {
    text << piece;
    return true;
  }));
  ptree tree;
  boost::property_tree::read_json(text, tree);
  return tree;
}

std::vector<ptree> events_of(const ptree& tree, const std::string& phase) {
  std::vector<ptree> events;
  for (const auto& [key, event] : tree.get_child("traceEvents")) {
    if (event.get<std::string>("ph") == phase) events.push_back(event);
  }
  return events;
}

TEST_CASE("operations are nested in the calls of functions") {
  Fixture f;
  vinterp::ChromeTrace trace(f.program, f.backend.heap());
  trace.enter_function(0, 0);
  trace.after(step_at(f.program, 0), 0);  // a constant: left out
  trace.after(step_at(f.program, 2, 3, 36), 0);
  trace.enter_function(1, 3);
  trace.after(step_at(f.program, 5, 3, 36), 0);
  trace.leave_function(1);
  const ptree tree = written(trace);

  const auto events = events_of(tree, "X");
  REQUIRE(events.size() == 4);
  CHECK(events[0].get<std::string>("name") == "MAIN_1");
  CHECK(events[1].get<std::string>("name") == "+ INT");
  CHECK(events[1].get<std::string>("args.function") == "MAIN_1");
  CHECK(events[1].get<int>("args.line") == 3);
  CHECK(events[1].get<int>("args.elements") == 3);
  CHECK(events[1].get<int>("args.bytes") == 36);
  CHECK(events[2].get<std::string>("name") == "INNER_2");
  CHECK(events[3].get<std::string>("name") == "I_TO_F");
  const auto end = [](const ptree& event) {
    return event.get<double>("ts") + event.get<double>("dur");
  };
  constexpr double kRounding = 0.002;
  CHECK(events[0].get<double>("ts") <= events[1].get<double>("ts"));
  CHECK(end(events[1]) <= end(events[0]) + kRounding);
  CHECK(events[2].get<double>("ts") <= events[3].get<double>("ts"));
  CHECK(end(events[3]) <= end(events[2]) + kRounding);
  CHECK(end(events[2]) <= end(events[0]) + kRounding);

  CHECK(events_of(tree, "C").size() == 1);  // the heap stayed as it was
  CHECK(events_of(tree, "M").size() == 2);
  CHECK(tree.get<int>("otherData.dropped_events") == 0);
}

TEST_CASE("beyond the bound the shorter events are dropped, and that is said") {
  Fixture f;
  vinterp::ChromeTrace trace(f.program, f.backend.heap(), 100);
  constexpr int kEvents = 10'000;
  for (int i = 0; i < kEvents; ++i) {
    trace.after(step_at(f.program, 2), 1e-6 * ((i * 7919) % kEvents));
  }
  const ptree tree = written(trace);
  const auto events = events_of(tree, "X");
  CHECK(events.size() <= 100);
  CHECK(events.size() >= 50);
  CHECK(trace.dropped() == kEvents - events.size());
  CHECK(tree.get<std::uint64_t>("otherData.dropped_events") == trace.dropped());
  for (const ptree& event : events) {
    CHECK(event.get<double>("dur") * 1e-6 + 1e-8 >= trace.longest_dropped_seconds());
  }
}

TEST_CASE("names are escaped for JSON") {
  vcode::LinkedProgram program = linked(kTraced);
  program.source = std::make_shared<const vcode::Source>("a\"b\\\n\xff", "");
  HostBackend backend;
  vinterp::ChromeTrace trace(program, backend.heap());
  CHECK(written(trace).get<std::string>("otherData.program").starts_with("a\"b\\\n"));
}

}  // namespace
