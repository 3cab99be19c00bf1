// The device of a rehearsal: one of those of the tests. NESL_REHEARSAL=hang or =crash is what it
// does when something is to be measured.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "bench/gpu-report/meter.hpp"
#include "cvl-cuda/make_emulated_backend.hpp"

namespace gpu_report {
namespace {

std::unique_ptr<cvl::Backend> make_backend() {
  cvl::cuda::CudaOptions options;
  options.host_elements = 0;
  return cvl::cuda::make_emulated_backend(options);
}

class RehearsalMeter final : public Meter {
 public:
  cvl::Backend& backend() override { return *backend_; }
  std::unique_ptr<cvl::Backend> all_on_device() override { return make_backend(); }
  std::string device() const override { return backend_->description(); }
  double seconds(const std::function<void()>& work) override {
    const char* mood = std::getenv("NESL_REHEARSAL");
    if (mood != nullptr && std::string(mood) == "crash") std::raise(SIGSEGV);
    if (mood != nullptr && std::string(mood) == "hang") {
      std::this_thread::sleep_for(std::chrono::hours(1));
    }
    const auto begin = std::chrono::steady_clock::now();
    work();
    backend_->synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::function<void()> baseline(Baseline which, std::int64_t, const std::vector<cvl::Value>&,
                                 const std::vector<std::int64_t>&) override {
    if (which == Baseline::None) return {};
    return [this] { backend_->synchronize(); };
  }

 private:
  std::unique_ptr<cvl::Backend> backend_ = make_backend();
};

}  // namespace

std::unique_ptr<Meter> make_meter() {
  return std::make_unique<RehearsalMeter>();
}

std::string no_device() {
  return {};
}

}  // namespace gpu_report
