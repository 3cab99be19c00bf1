# Build options and the compile flags that every target of the project shares.
option(NESL_BUILD_TESTS "Build the tests" ON)
option(NESL_BUILD_BENCHMARKS "Build the benchmarks" ON)
option(NESL_BUILD_FUZZERS "Build the libFuzzer targets (needs clang)" OFF)
set(NESL_ISAS "baseline;v3;v4" CACHE STRING "Levels of x86-64 that the CPU kernels are compiled for, or native: that of this processor")
option(NESL_WERROR "Treat warnings as errors" OFF)
set(NESL_SANITIZE "" CACHE STRING "Sanitizers for all targets, such as address,undefined or thread")
option(NESL_TUNABLE "Programs take their tuning from the environment (for tests)" OFF)
option(NESL_COVERAGE "Instrument for line coverage" OFF)

add_library(nesl_flags INTERFACE)
target_include_directories(nesl_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
# No contraction of a*b+c (one rounding per operation is visible in results), no errno from the
# math library (it would keep loops scalar).
target_compile_options(nesl_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-ffp-contract=off;-fno-math-errno>)
# What distributions harden their programs with.
target_compile_options(nesl_flags INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-fstack-protector-strong;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>)
target_link_options(nesl_flags INTERFACE $<$<CONFIG:Release>:LINKER:-z,relro,-z,now>)
# g++ 12 warns about its own std::string (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(nesl_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# In a unity build every source is included by another file, which this takes for a header.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(nesl_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
# Full optimization is for what runs over the elements of vectors. The rest reads, checks and compiles
# programs: that would be 2 to 10 % faster by it, and building the project takes two thirds longer.
set(compiles_programs $<NOT:$<BOOL:$<TARGET_PROPERTY:NESL_ELEMENT_LOOPS>>>)
target_compile_options(nesl_flags INTERFACE
  $<BUILD_INTERFACE:$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>,${compiles_programs}>:-O1>>)
if(NESL_WERROR)
  target_compile_options(nesl_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(NESL_SANITIZE)
  target_compile_options(nesl_flags INTERFACE -fsanitize=${NESL_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # g++ sees paths in instrumented code of its own library that cannot be taken.
  target_compile_options(nesl_flags INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(nesl_flags INTERFACE -fsanitize=${NESL_SANITIZE})
  # AddressSanitizer finds null pointers and objects that are too small, too; few classes have virtual
  # functions, and most targets read memory as what it was declared to be. These checks would be a quarter
  # of what such a build compiles.
  if(NESL_SANITIZE MATCHES "address")
    target_compile_options(nesl_flags INTERFACE -fno-sanitize=null,object-size,vptr
      $<$<NOT:$<BOOL:$<TARGET_PROPERTY:NESL_CHECK_ALIGNMENT>>>:-fno-sanitize=alignment>)
  endif()
endif()
# Linked, last of all, where most of what is compiled are loops over elements. Those of which each access
# is checked are no faster for being optimized, and take minutes to compile; a pointer that leads outside
# is found by AddressSanitizer, too.
add_library(nesl_sanitized_loops INTERFACE)
if(NESL_SANITIZE)
  target_compile_options(nesl_sanitized_loops INTERFACE -O1)
  if(NESL_SANITIZE MATCHES "address")
    set(calls asan-instrumentation-with-call-threshold=0)
    target_compile_options(nesl_sanitized_loops INTERFACE
      -fno-sanitize=pointer-overflow
      "SHELL:$<IF:$<CXX_COMPILER_ID:Clang>,-mllvm -${calls},--param ${calls}>")
  endif()
endif()
if(NESL_COVERAGE)
  target_compile_options(nesl_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(nesl_flags INTERFACE --coverage)
endif()
