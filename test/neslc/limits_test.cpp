// What programs cannot do: leave the sandbox, take more memory than is allowed, recur for ever.
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "contains.hpp"
#include "neslc/command/describe.hpp"
#include "neslc/command/outside.hpp"
#include "neslc/flatten/definitions_text.hpp"
#include "neslc/front/library_text.hpp"
#include "neslc/front/session.hpp"
#include "process.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

using ::testing::contains;

/// The names in a folder.
std::set<std::string> entries(const Folder& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

TEST_CASE("the sandbox refuses each way out, and nothing happens") {
  for (const WayOut& way : ways_out()) {
    const Folder folder;
    folder.write("victim.nesl", "\"secret\";\n");
    folder.write("input", std::string(way.example) + "\n\"goes on\";\n");
    const bool expression = way.kind == WayOut::Kind::Function;
    if (expression) folder.write("input", std::string(way.example) + ";\n\"goes on\";\n");
    const std::string text = read_file(folder.path() / "victim.nesl");
    const Output output = run(nesl("--sandbox --memory=10M < input"), folder);
    INFO(way.example << "\n" << output.out << output.err);
    CHECK(output.status == 4);
    CHECK(contains(output.err, "--sandbox forbids "));
    if (!expression) CHECK(contains(output.err, "`" + std::string(way.name) + "`"));
    CHECK_FALSE(contains(output.out, "secret"));
    CHECK(contains(output.out, "goes on"));
    CHECK(entries(folder) == std::set<std::string>{"input", "standard_error", "victim.nesl"});
    CHECK(read_file(folder.path() / "victim.nesl") == text);
  }
}

TEST_CASE("without the sandbox the same examples do something") {
  for (const WayOut& way : ways_out()) {
    const Folder folder;
    folder.write("victim.nesl", "\"secret\";\n");
    folder.write("input", std::string(way.example) + ";\n");
    const Output output = run("EDITOR=true " + nesl("< input"), folder);
    INFO(way.example << "\n" << output.out << output.err);
    CHECK_FALSE(contains(output.err, "forbids"));
  }
}

bool reaches_outside(const Definition& function) {
  const std::set<std::string> exits = {"open_in_file",
                                       "open_out_file",
                                       "open_append_file",
                                       "machine.open_insert",
                                       "machine.open_new",
                                       "machine.draw",
                                       "spawn"};
  std::set<const Definition*> seen;
  std::vector<const Definition*> open = {&function};
  while (!open.empty()) {
    const Definition* next = open.back();
    open.pop_back();
    if (!seen.insert(next).second) continue;
    if (exits.contains(next->name)) return true;
    if (!next->body) continue;
    for (const Body::Reference& reference : next->body->references) {
      open.push_back(reference.definition);
    }
  }
  return false;
}

TEST_CASE("every function of the library that reaches outside is listed") {
  Session session(std::string(library_text()) + std::string(definitions_text()));
  for (const Definition* function : session.definitions()) {
    INFO(function->name);
    CHECK(reaches_outside(*function) ==
          (find_way_out(WayOut::Kind::Function, function->name) != nullptr));
  }
}

TEST_CASE("the sandbox refuses every function that makes pictures or reads files for the classic") {
  Session session(std::string(library_text()) + std::string(definitions_text()),
                  open_definitions_text());
  std::string program;
  std::size_t count = 0;
  for (const Definition* function : session.definitions()) {
    if (!function->open || !reaches_outside(*function)) continue;
    const std::string text = example(*function);
    program += text.substr(0, text.rfind(" => ")) + ";\n";
    ++count;
  }
  CHECK(count > 50);
  // A window that nobody has made, over a file that is there.
  program +=
      "xps_draw_point((1, 1), xps_gc(0), xps_window(\"victim.svg\", (9, 9)));\n"
      "{xps_draw_point((i, 1), xps_gc(0), xps_window(\"victim.svg\", (9, 9))) : i in [1, 2]};\n"
      "xps_clear_window(xps_window(\"victim.svg\", (9, 9)));\n"
      "xps_resize_window(((0, 0), 5, 5), xps_window(\"victim.svg\", (9, 9)));\n";
  count += 4;
  const Folder folder;
  folder.write("victim.svg", "a\nb\n");
  folder.write("pictures.nesl", program);
  const Output output = run(nesl("run --transcript --sandbox pictures.nesl < /dev/null"), folder);
  const std::vector<std::string> lines = lines_of(output.out);
  CHECK(lines.size() == count);
  for (const std::string& line : lines) CHECK(contains(line, "--sandbox forbids "));
  CHECK(entries(folder) == std::set<std::string>{"pictures.nesl", "standard_error", "victim.svg"});
  CHECK(read_file(folder.path() / "victim.svg") == "a\nb\n");
}

TEST_CASE("the limit of memory can be lowered in the sandbox, and not raised") {
  const Folder folder;
  folder.write("p.nesl",
               "set memory_size 500000;\nset memory_size 1000000;\n"
               "sum({i * i : i in index(2000000)});\n");
  const Output output = run(nesl("run p.nesl --sandbox --memory=100M -O0"), folder);
  CHECK(contains(output.err, "p.nesl:2:5: error: --sandbox forbids `memory_size`"));
  CHECK(contains(output.err, "out of memory"));
  CHECK(contains(output.err, "limit 3.8 MiB"));
}

TEST_CASE("a recursion that does not end is asked whether it should") {
  const Folder folder;
  folder.write("f.nesl", "function deep(n) : int -> int = 1 + deep(n + 1);\n");
  for (const char* level : {"", "-O0", "-O3"}) {
    const Output output = run(nesl(std::string("run f.nesl 'deep(0)' ") + level), folder);
    INFO(level << output.err);
    CHECK(output.status == 4);
    CHECK(contains(output.err, "calls are nested more than 1000000 deep"));
    CHECK(contains(output.err, "does the recursion end?"));
    CHECK(contains(output.err, "raise the limit with --max-depth"));
  }
  const Output lower = run(nesl("run f.nesl 'deep(0)' --max-depth=100"), folder);
  CHECK(contains(lower.err, "calls are nested more than 100 deep"));
  // One that is the last thing a function does goes on as a loop, which can be ended.
  folder.write(
      "l.nesl",
      "function loop(i, s) = if i == 0 then s else loop(i - 1, (s * 31 + i) and 65535);\n");
  for (const char* level : {"", "-O0", "-O3"}) {
    const std::string options = std::string(level) + " --max-depth=10";
    CHECK(run(nesl("run l.nesl 'loop(3000000, 0)' " + options), folder).out ==
          "it = 56480 : int\n");
    const Output endless = run(nesl("run l.nesl 'loop(-1, 0)' --timeout=0.1 " + options), folder);
    CHECK(endless.status == 4);
  }
  for (const char* level : {"", "-O3"}) {
    CHECK(run(nesl(std::string("run l.nesl '{loop(i, 0) : i in [3000000, 2]}' ") + level), folder)
              .out == "it = [56480, 63] : [int]\n");
  }
  folder.write("g.nesl", "function down(n) = if n == 0 then 0 else 1 + down(n - 1);\n");
  CHECK(run(nesl("run g.nesl 'down(900000)'"), folder).out == "it = 900000 : int\n");
  CHECK(run(nesl("run g.nesl 'down(1500000)'"), folder).status == 4);
  CHECK(run(nesl("run g.nesl 'down(1500000)' --max-depth=2000000"), folder).out ==
        "it = 1500000 : int\n");
}

#if !defined(NESL_SANITIZED)

TEST_CASE("the limit of memory is that of the process") {
  const struct {
    const char* text;
    const char* options;
    long megabytes;  // the limit
    int status;
  } kPrograms[] = {
      // Deep recursion, and what is told about it.
      {"function deep(n) : int -> int = 1 + deep(n + 1);\ndeep(0);", "--max-depth=100000000", 100,
       4},
      {"function even(n) : int -> bool;\nfunction odd(n) : int -> bool = not(even(n - 1));\n"
       "function even(n) : int -> bool = not(odd(n - 1));\nodd(1);",
       "--max-depth=100000000", 100, 4},
      // Results are printed as they are made.
      {"set print_length 3000000;\nindex(3000000);", "", 20, 0},
      {"dist(`a, 3000000);", "", 20, 0},
      // Vectors of all lengths, of which few live at once.
      {"sum({sum({i * j : i in index(100000 + j)}) : j in index(60)});", "-O0", 60, 0},
      {"let a = {i * i : i in index(40000000)} in sum(a) + a[3];", "-O0", 50, 4},
      // A message.
      {"error(dist(`a, 4000000));", "", 50, 3},
  };
  for (const auto& program : kPrograms) {
    const Folder folder;
    folder.write("p.nesl", std::string(program.text) + "\n");
    const MemoryRun result =
        run_measured(nesl(std::string("run p.nesl ") + program.options +
                          " --memory=" + std::to_string(program.megabytes) + "M"),
                     folder);
    INFO(program.text << "\n" << result.err.substr(0, 1000));
    CHECK(result.status == program.status);
    constexpr long kProgramItself = 16;
    CHECK(result.kilobytes / 1024 <= program.megabytes * 11 / 10 + kProgramItself);
  }
}

#endif

TEST_CASE("what a compilation takes counts, too") {
  const Folder folder;
  std::string text = "function f1(x) = (x, x);\n";
  for (int i = 2; i <= 30; ++i) {
    const std::string before = "f" + std::to_string(i - 1);
    text += "function f" + std::to_string(i) + "(x) = " + before + "(" + before + "(x));\n";
  }
  folder.write("p.nesl", text + "1 + 1;\n");
  const Output output = run(nesl("run p.nesl --memory=30M --timeout=60"), folder);
  CHECK((output.status == 0 || output.status == 1 || output.status == 4));
}

TEST_CASE("checking and compiling run nothing of the program") {
  const Folder folder;
  folder.write("other.nesl",
               "function twice(x) = 2 * x;\nwrite_string_to_file(\"x\", \"made\");\n");
  folder.write("p.nesl",
               "load \"other\";\nshell \"touch made\";\n"
               "a = 1 / 0;\n(b, c) = (twice(3), 4);\nd &= 5;\n"
               "function use(x) = x + b * c + d;\nuse(1);\n");
  const Output checked = run(nesl("check p.nesl"), folder);
  CHECK(checked.err == "");
  CHECK(checked.status == 0);
  const Output compiled = run(nesl("compile p.nesl -o p.vcode"), folder);
  CHECK(compiled.err == "");
  CHECK(compiled.status == 0);
  CHECK(run(std::string("'") + VINTERP_PROGRAM + "' p.vcode", folder).out == "( 30 )\n");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "made"));
  CHECK(contains(run(nesl("check p.nesl --sandbox"), folder).err, "--sandbox forbids `load`"));
}

}  // namespace
}  // namespace neslc::testing
