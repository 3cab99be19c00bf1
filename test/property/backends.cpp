#include "property/backends.hpp"

#include "cvl-cpu/cpu_backend.hpp"

namespace property {

std::vector<Library> backends_under_test() {
  Library cpu{"cpu", {}};
  for (const int threads : {1, 2, 4}) {
    cpu.choices.push_back(
        {"cpu, threads " + std::to_string(threads), [threads](const cvl::Widths& widths) {
           cvl::cpu::CpuOptions options;
           options.widths = widths;
           options.threads = threads;
           return std::make_unique<cvl::cpu::CpuBackend>(options);
         }});
  }
  return {cpu};
}

}  // namespace property
