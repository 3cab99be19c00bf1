// The numbers of this library that tests may set (cvl/tuning.hpp).
#pragma once

#include <cstdint>

#include "cvl/tuning.hpp"

namespace cvl::cpu {

struct Tuning {
#define TUNABLE(name, usual, least, most, multiple) std::int64_t name = usual;
#include "cvl-cpu/tuning.def"
};
inline Tuning tuning;

/// The greatest values: what buffers have room for.
struct LargestTuning {
#define TUNABLE(name, usual, least, most, multiple) static constexpr std::int64_t name = most;
#include "cvl-cpu/tuning.def"
};

Tunables tunables();

}  // namespace cvl::cpu
