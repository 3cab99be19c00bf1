// The device of the CUDA runtime: one stream, memory, pinned staging.

#include <algorithm>
#include <cstring>
#include <cuda_runtime.h>
#include <unistd.h>

#include <fmt/core.h>

#include "cvl-cuda/cuda_call.hpp"
#include "cvl-cuda/make_backend.hpp"
#include "cvl-cuda/tuning.hpp"
#include "cvl/failure.hpp"

namespace cvl::cuda {
namespace native {
namespace {

using vcode::ErrorCode;

const char* base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

/// Memory of the device. The heap cuts regions from it and keeps them, so that after the first
/// round of a loop no call reaches the driver. A stream-ordered pool would do that too, but takes 9
/// ms for its first block.
class DeviceMemory final : public MemorySource {
 public:
  /// Before any other call. `free` are the bytes that may be had.
  void open(std::size_t free) { free_ = free; }

  std::size_t limit() const override { return free_; }
  void* acquire(std::size_t bytes) noexcept override {
    void* data = nullptr;
    if (cudaMalloc(&data, bytes) == cudaSuccess) return data;
    cudaGetLastError();  // the heap reports that there is no memory
    return nullptr;
  }
  /// Waits for the device, which may still work on it.
  void release(void* data, std::size_t) noexcept override { cudaFree(data); }

 private:
  std::size_t free_ = 0;
};

class MappedMemory final : public MemorySource {
 public:
  void* acquire(std::size_t bytes) noexcept override {
    void* data = nullptr;
    if (cudaHostAlloc(&data, bytes, cudaHostAllocMapped | cudaHostAllocPortable) == cudaSuccess) {
      held_ += bytes;
      return data;
    }
    cudaGetLastError();
    return nullptr;
  }
  void release(void* data, std::size_t bytes) noexcept override {
    cudaFreeHost(data);
    held_ -= bytes;
  }
  std::size_t region_bytes() const noexcept override { return kMappedRegionBytes; }
  std::size_t held() const { return held_; }

 private:
  std::size_t held_ = 0;
};

cudaStream_t make_stream(int ordinal) {
  CUDA_CALL(cudaSetDevice(ordinal));
  cudaStream_t stream = nullptr;
  CUDA_CALL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

}  // namespace

void check_cuda(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // take it away, so that the next call does not report it again
  throw Failure(
      error == cudaErrorMemoryAllocation ? ErrorCode::OutOfMemory : ErrorCode::Internal,
      fmt::format("CUDA call failed: {} ({})", cudaGetErrorString(error), cudaGetErrorName(error)),
      {fmt::format("{}:{}: {}", base_name(file), line, call)});
}

struct Device::State {
  explicit State(int device) : ordinal(device) {}
  void open() {
    stream = make_stream(ordinal);
    std::size_t free = 0;
    CUDA_CALL(cudaMemGetInfo(&free, &total));
    memory.open(free);
    for (cudaEvent_t& event : staged) {
      CUDA_CALL(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
  }
  ~State() {
    if (stream == nullptr) return;
    cudaStreamSynchronize(stream);
    for (const cudaEvent_t event : staged) {
      if (event != nullptr) cudaEventDestroy(event);
    }
    for (std::byte* memory_of_half : staging) cudaFreeHost(memory_of_half);
    cudaStreamDestroy(stream);
  }

  /// The other half of the staging area, when the device no longer reads or writes it.
  std::byte* next_half() {
    half ^= 1;
    CUDA_CALL(cudaEventSynchronize(staged[half]));
    used = 0;
    return staging_half();
  }
  /// The half that is in use, pinned when it is needed for the first time.
  std::byte* staging_half() {
    if (staging[half] == nullptr) {
      CUDA_CALL(cudaHostAlloc(reinterpret_cast<void**>(&staging[half]), half_bytes,
                              cudaHostAllocDefault));
    }
    return staging[half];
  }
  void mark_half() { CUDA_CALL(cudaEventRecord(staged[half], stream)); }

  int ordinal;
  cudaStream_t stream = nullptr;
  DeviceMemory memory;
  MappedMemory mapped;
  std::size_t total = 0;
  const std::size_t half_bytes = static_cast<std::size_t>(tuning.staging_bytes);
  std::byte* staging[2] = {};
  cudaEvent_t staged[2] = {};  // the last copy of each half
  int half = 0;
  std::size_t used = 0;  // bytes of the current half that hold uploads
};

cudaStream_t stream_of(Device& device) {
  return device.state().stream;
}

int compute_capability_of(Device& device) {
  const int ordinal = device.state().ordinal;
  int major = 0, minor = 0;
  CUDA_CALL(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal));
  CUDA_CALL(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal));
  return major * 10 + minor;
}

Device::Device(int ordinal) : state_(std::make_unique<State>(ordinal)) {}
Device::~Device() = default;

void Device::open() {
  const std::string reason = cuda_unavailable_reason();
  if (!reason.empty()) throw Failure(ErrorCode::NoBackend, reason);
  int count = 0;
  CUDA_CALL(cudaGetDeviceCount(&count));
  if (state_->ordinal >= count) {
    throw Failure(ErrorCode::NoBackend,
                  fmt::format("there is no device {} (devices count from 0, and there are {})",
                              state_->ordinal, count));
  }
  // The host waits for single values: spinning saves the wake-up.
  CUDA_CALL(cudaInitDevice(state_->ordinal, cudaDeviceScheduleSpin | cudaDeviceMapHost,
                           cudaInitDeviceFlagsAreValid));
  state_->open();
}

std::string Device::description() const {
  cudaDeviceProp properties;
  CUDA_CALL(cudaGetDeviceProperties(&properties, state_->ordinal));
  return fmt::format("{}, {}, compute capability {}.{}", properties.name,
                     format_bytes(state_->total), properties.major, properties.minor);
}

std::size_t Device::pinned_bytes() const {
  std::size_t bytes = state_->mapped.held();
  for (const std::byte* half : state_->staging) {
    if (half != nullptr) bytes += state_->half_bytes;
  }
  return bytes;
}
MemorySource& Device::memory() {
  return state_->memory;
}
MemorySource& Device::mapped_memory() {
  return state_->mapped;
}

void Device::upload(void* target, const void* source, std::size_t bytes) {
  counters_.uploads += 1;
  counters_.upload_bytes += bytes;
  idle_ = false;
  State& state = *state_;
  const auto* from = static_cast<const std::byte*>(source);
  auto* to = static_cast<std::byte*>(target);
  while (bytes > 0) {
    // Small copies share a half; a large one takes fresh halves in turn.
    if (state.used == state.half_bytes ||
        (state.used > 0 && state.used + bytes > state.half_bytes)) {
      state.next_half();
    }
    const std::size_t part = std::min(bytes, state.half_bytes - state.used);
    std::byte* staged = state.staging_half() + state.used;
    std::memcpy(staged, from, part);
    CUDA_CALL(cudaMemcpyAsync(to, staged, part, cudaMemcpyHostToDevice, state.stream));
    state.mark_half();
    state.used = std::min(state.half_bytes, state.used + (part + 63) / 64 * 64);
    from += part;
    to += part;
    bytes -= part;
  }
}

void Device::download(void* target, const void* source, std::size_t bytes) {
  counters_.downloads += 1;
  counters_.download_bytes += bytes;
  State& state = *state_;
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(source);
  // One part is on its way while the host copies the one before it.
  std::byte* previous = nullptr;
  std::size_t previous_bytes = 0;
  const auto take = [&](int half) {
    CUDA_CALL(cudaEventSynchronize(state.staged[half]));
    std::memcpy(to, previous, previous_bytes);
    to += previous_bytes;
  };
  while (bytes > 0) {
    std::byte* staged = state.next_half();
    const std::size_t part = std::min(bytes, state.half_bytes);
    CUDA_CALL(cudaMemcpyAsync(staged, from, part, cudaMemcpyDeviceToHost, state.stream));
    state.mark_half();
    if (previous != nullptr) take(state.half ^ 1);
    previous = staged;
    previous_bytes = part;
    from += part;
    bytes -= part;
  }
  if (previous != nullptr) take(state.half);
  state.used = state.half_bytes;  // uploads begin with a fresh half
  wait();
}

void Device::copy(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  idle_ = false;
  CUDA_CALL(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, state_->stream));
}

void Device::fill(void* target, std::uint8_t byte, std::size_t bytes) {
  if (bytes == 0) return;
  idle_ = false;
  CUDA_CALL(cudaMemsetAsync(target, byte, bytes, state_->stream));
}

void Device::wait() {
  counters_.waits += 1;
  CUDA_CALL(cudaStreamSynchronize(state_->stream));
  idle_ = true;
}

}  // namespace native

bool cuda_built() {
  return true;
}

std::string cuda_unavailable_reason() {
  int count = 0;  // not written on error
  const cudaError_t error = cudaGetDeviceCount(&count);
  cudaGetLastError();
  int driver = 0;
  cudaDriverGetVersion(&driver);
  if (driver == 0) return "no NVIDIA driver was found";
  if (error == cudaErrorInsufficientDriver) {
    return fmt::format(
        "the NVIDIA driver is too old: it supports CUDA {}.{}, this program needs {}.{}",
        driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
    return "there is an NVIDIA driver but no device that it can use";
  }
  if (error != cudaSuccess) {
    return fmt::format("the NVIDIA driver cannot be used: {}", cudaGetErrorString(error));
  }
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
    cudaGetLastError();
    return "the NVIDIA device cannot be queried";
  }
  if (properties.major * 10 + properties.minor < 75) {
    return fmt::format("the device {} has compute capability {}.{}; 7.5 or higher is needed",
                       properties.name, properties.major, properties.minor);
  }
  return {};
}

bool cuda_by_default() {
  // Without a driver the runtime looks for its library in dozens of folders before it says so.
  constexpr const char* kDriverFiles[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvmap"};
  return std::any_of(std::begin(kDriverFiles), std::end(kDriverFiles),
                     [](const char* file) { return access(file, F_OK) == 0; });
}

}  // namespace cvl::cuda
