#include "property/backends.hpp"

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl-cuda/make_emulated_backend.hpp"

namespace property {
namespace {

#if !defined(__SANITIZE_THREAD__)  // the memory model of emulated devices has tests of its own
/// The kernels of the CUDA library on the emulated device. `host_elements` as in CudaOptions: what
/// is computed on the host is rounded differently, so each setting is a library of its own.
Library emulated_cuda(const std::string& name, std::int64_t host_elements) {
  using cvl::cuda::BlockOrder;
  Library library{name, {}};
  const auto add = [&](const std::string& how, cvl::cuda::EmulationOptions emulation) {
    library.choices.push_back({name + ", " + how, [=](const cvl::Widths& widths) {
                                 cvl::cuda::CudaOptions options;
                                 options.widths = widths;
                                 options.threads = 1;
                                 options.host_elements = host_elements;
                                 return cvl::cuda::make_emulated_backend(options, emulation);
                               }});
  };
#if !defined(NESL_SANITIZED)  // which takes long enough for one
  add("blocks in shuffled order", {BlockOrder::Shuffled, 1});
#endif
  add("blocks in descending order on 3 threads", {BlockOrder::Descending, 3});
  return library;
}

/// The CUDA library on the device of this machine.
Library device_cuda(const std::string& name, std::int64_t host_elements) {
  return {name, {{name, [=](const cvl::Widths& widths) {
                    cvl::cuda::CudaOptions options;
                    options.widths = widths;
                    options.threads = 1;
                    options.host_elements = host_elements;
                    return cvl::cuda::make_cuda_backend(options);
                  }}}};
}
#endif

}  // namespace

std::vector<Library> backends_under_test() {
  Library cpu{"cpu", {}};
#if defined(NESL_SANITIZED)
  constexpr int kThreads[] = {4};
#else
  constexpr int kThreads[] = {1, 2, 4};
#endif
  for (const int threads : kThreads) {
    cpu.choices.push_back(
        {"cpu, threads " + std::to_string(threads), [threads](const cvl::Widths& widths) {
           cvl::cpu::CpuOptions options;
           options.widths = widths;
           options.threads = threads;
           return std::make_unique<cvl::cpu::CpuBackend>(options);
         }});
  }
#if defined(__SANITIZE_THREAD__)
  return {cpu};
#else
  std::vector<Library> libraries = {cpu, emulated_cuda("cuda (emulated)", 0),
                                    emulated_cuda("cuda (emulated), small on host", 16)};
  if (cvl::cuda::cuda_unavailable_reason().empty()) {
    libraries.push_back(device_cuda("cuda", 0));
    libraries.push_back(device_cuda("cuda, small on host", 16));
  }
  return libraries;
#endif
}

}  // namespace property
