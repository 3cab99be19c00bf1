// Failures that the device finds behind the host's back.
#include "cvl/failure.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

#include "cuda/under_test.hpp"
#include "cvl-cpu/cpu_backend.hpp"

namespace {

using cvl::Failure;
using cvl::Segdes;
using cvl::Value;
using cvl::Vector;
using vcode::ErrorCode;
using vcode::Op;
using vcode::Type;

constexpr std::int64_t kElements = 20000;

class Library {
 public:
  explicit Library(std::unique_ptr<cvl::Backend> backend) : backend_(std::move(backend)) {}

  cvl::Backend& backend() { return *backend_; }
  Vector ints(const std::vector<std::int32_t>& elements) {
    return backend_->upload(Type::Int, elements.data(), static_cast<std::int64_t>(elements.size()));
  }
  Value run(std::uint32_t origin, Op op, std::vector<Value> operands) {
    Value results[vcode::kMaxResults];
    backend_->origin = origin;
    backend_->execute(op, Type::Int, operands.data(), results);
    return results[0];
  }
  Failure failure() {
    try {
      backend_->synchronize();
    } catch (const Failure& failure) {
      return failure;
    }
    FAIL("no failure was reported");
    return Failure(ErrorCode::Internal, "");
  }

 private:
  std::unique_ptr<cvl::Backend> backend_;
};

Library emulated() {
  return Library(make_under_test());
}
Library cpu() {
  return Library(std::make_unique<cvl::cpu::CpuBackend>(cvl::cpu::CpuOptions()));
}

std::vector<std::int32_t> counting(std::int64_t length) {
  std::vector<std::int32_t> elements(static_cast<std::size_t>(length));
  std::iota(elements.begin(), elements.end(), 0);
  return elements;
}

}  // namespace

TEST_CASE("the first failing operation and its lowest position are reported") {
  Library cuda = emulated();
  std::vector<std::int32_t> bad = counting(kElements);
  bad[17000] = -5;
  bad[12345] = 999999;
  const Segdes single = Segdes::single(kElements);
  const Value values = cuda.ints(counting(kElements));
  cuda.run(1, Op::BPermute, {values, cuda.ints(counting(kElements)), single, single});
  cuda.run(2, Op::BPermute, {values, cuda.ints(bad), single, single});
  cuda.run(3, Op::Divide, {values, values});  // divides by 0 at position 0
  const Failure failure = cuda.failure();
  CHECK(failure.code() == ErrorCode::IndexOutOfRange);
  CHECK(failure.origin() == 2U);
  CHECK(failure.message() == "index 999999 is out of range in `BPERMUTE`");
  REQUIRE(failure.notes().size() == 1);
  CHECK(failure.notes()[0].find("element 12345 ") != std::string::npos);

  // The record is free again afterwards.
  cuda.backend().synchronize();
  cuda.run(9, Op::Divide, {values, values});
  const Failure second = cuda.failure();
  CHECK(second.code() == ErrorCode::DivisionByZero);
  CHECK(second.origin() == 9U);
}

TEST_CASE("of many failures at once the one at the lowest position is reported") {
  Library cuda = emulated();
  const Value ones = cuda.ints(std::vector<std::int32_t>(kElements, 1));
  std::vector<std::int32_t> divisors(kElements, 1);
  std::fill(divisors.begin() + 33, divisors.begin() + 600, 0);
  for (int round = 0; round < 5; ++round) {
    cuda.run(1, Op::Divide, {ones, cuda.ints(divisors)});
    const Failure failure = cuda.failure();
    CHECK(failure.code() == ErrorCode::DivisionByZero);
    REQUIRE_FALSE(failure.notes().empty());
    CHECK(failure.notes()[0].find("element 33 ") != std::string::npos);
  }
}

TEST_CASE("an earlier failure of the device comes before a later one of the host") {
  Library cuda = emulated();
  const Value values = cuda.ints(counting(kElements));
  cuda.run(4, Op::Modulo, {values, values});
  try {
    cuda.run(5, Op::Divide, {cuda.ints({1}), cuda.ints({0})});
    FAIL("must fail");
  } catch (const Failure& failure) {
    CHECK(failure.origin() == 4U);
  }
}

TEST_CASE("waits inside operations report failures too") {
  Library cuda = emulated();
  const Value values = cuda.ints(counting(kElements));
  cuda.run(6, Op::Rand, {values});  // a bound of 0
  CHECK_THROWS_AS(cuda.run(7, Op::MakeSegdes, {values}), Failure);

  std::vector<std::int32_t> lengths = counting(kElements);
  lengths[777] = -3;
  CHECK_THROWS_WITH(cuda.run(8, Op::MakeSegdes, {cuda.ints(lengths)}),
                    "a segment cannot have -3 elements");
}

TEST_CASE("both libraries use the same words") {
  std::vector<std::int32_t> bad = counting(kElements);
  bad[500] = -1;
  bad[900] = 0;
  const Segdes single = Segdes::single(kElements);
  const auto provoke = [&](Library library, Op op) {
    const Value good = library.ints(counting(kElements));
    const Value wrong = library.ints(bad);
    std::vector<Value> operands;
    switch (op) {
      case Op::Divide:
        operands = {good, wrong};
        break;
      case Op::Permute:
        operands = {good, wrong, single};
        break;
      default:
        operands = {wrong};
    }
    try {
      library.run(0, op, operands);
      library.backend().synchronize();
    } catch (const Failure& failure) {
      std::string text = failure.message();
      for (const std::string& note : failure.notes()) text += "|" + note;
      return text + "|" + failure.hint();
    }
    return std::string("no failure");
  };
  for (const Op op : {Op::Divide, Op::Permute, Op::Rand, Op::MakeSegdes}) {
    CHECK(provoke(emulated(), op) == provoke(cpu(), op));
  }
}

TEST_CASE("lack of device memory is a failure with sizes, and the library goes on afterwards") {
  cvl::cuda::CudaOptions options;
  options.memory_limit = std::size_t{64} << 20;
  Library cuda(make_under_test(options));
  const Segdes many = Segdes::regular(2, std::int64_t{100} << 20);
  CHECK_THROWS_WITH(cuda.run(0, Op::Distribute, {cuda.ints({1, 2}), many}), "out of memory");
  const Value values = cuda.ints(counting(kElements));
  CHECK(cuda.run(1, Op::Add, {values, values}).vector().length == kElements);
}

TEST_CASE("what an operation uses is not given up for its results") {
  constexpr std::int64_t kMany = std::int64_t{2} << 20;  // 8 MiB of INT, and 16 of winners
  cvl::cuda::CudaOptions options;
  options.memory_limit = std::size_t{64} << 20;
  Library cuda(make_under_test(options));
  const Segdes single = Segdes::single(kMany);
  const Value values = cuda.ints(counting(kMany)), index = cuda.ints(counting(kMany));
  const auto permute = [&] { return cuda.run(0, Op::Permute, {values, index, single, single}); };
  CHECK(permute().vector().length == kMany);
  std::vector<Value> ballast;
  const auto fill = [&] {
    for (std::uint32_t k = 0; k < 10; ++k) ballast.push_back(cuda.run(k, Op::Add, {values, index}));
  };
  CHECK_THROWS_WITH(fill(), "out of memory");
  // The winners of the last permutation are given up for the ballast, and those of the next one
  // leave no room for its result.
  ballast.resize(ballast.size() - 2);
  CHECK_THROWS_WITH(permute(), "out of memory");
  ballast.clear();
  CHECK(permute().vector().length == kMany);
  cuda.backend().synchronize();
}
