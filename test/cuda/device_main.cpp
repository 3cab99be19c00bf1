// The tests of this folder on a real device; without one, one sentence and status 77.
#define CATCH_CONFIG_RUNNER
#include <cstdio>

#include <catch2/catch.hpp>

#include "cvl-cuda/make_backend.hpp"

int main(int argc, char** argv) {
  const std::string reason = cvl::cuda::cuda_unavailable_reason();
  if (!reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return 77;
  }
  return Catch::Session().run(argc, argv);
}
