#include "vinterp/backends.hpp"

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl/failure.hpp"
#include "cvl/host_memory.hpp"

namespace vinterp {
namespace {

/// Leaves something to the rest of the machine.
std::size_t default_memory_limit() {
  return cvl::available_memory() / 5 * 4;
}

}  // namespace

std::vector<std::string_view> built_backends() {
  return {"cpu"};
}

std::unique_ptr<cvl::Backend> make_backend(const Options& options) {
  if (options.backend == "cuda") {
    throw cvl::Failure(vcode::ErrorCode::NoBackend, "this build has no CUDA vector library", {},
                       "use --backend=cpu");
  }
  cvl::cpu::CpuOptions cpu;
  cpu.widths = options.widths;
  cpu.threads = options.threads;
  cpu.memory_limit = options.memory ? *options.memory : default_memory_limit();
  cpu.seed = options.seed;
  return std::make_unique<cvl::cpu::CpuBackend>(cpu);
}

}  // namespace vinterp
