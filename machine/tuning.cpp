#include "machine/tuning.hpp"

namespace vinterp {

cvl::Tunables tunables() {
  static const cvl::Tunable table[] = {
#define TUNABLE(name, usual, least, most, multiple) \
  {#name, &tuning.name, usual, least, most, multiple},
#include "machine/tuning.def"
  };
  return table;
}

}  // namespace vinterp
