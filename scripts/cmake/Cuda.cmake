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
      set(NESL_CUDA_ALL_SUPPORTED 75 80 86 89 90 100 120)
      list(TRANSFORM NESL_CUDA_ALL_SUPPORTED APPEND -real OUTPUT_VARIABLE CMAKE_CUDA_ARCHITECTURES)
      list(APPEND CMAKE_CUDA_ARCHITECTURES 120-virtual)
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
    # Machine code for several architectures is made side by side and packed tightly.
    string(APPEND CMAKE_CUDA_FLAGS " --threads 2 --compress-mode=size")
    find_package(CUDAToolkit REQUIRED)
    set(NESL_HAVE_CUDA ON)
  elseif(NESL_CUDA STREQUAL "ON")
    message(FATAL_ERROR "NESL_CUDA=ON, but no CUDA compiler was found (set CUDACXX)")
  endif()
endif()

# For sources that use nothing beyond compute capability 7.5: with `all-supported` they are
# translated to PTX once, and only this PTX is compiled for every architecture. That takes less than
# half of the time of a translation per architecture. (CUB chooses its algorithms by the
# architecture of the translation and must not be compiled like this.)
function(nesl_cuda_translate_once target)
  if(NOT NESL_CUDA_ALL_SUPPORTED)
    return()
  endif()
  set_property(TARGET ${target} PROPERTY CUDA_ARCHITECTURES OFF)
  foreach(architecture IN LISTS NESL_CUDA_ALL_SUPPORTED)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-gencode arch=compute_75,code=sm_${architecture}>")
  endforeach()
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-gencode arch=compute_75,code=compute_75>")
endfunction()
