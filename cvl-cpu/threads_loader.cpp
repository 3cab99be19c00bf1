#include <array>
#include <cstdio>
#include <dlfcn.h>
#include <string>
#include <unistd.h>

#include "cvl-cpu/threads.hpp"

namespace cvl::cpu {
namespace {

/// The module lies at a fixed place relative to the running program, built or installed.
std::string module_path() {
  std::array<char, 4096> program;
  const ssize_t length = readlink("/proc/self/exe", program.data(), program.size());
  if (length <= 0) return NESL_THREADS_MODULE;
  const std::string path(program.data(), static_cast<std::size_t>(length));
  return path.substr(0, path.rfind('/') + 1) + NESL_THREADS_MODULE;
}

const ThreadLibrary* load() {
  const void* library = nullptr;
  // Never unloaded: its threads live as long as the process.
  if (void* module = dlopen(module_path().c_str(), RTLD_LAZY | RTLD_LOCAL)) {
    library = dlsym(module, "cvl_cpu_thread_library");
  }
  if (library == nullptr) {
    const char* reason = dlerror();
    std::fprintf(stderr,
                 "warning: no worker threads: %s\n"
                 "  The program runs on one thread. Install it again, or give --threads 1 to "
                 "do without them.\n",
                 reason == nullptr ? "their module is not one of this program" : reason);
  }
  return static_cast<const ThreadLibrary*>(library);
}

}  // namespace

const ThreadLibrary* thread_library() {
  static const ThreadLibrary* const library = load();
  return library;
}

std::chrono::microseconds cost_of_threads() {
  return std::chrono::milliseconds(3);
}

}  // namespace cvl::cpu
