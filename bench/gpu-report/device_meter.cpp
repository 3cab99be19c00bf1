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
  std::string device() const override { return backend_.description(); }
  double seconds(const std::function<void()>& work) override {
    const cudaStream_t stream = cvl::cuda::native::stream_of(backend_.device());
    CUDA_CALL(cudaEventRecord(begin_, stream));
    work();
    CUDA_CALL(cudaEventRecord(end_, stream));
    CUDA_CALL(cudaEventSynchronize(end_));
    float milliseconds = 0;
    CUDA_CALL(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return static_cast<double>(milliseconds) / 1e3;
  }
  std::function<void()> baseline(Baseline which, std::int64_t length,
                                 const std::vector<std::int64_t>& offsets) override {
    try {
      const cudaStream_t stream = cvl::cuda::native::stream_of(backend_.device());
      if (Work work = transform_baseline(which, length, stream)) return work;
      if (Work work = fold_baseline(which, length, offsets, stream)) return work;
      return order_baseline(which, length, stream);
    } catch (const cvl::Failure&) {
      return {};  // no memory for the arrays of this size
    }
  }

 private:
  cvl::cuda::native::CudaBackend backend_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace

std::unique_ptr<Meter> make_device_meter() {
  return std::make_unique<DeviceMeter>();
}

}  // namespace gpu_report
