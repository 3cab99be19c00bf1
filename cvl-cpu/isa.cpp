#include "cvl-cpu/isa.hpp"

#if defined(CVL_HAVE_X86_64_V3) || defined(CVL_HAVE_X86_64_V4)
#include <sys/platform/x86.h>
#endif

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
  std::vector<Isa> result{Isa::Baseline};
#if defined(CVL_HAVE_X86_64_V3) || defined(CVL_HAVE_X86_64_V4)
  // The C library has asked the processor already. Virtual machines take microseconds for each such
  // question, and the compiler's built-in functions ask ten more.
  const bool v3 = CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(FMA) && CPU_FEATURE_ACTIVE(BMI2);
#endif
#if defined(CVL_HAVE_X86_64_V3)
  if (v3) result.push_back(Isa::V3);
#endif
#if defined(CVL_HAVE_X86_64_V4)
  if (v3 && CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512BW) &&
      CPU_FEATURE_ACTIVE(AVX512DQ) && CPU_FEATURE_ACTIVE(AVX512VL) &&
      CPU_FEATURE_ACTIVE(AVX512CD)) {
    result.push_back(Isa::V4);
  }
#endif
  return result;
}

}  // namespace cvl::cpu
