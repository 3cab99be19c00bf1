// The one file that knows which instruction sets kernels were compiled for.
#include "cvl-cpu/isa.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <vector>

#include <fmt/core.h>

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/tuning.hpp"
#include "cvl/failure.hpp"

namespace cvl::cpu {
namespace {

void fill_kernels(Kernels& kernels, Isa isa, Widths widths) {
  switch (isa) {
#if defined(CVL_HAVE_V4)
    case Isa::V4:
      return v4::add_kernels(kernels, widths);
#endif
#if defined(CVL_HAVE_V3)
    case Isa::V3:
      return v3::add_kernels(kernels, widths);
#endif
#if defined(CVL_HAVE_BASELINE)
    case Isa::Baseline:
      return baseline::add_kernels(kernels, widths);
#endif
    default:
      throw Failure(vcode::ErrorCode::NoBackend,
                    fmt::format("this program has no kernels for {}", isa_name(isa)));
  }
}

}  // namespace

std::string_view isa_name(Isa isa) {
  switch (isa) {
    case Isa::V3:
      return "x86-64-v3";
    case Isa::V4:
      return "x86-64-v4";
    default:
      return "baseline";
  }
}

std::optional<Isa> isa_named(std::string_view name) {
  for (const Isa isa : {Isa::Baseline, Isa::V3, Isa::V4}) {
    if (isa_name(isa) == name) return isa;
  }
  return std::nullopt;
}

std::vector<Isa> usable_isas() {
  std::vector<Isa> result;
#if defined(CVL_HAVE_BASELINE)
  result.push_back(Isa::Baseline);
#endif
#if defined(CVL_HAVE_V3) || defined(CVL_HAVE_V4)
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi2");
#endif
#if defined(CVL_HAVE_V3)
  if (v3) result.push_back(Isa::V3);
#endif
#if defined(CVL_HAVE_V4)
  if (v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd")) {
    result.push_back(Isa::V4);
  }
#endif
  return result;
}

Isa best_isa() {
  const std::vector<Isa> usable = usable_isas();
  if (usable.empty()) {
    throw Failure(
        vcode::ErrorCode::NoBackend,
        "this program was built for processors with vector instructions that this one lacks", {},
        "build it here: scripts/build makes programs for all processors");
  }
  const auto too_wide = std::find_if(usable.begin(), usable.end(), [](Isa isa) {
    return static_cast<std::int64_t>(isa) > tuning.widest_isa;
  });
  return too_wide == usable.begin() ? usable.front() : *std::prev(too_wide);
}

const Kernels& kernels_for(Isa isa, Widths widths) {
  struct Slot {
    std::once_flag filled;
    Kernels kernels;
  };
  static constinit Slot slots[kIsaCount][2][2];
  Slot& slot = slots[static_cast<std::size_t>(isa)][widths.int_bytes == 8][widths.float_bytes == 8];
  std::call_once(slot.filled, [&] { fill_kernels(slot.kernels, isa, widths); });
  return slot.kernels;
}

}  // namespace cvl::cpu
