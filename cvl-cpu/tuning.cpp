#include "cvl-cpu/tuning.hpp"

namespace cvl::cpu {

Tunables tunables() {
  static const Tunable table[] = {
#define TUNABLE(name, usual, least, most, multiple) \
  {#name, &tuning.name, usual, least, most, multiple},
#include "cvl-cpu/tuning.def"
  };
  return table;
}

}  // namespace cvl::cpu
