#include "cli/backends.hpp"

#include <fmt/core.h>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl-cuda/make_backend.hpp"
#include "cvl/failure.hpp"
#include "cvl/heap.hpp"
#include "machine/compare.hpp"
#include "machine/tuning.hpp"

namespace vinterp {
namespace {

std::unique_ptr<cvl::Backend> make_cpu(const Options& options) {
  cvl::cpu::CpuOptions cpu;
  cpu.widths = options.widths;
  cpu.threads = options.threads;
  cpu.memory_limit = options.memory.value_or(cvl::Heap::kOfSource);
  cpu.seed = options.seed;
  cpu.native = options.native;
  return std::make_unique<cvl::cpu::CpuBackend>(cpu);
}

std::unique_ptr<cvl::Backend> make_cuda(const Options& options) {
  cvl::cuda::CudaOptions cuda;
  cuda.required = options.backend != "auto" || options.compare != CompareMode::Off;
  if (cuda.required) {
    const std::string reason = cvl::cuda::cuda_unavailable_reason();
    if (!reason.empty()) {
      throw cvl::Failure(vcode::ErrorCode::NoBackend, reason, {}, "use --backend=cpu");
    }
  }
  cuda.widths = options.widths;
  cuda.threads = options.threads;
  if (options.memory) cuda.memory_limit = *options.memory;
  cuda.seed = options.seed;
  cuda.ordinal = options.device;
  return cvl::cuda::make_cuda_backend(cuda);
}

}  // namespace

std::vector<std::string_view> built_backends() {
  std::vector<std::string_view> names = {"cpu"};
  if (cvl::cuda::cuda_built()) names.push_back("cuda");
  return names;
}

std::string device_list() {
  std::string text;
  for (const std::string_view name : built_backends()) {
    Options options;
    options.backend = name;
    try {
      text += fmt::format("{}\n", make_backend(options)->description());
    } catch (const cvl::Failure& failure) {
      text += fmt::format("{}: cannot be used: {}\n", name, failure.message());
    }
  }
  return text;
}

std::unique_ptr<cvl::Backend> make_backend(const Options& options) {
#if defined(NESL_TUNABLE)
  cvl::tune_from_environment({cvl::heap_tunables(), cvl::cpu::tunables(), tunables()});
#endif
  if (options.compare != CompareMode::Off) {
    return std::make_unique<CompareBackend>(make_cpu(options), make_cuda(options),
                                            options.compare == CompareMode::Stop);
  }
  const bool cuda =
      options.backend == "cuda" || (options.backend == "auto" && cvl::cuda::cuda_by_default());
  return cuda ? make_cuda(options) : make_cpu(options);
}

}  // namespace vinterp
