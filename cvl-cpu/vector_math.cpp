#include "cvl-cpu/vector_math.hpp"

#if defined(CVL_VECTOR_MATH_FORMS)

#include <array>
#include <cstddef>
#include <dlfcn.h>
#include <iterator>

#include "cvl/failure.hpp"

// FORM(index, symbol): the symbols are named by the vector ABI after instruction set (b: SSE,
// d: AVX2, e: AVX-512), elements of a vector and function.
#define FUNCTION(index, name)             \
  FORM((index)*6 + 0, _ZGVbN2v_##name)    \
  FORM((index)*6 + 1, _ZGVbN4v_##name##f) \
  FORM((index)*6 + 2, _ZGVdN4v_##name)    \
  FORM((index)*6 + 3, _ZGVdN8v_##name##f) \
  FORM((index)*6 + 4, _ZGVeN8v_##name)    \
  FORM((index)*6 + 5, _ZGVeN16v_##name##f)
#define FUNCTIONS   \
  FUNCTION(0, log)  \
  FUNCTION(1, exp)  \
  FUNCTION(2, sin)  \
  FUNCTION(3, cos)  \
  FUNCTION(4, tan)  \
  FUNCTION(5, asin) \
  FUNCTION(6, acos) \
  FUNCTION(7, atan) \
  FUNCTION(8, sinh) \
  FUNCTION(9, cosh) \
  FUNCTION(10, tanh)

extern "C" {
/// Where the functions of libmvec lie, once it is loaded.
__attribute__((visibility("hidden"))) void* cvl_vector_math_forms[66];
}

// What kernels call: each jumps to the function of libmvec, with all registers as they are.
// clang-format off
#define FORM(index, symbol)                                   \
  asm(".pushsection .text\n"                                  \
      ".globl " #symbol "\n"                                  \
      ".hidden " #symbol "\n"                                 \
      ".type " #symbol ", @function\n"                        \
      #symbol ": jmp *cvl_vector_math_forms+8*(" #index ")(%rip)\n" \
      ".size " #symbol ", .-" #symbol "\n"                    \
      ".popsection\n");
// clang-format on
FUNCTIONS
#undef FORM

namespace cvl::cpu {
namespace {

[[noreturn]] void unavailable() {
  const char* const reason = dlerror();
  throw Failure(vcode::ErrorCode::NoBackend, "the vector math library cannot be used",
                {reason == nullptr ? "libmvec.so.1 lacks a function" : reason},
                "install the C library of this system again: libmvec.so.1 is part of it");
}

bool load() {
#define FORM(index, symbol) #symbol,
  constexpr std::array kSymbols = {FUNCTIONS};
#undef FORM
  static_assert(kSymbols.size() == std::size(cvl_vector_math_forms));
  void* const library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) unavailable();
  for (std::size_t i = 0; i < kSymbols.size(); ++i) {
    cvl_vector_math_forms[i] = dlsym(library, kSymbols[i]);
    if (cvl_vector_math_forms[i] == nullptr) unavailable();
  }
  return true;
}

}  // namespace

void load_vector_math() {
  [[maybe_unused]] static const bool loaded = load();
}

}  // namespace cvl::cpu

#endif
