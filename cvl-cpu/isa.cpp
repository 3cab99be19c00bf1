#include "cvl-cpu/isa.hpp"

#include "cvl/failure.hpp"

namespace cvl::cpu {

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
  if (!usable.empty()) return usable.back();
  throw Failure(
      vcode::ErrorCode::NoBackend,
      "this program was built for processors with vector instructions that this one lacks", {},
      "build it here: scripts/build makes programs for all processors");
}

}  // namespace cvl::cpu
