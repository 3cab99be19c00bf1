#include "vinterp/tuning.hpp"

namespace vinterp {

cvl::Tunables tunables() {
  static const cvl::Tunable table[] = {
#define TUNABLE(name, usual, least, most, multiple) \
  {#name, &tuning.name, usual, least, most, multiple},
#include "vinterp/tuning.def"
  };
  return table;
}

}  // namespace vinterp
