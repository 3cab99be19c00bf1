// Combinations against what a C++ programmer would write: histograms of 10^7 numbers, and a step of
// PageRank that pushes the ranks of 2^20 pages along eight links each. By hand every thread has a
// table to itself, four where they lie in the L1 cache, and the tables are added up. The arguments
// of a benchmark are the number of places and of threads. Usage:
// bench_combining [Google Benchmark options]

#include <algorithm>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "cvl-cpu/cpu_backend.hpp"

namespace {

using cvl::Segdes;
using cvl::Type;
using cvl::Value;
using cvl::Vector;

constexpr int kNumbers = 10'000'000;
constexpr int kLinks = 8;  // of each page
constexpr int kLanes = 4;
constexpr int kFewPlaces = 4096;

std::vector<std::int32_t> numbers(int count, int below) {
  std::mt19937 engine(1);
  std::uniform_int_distribution<std::int32_t> distribution(0, below - 1);
  std::vector<std::int32_t> result(static_cast<std::size_t>(count));
  for (std::int32_t& number : result) number = distribution(engine);
  return result;
}

/// Calls body(thread, begin, end) for equal shares of `count`, each in a thread of its own.
template <class Body>
void share(int threads, std::int64_t count, const Body& body) {
  std::vector<std::thread> others;
  const auto run = [&](int t) { body(t, count * t / threads, count * (t + 1) / threads); };
  for (int t = 1; t < threads; ++t) others.emplace_back(run, t);
  run(0);
  for (std::thread& other : others) other.join();
}

void histogram_by_hand(benchmark::State& state) {
  const auto places = state.range(0);
  const int threads = static_cast<int>(state.range(1));
  const std::vector<std::int32_t> x = numbers(kNumbers, static_cast<int>(places));
  const int lanes = places <= kFewPlaces ? kLanes : 1;
  for ([[maybe_unused]] auto _ : state) {
    std::vector<std::vector<std::int32_t>> tables(static_cast<std::size_t>(threads));
    share(threads, kNumbers, [&](int t, std::int64_t begin, std::int64_t end) {
      auto& table = tables[static_cast<std::size_t>(t)];
      table.assign(static_cast<std::size_t>(places * lanes), 0);
      std::int32_t* count = table.data();
      const std::int32_t* number = x.data();
      std::int64_t i = begin;
      if (lanes == kLanes) {
        for (; i + kLanes <= end; i += kLanes) {
          ++count[number[i]];
          ++count[places + number[i + 1]];
          ++count[2 * places + number[i + 2]];
          ++count[3 * places + number[i + 3]];
        }
      }
      for (; i < end; ++i) ++count[number[i]];
    });
    std::vector<std::int32_t> result(static_cast<std::size_t>(places));
    for (const auto& table : tables) {
      for (auto lane = table.begin(); lane != table.end(); lane += places) {
        for (std::size_t k = 0; k < result.size(); ++k) {
          result[k] += lane[static_cast<std::ptrdiff_t>(k)];
        }
      }
    }
    benchmark::DoNotOptimize(result.data());
  }
}

void push_by_hand(benchmark::State& state) {
  const auto pages = state.range(0);
  const int threads = static_cast<int>(state.range(1));
  const auto links = numbers(static_cast<int>(pages) * kLinks, static_cast<int>(pages));
  const std::vector<double> ranks(static_cast<std::size_t>(pages), 1);
  for ([[maybe_unused]] auto _ : state) {
    std::vector<std::vector<double>> tables(static_cast<std::size_t>(threads));
    share(threads, pages, [&](int t, std::int64_t begin, std::int64_t end) {
      auto& table = tables[static_cast<std::size_t>(t)];
      table.assign(static_cast<std::size_t>(pages), 0);
      double* sum = table.data();
      for (std::int64_t page = begin; page < end; ++page) {
        const double sent = ranks[static_cast<std::size_t>(page)] / kLinks;
        const std::int32_t* to = links.data() + page * kLinks;
        for (int k = 0; k < kLinks; ++k) sum[to[k]] += sent;
      }
    });
    share(threads, pages, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::size_t t = 1; t < tables.size(); ++t) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          tables[0][i] += tables[t][i];
        }
      }
    });
    benchmark::DoNotOptimize(tables[0].data());
  }
}

void combine(benchmark::State& state, Type type) {
  const auto places = state.range(0);
  cvl::cpu::CpuOptions options;
  options.threads = static_cast<int>(state.range(1));
  cvl::cpu::CpuBackend cpu(options);
  const bool floats = type == Type::Float;
  const int count = floats ? static_cast<int>(places) * kLinks : kNumbers;
  const auto x = numbers(count, static_cast<int>(places));
  const Value index = cpu.upload(Type::Int, x.data(), count);
  Value values;
  if (floats) {
    const std::vector<double> sent(x.size(), 1.0 / kLinks);
    values = cpu.upload(type, sent.data(), count);
  } else {
    Value one[] = {cvl::make_int(cpu.widths(), 1), Segdes::single(count)};
    cpu.execute(vcode::Op::Distribute, type, one, &values);
  }
  for ([[maybe_unused]] auto _ : state) {
    Value operands[] = {values, index, Segdes::single(count), Segdes::single(places)};
    Value result;
    cpu.execute(vcode::Op::AddCombine, type, operands, &result);
    benchmark::DoNotOptimize(result);
  }
}
void histogram(benchmark::State& state) {
  combine(state, Type::Int);
}
void push(benchmark::State& state) {
  combine(state, Type::Float);
}

void histograms(benchmark::internal::Benchmark* b) {
  b->ArgsProduct({{10, 1'000, 1'000'000}, {1, 2}})->MeasureProcessCPUTime()->UseRealTime();
}
void pushes(benchmark::internal::Benchmark* b) {
  b->ArgsProduct({{1 << 20}, {1, 2}})->MeasureProcessCPUTime()->UseRealTime();
}
BENCHMARK(histogram_by_hand)->Apply(histograms);
BENCHMARK(histogram)->Apply(histograms);
BENCHMARK(push_by_hand)->Apply(pushes);
BENCHMARK(push)->Apply(pushes);

}  // namespace

BENCHMARK_MAIN();
