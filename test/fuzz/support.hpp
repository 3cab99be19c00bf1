// What the fuzz targets share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "vcode/source.hpp"

namespace vcode::fuzzing {

inline std::shared_ptr<const Source> make_source(const std::uint8_t* data, std::size_t size) {
  return std::make_shared<Source>("input.vcode",
                                  std::string(reinterpret_cast<const char*>(data), size));
}

/// Ends the process, which the fuzzer takes for a finding, if a property does not hold.
inline void check(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "violated: %s\n", property);
  std::abort();
}

}  // namespace vcode::fuzzing
