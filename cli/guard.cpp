#include "cli/guard.hpp"

#include <cstdio>
#include <exception>
#include <new>

#include <fmt/core.h>

#include "cli/build_info.hpp"
#include "cli/options.hpp"
#include "vcode/diagnostics.hpp"

namespace vinterp {
namespace {

int status_of(vcode::ErrorCode code) {
  return static_cast<int>(vcode::info(code).error_class);
}

int refuse(std::string_view program, const UsageError& error) {
  vcode::Diagnostic diagnostic;
  diagnostic.code = vcode::ErrorCode::Usage;
  diagnostic.message = error.what();
  diagnostic.hint = error.hint().empty() ? fmt::format("try `{} --help`", program) : error.hint();
  const vcode::RenderOptions rendering{use_color(ColorMode::Auto), program};
  std::fputs(vcode::render(diagnostic, nullptr, rendering).c_str(), stderr);
  return status_of(diagnostic.code);
}

}  // namespace

int guarded(std::string_view program, const std::function<int()>& command) noexcept {
  const int length = static_cast<int>(program.size());
  try {
    try {
      return command();
    } catch (const UsageError& error) {
      return refuse(program, error);
    }
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%.*s: error: out of memory [V0601]\n", length, program.data());
    return status_of(vcode::ErrorCode::OutOfMemory);
  } catch (const std::exception& error) {
    std::fprintf(stderr,
                 "%.*s: error: internal error: %s [V0901]\n"
                 "help: please report it with the program, the command line and this: %.*s %s, "
                 "commit %s\n",
                 length, program.data(), error.what(), length, program.data(),
                 kBuildInfo.version.data(), kBuildInfo.commit.data());
    return status_of(vcode::ErrorCode::Internal);
  }
}

}  // namespace vinterp
