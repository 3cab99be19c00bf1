// Instruction sets that kernels are compiled for, and the choice between them at start-up.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace cvl::cpu {

/// Levels of the x86-64 ABI; other processors have the baseline only.
enum class Isa {
  Baseline,  // what every processor of the family has
  V3,        // AVX2, FMA
  V4,        // AVX-512
};
inline constexpr std::size_t kIsaCount = 3;

std::string_view isa_name(Isa isa);
std::optional<Isa> isa_named(std::string_view name);

/// Instruction sets that are both compiled in and supported here, best last.
std::vector<Isa> usable_isas();

/// The last of them. Throws a Failure (NoBackend) where there is none, as on an older processor
/// than the one that the program was built for.
Isa best_isa();

}  // namespace cvl::cpu
