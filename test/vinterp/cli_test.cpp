// The program as a user meets it: statuses, messages, where output goes.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "cli/backends.hpp"
#include "cli/help.hpp"
#include "vinterp/list_ops.hpp"
#include "vinterp/machine_support.hpp"

namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A folder of its own for each test, in which commands run.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "vinterp-cli-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  std::string read(const std::string& name) const { return contents(path_ / name); }

  struct Result {
    int status;  // as a shell shows it
    std::string out, err;
  };
  /// `$V` in the command stands for the program.
  Result run(const std::string& command) const {
    const std::string line = fmt::format(
        "cd '{}' && V='{}' && export V && unset NO_COLOR FORCE_COLOR && {{ {}\n}} "
        ">out.txt 2>err.txt </dev/null",
        path_.string(), VINTERP_PROGRAM, command);
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out.txt"), read("err.txt")};
  }

 private:
  fs::path path_;
};

TEST_CASE("results go to standard output", "[cli]") {
  Folder folder;
  folder.write("a.vcode", "FUNC A CONST INT (1 2) CONST BOOL T RET");
  const auto result = folder.run("$V -m 1000 a.vcode");
  CHECK(result.status == 0);
  CHECK(result.out == "( 1 2 )\n( T )\n");
  CHECK(result.err.empty());
}

TEST_CASE("exit statuses", "[cli]") {
  Folder folder;
  folder.write("syntax.vcode", "FUNC A NONSENSE RET");
  folder.write("link.vcode", "FUNC A CALL B RET");
  folder.write("verify.vcode", "FUNC A + INT RET");
  folder.write("fails.vcode", "FUNC A CONST INT 1 CONST INT 1 CONST INT 0 / INT RET");
  folder.write("exit.vcode", "FUNC A CONST INT 1 EXIT RET");
  folder.write("deep.vcode",
               "FUNC A CONST INT 0 CALL B RET FUNC B COPY 1 0 CONST INT 0 < INT IF ELSE "
               "CONST INT 1 + INT CALL B CONST INT 1 + INT ENDIF RET");
  folder.write("loop.vcode", "FUNC A CALL A RET");
  folder.write("wide.vcode", "FUNC A CONST INT 3000000000 RET");
  const auto check = [&](const std::string& arguments, int status, const std::string& code) {
    INFO(arguments);
    const auto result = folder.run("$V " + arguments);
    CHECK(result.status == status);
    CHECK(result.out.empty());
    CHECK(result.err.find(code) != std::string::npos);
  };
  check("syntax.vcode", 1, "[V0104]");
  check("link.vcode", 1, "[V0202]");
  check("verify.vcode", 1, "[V0301]");
  check("--no-verify verify.vcode", 3, "[V0501]");
  check("wide.vcode", 1, "[V0105]");
  check("", 2, "[V0401]");
  check("missing.vcode", 2, "[V0402]");
  check(".", 2, "[V0402]");
  check("fails.vcode", 3, "[V0505]");
  check("--max-depth=10 deep.vcode", 4, "[V0602]");
  check("deep.vcode", 4, "calls are nested more than 1000000 deep");
  check("--memory=1M deep.vcode", 4, "[V0602]");
  check("--timeout=0.05 deep.vcode", 4, "[V060");
  check("--timeout=0.05 loop.vcode", 4, "[V060");
  check("--backend=cuda exit.vcode || test $? = 0 -o $? = 5", 0, "");
  check("exit.vcode", 0, "");
}

TEST_CASE("usage errors are one line and one hint", "[cli]") {
  Folder folder;
  folder.write("program.vcode", "FUNC A RET");
  CHECK(folder.run("$V --sed=1 program.vcode").err ==
        "vinterp: error: unknown option `--sed` [V0401]\nhelp: did you mean `--seed`?\n");
  CHECK(folder.run("$V progam.vcode").err ==
        "vinterp: error: cannot read `progam.vcode`: No such file or directory [V0402]\n"
        "help: did you mean `program.vcode`?\n");
}

TEST_CASE("a failed write of the results is an error", "[cli]") {
  Folder folder;
  folder.write("a.vcode", "FUNC A CONST INT 1 RET");
  if (access("/dev/full", W_OK) == 0) {
    const auto full = folder.run("$V a.vcode >/dev/full");
    CHECK(full.status == 5);
    CHECK(full.err.find("[V0702]") != std::string::npos);
    CHECK(folder.run("$V --help >/dev/full").status == 5);
  }
  CHECK(folder.run("$V a.vcode >&-").status == 5);
}

TEST_CASE("a closed pipe is an error, not a signal", "[cli]") {
  Folder folder;
  folder.write("a.vcode", "FUNC A CONST INT 0 CONST INT 1 CONST SEGDES 300000 INDEX RET");
  folder.run("{ $V a.vcode; echo $? >status.txt; } | true");
  CHECK(folder.read("status.txt") == "5\n");
}

TEST_CASE("elapsed time comes before the stack, on standard error", "[cli]") {
  Folder folder;
  folder.write("a.vcode", "FUNC A CONST INT 1 RET");
  const auto result = folder.run("$V -ct a.vcode");
  CHECK(result.out == "( 1 )\n");
  CHECK(std::regex_match(result.err, std::regex("elapsed time = 0\\.[0-9]{6} seconds\n")));
}

TEST_CASE("interrupts", "[cli]") {
  Folder folder;
  folder.write("loop.vcode", "FUNC A CALL A CONST INT 1 RET");
  folder.write("wait.vcode", "FUNC A READ INT RET");
  const auto status = [&](const std::string& signal, const std::string& command) {
    return folder
        .run(fmt::format("{{ {} & p=$!; sleep 0.3; kill -{} $p; wait $p; }} 2>/dev/null", command,
                         signal))
        .status;
  };
  CHECK(status("TERM", "$V --memory=8G --max-depth=1000000000 --profile loop.vcode") == 143);
  CHECK(status("TERM", "mkfifo p; sleep 5 >p & $V wait.vcode <p") == 143);
}

TEST_CASE("--check prints the stack effects and does not run", "[cli]") {
  Folder folder;
  folder.write("a.vcode", "FUNC A CONST INT 1 CALL B RET FUNC B CONST INT 2 + INT RET");
  const auto result = folder.run("$V --check a.vcode");
  CHECK(result.status == 0);
  CHECK(result.out == "A ( -- INT )\nB ( INT -- INT )\n");
}

TEST_CASE("information", "[cli]") {
  Folder folder;
  const auto check = [&](const std::string& options, const std::string& expected) {
    INFO(options);
    const auto result = folder.run("$V " + options);
    CHECK(result.status == 0);
    CHECK(result.err.empty());
    CHECK(result.out == expected);
  };
  check("--help", vinterp::help_text(vinterp::command_line()));
  check("--version", vinterp::version_text("vinterp"));
  check("--version --json", vinterp::version_json("vinterp"));
  check("--list-devices", vinterp::device_list());
  check("--list-ops", vinterp::list_ops());
  check("--list-ops=json", vinterp::list_ops_json());
  // What these texts are made of has tests of its own; they begin as users know them.
  const auto first_line = [&](const std::string& options) {
    const std::string text = folder.run("$V " + options).out;
    return text.substr(0, text.find('\n'));
  };
  CHECK(first_line("--help") == "vinterp - run VCODE, the stack code of NESL");
  CHECK(std::regex_match(first_line("--version"),
                         std::regex("vinterp [0-9]+\\.[0-9]+\\.[0-9]+ \\(commit [0-9a-z]+\\)")));
  CHECK(std::regex_match(first_line("--list-devices"), std::regex("cpu: [0-9]+ threads, .+")));
  CHECK(std::regex_match(
      first_line("--list-ops"),
      std::regex("operation +written after it +stack, T the written type +meaning")));
}

TEST_CASE("a dash is standard input", "[cli]") {
  Folder folder;
  folder.write("a.vcode", "FUNC A CONST INT 7 RET");
  const auto result = folder.run("cat a.vcode | $V -");
  CHECK(result.status == 0);
  CHECK(result.out == "( 7 )\n");
}

TEST_CASE("programs of any size come through a pipe, and from an empty file", "[cli]") {
  Folder folder;
  std::string text = "FUNC A CONST INT 7 RET\n";
  for (int i = 0; i < 20000; ++i) text += fmt::format("{{ comment {} }}\n", i);
  folder.write("long.vcode", text + "FUNC B CONST INT 8 RET");
  folder.write("empty.vcode", "");
  CHECK(folder.run("cat long.vcode | $V -").out == "( 7 )\n");
  CHECK(folder.run("$V long.vcode").out == "( 7 )\n");
  CHECK(folder.run("$V -- - <long.vcode").out == "( 7 )\n");
  const auto empty = folder.run("$V empty.vcode");
  CHECK(empty.status == 1);
  CHECK(empty.err.find("the program has no functions [V0205]") != std::string::npos);
}

TEST_CASE("messages as JSON", "[cli]") {
  Folder folder;
  folder.write("two.vcode", "FUNC A CALL B RET\nFUNC C CALL D RET\n");
  const auto result = folder.run("$V --diagnostics=json two.vcode");
  CHECK(result.status == 1);
  CHECK(result.out.empty());
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 2);
  CHECK(
      result.err.starts_with("{\"file\":\"two.vcode\",\"line\":1,\"column\":8,\"length\":6,"
                             "\"severity\":\"error\",\"code\":\"V0"));
  CHECK(result.err.find("\"message\":") != std::string::npos);
  CHECK(result.err.ends_with("}\n"));
  const auto usage = folder.run("$V --diagnostics=json missing.vcode");
  CHECK(usage.status == 2);
  CHECK(usage.err.starts_with("{\"file\":\"\",\"line\":0,"));
}

TEST_CASE("colours", "[cli]") {
  Folder folder;
  const std::string escape = "\x1b[";
  CHECK(folder.run("$V nothing").err.find(escape) == std::string::npos);
  CHECK(folder.run("$V --color=always nothing").err.find(escape) != std::string::npos);
  CHECK(folder.run("FORCE_COLOR=1 $V nothing").err.find(escape) != std::string::npos);
  CHECK(folder.run("FORCE_COLOR=1 NO_COLOR=1 $V nothing").err.find(escape) == std::string::npos);
  CHECK(folder.run("FORCE_COLOR=1 $V --color=never nothing").err.find(escape) == std::string::npos);
}

TEST_CASE("inspection", "[cli]") {
  Folder folder;
  folder.write("a.vcode", "FUNC A CONST INT (1 2) COPY 1 0 + INT RET");
  for (const char* option :
       {"--trace", "--profile", "--stats", "-d program", "-d command", "-d stack", "-d values"}) {
    INFO(option);
    const auto result = folder.run(fmt::format("$V {} a.vcode", option));
    CHECK(result.status == 0);
    CHECK(result.out == "( 2 4 )\n");
    CHECK_FALSE(result.err.empty());
  }
  const auto files = folder.run("$V --trace=t.txt --profile=p.json a.vcode");
  CHECK(files.status == 0);
  CHECK(folder.read("t.txt").find("+ INT") != std::string::npos);
  CHECK(folder.read("p.json").find("traceEvents") != std::string::npos);
  CHECK(folder.run("$V --trace=/nonexistent/x a.vcode").status == 5);
  CHECK(folder.run("$V --profile-rows=/nonexistent/x a.vcode").status == 5);
  const auto traced = folder.run("$V --trace --trace-values=1 --trace-lines=3 a.vcode");
  CHECK(traced.err.find("( 1 ... 2 elements )") != std::string::npos);
  CHECK(traced.err.find("the trace ends here, after 3 lines") != std::string::npos);
}

TEST_CASE("rows of a profile", "[cli]") {
  Folder folder;
  folder.write("a.vcode", "FUNC A CONST INT (1 2) COPY 1 0 + INT RET");
  const auto run = folder.run("$V --profile-rows=p.csv a.vcode");
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  const std::string csv = folder.read("p.csv");
  CHECK(csv.rfind("operation,function,line,calls,elements,bytes,seconds\n", 0) == 0);
  CHECK(csv.find("\n+ INT,A,1,1,2,") != std::string::npos);
  CHECK(folder.run("$V --profile-rows=p.json a.vcode").status == 0);
  const std::string json = folder.read("p.json");
  CHECK(json.rfind("[\n{\"operation\": ", 0) == 0);
  CHECK(json.find("{\"operation\": \"+ INT\", \"function\": \"A\", \"line\": 1, \"calls\": 1, "
                  "\"elements\": 2, ") != std::string::npos);
}

TEST_CASE("kernels are run and counted, and what is edited is checked", "[cli]") {
  const std::string program =
      "FCODE 3 KERNEL negate IN a : VEC INT n OUT y : VEC INT n\n"
      "DO y = MAP n ( i => (- INT 0 a[i]) )\n"
      "SPEC CONST INT 0 COPY 1 1 LENGTH INT MAKE_SEGDES DIST INT CPOP 1 1 - INT END\n"
      "FUNC MAIN CONST INT 7 CONST SEGDES 300000 DIST INT RUN negate CONST SEGDES 300000\n"
      "MAX_REDUCE INT RET\n";
  Folder folder;
  folder.write("p.fcode", program);
  const auto plain = folder.run("$V p.fcode");
  CHECK(plain.status == 0);
  CHECK(plain.out == "( -7 )\n");
  const auto counted = folder.run("$V --stats p.fcode");
  CHECK(counted.out == "( -7 )\n");
  CHECK(counted.err.find("kernel runs               1\n  passes                  1\n") !=
        std::string::npos);
  // What a user edits is checked before anything runs.
  const auto edited = folder.run("sed 's/- INT 0 a/- INT 0 b/' p.fcode > e.fcode; $V e.fcode");
  CHECK(edited.status == 1);
  CHECK(edited.err.find("`b` is not known here") != std::string::npos);
}

// The maximum of n products i * i mod 1000, then what `end` says.
std::string long_program(const std::string& end) {
  return "FUNC MAIN CONST INT 0 CONST INT 1 CONST INT 4000000 MAKE_SEGDES INDEX COPY 1 0 * INT "
         "CONST INT 1000 CONST SEGDES 4000000 DIST INT % CONST INT 4000000 MAKE_SEGDES "
         "MAX_REDUCE INT " +
         end + " RET";
}

TEST_CASE("what is long is optimized by default", "[cli]") {
  Folder folder;
  folder.write("a.vcode", long_program(""));
  const std::string limited = " --memory 24M --int 64 a.vcode";
  CHECK(folder.run("$V -O0" + limited).err.find("[V0601]") != std::string::npos);
  const auto result = folder.run("$V" + limited);
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  CHECK(result.out == "( 996 )\n");
}

TEST_CASE("a program that is begun anew writes its messages once", "[cli]") {
  Folder folder;
  folder.write("a.vcode", "FUNC MAIN CONST CHAR \"begun\\n\" WRITE CHAR POP 2 0 CALL GO RET\n" +
                              long_program("").replace(5, 4, "GO"));
  const auto result = folder.run("$V a.vcode");
  CHECK(result.err == folder.run("$V -O0 a.vcode").err);
  CHECK(result.err.find("begun") != std::string::npos);
  CHECK(result.out == "( 996 )\n");
}

TEST_CASE("a failure after a long time is that of the program as it was written", "[cli]") {
  Folder folder;
  folder.write("a.vcode", long_program("CONST INT 996 - INT CONST INT 7 COPY 1 1 / INT"));
  const auto written = folder.run("$V -O0 a.vcode");
  CHECK(written.status == 3);
  CHECK(written.err.find("division by zero") != std::string::npos);
  const auto result = folder.run("$V a.vcode");
  CHECK(result.status == 3);
  CHECK(result.err == written.err);
}

TEST_CASE("what reads is begun anew with what it has read", "[cli]") {
  Folder folder;
  folder.write("a.vcode", "FUNC MAIN READ INT POP 2 0 CALL GO + INT READ INT POP 2 0 RET\n" +
                              long_program("").replace(5, 4, "GO"));
  folder.write("input", "(4) (5)");
  const std::string limited = " --memory 24M --int 64 a.vcode < input";
  CHECK(folder.run("$V -O0" + limited).err.find("[V0601]") != std::string::npos);
  CHECK(folder.run("$V" + limited).out == "( 1000 )\n( 5 )\n");
}

}  // namespace
