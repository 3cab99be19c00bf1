// When a device is opened, and what that costs.
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cuda/cuda_backend.hpp"
#include "cvl/failure.hpp"
#include "vcode/parser.hpp"

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
  options.threads = 1;
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

/// Devices are opened when the host has visited so many elements of long vectors, as long as this
/// lives.
class UnopenedWork {
 public:
  explicit UnopenedWork(std::int64_t elements) { cvl::cuda::tuning.unopened_work = elements; }
  ~UnopenedWork() { cvl::cuda::tuning.unopened_work = cvl::cuda::Tuning().unopened_work; }
  UnopenedWork(const UnopenedWork&) = delete;
  UnopenedWork& operator=(const UnopenedWork&) = delete;
};

/// A length that is spelled out, and one that is computed.
constexpr const char* kKernels = R"(FCODE 3
KERNEL k
IN
OUT s : VEC INT 1
DO
  s = REDUCE 200000 ( i => i ) + INT
SPEC
  CONST INT 0
END
KERNEL longer
IN x : VEC INT n
OUT y : VEC INT m
DO
  SIZE m = (* INT n 200000)
  y = MAP m ( i => i )
SPEC
  POP 1 0
  CONST INT 0
END
FUNC MAIN RET
)";

}  // namespace

TEST_CASE("opening a device pins one mebibyte, and copies nothing") {
  Backend backend{cvl::cuda::CudaOptions()};
  CHECK(opened(backend));
  CHECK(backend.device().pinned_bytes() == kMebibyte);
  CHECK(backend.device().counters().uploads == 0);
}

TEST_CASE("a device that may be left alone is opened when the host has done enough") {
  const std::int64_t most = cvl::cuda::tuning.unopened_elements;
  const UnopenedWork work(4 * most);
  Backend backend(optional());
  CHECK(sum_to(backend, 10) == 55);
  CHECK(sum_to(backend, 40000) == 800020000);
  Value constant[] = {cvl::make_int(backend.widths(), 7), Segdes::single(most)};
  Value result;
  backend.execute(Op::Distribute, Type::Int, constant, &result);
  backend.synchronize();
  const auto sum = [&] {
    CHECK(sum_to(backend, 2 * most) == static_cast<std::int32_t>(most * (2 * most + 1)));
  };
  sum();
  for (int round = 0; round < 10; ++round) CHECK(sum_to(backend, 40000) == 800020000);
  CHECK_FALSE(opened(backend));
  CHECK(backend.device().pinned_bytes() == 0);
  sum();
  CHECK(opened(backend));
  CHECK(backend.device().pinned_bytes() >= kMebibyte);
  // From then on, what is worth a launch is worth the device.
  const std::uint64_t before = backend.device().counters().launches;
  CHECK(sum_to(backend, 40000) == 800020000);
  CHECK(backend.device().counters().launches > before);
}

TEST_CASE("a device is opened at once for an operation that is work enough") {
  const std::int64_t most = cvl::cuda::tuning.unopened_elements;
  const UnopenedWork work(2 * most);
  Backend backend(optional());
  Value constant[] = {cvl::make_int(backend.widths(), 7), Segdes::single(2 * most)};
  Value result;
  backend.execute(Op::Distribute, Type::Int, constant, &result);
  CHECK(opened(backend));
}

TEST_CASE("what a kernel spells out is work, and so is what it makes") {
  vcode::Diagnostics diagnostics;
  const auto program =
      vcode::parse(std::make_shared<const vcode::Source>("kernels", kKernels), diagnostics);
  REQUIRE(program);

  Value none;
  {
    const UnopenedWork work(200000);
    Backend backend(optional());
    Value sum;
    backend.run(*backend.prepare(program->kernels[0]), &none, &sum);
    CHECK(opened(backend));
  }
  const UnopenedWork work(800000);
  Backend backend(optional());
  const auto kernel = backend.prepare(program->kernels[1]);
  for (const bool enough : {false, true}) {
    Value one = cvl::make_int(backend.widths(), 1), made;
    REQUIRE(backend.run(*kernel, &one, &made));
    CHECK(made.vector().length == 200000);
    Value sums[] = {made, Segdes::single(made.vector().length)};
    Value sum;
    backend.execute(Op::AddReduce, Type::Int, sums, &sum);
    CHECK(opened(backend) == enough);
  }
}

TEST_CASE("long vectors of the host are operands of a device that is opened later") {
  const std::int64_t most = cvl::cuda::tuning.unopened_elements;
  const UnopenedWork work(most + 1);
  Backend backend(optional());
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
  const UnopenedWork work(0);
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
