// vinterp's --compare: the libraries run side by side, and a wrong one is found out.
#include "machine/compare.hpp"

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cuda/under_test.hpp"
#include "cvl-cpu/cpu_backend.hpp"
#include "cvl/failure.hpp"
#include "vcode/parser.hpp"

namespace {

using cvl::Segdes;
using cvl::Value;
using cvl::Vector;
using vcode::Op;
using vcode::Type;
using vinterp::CompareBackend;

std::unique_ptr<cvl::Backend> make_cpu() {
  return std::make_unique<cvl::cpu::CpuBackend>(cvl::cpu::CpuOptions());
}
std::unique_ptr<cvl::Backend> make_emulated() {
  return make_under_test();
}

/// The CPU library, but what it says of one operation, or of kernels, is wrong in the last element:
/// an INT is off by one, a FLOAT is 1, or off by a factor; a failure has another place.
class WrongBackend final : public cvl::Backend {
 public:
  struct OfKernels {
    double factor = 0;
  };

  explicit WrongBackend(Op wrong) : wrong_(wrong), inner_(make_cpu()) {}
  explicit WrongBackend(OfKernels wrong)
      : wrong_kernels_(true), factor_(wrong.factor), inner_(make_cpu()) {}

  std::string_view name() const override { return "wrong"; }
  std::string description() const override { return "wrong on purpose"; }
  cvl::Widths widths() const override { return inner_->widths(); }
  cvl::Heap& heap() override { return inner_->heap(); }
  void execute(Op op, Type type, Value* operands, Value* results) override {
    try {
      inner_->execute(op, type, operands, results);
    } catch (const cvl::Failure& failure) {
      if (op != wrong_) throw;
      throw cvl::Failure(failure.code(), failure.message(), {"somewhere else"});
    }
    if (op == wrong_) spoil(results[0].vector());
  }
  std::unique_ptr<cvl::PreparedKernel> prepare(const vcode::Kernel& kernel) override {
    return inner_->prepare(kernel);
  }
  bool run(cvl::PreparedKernel& kernel, Value* operands, Value* results) override {
    const bool ran = inner_->run(kernel, operands, results);
    if (ran && wrong_kernels_) spoil(results[0].vector());
    return ran;
  }
  Vector upload(Type type, const void* elements, std::int64_t length) override {
    return inner_->upload(type, elements, length);
  }
  void download(const Vector& vector, std::int64_t begin, std::int64_t count,
                void* elements) override {
    inner_->download(vector, begin, count, elements);
  }
  void seed(std::uint64_t seed) override { inner_->seed(seed); }
  void synchronize() override { inner_->synchronize(); }

 private:
  void spoil(Vector& vector) {
    if (vector.type == Type::Int) {
      change_last<std::int32_t>(vector, [](std::int32_t& last) { last += 1; });
    } else {
      change_last<double>(vector, [&](double& last) { last = factor_ == 0 ? 1 : factor_ * last; });
    }
  }
  template <class T, class Change>
  void change_last(Vector& vector, Change change) {
    std::vector<T> elements(static_cast<std::size_t>(vector.length));
    inner_->download(vector, 0, vector.length, elements.data());
    change(elements.back());
    vector = inner_->upload(vector.type, elements.data(), vector.length);
  }

  std::optional<Op> wrong_;
  bool wrong_kernels_ = false;
  double factor_ = 0;
  std::unique_ptr<cvl::Backend> inner_;
};

/// A little computation with every kind of value; returns the sum that it ends with.
std::int64_t compute(cvl::Backend& backend) {
  const auto run = [&](Op op, Type type, std::vector<Value> operands) {
    Value results[vcode::kMaxResults];
    backend.execute(op, type, operands.data(), results);
    return results[0];
  };
  std::vector<std::int32_t> elements(3000);
  std::iota(elements.begin(), elements.end(), 1);
  const Value numbers = backend.upload(Type::Int, elements.data(), 3000);
  const Segdes single = Segdes::single(3000);
  const Value scanned = run(Op::AddScan, Type::Int, {numbers, single});
  const Value floats = run(Op::IntToFloat, Type::Int, {scanned});
  const Value logs = run(Op::Log, Type::Int, {floats});
  run(Op::AddScan, Type::Float, {logs, single});
  const Value random = run(Op::Rand, Type::Int, {numbers});
  const Value parts = run(Op::MakeSegdes, Type::Int, {random});
  run(Op::Lengths, Type::Int, {parts});
  const Value ranks = run(Op::RankUp, Type::Int, {random, single});
  const Value sorted = run(Op::Permute, Type::Int, {random, ranks, single});
  const Value sum = run(Op::AddReduce, Type::Int, {sorted, single});
  return cvl::read_int(backend, sum.vector());
}

}  // namespace

TEST_CASE("libraries that agree") {
  CompareBackend compare(make_cpu(), make_emulated(), true);
  const std::unique_ptr<cvl::Backend> alone = make_cpu();
  CHECK(compute(compare) == compute(*alone));
  CHECK(compare.differences() == 0);
  const std::string report = compare.report();
  CHECK(report.find("cpu") != std::string::npos);
  CHECK(report.find("cuda") != std::string::npos);
  CHECK(report.find("+_SCAN FLOAT") != std::string::npos);
  CHECK(report.find("differ") == std::string::npos);
}

TEST_CASE("a wrong library is reported, and the run goes on") {
  CompareBackend compare(make_cpu(), std::make_unique<WrongBackend>(Op::RankUp), false);
  const std::unique_ptr<cvl::Backend> alone = make_cpu();
  CHECK(compute(compare) == compute(*alone));
  CHECK(compare.differences() == 1);
  CHECK(compare.report().find("RANK_UP INT differs: element 2999 of result 0 is ") !=
        std::string::npos);
}

TEST_CASE("or stops the run at the first difference") {
  CompareBackend compare(make_cpu(), std::make_unique<WrongBackend>(Op::RankUp), true);
  try {
    compute(compare);
    FAIL("must stop");
  } catch (const cvl::Failure& failure) {
    CHECK(failure.message() == "the vector libraries `cpu` and `wrong` differ in `RANK_UP INT`");
    REQUIRE(failure.notes().size() == 3);
    CHECK(failure.notes()[1].rfind("operand 0: ( ", 0) == 0);
    CHECK(failure.notes()[2] == "operand 1: [ 3000 ]");
  }
}

TEST_CASE("an infinity agrees with no other number") {
  CompareBackend compare(make_cpu(), std::make_unique<WrongBackend>(Op::Exp), false);
  const double arguments[] = {1, 2, 1000};
  Value operand = compare.upload(Type::Float, arguments, 3), result;
  compare.execute(Op::Exp, Type::Int, &operand, &result);
  CHECK(compare.differences() == 1);
  CHECK(compare.report().find("element 2 of result 0 is inf in cpu and 1 in wrong") !=
        std::string::npos);
}

TEST_CASE("failures agree if they say the same") {
  for (const Op wrong : {Op::Add, Op::Divide}) {
    CompareBackend compare(make_cpu(), std::make_unique<WrongBackend>(wrong), false);
    const std::int32_t numbers[] = {1, 2, 0, 4};
    Value operands[] = {compare.upload(Type::Int, numbers, 4),
                        compare.upload(Type::Int, numbers, 4)};
    Value result;
    CHECK_THROWS_AS(compare.execute(Op::Divide, Type::Int, operands, &result), cvl::Failure);
    CHECK(compare.differences() == (wrong == Op::Divide ? 1 : 0));
  }
}

namespace {

/// A program of kernels alone.
vcode::Program kernels(const std::string& text) {
  vcode::Diagnostics diagnostics;
  auto program = vcode::parse(std::make_shared<const vcode::Source>("kernels", "FCODE 3\n" + text),
                              diagnostics);
  REQUIRE(program);
  return *program;
}

const std::string kScaled =
    "KERNEL scaled IN a : VEC INT n OUT y : VEC INT n DO y = MAP n ( i => (* INT 3 a[i]) ) END "
    "FUNC MAIN RET";
const std::string kLogs =
    "KERNEL logs IN a : VEC FLOAT n OUT y : VEC FLOAT 1 "
    "DO y = REDUCE n ( i => (LOG a[i]) ) + FLOAT END FUNC MAIN RET";

const std::string kSum =
    "KERNEL sum IN OUT y : VEC FLOAT 1 "
    "DO y = REDUCE 100000 ( i => (I_TO_F i) ) + FLOAT END FUNC MAIN RET";

}  // namespace

TEST_CASE("kernels are compared as operations are") {
  const std::int32_t numbers[] = {1, 2, 0, 4};
  const vcode::Program program = kernels(kScaled);
  for (const bool wrong : {false, true}) {
    auto second = wrong ? std::make_unique<WrongBackend>(WrongBackend::OfKernels())
                        : std::make_unique<WrongBackend>(Op::Add);
    CompareBackend compare(make_cpu(), std::move(second), false);
    const auto prepared = compare.prepare(program.kernels[0]);
    REQUIRE(prepared);
    Value operand = compare.upload(Type::Int, numbers, 4), result;
    REQUIRE(compare.run(*prepared, &operand, &result));
    CHECK(cvl::read_int(compare, result.vector(), 3) == 12);
    CHECK(compare.differences() == (wrong ? 1 : 0));
    const std::string said =
        "kernel scaled differs: element 3 of result 0 is 12 in cpu and 13 in wrong";
    CHECK((compare.report().find(said) != std::string::npos) == wrong);
  }
}

TEST_CASE("sums of kernels may differ by what rounding does, and by no more") {
  const vcode::Program program = kernels(kLogs);
  const double numbers[] = {1, 2, 3, 4};
  CompareBackend compare(make_cpu(), std::make_unique<WrongBackend>(WrongBackend::OfKernels()),
                         false);
  const auto prepared = compare.prepare(program.kernels[0]);
  REQUIRE(prepared);
  Value operand = compare.upload(Type::Float, numbers, 4), result;
  REQUIRE(compare.run(*prepared, &operand, &result));
  CHECK(compare.differences() == 1);  // 1, and not 3.18
}

TEST_CASE("sums over a length in the kernel may differ by what rounding does to so many") {
  const vcode::Program program = kernels(kSum);
  for (const double factor : {1 + 1e-12, 1 + 1e-6}) {
    CompareBackend compare(make_cpu(),
                           std::make_unique<WrongBackend>(WrongBackend::OfKernels{factor}), false);
    const auto prepared = compare.prepare(program.kernels[0]);
    REQUIRE(prepared);
    Value result;
    REQUIRE(compare.run(*prepared, nullptr, &result));
    CHECK(compare.differences() == (factor > 1 + 1e-9 ? 1 : 0));
  }
}
