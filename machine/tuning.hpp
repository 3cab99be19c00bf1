// The numbers of the machine that tests may set (cvl/tuning.hpp).
#pragma once

#include <cstdint>

#include "cvl/tuning.hpp"

namespace vinterp {

struct Tuning {
#define TUNABLE(name, usual, least, most, multiple) std::int64_t name = usual;
#include "machine/tuning.def"
};
inline Tuning tuning;

cvl::Tunables tunables();

}  // namespace vinterp
