#include "cuda/ptx/cub/runtime.hpp"

#include <cstring>
#include <cuda_runtime_api.h>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include <boost/core/demangle.hpp>
#include <fmt/format.h>

#include "cuda/ptx/fault.hpp"
#include "cuda/ptx/machine.hpp"
#include "cuda/ptx/text.hpp"
#include "cvl-cuda/cuda_call.hpp"

namespace cub_costs {
namespace {

using ptx_machine::Kernel;
using ptx_machine::Module;

/// The files, between colons.
constexpr const char* kFiles = BASELINE_PTX;
constexpr int kComputeCapability = 90;

/// Names of things without a linkage are made anew by each compilation; written out they agree.
std::string readable(const std::string& name) {
  return boost::core::demangle(name.c_str());
}

/// The modules, and what the host calls their kernels.
class Runtime {
 public:
  static Runtime& instance() {
    static Runtime runtime;
    return runtime;
  }

  void register_kernel(const void* host, const char* name) { names_[host] = readable(name); }

  void* allocate(std::size_t bytes) {
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    std::byte* data = memory_.acquire(rounded);
    if (data != nullptr) memory_.begin_use(data, bytes);
    return data;
  }
  void set_written(const void* data, std::size_t bytes) { memory_.set_written(data, bytes); }

  void launch(const void* host, const dim3& grid, const dim3& block, void** arguments) {
    load();
    const Entry& entry = entries_.at(names_.at(host));
    std::vector<std::byte> parameters;
    for (std::size_t k = 0; k < entry.parameters.size(); ++k) {
      const ptx_machine::Variable& parameter = entry.parameters[k];
      const std::size_t at =
          (parameters.size() + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
      parameters.resize(at + parameter.bytes);
      std::memcpy(parameters.data() + at, arguments[k], parameter.bytes);
    }
    Kernel& kernel = entry.module->kernel(entry.name);
    kernel.cost = {};
    std::vector<std::int64_t> order(grid.x);
    std::iota(order.begin(), order.end(), 0);
    machine_.run(kernel, order, block.x, parameters);
    costs.push_back({names_.at(host), kernel.cost});
  }

  std::vector<KernelCost> costs;
  struct {
    dim3 grid, block;
  } configuration;

 private:
  static constexpr std::size_t kAlignment = 512;  // what CUDA promises and more

  struct Entry {
    Module* module;
    std::string name;
    std::vector<ptx_machine::Variable> parameters;
  };

  Runtime() { machine_.count_costs(); }

  void load() {
    if (!entries_.empty()) return;
    std::istringstream files(kFiles);
    for (std::string file; std::getline(files, file, ':');) {
      std::ostringstream text;
      text << std::ifstream(file).rdbuf();
      modules_.push_back(std::make_unique<Module>(text.str(), memory_));
      for (ptx_machine::Routine& routine : ptx_machine::parse_module(text.str()).routines) {
        if (!routine.is_entry) continue;
        entries_[readable(routine.name)] = {modules_.back().get(), routine.name,
                                            std::move(routine.parameters)};
      }
    }
  }

  ptx_machine::Memory memory_;
  ptx_machine::Machine machine_{memory_, 1};
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<std::string, Entry> entries_;
  std::map<const void*, std::string> names_;
};

}  // namespace

std::vector<KernelCost> costs_of(const std::function<void()>& work) {
  Runtime::instance().costs.clear();
  work();
  return Runtime::instance().costs;
}

}  // namespace cub_costs

namespace cvl::cuda::native {

void check_cuda(cudaError_t error, const char* call, const char* file, int line) {
  if (error != cudaSuccess) {
    throw std::runtime_error(fmt::format("{}:{}: {}: error {}", file, line, call, int{error}));
  }
}

}  // namespace cvl::cuda::native

// ---- what nvcc and CUB call ----

using cub_costs::Runtime;

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  return nullptr;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) {
  return 0;
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  Runtime::instance().register_kernel(host, name);
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t, struct CUstream_st*) {
  Runtime::instance().configuration = {grid, block};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void*) {
  *grid = Runtime::instance().configuration.grid;
  *block = Runtime::instance().configuration.block;
  *shared = 0;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t, cudaStream_t) {
  Runtime::instance().launch(kernel, grid, block, arguments);
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* host,
                                void** arguments) {
  Runtime::instance().launch(host, config->gridDim, config->blockDim, arguments);
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  *data = Runtime::instance().allocate(bytes);
  return *data == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
cudaError_t cudaFree(void*) {
  return cudaSuccess;
}
cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  std::memset(data, value, bytes);
  Runtime::instance().set_written(data, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t) {
  return cudaMemset(data, value, bytes);
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  Runtime::instance().set_written(to, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) {
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
cudaError_t cudaPeekAtLastError() {
  return cudaSuccess;
}
/// Of an H100 or H200.
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = 132;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = cub_costs::kComputeCapability / 10;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = cub_costs::kComputeCapability % 10;
      return cudaSuccess;
    case cudaDevAttrMaxGridDimX:
      *value = 0x7FFFFFFF;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = 48 << 10;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->ptxVersion = attributes->binaryVersion = cub_costs::kComputeCapability;
  attributes->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*,
                                                                   int threads, std::size_t,
                                                                   unsigned) {
  *blocks = 1024 / threads;
  return cudaSuccess;
}

}  // extern "C"
