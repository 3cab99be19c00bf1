// Appending: vectors that begin with all elements of another one.
//
// The storage of a vector that nobody else holds becomes that of the longer one, if its block has
// room or can be extended. One that has to move for the second time is going to grow
// (Heap::Extent): so whoever appends to a vector again and again moves each element a few times in
// all.
#pragma once

#include <cstdint>

#include "cvl-cpu/cpu_backend.hpp"

namespace cvl::cpu {

/// A vector, Inline or Dense, of `length` elements: those of `first`, then copies of the one at
/// `rest`. `first` keeps its elements, and may share its storage with the result.
/// REQUIRES: first.length <= length
Vector appended(CpuBackend& cpu, Vector& first, std::int64_t length, const void* rest);

}  // namespace cvl::cpu
