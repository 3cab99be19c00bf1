#include "cvl-cuda/tuning.hpp"

namespace cvl::cuda {

Tunables tunables() {
  static const Tunable table[] = {
#define TUNABLE(name, usual, least, most, multiple) \
  {#name, &tuning.name, usual, least, most, multiple},
#include "cvl-cuda/tuning.def"
  };
  return table;
}

}  // namespace cvl::cuda
