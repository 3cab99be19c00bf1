#include "cli/help.hpp"

#include <fmt/core.h>

#include "cli/backends.hpp"
#include "cli/build_info.hpp"
#include "cli/option_table.hpp"
#include "cvl/failure.hpp"
#include "machine/json.hpp"

namespace vinterp {
namespace {

constexpr Explained kExamples[] = {
    {"vinterp program.vcode", "run a program and print what it leaves on the stack"},
    {"vinterp --profile --threads 4 program.vcode",
     "the same on four threads; see where time goes"},
};

constexpr Explained kEnvironment[] = {
    kNoColor,
    kForceColor,
    {"NESL_KERNELS", "a folder with machine code that fcode-opt --emit=cubin has made"},
    {"XDG_CACHE_HOME", "the folder that holds nesl/kernels, where machine code of kernels is kept"},
};

constexpr Explained kStatuses[] = {
    {"0", "success, or EXIT"},
    {"1", "the program text is wrong"},
    {"2", "the command line is wrong, or the file cannot be read"},
    {"3", "the program failed while it ran"},
    {"4", "out of memory, or a limit was reached"},
    {"5", "the environment: vector library, output"},
    {"70", "an internal error; please report it"},
    {"130, 143", "interrupted, terminated"},
};

std::string library_in_use() {
  try {
    return make_backend({})->description();
  } catch (const cvl::Failure& failure) {
    return fmt::format("none ({})", failure.message());
  }
}

}  // namespace

const CommandLine& command_line() {
  static const CommandLine line = {
      .program = "vinterp",
      .purpose = "run VCODE, the stack code of NESL",
      .usage = {"[option...] file"},
      .description =
          "Reads a VCODE program, checks it and runs it. Whatever is on the stack when its first "
          "function (or MAIN) returns is printed to standard output, one line for each value, "
          "bottom first. Messages go to standard error. Options may follow the file, short ones "
          "may be combined.",
      .commands = {},
      .examples = kExamples,
      .options = option_table(),
      .environment = kEnvironment,
      .exit_statuses = kStatuses,
      .closing = "The manual is docs/user-guide.md, or `man vinterp`. Options may follow the file.",
  };
  return line;
}

std::string version_json(std::string_view program) {
  std::string libraries;
  for (const std::string_view name : built_backends()) {
    libraries += fmt::format("{}\"{}\"", libraries.empty() ? "" : ",", name);
  }
  return fmt::format(
      "{{\"program\":\"{}\",\"version\":\"{}\",\"commit\":\"{}\",\"build\":\"{}\","
      "\"compiler\":\"{}\",\"libraries\":[{}],\"in_use\":{}}}\n",
      program, kBuildInfo.version, kBuildInfo.commit, kBuildInfo.build_type, kBuildInfo.compiler,
      libraries, json_string(library_in_use()));
}

std::string version_text(std::string_view program) {
  std::string libraries;
  for (const std::string_view name : built_backends()) {
    libraries += fmt::format("{}{}", libraries.empty() ? "" : ", ", name);
  }
  std::string text = fmt::format("{} {} (commit {})\nbuild: {}, {}\nvector libraries: {}\n",
                                 program, kBuildInfo.version, kBuildInfo.commit,
                                 kBuildInfo.build_type, kBuildInfo.compiler, libraries);
  return text + fmt::format("in use: {}\n", library_in_use());
}

}  // namespace vinterp
