#include "tuned.hpp"

#include <cstdlib>

#include "cvl-cpu/tuning.hpp"
#include "cvl/tuning.hpp"
#if defined(TUNED_CUDA)
#include "cvl-cuda/tuning.hpp"
#endif
#if defined(TUNED_MACHINE)
#include "machine/tuning.hpp"
#endif

namespace tuned {
namespace {

#if defined(TUNED_MACHINE)
#define TABLES \
  { cvl::heap_tunables(), cvl::cpu::tunables(), vinterp::tunables() }
#elif defined(TUNED_CUDA)
#define TABLES \
  { cvl::heap_tunables(), cvl::cpu::tunables(), cvl::cuda::tunables() }
#else
#define TABLES \
  { cvl::heap_tunables(), cvl::cpu::tunables() }
#endif

/// Before main, so that no test runs without it.
[[maybe_unused]] const bool at_start = (cvl::tune_from_environment(TABLES), true);

}  // namespace

void set(const std::string& setting) {
  cvl::tune(setting, TABLES);
}

std::string from_environment() {
  const char* setting = std::getenv("NESL_TUNING");
  return setting == nullptr ? "usual" : setting;
}

}  // namespace tuned
