// The headers that generated kernels include, as text in the program: NVRTC reads no files.
#pragma once

#include <cstddef>

namespace cvl::cuda::codegen {

struct EmbeddedHeader {
  const char* name;  // as it is included
  const char* text;
};
extern const EmbeddedHeader kEmbeddedHeaders[];
extern const std::size_t kEmbeddedHeaderCount;

/// The header that stands for those of the standard library, which kernels include by these names.
inline constexpr const char* kDeviceStd = "cvl-cuda/codegen/device_std.hpp";
inline constexpr const char* kStandardHeaders[] = {"cstddef", "cstdint", "cstring",
                                                   "cmath",   "limits",  "type_traits"};

}  // namespace cvl::cuda::codegen
