// fegetround() and fesetround(), forwarded to the math library when one of them is called.
//
// The C++ library names them, for numbers that it converts by way of the C library: `long double`,
// which the project does not use. Loading the math library for that would take 50 us and 0.3 MB of
// every run.
#include <cstddef>  // any header of the library tells which C library it is for (__GLIBC__)

#if defined(__GLIBC__)

#include <dlfcn.h>

namespace {

template <class Function>
Function* find(const char* name) {
  void* const library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

extern "C" {

/// Negative when it cannot be found out, as <cfenv> has it.
int fegetround() {
  static auto* const function = find<int()>("fegetround");
  return function == nullptr ? -1 : function();
}

/// Not zero when it has not been set, as <cfenv> has it.
int fesetround(int mode) {
  static auto* const function = find<int(int)>("fesetround");
  return function == nullptr ? -1 : function(mode);
}

}  // extern "C"

#endif
