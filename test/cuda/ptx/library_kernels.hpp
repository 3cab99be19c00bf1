// The kernels of the library, in the PTX that nvcc has made of its .cu files.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cvl::cuda::ptx {

/// How often each of them was launched by this program, by readable names.
std::map<std::string, std::uint64_t> library_launches();
/// Instructions that all devices of this program have run, of generated kernels, too.
std::uint64_t instructions_run();

}  // namespace cvl::cuda::ptx
