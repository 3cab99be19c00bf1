# The libraries that the project uses.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)

# Boost from its archives where they are installed.
set(Boost_USE_STATIC_LIBS ON)
find_package(Boost QUIET COMPONENTS program_options)
if(NOT TARGET Boost::program_options)
  set(Boost_USE_STATIC_LIBS OFF)
  find_package(Boost REQUIRED COMPONENTS program_options)
endif()

# Makes machine code of kernels that run long. Without it all are evaluated step by step.
set(NESL_HAVE_ASMJIT OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  find_package(asmjit QUIET CONFIG)
  if(TARGET asmjit::asmjit)
    set(NESL_HAVE_ASMJIT ON)
  endif()
endif()

# {fmt} without its shared library.
add_library(nesl_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_library.cpp)
target_link_libraries(nesl_fmt PRIVATE nesl_flags)
target_include_directories(nesl_fmt SYSTEM PUBLIC
  $<BUILD_INTERFACE:$<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>>)
