// Microbenchmarks of the vector operations: every family by size and segment shape.
//
// Each benchmark declares the bytes that the operation must move (operands read once, results
// written once, descriptors in lengths). Its time is that of runs one after the other, which find
// in the caches what fits there. From 10^6 elements on there are two more figures: `cold`, the
// seconds of a run whose operands no cache holds, and `of_copy`, its rate as a fraction of the rate
// of a parallel copy; both are medians of runs that take turns with that copy. Usage:
// bench_operations [Google Benchmark options], for instance
//   bench_operations --benchmark_filter='/10000000' --benchmark_format=json

#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/copy_bandwidth.hpp"
#include "bench/shapes.hpp"
#include "cvl-cpu/cpu_backend.hpp"

namespace bench {
namespace {

using cvl::Segdes;
using cvl::Type;
using cvl::Value;
using cvl::Vector;
using vcode::Op;

cvl::cpu::CpuBackend& backend() {
  static cvl::cpu::CpuBackend cpu{cvl::cpu::CpuOptions{}};
  return cpu;
}

CopyYardstick& yardstick() {
  static CopyYardstick copy(backend(), std::size_t{128} << 20);
  return copy;
}

/// Test data: random INT in 1 ... 1000 (or any 32 bits for sorting), FLOAT in 0 ... 1, BOOL half T.
Vector random_vector(Type type, std::int64_t n, std::int32_t low = 1, std::int32_t high = 1000) {
  std::mt19937 random(11);
  if (type == Type::Float) {
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    std::vector<double> elements(static_cast<std::size_t>(n));
    for (double& element : elements) element = unit(random);
    return backend().upload(type, elements.data(), n);
  }
  std::uniform_int_distribution<std::int32_t> range(low, high);
  std::vector<std::int32_t> elements(static_cast<std::size_t>(n));
  for (std::int32_t& element : elements) element = range(random);
  if (type == Type::Int) return backend().upload(type, elements.data(), n);
  std::vector<std::uint8_t> flags(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = elements[i] & 1;
  return backend().upload(type, flags.data(), n);
}

/// A random permutation of each segment, or within blocks of `locality` elements of it.
Vector permutation(const std::vector<std::int32_t>& lengths, std::int32_t locality) {
  std::mt19937 random(13);
  std::vector<std::int32_t> index;
  for (const std::int32_t length : lengths) {
    const auto begin = static_cast<std::ptrdiff_t>(index.size());
    index.resize(index.size() + static_cast<std::size_t>(length));
    std::iota(index.begin() + begin, index.end(), 0);
    for (std::int32_t first = 0; first < length; first += locality) {
      std::shuffle(index.begin() + begin + first,
                   index.begin() + begin + std::min(length, first + locality), random);
    }
  }
  return backend().upload(Type::Int, index.data(), static_cast<std::int64_t>(index.size()));
}

struct Case {
  Op op;
  Type type;
  std::int64_t bytes;           // that must move
  std::vector<Value> operands;  // kept alive, so that no run takes one over
};

/// Executes a case and drops its results. The seconds it took.
double execute(const Case& test) {
  std::vector<Value> operands = test.operands;
  Value results[vcode::kMaxResults];
  // Operations without a type argument are known by INT.
  const Type type = vcode::info(test.op).takes_type() ? test.type : Type::Int;
  const auto begin = std::chrono::steady_clock::now();
  backend().execute(test.op, type, operands.data(), results);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  benchmark::DoNotOptimize(results);
  return elapsed.count();
}

/// Measures in turn with the copy, which takes what it finds in the caches out of them.
void measure_cold(benchmark::State& state, const Case& test) {
  constexpr int kRuns = 9;
  std::vector<double> copies, runs;
  for (int run = 0; run < kRuns; ++run) {
    copies.push_back(yardstick().seconds());
    runs.push_back(execute(test));
  }
  const double copy_rate = yardstick().traffic() / median(copies);
  const double seconds = median(runs);
  state.counters["cold"] = seconds;
  state.counters["of_copy"] = static_cast<double>(test.bytes) / seconds / copy_rate;
  state.counters["copy_rate"] = copy_rate;
}

void run(benchmark::State& state, const std::function<Case()>& make, std::int64_t n) {
  const Case test = make();
  execute(test);  // takes the pages of the result from the system
  for (auto _ : state) execute(test);
  state.SetBytesProcessed(state.iterations() * test.bytes);
  if (n >= 1'000'000) measure_cold(state, test);
}

Segdes descriptor(const std::vector<std::int32_t>& lengths) {
  return cvl::make_segdes(backend(), backend().upload(Type::Int, lengths.data(),
                                                      static_cast<std::int64_t>(lengths.size())));
}

void add(const std::string& name, std::int64_t n, Shape shape, std::function<Case()> make) {
  benchmark::RegisterBenchmark(
      (name + "/" + std::string(shape_name(shape)) + "/" + std::to_string(n)).c_str(),
      [make, n](benchmark::State& state) { run(state, make, n); })
      ->UseRealTime();
}

void register_elementwise(std::int64_t n) {
  const auto binary = [n](Op op, Type type, std::int64_t bytes) {
    return [=] {
      return Case{op, type, bytes * n, {random_vector(type, n), random_vector(type, n)}};
    };
  };
  add("add INT", n, Shape::Flat, binary(Op::Add, Type::Int, 12));
  add("add FLOAT", n, Shape::Flat, binary(Op::Add, Type::Float, 24));
  add("less INT", n, Shape::Flat, binary(Op::Less, Type::Int, 9));
  add("divide INT", n, Shape::Flat, binary(Op::Divide, Type::Int, 12));
  add("select FLOAT", n, Shape::Flat, [n] {
    return Case{Op::Select,
                Type::Float,
                25 * n,
                {random_vector(Type::Bool, n), random_vector(Type::Float, n),
                 random_vector(Type::Float, n)}};
  });
  for (const auto& [op, name] : {std::pair{Op::Sqrt, "sqrt"},
                                 {Op::Exp, "exp"},
                                 {Op::Log, "log"},
                                 {Op::Sin, "sin"},
                                 {Op::Tanh, "tanh"}}) {
    add(name, n, Shape::Flat, [n, op = op] {
      return Case{op, Type::Float, 16 * n, {random_vector(Type::Float, n)}};
    });
  }
  add("I_TO_F", n, Shape::Flat, [n] {
    return Case{Op::IntToFloat, Type::Int, 12 * n, {random_vector(Type::Int, n)}};
  });
  add("RAND", n, Shape::Flat, [n] {
    return Case{Op::Rand, Type::Int, 8 * n, {random_vector(Type::Int, n)}};
  });
}

void register_segmented(std::int64_t n, Shape shape) {
  const auto folded = [=](Op op, Type type, std::int64_t bytes) {
    return [=] {
      return Case{
          op, type, bytes * n, {random_vector(type, n), descriptor(segment_lengths(shape, n))}};
    };
  };
  add("+_REDUCE INT", n, shape, folded(Op::AddReduce, Type::Int, 4));
  add("+_REDUCE FLOAT", n, shape, folded(Op::AddReduce, Type::Float, 8));
  add("MAX_REDUCE INT", n, shape, folded(Op::MaxReduce, Type::Int, 4));
  add("+_SCAN INT", n, shape, folded(Op::AddScan, Type::Int, 8));
  add("+_SCAN FLOAT", n, shape, folded(Op::AddScan, Type::Float, 16));
  add("MAX_SCAN FLOAT", n, shape, folded(Op::MaxScan, Type::Float, 16));
  add("AND_SCAN BOOL", n, shape, folded(Op::AndScan, Type::Bool, 2));
  add("RANK_UP INT", n, shape, [=] {
    return Case{
        Op::RankUp,
        Type::Int,
        8 * n,
        {random_vector(Type::Int, n, INT32_MIN, INT32_MAX), descriptor(segment_lengths(shape, n))}};
  });
  add("RANK_UP FLOAT", n, shape, folded(Op::RankUp, Type::Float, 12));
  add("PACK INT", n, shape, [=] {
    return Case{Op::Pack,
                Type::Int,
                7 * n,
                {random_vector(Type::Int, n), random_vector(Type::Bool, n),
                 descriptor(segment_lengths(shape, n))}};
  });
  add("DIST FLOAT", n, shape, [=] {
    const auto lengths = segment_lengths(shape, n);
    return Case{Op::Distribute,
                Type::Float,
                8 * n,
                {random_vector(Type::Float, static_cast<std::int64_t>(lengths.size())),
                 descriptor(lengths)}};
  });
  add("INDEX", n, shape, [=] {
    const auto lengths = segment_lengths(shape, n);
    const auto m = static_cast<std::int64_t>(lengths.size());
    return Case{Op::Index,
                Type::Int,
                4 * n,
                {random_vector(Type::Int, m), random_vector(Type::Int, m), descriptor(lengths)}};
  });
  for (const auto& [locality, suffix] : {std::pair{INT32_MAX, " random"}, {1024, " local"}}) {
    add(std::string("PERMUTE INT") + suffix, n, shape, [=, locality = locality] {
      const auto lengths = segment_lengths(shape, n);
      return Case{
          Op::Permute,
          Type::Int,
          12 * n,
          {random_vector(Type::Int, n), permutation(lengths, locality), descriptor(lengths)}};
    });
    add(std::string("BPERMUTE INT") + suffix, n, shape, [=, locality = locality] {
      const auto lengths = segment_lengths(shape, n);
      const Segdes cut = descriptor(lengths);
      return Case{Op::BPermute,
                  Type::Int,
                  12 * n,
                  {random_vector(Type::Int, n), permutation(lengths, locality), cut, cut}};
    });
  }
  for (const auto& [places, suffix] : {std::pair{1'000, " few"}, {1'000'000, " many"}}) {
    if (shape != Shape::Flat) break;
    add(std::string("+_COMBINE INT") + suffix, n, shape, [=, places = places] {
      return Case{Op::AddCombine,
                  Type::Int,
                  8 * n,
                  {random_vector(Type::Int, n), random_vector(Type::Int, n, 0, places - 1),
                   cvl::Segdes::single(n), cvl::Segdes::single(places)}};
    });
  }
  add("MAKE_SEGDES", n, shape, [=] {
    const auto lengths = segment_lengths(shape, n);
    const auto m = static_cast<std::int64_t>(lengths.size());
    return Case{Op::MakeSegdes, Type::Int, 4 * m, {backend().upload(Type::Int, lengths.data(), m)}};
  });
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  for (const std::int64_t n : {1'000, 100'000, 1'000'000, 10'000'000, 100'000'000}) {
    bench::register_elementwise(n);
    for (const auto shape : {bench::Shape::Flat, bench::Shape::Uniform, bench::Shape::Tiny,
                             bench::Shape::PowerLaw, bench::Shape::Giant}) {
      bench::register_segmented(n, shape);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("backend", bench::backend().description());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
