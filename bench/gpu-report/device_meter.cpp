// Times by CUDA events on the stream of the library.
#include "bench/gpu-report/baselines.hpp"
#include "bench/gpu-report/meter.hpp"
#include "cvl-cuda/cuda_backend.hpp"
#include "cvl-cuda/cuda_call.hpp"
#include "cvl/failure.hpp"

namespace gpu_report {
namespace {

class DeviceMeter final : public Meter {
 public:
  DeviceMeter() : backend_(cvl::cuda::CudaOptions()) {
    CUDA_CALL(cudaEventCreate(&begin_));
    CUDA_CALL(cudaEventCreate(&end_));
  }
  ~DeviceMeter() override {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  cvl::Backend& backend() override { return backend_; }
  std::unique_ptr<cvl::Backend> all_on_device() override {
    cvl::cuda::CudaOptions options;
    options.host_elements = 0;
    return cvl::cuda::make_cuda_backend(options);
  }
  std::string device() const override { return backend_.description(); }
  double seconds(const std::function<void()>& work) override {
    const cudaStream_t stream = stream_of_library();
    CUDA_CALL(cudaEventRecord(begin_, stream));
    work();
    CUDA_CALL(cudaEventRecord(end_, stream));
    CUDA_CALL(cudaEventSynchronize(end_));
    float milliseconds = 0;
    CUDA_CALL(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return static_cast<double>(milliseconds) / 1e3;
  }
  std::function<void()> baseline(Baseline which, std::int64_t length,
                                 const std::vector<cvl::Value>& operands,
                                 const std::vector<std::int64_t>& offsets) override {
    std::function<void()> run;
    try {
      const BaselineCall call{which, length, arrays_of(operands), offsets, stream_of_library()};
      run = transform_baseline(call);
      if (!run) run = fold_baseline(call);
      if (!run) run = order_baseline(call);
    } catch (const cvl::Failure&) {
      run = {};  // no memory for the arrays of this size
    }
    CUDA_CALL(cudaDeviceSynchronize());  // arrays are made on other streams
    return run;
  }

 private:
  cudaStream_t stream_of_library() { return cvl::cuda::native::stream_of(backend_.device()); }
  /// Where the elements of the operands are; null for what is in no memory.
  std::vector<const void*> arrays_of(const std::vector<cvl::Value>& operands) {
    backend_.synchronize();
    std::vector<const void*> arrays;
    for (const cvl::Value& operand : operands) {
      if (!operand.is_vector()) continue;
      const cvl::Vector& vector = operand.vector();
      arrays.push_back(backend_.on_device(vector) ? vector.buffer->data : nullptr);
    }
    return arrays;
  }

  cvl::cuda::native::CudaBackend backend_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace

std::unique_ptr<Meter> make_meter() {
  return std::make_unique<DeviceMeter>();
}

std::string no_device() {
  return cvl::cuda::cuda_unavailable_reason();
}

}  // namespace gpu_report
