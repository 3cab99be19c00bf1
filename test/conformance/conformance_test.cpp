// Runs the interpreter on an example as a user does: as a process, in a directory of its own.
//
//   conformance-test INTERPRETER EXAMPLE.vcode [--threads] [--kernels] [--levels]
//                    [--begun-anew=PROGRAM] [--ahead]
//
// Compares standard output, standard error where it is defined, and the exit status with the files
// beside the example (README.md), as it stands and with -c; with --threads also at 2 and 4 threads,
// with --kernels also with all kernels run as such, and, unless it has to fail, with the VCODE that
// they replace, with --levels also at each level of the optimizer, with --begun-anew also optimized
// from some point on (../neslc/begun_anew.cpp). With --ahead INTERPRETER is that program, which
// only optimizes while the program runs.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Example {
  fs::path program;
  std::vector<std::string> arguments;
  fs::path input = "/dev/null";
  std::string output;
  std::optional<std::string> error;
  int status = 0;
};

Example load(const fs::path& program) {
  const auto beside = [&](const char* extension) {
    return fs::path(program).replace_extension(extension);
  };
  Example example;
  example.program = program;
  auto expected = read_file(beside(".corrected"));
  if (!expected) expected = read_file(beside(".expected"));
  if (!expected) throw std::runtime_error("no expected text beside " + program.string());
  example.output = *expected;
  example.error = read_file(beside(".stderr"));
  if (fs::exists(beside(".stdin"))) example.input = beside(".stdin");
  if (const auto text = read_file(beside(".args"))) {
    std::istringstream words(*text);
    for (std::string word; words >> word;) example.arguments.push_back(word);
  }
  if (const auto text = read_file(beside(".status"))) example.status = std::stoi(*text);
  return example;
}

struct Result {
  std::string output, error;
  int status = 0;  // negative: the number of the signal that ended the process
};

/// A directory that goes away with its contents.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (fs::temp_directory_path() / "nesl-conformance-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch directory");
    path_ = name;
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void redirect(const char* path, int flags, int descriptor) {
  const int fd = open(path, flags, 0600);
  if (fd < 0 || dup2(fd, descriptor) < 0) _exit(126);
  if (fd != descriptor) close(fd);
}

Result run(const fs::path& interpreter, const std::vector<std::string>& arguments,
           const fs::path& input) {
  const ScratchDirectory scratch;
  // Outside the working directory, so that the program cannot meet these files.
  const ScratchDirectory captured;
  const fs::path output = captured.path() / "output";
  const fs::path error = captured.path() / "error";
  std::vector<std::string> words = {interpreter.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    redirect(input.c_str(), O_RDONLY, 0);
    redirect(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 1);
    redirect(error.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 2);
    if (chdir(scratch.path().c_str()) != 0) _exit(126);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) throw std::runtime_error("waitpid failed");
  return {read_file(output).value_or(""), read_file(error).value_or(""),
          WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)};
}

class Checker {
 public:
  /// `first`: what comes before all other arguments.
  Checker(fs::path interpreter, Example example, std::vector<std::string> first = {})
      : interpreter_(std::move(interpreter)),
        first_(std::move(first)),
        example_(std::move(example)) {}

  void check(const std::vector<std::string>& extra, bool must_fail = false) {
    std::vector<std::string> arguments = first_;
    arguments.insert(arguments.end(), example_.arguments.begin(), example_.arguments.end());
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    arguments.push_back(example_.program.string());
    const Result result = run(interpreter_, arguments, example_.input);
    std::string label;
    for (const std::string& word : arguments) label += " " + word;
    if (must_fail) {
      expect(label, "status", 3, result.status, result);
      expect(label, "standard output", std::string(), result.output, result);
      return;
    }
    expect(label, "status", example_.status, result.status, result);
    expect(label, "standard output", example_.output, result.output, result);
    if (example_.error) {
      expect(label, "standard error", *example_.error, result.error, result);
    } else if (example_.status != 0) {
      expect(label, "a message on standard error", true, !result.error.empty(), result);
    }
  }
  int failures() const { return failures_; }

 private:
  template <class T>
  void expect(const std::string& label, const char* what, const T& wanted, const T& found,
              const Result& result) {
    if (wanted == found) return;
    ++failures_;
    std::cerr << "vinterp" << label << ": " << what << " differs\n--- expected\n"
              << wanted << "\n--- found\n"
              << found << "\n--- its standard error\n"
              << result.error << '\n';
  }

  fs::path interpreter_;
  std::vector<std::string> first_;
  Example example_;
  int failures_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: conformance-test INTERPRETER EXAMPLE.vcode [--threads] [--kernels] "
                 "[--levels] [--begun-anew=PROGRAM] [--ahead]\n";
    return 2;
  }
  try {
    const fs::path program = argv[2];
    const std::vector<std::string> modes(argv + 3, argv + argc);
    const bool with_threads = std::count(modes.begin(), modes.end(), "--threads") != 0;
    const bool with_kernels = std::count(modes.begin(), modes.end(), "--kernels") != 0;
    const bool with_levels = std::count(modes.begin(), modes.end(), "--levels") != 0;
    const Example example = load(program);
    if (std::count(modes.begin(), modes.end(), "--ahead") != 0) {
      int failures = 0;
      for (const char* work : {"1+", "500+", "20000+"}) {
        Checker ahead(argv[1], example, {work, "vinterp"});
        for (int round = 0; round < 5; ++round) ahead.check({});
        failures += ahead.failures();
      }
      return failures == 0 ? 0 : 1;
    }
    Checker checker(argv[1], example);
    // Longer operands are accepted without -c only.
    const bool strict_fails = program.stem() == "33-elementwise-longer";
    checker.check({});
    checker.check({"-c"}, strict_fails);
    if (with_kernels) {
      checker.check({"--kernels"});
      checker.check({"--kernels", "-c"});
      if (example.status == 0) checker.check({"--no-kernels"});
    }
    if (with_levels) {
      for (const char* level : {"1", "2", "3"}) checker.check({std::string("-O") + level});
      checker.check({"-O3", "--kernels"});
    }
    if (with_threads) {
      for (const char* threads : {"1", "2", "4"}) {
        checker.check({std::string("--threads=") + threads});
        checker.check({"-c", std::string("--threads=") + threads});
      }
    }
    int failures = checker.failures();
    constexpr std::string_view kBegunAnew = "--begun-anew=";
    for (const std::string& mode : modes) {
      if (!mode.starts_with(kBegunAnew)) continue;
      // One instruction of VCODE more, then ever more of them.
      std::vector<std::string> points;
      for (int work = 1; work < 20'000; work += 60 + work / 4) {
        points.push_back(std::to_string(work));
      }
      // The run goes on while the optimizer works.
      points.insert(points.end(), {"1+", "1000+"});
      for (const std::string& point : points) {
        Checker anew(mode.substr(kBegunAnew.size()), example, {point, "vinterp"});
        anew.check({});
        failures += anew.failures();
      }
    }
    return failures == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
