// The numbers of this library that tests may set (cvl/tuning.hpp), for the real device and the
// emulated one alike. Set before a backend is made, and not changed while there is one.
#pragma once

#include <cstdint>

#include "cvl/tuning.hpp"

namespace cvl::cuda {

struct Tuning {
#define TUNABLE(name, usual, least, most, multiple) std::int64_t name = usual;
#include "cvl-cuda/tuning.def"
};
inline Tuning tuning;

/// The greatest values: what formats and arrays have room for.
struct LargestTuning {
#define TUNABLE(name, usual, least, most, multiple) static constexpr std::int64_t name = most;
#include "cvl-cuda/tuning.def"
};

Tunables tunables();

}  // namespace cvl::cuda
