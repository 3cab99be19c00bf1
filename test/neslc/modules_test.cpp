// `import`: a module in each file.
#include <string>

#include <catch2/catch.hpp>

#include "contains.hpp"
#include "process.hpp"

namespace neslc::testing {
namespace {

using ::testing::contains;

/// A folder with a program that imports modules of another folder, which import each other.
class Program {
 public:
  Program() {
    std::filesystem::create_directory(folder.path() / "lib");
    folder.write("main.nesl",
                 "import \"lib/geometry\";\n"
                 "import \"lib/vectors.nesl\";\n"
                 "import \"lib/../lib/geometry\";\n"
                 "area(norm((3.0, 4.0)) / 5.0);\n"
                 "unit;\n");
    folder.write("lib/geometry.nesl",
                 "import \"vectors\";\n"
                 "function area(r) = pi * r * r;\n"
                 "unit = norm((1.0, 0.0));\n"
                 "print_line(\"geometry\");\n");
    folder.write("lib/vectors.nesl",
                 "function norm(x, y) = sqrt(x * x + y * y);\n"
                 "print_line(\"vectors\");\n");
  }
  Folder folder;
};

TEST_CASE("modules are read once, beside the file that imports them") {
  const Program program;
  const std::string values = "it = 3.14159265358979 : float\nit = 1.0 : float\n";
  const Output here = run(nesl("run main.nesl"), program.folder);
  CHECK(here.status == 0);
  CHECK(here.out == values);
  CHECK(here.err == "vectors\ngeometry\n");
  const std::string path = "'" + (program.folder.path() / "main.nesl").string() + "'";
  CHECK(run(nesl("run " + path)).out == values);
  CHECK(run(nesl("run " + path + " 'norm(6.0, 8.0)'")).out == "it = 10.0 : float\n");
  // The text of a prompt lies where nesl runs.
  program.folder.write("input", "import \"lib/geometry\";\narea(1.0);\nimport \"main\";\n");
  const Output typed = run(nesl("< input"), program.folder);
  CHECK(typed.err == "vectors\ngeometry\n");
  CHECK(contains(typed.out, "area = fn : float -> float\n"));
  CHECK(contains(typed.out, "it = 3.14159265358979 : float\n"));
}

TEST_CASE("modules are checked and compiled without running them") {
  const Program program;
  const Output checked = run(nesl("check main.nesl"), program.folder);
  CHECK(checked.status == 0);
  CHECK(checked.err == "");
  const Output compiled = run(nesl("compile main.nesl 'area(1.0)' -o out.vcode"), program.folder);
  CHECK(compiled.status == 0);
  CHECK(compiled.err == "");
  CHECK(run(std::string("'") + VINTERP_PROGRAM + "' out.vcode", program.folder).out ==
        "( 3.14159265358979e+00 )\n");
  program.folder.write("lib/vectors.nesl", "function norm(x, y) = sqrt(x + nothing);\n");
  const Output wrong = run(nesl("check main.nesl"), program.folder);
  CHECK(wrong.status == 1);
  CHECK(contains(wrong.err, "lib/vectors.nesl:1:32: error: `nothing` is not defined"));
}

TEST_CASE("modules that import each other are reported") {
  const Folder folder;
  folder.write("a.nesl", "import \"b\";\nfunction fa(x) = x;\n");
  folder.write("b.nesl", "import \"c.nesl\";\n");
  folder.write("c.nesl", "import \"a\";\nfunction fc(x) = x;\n");
  const Output output = run(nesl("run a.nesl 'fa(1) + fc(2)'"), folder);
  CHECK(output.status == 1);
  CHECK(output.out == "it = 3 : int\n");
  CHECK(contains(output.err,
                 "c.nesl:1:1: error: a module cannot import itself: a.nesl imports b.nesl imports "
                 "c.nesl imports a.nesl [E0112]\n"));
  CHECK(run(nesl("check a.nesl"), folder).status == 1);
}

TEST_CASE("what cannot be imported is told, and may be tried again") {
  const Folder folder;
  folder.write("bad.nesl", "function wrong(x) = y;\nfunction good(x) = x + 1;\n");
  folder.write("input", "import \"nothing\";\nimport \"bad\";\ngood(1);\nimport \"bad\";\n");
  const Output output = run(nesl("< input"), folder);
  CHECK(output.status == 1);
  CHECK(contains(output.err, "standard input:1:1: error: cannot read `nothing.nesl`"));
  CHECK(contains(output.err, "bad.nesl:1:21: error: `y` is not defined"));
  CHECK(contains(output.out, "it = 2 : int\n"));
  CHECK(contains(run(nesl("-e 'import geometry'")).err, "`import \"file\";`"));
}

TEST_CASE("a program may have its own function import") {
  const Folder folder;
  folder.write("own.nesl",
               "function import(x) = x ++ \"!\";\nimport \"own\";\nimport(\"a\");\n"
               "let import = 4 in import + 1;\n");
  const Output output = run(nesl("run own.nesl"), folder);
  CHECK(output.err == "");
  CHECK(output.out == "it = \"own!\" : [char]\nit = \"a!\" : [char]\nit = 5 : int\n");
  CHECK(run(nesl("check own.nesl"), folder).status == 0);
  CHECK(run(nesl("-e 'import = 3; import + 1;'")).out == "import = 3 : int\nit = 4 : int\n");
}

}  // namespace
}  // namespace neslc::testing
