// No setting of the numbers that tests may set changes a result.
#include "cvl-cuda/tuning.hpp"

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cuda/under_test.hpp"
#include "cvl-cpu/cpu_backend.hpp"
#include "cvl/failure.hpp"
#include "cvl/tuning.hpp"

namespace {

using cvl::Segdes;
using cvl::Value;
using cvl::Vector;
using vcode::Op;
using vcode::Type;

/// The setting, for as long as this lives.
struct Tuned {
  explicit Tuned(const std::string& setting) { cvl::tune(setting, {cvl::cuda::tunables()}); }
  ~Tuned() { cvl::tune("usual", {cvl::cuda::tunables()}); }
  Tuned(const Tuned&) = delete;
  Tuned& operator=(const Tuned&) = delete;
};

std::unique_ptr<cvl::Backend> device() {
  cvl::cuda::CudaOptions options;
  options.host_elements = 0;
  return make_under_test(options);
}

/// Operations on INT, and the elements of their results.
class Library {
 public:
  explicit Library(cvl::Backend& backend) : backend_(backend) {}

  Value ints(const std::vector<std::int32_t>& elements) {
    return backend_.upload(Type::Int, elements.data(), static_cast<std::int64_t>(elements.size()));
  }
  Value run(Op op, std::vector<Value> operands) {
    Value results[vcode::kMaxResults];
    backend_.execute(op, Type::Int, operands.data(), results);
    return results[0];
  }
  void show(const Value& value) {
    const Vector& vector = value.vector();
    seen_.emplace_back(static_cast<std::size_t>(vector.length));
    backend_.download(vector, 0, vector.length, seen_.back().data());
  }
  const std::vector<std::vector<std::int32_t>>& seen() const { return seen_; }

 private:
  cvl::Backend& backend_;
  std::vector<std::vector<std::int32_t>> seen_;
};

std::vector<std::int32_t> numbers(std::size_t count, std::int32_t step, std::int32_t below) {
  std::vector<std::int32_t> result(count);
  for (std::size_t k = 0; k < count; ++k) {
    result[k] = static_cast<std::int32_t>(k) * step % below;
  }
  return result;
}

/// Lengths of segments, some of them empty, one long.
std::vector<std::int32_t> lengths_of(std::size_t count, std::int32_t first) {
  std::vector<std::int32_t> result = numbers(count, 5, 7);
  result[0] = first;
  return result;
}

/// What a few operations of each family give.
std::vector<std::vector<std::int32_t>> results_of(cvl::Backend& backend) {
  Library library(backend);
  // Twice as many descriptors as are remembered, and asked for again.
  std::vector<Value> lengths;
  for (std::int32_t k = 0; k < 16; ++k) {
    const Value segdes =
        library.run(Op::MakeSegdes, {library.ints(lengths_of(k < 4 ? 5 : 90, 300 + k))});
    lengths.push_back(library.run(Op::Lengths, {segdes}));
  }
  for (const Value& each : lengths) {
    const Value segdes = library.run(Op::MakeSegdes, {each});
    const auto total = static_cast<std::size_t>(segdes.segdes().total);
    const Value single = Segdes::single(segdes.segdes().total);
    const Value a = library.ints(numbers(total, 7919, 1009)),
                b = library.ints(numbers(total, 31, 17));
    for (const Value& shape : {segdes, single}) {
      library.show(library.run(Op::AddScan, {a, shape}));
      library.show(library.run(Op::AddReduce, {a, shape}));
      library.show(library.run(Op::RankUp, {b, shape}));
      library.show(library.run(Op::RankDown, {a, shape}));
    }
    // Several sources for some places, and others one after the other under tags of their own.
    library.show(library.run(Op::Permute, {a, b, single}));
    const Value order = library.run(Op::RankUp, {a, single});
    library.show(library.run(Op::Permute, {b, order, single}));
    library.show(library.run(Op::BPermute, {a, order, single, single}));
    const Value flags = library.run(Op::Less, {b, a});
    library.show(library.run(Op::Pack, {a, flags, segdes}));
    library.show(library.run(
        Op::Divide,
        {a, library.run(Op::Add, {b, library.ints(std::vector<std::int32_t>(total, 1))})}));
  }
  return library.seen();
}

TEST_CASE("settings change no result") {
  cvl::cpu::CpuBackend cpu{cvl::cpu::CpuOptions()};
  const auto expected = results_of(cpu);
  std::vector<std::string> settings = {"usual", "smallest", "odd"};
  for (int seed = 1; seed <= 4; ++seed) settings.push_back("random:" + std::to_string(seed));
  for (const cvl::Tunable& each : cvl::cuda::tunables()) {
    const std::int64_t least = (each.least + each.multiple - 1) / each.multiple * each.multiple;
    settings.push_back(std::string(each.name) + "=" + std::to_string(least));
  }
  for (const std::string& setting : settings) {
    INFO(setting);
    const Tuned tuned(setting);
    CHECK(results_of(*device()) == expected);
  }
}

/// What was counted while `work` was done.
template <class Work>
cvl::DeviceCounters counted(const std::string& setting, const Work& work) {
  const Tuned tuned(setting);
  const std::unique_ptr<cvl::Backend> backend = device();
  Library library(*backend);
  const cvl::DeviceCounters before = backend->counters();
  work(library);
  cvl::DeviceCounters after = backend->counters();
  after.launches -= before.launches;
  after.waits -= before.waits;
  after.uploads -= before.uploads;
  return after;
}

TEST_CASE("settings are kept") {
  const auto rank = [](Library& library) {
    library.run(Op::RankUp, {library.ints(numbers(100, 7, 31)), Segdes::single(100)});
  };
  CHECK(counted("usual", rank).launches == 1);
  CHECK(counted("block_rank=0", rank).launches > 1);

  const auto divide = [](Library& library) {
    const Value a = library.ints(numbers(100, 7, 31)),
                b = library.ints(std::vector<std::int32_t>(100, 3));
    for (int k = 0; k < 9; ++k) library.run(Op::Divide, {a, b});
  };
  CHECK(counted("usual", divide).waits == 0);
  CHECK(counted("failing_operations=3", divide).waits >= 3);

  const auto add = [](Library& library) {
    const Value a = library.ints({1, 2, 3, 4});
    library.run(Op::Add, {a, a});
  };
  CHECK(counted("parameter_words=0", add).uploads > counted("usual", add).uploads);

  const auto again = [](Library& library) {
    std::vector<Value> lengths;
    for (int k = 0; k < 3; ++k) {
      const Value segdes = library.run(Op::MakeSegdes, {library.ints(lengths_of(90, 300 + k))});
      lengths.push_back(library.run(Op::Lengths, {segdes}));
    }
    for (const Value& each : lengths) library.run(Op::MakeSegdes, {each});
  };
  CHECK(counted("remembered_lengths=1", again).launches > counted("usual", again).launches);
}

TEST_CASE("the first of many failures is told apart when there are few numbers for them") {
  const Tuned tuned("failing_operations=2");
  const std::unique_ptr<cvl::Backend> backend = device();
  Library library(*backend);
  const Value a = library.ints(numbers(100, 7, 31)),
              zeros = library.ints(std::vector<std::int32_t>(100));
  const Value ones = library.ints(std::vector<std::int32_t>(100, 1));
  try {
    for (std::uint32_t k = 0; k < 20; ++k) {
      backend->origin = k;
      library.run(Op::Divide, {a, k < 13 ? ones : zeros});
    }
    backend->synchronize();
    FAIL("no failure was reported");
  } catch (const cvl::Failure& failure) {
    CHECK(failure.code() == vcode::ErrorCode::DivisionByZero);
    CHECK(failure.origin() == 13u);
  }
}

}  // namespace
