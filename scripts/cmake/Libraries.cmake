# The libraries that the project uses, linked so that programs start quickly: a shared library takes
# 0.1 to 0.5 ms to load, and a small VCODE program runs for less.
find_package(fmt REQUIRED)
find_package(TBB REQUIRED)

# Boost from its archives where they are installed.
set(Boost_USE_STATIC_LIBS ON)
find_package(Boost QUIET COMPONENTS program_options)
if(NOT TARGET Boost::program_options)
  set(Boost_USE_STATIC_LIBS OFF)
  find_package(Boost REQUIRED COMPONENTS program_options)
endif()

# {fmt} without its shared library.
add_library(nesl_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_library.cpp)
target_link_libraries(nesl_fmt PRIVATE nesl_flags)
target_include_directories(nesl_fmt SYSTEM PUBLIC
  $<BUILD_INTERFACE:$<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>>)

# What the C++ library names of the math library: with it a program can do without the latter.
add_library(nesl_rounding_mode OBJECT ${CMAKE_CURRENT_LIST_DIR}/rounding_mode.cpp)
target_link_libraries(nesl_rounding_mode PRIVATE nesl_flags ${CMAKE_DL_LIBS})

# Where programs look for modules, from their own folder, built or installed.
file(RELATIVE_PATH NESL_MODULE_FOLDER
  ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/nesl)

# nesl_installed_program(TARGET): for the programs that users start.
#
# They contain the C++ library, are not moved to another address when they start, are mapped in two
# pieces instead of four (25 us), load their worker threads when they need them (see
# cvl-cpu/threads.hpp), and do without the math library if they name no function of it. Instrumented
# programs do none of this: the run-time library of a sanitizer has to see the whole process.
function(nesl_installed_program target)
  if(NESL_SANITIZE OR NESL_COVERAGE)
    return()
  endif()
  set_target_properties(${target} PROPERTIES NESL_LOADS_THREADS ON)
  add_dependencies(${target} cvl_cpu_threads_module)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:nesl_rounding_mode>)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -no-pie
    LINKER:-z,noseparate-code LINKER:--as-needed)
endfunction()
