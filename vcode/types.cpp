#include "vcode/types.hpp"

#include <array>
#include <cstddef>

namespace vcode {

std::string_view type_name(Type type) {
  static constexpr std::array<std::string_view, 6> kNames = {"INT",    "BOOL", "FLOAT",
                                                             "SEGDES", "CHAR", "PAIR"};
  return kNames[static_cast<std::size_t>(type)];
}

}  // namespace vcode
