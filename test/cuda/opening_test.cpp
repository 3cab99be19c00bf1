// When a device is opened, and what that costs.
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cuda/cuda_backend.hpp"
#include "cvl/failure.hpp"

#if defined(CVL_CUDA_EMULATED)
#include "cvl-cuda/emulated_device.hpp"
#endif

namespace {

using cvl::Segdes;
using cvl::Value;
using vcode::Op;
using vcode::Type;
using Backend = cvl::cuda::CVL_CUDA_TARGET::CudaBackend;

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

cvl::cuda::CudaOptions optional() {
  cvl::cuda::CudaOptions options;
  options.required = false;
  return options;
}

/// The sum of 1 to n.
std::int64_t sum_to(Backend& backend, std::int64_t n) {
  std::vector<std::int32_t> elements(static_cast<std::size_t>(n));
  std::iota(elements.begin(), elements.end(), 1);
  Value operands[] = {backend.upload(Type::Int, elements.data(), n), Segdes::single(n)};
  Value sum;
  backend.execute(Op::AddReduce, Type::Int, operands, &sum);
  return cvl::read_int(backend, sum.vector());
}

bool opened(const Backend& backend) {
  return backend.description().find("no device yet") == std::string::npos;
}

}  // namespace

TEST_CASE("opening a device pins one mebibyte, and copies nothing") {
  Backend backend{cvl::cuda::CudaOptions()};
  CHECK(opened(backend));
  CHECK(backend.device().pinned_bytes() == kMebibyte);
  CHECK(backend.device().counters().uploads == 0);
}

TEST_CASE("a device that may be left alone is opened for the first long vector") {
  Backend backend(optional());
  const std::int64_t most = cvl::cuda::tuning.unopened_elements;
  CHECK(sum_to(backend, 10) == 55);
  CHECK(sum_to(backend, 40000) == 800020000);
  Value constant[] = {cvl::make_int(backend.widths(), 7), Segdes::single(most)};
  Value result;
  backend.execute(Op::Distribute, Type::Int, constant, &result);
  backend.synchronize();
  CHECK_FALSE(opened(backend));
  CHECK(backend.device().pinned_bytes() == 0);

  CHECK(sum_to(backend, 2 * most) == static_cast<std::int32_t>(most * (2 * most + 1)));
  CHECK(opened(backend));
  CHECK(backend.device().pinned_bytes() >= kMebibyte);
  // From then on, what is worth a launch is worth the device.
  const std::uint64_t before = backend.device().counters().launches;
  CHECK(sum_to(backend, 40000) == 800020000);
  CHECK(backend.device().counters().launches > before);
}

TEST_CASE("long vectors of the host are operands of a device that is opened later") {
  Backend backend(optional());
  const std::int64_t most = cvl::cuda::tuning.unopened_elements;
  std::vector<std::int32_t> elements(static_cast<std::size_t>(most), 3);
  const Value threes = backend.upload(Type::Int, elements.data(), most);
  REQUIRE_FALSE(opened(backend));
  sum_to(backend, most + 1);
  REQUIRE(opened(backend));
  Value operands[] = {threes, threes};
  Value sixes;
  backend.execute(Op::Add, Type::Int, operands, &sixes);
  Value folded[] = {sixes, Segdes::single(most)};
  Value sum;
  backend.execute(Op::AddReduce, Type::Int, folded, &sum);
  CHECK(cvl::read_int(backend, sum.vector()) == 6 * most);
}

#if defined(CVL_CUDA_EMULATED)

namespace {

/// Devices cannot be opened as long as this lives.
struct Absence {
  Absence() { set(true); }
  ~Absence() { set(false); }
  Absence(const Absence&) = delete;
  Absence& operator=(const Absence&) = delete;
  static void set(bool absent) { cvl::cuda::CVL_CUDA_TARGET::emulation_options().absent = absent; }
};

}  // namespace

TEST_CASE("where no device can be opened, the host goes on unless one is required") {
  const Absence absence;
  Backend backend(optional());
  CHECK(sum_to(backend, 10) == 55);
  CHECK(backend.notes().empty());
  const std::int64_t n = 10 * cvl::cuda::tuning.unopened_elements;
  for (int round = 0; round < 2; ++round) {
    CHECK(sum_to(backend, n) == static_cast<std::int32_t>(n / 2 * (n + 1)));
  }
  CHECK(backend.device().counters().launches == 0);
  REQUIRE(backend.notes().size() == 1);
  CHECK(backend.notes()[0] == "everything is computed on the host: there is no device");
  CHECK_THROWS_AS(Backend(cvl::cuda::CudaOptions()), cvl::Failure);
}

#endif
