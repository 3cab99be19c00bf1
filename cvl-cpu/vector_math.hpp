// The vector forms of the math functions, which the C library has in a library of its own, libmvec.
//
// Programs do not name that library: loading it takes 55 us and 300 kB, a twentieth of the time of
// a small program, and few programs use it. Kernels that call its functions ask for it first.
#pragma once

#include <cstddef>  // any header of the library tells which C library it is for (__GLIBC__)

// Only g++ makes calls of these functions.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define CVL_VECTOR_MATH_FORMS 1
#endif

namespace cvl::cpu {

/// Loads the library unless that has been done. To be called, on any thread, before a loop that
/// calls vector forms. Throws Failure (NoBackend) where the library cannot be loaded.
#if defined(CVL_VECTOR_MATH_FORMS)
void load_vector_math();
#else
inline void load_vector_math() {}
#endif

}  // namespace cvl::cpu
