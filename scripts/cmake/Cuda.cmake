# Whether the CUDA vector library is built, and how. Sets NESL_HAVE_CUDA.
#
# CMake 3.25 does not know the C++20 flag of nvcc, and asks for a device when told `native`; both
# are worked around here, so that a machine without a GPU, or without nvcc, configures silently.
set(NESL_CUDA AUTO CACHE STRING "Build the CUDA vector library: AUTO, ON or OFF")
set_property(CACHE NESL_CUDA PROPERTY STRINGS AUTO ON OFF)
set(NESL_CUDA_ARCHITECTURES 75-virtual CACHE STRING
  "Device code: 75-virtual (the driver compiles it when first used), all-supported, or a CMake list")
set(NESL_HAVE_CUDA OFF)

set(nesl_try_cuda ON)
if(NESL_CUDA STREQUAL "OFF")
  set(nesl_try_cuda OFF)
elseif(NESL_CUDA STREQUAL "AUTO" AND (NESL_SANITIZE OR NESL_COVERAGE))
  # Instrumented builds check the same kernel code on the emulated device of the tests.
  set(nesl_try_cuda OFF)
endif()

if(nesl_try_cuda)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(NESL_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(NESL_NVCC)
    if(NESL_NVCC)
      set(CMAKE_CUDA_COMPILER ${NESL_NVCC})
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NESL_CUDA_ARCHITECTURES STREQUAL "all-supported")
      # Every architecture of CUDA 13 that a card with its own memory has, and PTX for newer ones.
      set(CMAKE_CUDA_ARCHITECTURES
        75-real 80-real 86-real 89-real 90-real 100-real 120-real 120-virtual)
    else()
      set(CMAKE_CUDA_ARCHITECTURES ${NESL_CUDA_ARCHITECTURES})
    endif()
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    find_package(CUDAToolkit REQUIRED)
    set(NESL_HAVE_CUDA ON)
  elseif(NESL_CUDA STREQUAL "ON")
    message(FATAL_ERROR "NESL_CUDA=ON, but no CUDA compiler was found (set CUDACXX)")
  endif()
endif()
