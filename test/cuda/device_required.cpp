// The tests of this folder on a real device; without one, one sentence and status 77.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <cstdio>
#include <cstdlib>

#include <catch2/catch.hpp>

#include "cvl-cuda/make_backend.hpp"
#include "skip.hpp"

namespace {

struct DeviceRequired : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;

  void testRunStarting(const Catch::TestRunInfo&) override {
    const std::string reason = cvl::cuda::cuda_unavailable_reason();
    if (reason.empty()) return;
    std::printf("skipped: %s\n", reason.c_str());
    std::exit(testing::kSkipped);
  }
};

CATCH_REGISTER_LISTENER(DeviceRequired)

}  // namespace
