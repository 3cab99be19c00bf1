// From the types of a run to C++ types.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cvl/value.hpp"

namespace cvl::cuda {

/// Calls f with std::type_identity of the C++ type of the elements.
template <class F>
decltype(auto) with_int(const Widths& widths, F&& f) {
  if (widths.int_bytes == 8) return f(std::type_identity<std::int64_t>());
  return f(std::type_identity<std::int32_t>());
}
template <class F>
decltype(auto) with_float(const Widths& widths, F&& f) {
  if (widths.float_bytes == 8) return f(std::type_identity<double>());
  return f(std::type_identity<float>());
}

/// Calls f with an unsigned type of that many bytes, for operations that only move elements.
template <class F>
decltype(auto) with_bits(std::size_t bytes, F&& f) {
  if (bytes == 8) return f(std::type_identity<std::uint64_t>());
  if (bytes == 4) return f(std::type_identity<std::uint32_t>());
  return f(std::type_identity<std::uint8_t>());
}

}  // namespace cvl::cuda
