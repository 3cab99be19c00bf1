// The library as programs and people find it: every function has a text and an example, and every
// example gives its value.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <catch2/catch.hpp>

#include "contains.hpp"
#include "neslc/command/describe.hpp"
#include "neslc/flatten/definitions_text.hpp"
#include "neslc/front/library_text.hpp"
#include "process.hpp"
#include "sanitized.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

using ::testing::contains;

Session& session() {
  static Session instance{std::string(library_text()) + std::string(definitions_text()),
                          open_definitions_text()};
  return instance;
}

std::vector<const Definition*> functions() {
  std::vector<const Definition*> result;
  for (const Definition* definition : session().definitions()) {
    if (definition->kind == DefinitionKind::Function) result.push_back(definition);
  }
  return result;
}

TEST_CASE("the library has no errors") {
  for (const StaticError& error : session().library_errors()) {
    FAIL_CHECK(vcode::render(error.diagnostic, error.source.get(), {}));
  }
}

TEST_CASE("every function of the library has a text and an example") {
  CHECK(functions().size() >= 300);
  for (const Definition* function : functions()) {
    INFO(function->name);
    CHECK_FALSE(function->documentation.starts_with("Example:"));
    CHECK(example(*function).find(" => ") != std::string::npos);
    // The example is one of this function; those of operators and `time` have forms of their own.
    if (function->name != "{* }")
      CHECK(example(*function).find(function->name) != std::string::npos);
  }
}

TEST_CASE("the examples of the library give their values") {
  for (const char* options : {" -O3", ""}) {
    if (::testing::kSanitized && *options == '\0') break;
    std::string program;
    std::vector<std::string> names;
    std::vector<std::string> expected;
    for (const Definition* function : functions()) {
      const std::string text = example(*function);
      // Those that make pictures are large programs that do little.
      if (*options != '\0' && contains(text, "display")) continue;
      const std::size_t arrow = text.rfind(" => ");
      program += text.substr(0, arrow) + ";\n";
      names.push_back(function->name);
      expected.push_back("it = " + text.substr(arrow + 4) + " : ");
    }
    const Folder folder;
    folder.write("examples.nesl", program);
    const Output output =
        run(nesl(std::string("run --transcript examples.nesl < /dev/null") + options), folder);
    const std::vector<std::string> lines = lines_of(output.out);
    REQUIRE(lines.size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      INFO(names[i] << options << ": " << lines[i] << "\nexpected: " << expected[i]);
      CHECK(lines[i].starts_with(expected[i]));
    }
  }
}

TEST_CASE("describe shows the example") {
  const Output output = run("printf 'describe take;\\n' | " + nesl(""));
  CHECK(contains(output.out,
                 "DOCUMENTATION:\n  The first n elements; of a negative n, the last -n.\n"
                 "EXAMPLE:\n  take(\"abcde\", -2) => \"de\"\n"));
}

TEST_CASE("programs may define anew what they could not know to be of the library") {
  const Folder folder;
  folder.write(
      "p.nesl",
      "function clip(x) = x + 1;\n"
      "clip(2);\n"
      "window = 5;\n"
      "datatype scale_box(int);\n"
      "scale_box(3);\n"
      "function w_draw_point(p, color, b) = 7;\n"
      "w = make_window(default_window, bounding_box([(0, 0), (4, 2)]), \"p\", display);\n"
      "draw_lines([(0, 0), (4, 2)], 1, w);\n"
      "let (w, b) = w_make_window_box(((0, 0), 9, 9), ((0.0, 0.0), 9.0, 9.0), \"p\", w_red,\n"
      "                               display)\n"
      "in (w_draw_point((1.0, 1.0), w_red, b), w_draw_segments([((0.0, 0.0), (1.0, 1.0))], 1,\n"
      "                                                        w_blue, b));\n"
      "function take(v, n) = v;\n");
  const Output output = run(nesl("run p.nesl"), folder);
  CHECK(contains(output.out, "it = 3 : int\nwindow = 5 : int\nit = scale_box(3) : scale_box\n"));
  CHECK(contains(output.out, "it = T : bool\nit = (7, T) : int, bool\n"));
  CHECK(contains(output.err, "`take` belongs to the library"));
}

// ---- Pictures

/// A picture must be XML whenever somebody looks at it.
void check_picture(const std::filesystem::path& path) {
  INFO(path.filename());
  std::ifstream file(path);
  boost::property_tree::ptree tree;
  CHECK_NOTHROW(boost::property_tree::read_xml(file, tree));
  CHECK(tree.size() == 1);
  CHECK(tree.count("svg") == 1);
}

std::size_t check_pictures(const Folder& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() != ".svg") continue;
    check_picture(entry.path());
    ++count;
  }
  return count;
}

TEST_CASE("pictures are complete after each form, also one that fails") {
  const std::vector<std::string> forms = {
      "(w, b) = w_make_window_box(((0, 0), 80, 60), ((0.0, 0.0), 8.0, 6.0), \"p\", w_white, "
      "display)",
      "w_draw_points([(1.0, 1.0), (2.0, 2.0)], w_red, b)",
      "let d = w_draw_string((1.0, 1.0), \"<&]]>\" ++ [code_char(0), code_char(233)], w_red, b) in "
      "1 / 0",
      "{let d = w_draw_point((x, x), w_red, b) in 1 / trunc(x) : x in [2.0, 1.0, 0.0]}",
      "w = w_add_button(((1, 1), 20, 10), \"quit\", w_blue, w)",
      "w_clear_box(b)",
      "w_kill_window(w)",
      "w_draw_arrow(((1.0, 1.0), (2.0, 1.0)), 1, (10, 6), w_xor, b)",
      "w_add_image(((1, 1), 2, 2), [0, 255, 255, 0], w)",
      "xps_resize_window(((0, 0), 40, 30), xps_window(\"p.svg\", 80, 60))",
      "xps_clear_window(xps_window(\"p.svg\", 40, 30))",
  };
  const Folder folder;
  std::string program;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    program +=
        forms[i] + ";\nshell_command(\"cp p.svg after-" + std::to_string(i) + ".svg\", \"\");\n";
  }
  folder.write("p.nesl", program);
  run(nesl("run p.nesl"), folder);
  CHECK(check_pictures(folder) == forms.size() + 1);
  // What was drawn before the failure is there.
  CHECK(contains(read_file(folder.path() / "after-2.svg"), ">&lt;&amp;]]&gt;?\?</text>"));
}

TEST_CASE("the examples of the library make proper pictures") {
  const Folder folder;
  int programs = 0;
  for (const Definition* function : functions()) {
    if (!function->open || (::testing::kSanitized && ++programs % 4 != 0)) continue;
    const std::string text = example(*function);
    folder.write(function->name + ".nesl", text.substr(0, text.rfind(" => ")) + ";\n");
  }
  run("for f in *.nesl; do " + nesl("run $f < /dev/null") + "; cp example.svg $f.svg; done",
      folder);
  CHECK(check_pictures(folder) > ::testing::some_of(60));
}

TEST_CASE("events of a window are lines of the standard input") {
  const Folder folder;
  folder.write(
      "p.nesl",
      "function window(unused) =\n"
      "  let w = w_make_window(((0, 0), 80, 60), \"p\", w_white, display);\n"
      "      (w, a) = w_add_box(((0, 0), 40, 30), ((0.0, 0.0), 4.0, 3.0), \"left\", w_red, w);\n"
      "      (w, b) = w_add_box(((40, 0), 40, 30), ((0.0, 0.0), 4.0, 3.0), \"the right\", w_red, "
      "w);\n"
      "      w = w_add_button_stack(((0, 40), (20, 9), (25, 0)), [\"step\", \"zoom up\"], w_blue, "
      "w)\n"
      "  in (w, b);\n"
      "function all_events(w, n, seen) =\n"
      "  if n == 0 then seen\n"
      "  else let event = w_get_input(w) in all_events(w, n - 1, seen ++ [event]);\n");
  folder.write(
      "input",
      "zoom up\nx\n1.5 2\nleft 1 2 3\nthe right 0 1\n\nwrong\nnan inf\nleft 1\n7 8 9 10\nstep\n");
  const Output output = run(nesl("run p.nesl 'let (w, b) = window(0) in all_events(w, 9, [] "
                                 "([char], [char], (float, float), "
                                 "(int, int), char))' < input"),
                            folder);
  const std::string nothing = "\\x00";
  const std::string zero = ", (0.0, 0.0), ";
  CHECK(contains(
      output.out,
      "it = [(\"button\", \"zoom up\"" + zero + "(0, 1), `" + nothing + "), (\"key\", \"\"" + zero +
          "(0, 0), `x), (\"click\", \"the right\", (1.5, 2.0), " + "(0, 1), `" + nothing +
          "), (\"click\", \"left\", (1.0, 2.0), (0, 3), `" + nothing +
          "), (\"click\", \"the right\", (0.0, 1.0), (0, 1), `" + nothing + "), (\"none\", \"\"" +
          zero + "(0, 0), `" + nothing + "), (\"button\", \"step\"" + zero + "(0, 1), `" + nothing +
          "), (\"button\", \"quit\"" + zero + "(0, 1), `" + nothing + "), (\"button\", \"quit\""));
  CHECK(output.err.starts_with(
      "p.svg shows the picture: button (step, zoom up), key, x y of a click, or nothing? p.svg"));
  CHECK(run("printf '1\\n5 1\\n' | " +
                nesl("run p.nesl 'let (w, b) = window(0) in w_get_zoom_box((2.0, 3.0), 1, b)'"),
            folder)
            .out == "it = ((2.0, 1.0), 3.0, 2.0) : (float, float), float, float\n");
}

}  // namespace
}  // namespace neslc::testing
