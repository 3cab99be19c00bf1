// Kernels of FCODE on the CPU library, beside loops written by hand and beside the vector
// operations that they replace. Usage: bench_kernels [Google Benchmark options]
//
// The second argument of a benchmark is the number of threads, 0 for one per processor. Loops by
// hand are compiled for the processor at hand and share the work in ranges of 32768 elements.

#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_arena.h>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl-cpu/kernel_builder.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define BENCH_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define BENCH_CLONES
#endif

namespace bench {
namespace {

using cvl::Segdes;
using cvl::Type;
using cvl::Value;
using cvl::Vector;
using cvl::cpu::CpuBackend;
using kernel_test::Expressions;
using kernel_test::KernelBuilder;
using vcode::ArrayId;
using vcode::Op;
using vcode::SizeId;

CpuBackend& backend(std::int64_t threads, cvl::Widths widths = {}) {
  static std::map<std::pair<std::int64_t, int>, std::unique_ptr<CpuBackend>> backends;
  auto& cpu = backends[{threads, widths.int_bytes}];
  if (!cpu) {
    cvl::cpu::CpuOptions options;
    options.widths = widths;
    options.threads = static_cast<int>(threads);
    cpu = std::make_unique<CpuBackend>(options);
  }
  return *cpu;
}

Vector floats(CpuBackend& cpu, std::int64_t n, unsigned seed, double low = 0.5, double high = 1.5) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> range(low, high);
  std::vector<double> elements(static_cast<std::size_t>(n));
  for (double& element : elements) element = range(random);
  return cpu.upload(Type::Float, elements.data(), n);
}
const double* data(const Vector& vector) {
  return cvl::cpu::elements<double>(vector);
}

/// Runs a kernel again and again on the same operands.
void run_kernel(benchmark::State& state, CpuBackend& cpu, const vcode::Kernel& kernel,
                const std::vector<Value>& operands, bool warm = true) {
  const auto prepared = cpu.prepare(kernel);
  std::vector<Value> given(operands.size());
  std::vector<Value> results(kernel.outputs.size());
  const auto run = [&] {
    for (Value& result : results) result = Value();  // its memory is used again
    for (std::size_t k = 0; k < operands.size(); ++k) given[k] = operands[k];
    cpu.run(*prepared, given.data(), results.data());
    benchmark::DoNotOptimize(results.data());
  };
  if (warm) run();  // memory that nobody has used yet costs more than all arithmetic
  for (auto _ : state) run();
}

Value execute(CpuBackend& cpu, Op op, Type type, std::vector<Value> operands) {
  Value results[vcode::kMaxResults];
  cpu.execute(op, type, operands.data(), results);
  return std::move(results[0]);
}

void count(benchmark::State& state, std::int64_t elements, std::int64_t bytes) {
  state.SetItemsProcessed(state.iterations() * elements);
  state.SetBytesProcessed(state.iterations() * elements * bytes);
}

// --- x · y summed ---

vcode::Kernel dot_product() {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId x = b.in("x", Type::Float, n);
  const ArrayId y = b.in("y", Type::Float, n);
  auto t = b.thunk();
  b.out(b.reduce("r", b.flat(n), Op::AddReduce, Type::Float,
                 t.give({t.apply(Op::Multiply, Type::Float, {t.own(x), t.own(y)})})));
  return b.kernel;
}

BENCH_CLONES double dot_range(const double* x, const double* y, std::int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

/// Calls body(begin, end) for ranges of [0, n), on as many threads as the library would use.
template <class Body>
double for_ranges(std::int64_t n, std::int64_t threads, const Body& body) {
  namespace tbb = oneapi::tbb;
  if (threads == 1) return body(0, n);
  double result = 0;
  static tbb::task_arena arena;
  arena.execute([&] {
    result = tbb::parallel_reduce(
        tbb::blocked_range<std::int64_t>(0, n, 32768), 0.0,
        [&](const auto& range, double sum) { return sum + body(range.begin(), range.end()); },
        std::plus<>());
  });
  return result;
}

void dotp_kernel(benchmark::State& state) {
  CpuBackend& cpu = backend(state.range(1));
  run_kernel(state, cpu, dot_product(),
             {floats(cpu, state.range(0), 1), floats(cpu, state.range(0), 2)});
  count(state, state.range(0), 16);
}
void dotp_by_hand(benchmark::State& state) {
  CpuBackend& cpu = backend(state.range(1));
  const Vector x = floats(cpu, state.range(0), 1);
  const Vector y = floats(cpu, state.range(0), 2);
  for (auto _ : state) {
    benchmark::DoNotOptimize(for_ranges(state.range(0), state.range(1), [&](auto begin, auto end) {
      return dot_range(data(x) + begin, data(y) + begin, end - begin);
    }));
  }
  count(state, state.range(0), 16);
}
void dotp_operations(benchmark::State& state) {
  CpuBackend& cpu = backend(state.range(1));
  const Vector x = floats(cpu, state.range(0), 1);
  const Vector y = floats(cpu, state.range(0), 2);
  execute(cpu, Op::Multiply, Type::Float, {x, y});  // memory for the product
  for (auto _ : state) {
    Value product = execute(cpu, Op::Multiply, Type::Float, {x, y});
    benchmark::DoNotOptimize(execute(cpu, Op::AddReduce, Type::Float,
                                     {std::move(product), Segdes::single(state.range(0))}));
  }
  count(state, state.range(0), 16);
}

// --- (a * b + c) * a - b ---

vcode::Kernel polynomial() {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId a = b.in("a", Type::Float, n);
  const ArrayId c = b.in("b", Type::Float, n);
  const ArrayId d = b.in("c", Type::Float, n);
  auto t = b.thunk();
  const auto mul = [&](auto x, auto y) { return t.apply(Op::Multiply, Type::Float, {x, y}); };
  const auto inner = t.apply(Op::Add, Type::Float, {mul(t.own(a), t.own(c)), t.own(d)});
  b.out(b.map("r", b.flat(n), Type::Float,
              t.give({t.apply(Op::Subtract, Type::Float, {mul(inner, t.own(a)), t.own(c)})})));
  return b.kernel;
}

BENCH_CLONES void polynomial_range(double* r, const double* a, const double* b, const double* c,
                                   std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) r[i] = (a[i] * b[i] + c[i]) * a[i] - b[i];
}

void polynomial_kernel(benchmark::State& state) {
  CpuBackend& cpu = backend(state.range(1));
  const std::int64_t n = state.range(0);
  run_kernel(state, cpu, polynomial(), {floats(cpu, n, 1), floats(cpu, n, 2), floats(cpu, n, 3)});
  count(state, n, 32);
}
void polynomial_by_hand(benchmark::State& state) {
  CpuBackend& cpu = backend(state.range(1));
  const std::int64_t n = state.range(0);
  const Vector a = floats(cpu, n, 1);
  const Vector b = floats(cpu, n, 2);
  const Vector c = floats(cpu, n, 3);
  Vector r = floats(cpu, n, 4);
  auto* out = cvl::cpu::mutable_elements<double>(r);
  for (auto _ : state) {
    for_ranges(n, state.range(1), [&](auto begin, auto end) {
      polynomial_range(out + begin, data(a) + begin, data(b) + begin, data(c) + begin, end - begin);
      return 0.0;
    });
    benchmark::ClobberMemory();
  }
  count(state, n, 32);
}

// --- Black and Scholes ---

/// The price of a call option: logarithm, square root, two exponentials of the cumulative normal
/// distribution by the polynomial of Abramowitz and Stegun 26.2.17, one more for the discount.
vcode::Kernel black_scholes() {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId s = b.in("s", Type::Float, n);
  const ArrayId x = b.in("x", Type::Float, n);
  const ArrayId years = b.in("t", Type::Float, n);
  auto t = b.thunk();
  using Id = Expressions::Id;
  const auto f = [&](Op op, Id l, Id r) { return t.apply(op, Type::Float, {l, r}); };
  const auto add = [&](Id l, Id r) { return f(Op::Add, l, r); };
  const auto sub = [&](Id l, Id r) { return f(Op::Subtract, l, r); };
  const auto mul = [&](Id l, Id r) { return f(Op::Multiply, l, r); };
  const auto div = [&](Id l, Id r) { return f(Op::Divide, l, r); };
  const auto call = [&](Op op, Id v) { return t.apply(op, Type::Int, {v}); };
  const double rate = 0.02, volatility = 0.3;
  const auto normal = [&](Id d) {
    const Id negative = f(Op::Less, d, t.real(0));
    const Id size = t.apply(Op::Select, Type::Float, {negative, sub(t.real(0), d), d});
    const Id k = div(t.real(1), add(t.real(1), mul(t.real(0.2316419), size)));
    Id p = t.real(1.330274429);
    for (const double c : {-1.821255978, 1.781477937, -0.356563782, 0.31938153}) {
      p = add(t.real(c), mul(k, p));
    }
    const Id density =
        mul(t.real(0.39894228040143267), call(Op::Exp, mul(t.real(-0.5), mul(d, d))));
    const Id tail = mul(density, mul(k, p));
    return t.apply(Op::Select, Type::Float, {negative, tail, sub(t.real(1), tail)});
  };
  const Id root = mul(t.real(volatility), call(Op::Sqrt, t.own(years)));
  const Id d1 = div(add(call(Op::Log, div(t.own(s), t.own(x))),
                        mul(t.real(rate + volatility * volatility / 2), t.own(years))),
                    root);
  const Id discounted = mul(t.own(x), call(Op::Exp, mul(t.real(-rate), t.own(years))));
  b.out(b.map("price", b.flat(n), Type::Float,
              t.give({sub(mul(t.own(s), normal(d1)), mul(discounted, normal(sub(d1, root))))})));
  return b.kernel;
}

void black_scholes_kernel(benchmark::State& state) {
  CpuBackend& cpu = backend(state.range(1));
  const std::int64_t n = state.range(0);
  run_kernel(state, cpu, black_scholes(),
             {floats(cpu, n, 1, 5, 30), floats(cpu, n, 2, 1, 100), floats(cpu, n, 3, 0.25, 10)});
  count(state, n, 32);
}

BENCH_CLONES double normal(double d) {
  const double size = d < 0 ? 0 - d : d;
  const double k = 1 / (1 + 0.2316419 * size);
  const double p =
      0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)));
  const double tail = 0.39894228040143267 * std::exp(-0.5 * (d * d)) * (k * p);
  return d < 0 ? tail : 1 - tail;
}

void black_scholes_by_hand(benchmark::State& state) {
  CpuBackend& cpu = backend(state.range(1));
  const std::int64_t n = state.range(0);
  const Vector s = floats(cpu, n, 1, 5, 30);
  const Vector x = floats(cpu, n, 2, 1, 100);
  const Vector years = floats(cpu, n, 3, 0.25, 10);
  Vector r = floats(cpu, n, 4);
  auto* out = cvl::cpu::mutable_elements<double>(r);
  for (auto _ : state) {
    for_ranges(n, state.range(1), [&](auto begin, auto end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const double root = 0.3 * std::sqrt(data(years)[i]);
        const double d1 =
            (std::log(data(s)[i] / data(x)[i]) + (0.02 + 0.3 * 0.3 / 2) * data(years)[i]) / root;
        out[i] = data(s)[i] * normal(d1) -
                 data(x)[i] * std::exp(-0.02 * data(years)[i]) * normal(d1 - root);
      }
      return 0.0;
    });
    benchmark::ClobberMemory();
  }
  count(state, n, 32);
}

// --- Generated ranges, few elements ---

/// Sum of log(i + 1) over a range whose length is a scalar operand.
vcode::Kernel log_sum() {
  KernelBuilder b;
  const ArrayId k = b.in("k", Type::Int, b.literal(1));
  const SizeId n = b.size("n");
  auto f = b.thunk();
  vcode::Binding& size = b.bind(vcode::Binding::Kind::Size);
  size.size = n;
  size.elements = f.give({f.at(k, f.number(0))});
  auto g = b.thunk();
  const auto next = g.apply(Op::Add, Type::Int, {g.index(), g.number(1)});
  b.out(b.reduce(
      "r", b.flat(n), Op::AddReduce, Type::Float,
      g.give({g.apply(Op::Log, Type::Int, {g.apply(Op::IntToFloat, Type::Int, {next})})})));
  return b.kernel;
}

/// With 64-bit INT, so that the range may be longer than 2^31.
void range_kernel(benchmark::State& state) {
  CpuBackend& cpu = backend(state.range(1), {8, 8});
  const std::int64_t n = state.range(0);
  run_kernel(state, cpu, log_sum(), {cpu.upload(Type::Int, &n, 1)}, false);
  count(state, n, 0);
  state.counters["heap_bytes"] = static_cast<double>(cpu.heap().statistics().peak_live_bytes);
}

/// A chain of so many additions of n elements.
void chain_kernel(benchmark::State& state) {
  CpuBackend& cpu = backend(1);
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId x = b.in("x", Type::Float, n);
  const ArrayId y = b.in("y", Type::Float, n);
  auto t = b.thunk();
  auto sum = t.own(x);
  for (std::int64_t k = 0; k < state.range(1); ++k) {
    sum = t.apply(Op::Add, Type::Float, {sum, t.own(y)});
  }
  b.out(b.map("r", b.flat(n), Type::Float, t.give({sum})));
  run_kernel(state, cpu, b.kernel,
             {floats(cpu, state.range(0), 1), floats(cpu, state.range(0), 2)});
  state.SetItemsProcessed(state.iterations() * state.range(1));
}
void chain_operations(benchmark::State& state) {
  CpuBackend& cpu = backend(1);
  const Vector x = floats(cpu, state.range(0), 1);
  const Vector y = floats(cpu, state.range(0), 2);
  Value operands[2];
  Value result;
  for (auto _ : state) {
    operands[0] = x;
    for (std::int64_t k = 0; k < state.range(1); ++k) {
      operands[1] = y;
      cpu.execute(Op::Add, Type::Float, operands, &result);
      operands[0] = std::move(result);
    }
    benchmark::DoNotOptimize(operands[0]);
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}

// --- A three-way split ---

vcode::Kernel three_ways() {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId a = b.in("a", Type::Float, n);
  const ArrayId p = b.in("p", Type::Float, b.literal(1));
  vcode::Binding& split = b.bind(vcode::Binding::Kind::Split, b.flat(n));
  split.classes = 3;
  for (int k = 0; k < 3; ++k) {
    const SizeId size = b.size("n" + std::to_string(k));
    split.arrays.push_back(b.array("a" + std::to_string(k), Type::Float, size));
    split.segdes.push_back(b.segdes("d" + std::to_string(k), b.literal(1), size));
    b.out(split.arrays.back());
    b.out_segdes(split.segdes.back());
  }
  auto e = b.thunk();
  split.elements = e.give({e.own(a)});
  auto f = b.thunk();
  const auto pivot = f.at(p, f.number(0));
  const auto is = [&](Op op) { return f.apply(op, Type::Float, {f.own(a), pivot}); };
  const auto rest = f.choose(is(Op::Equal), f.number(1), f.number(2));
  split.flags = f.give({f.choose(is(Op::Less), f.number(0), rest)});
  return b.kernel;
}

void split_kernel(benchmark::State& state) {
  CpuBackend& cpu = backend(state.range(1));
  run_kernel(state, cpu, three_ways(),
             {floats(cpu, state.range(0), 1), cvl::make_float({4, 8}, 1.0)});
  count(state, state.range(0), 16);
}
void split_operations(benchmark::State& state) {
  CpuBackend& cpu = backend(state.range(1));
  const Vector a = floats(cpu, state.range(0), 1);
  const Segdes all = Segdes::single(state.range(0));
  for (auto _ : state) {
    const Value pivot =
        execute(cpu, Op::Distribute, Type::Float, {cvl::make_float({4, 8}, 1.0), all});
    for (const Op op : {Op::Less, Op::Equal, Op::Greater}) {
      Value flags = execute(cpu, op, Type::Float, {a, pivot});
      benchmark::DoNotOptimize(execute(cpu, Op::Pack, Type::Float, {a, std::move(flags), all}));
    }
  }
  count(state, state.range(0), 16);
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t threads : {1, 0}) {
    for (const std::int64_t n : {100'000, 1'000'000, 10'000'000}) bench->Args({n, threads});
  }
}
void few(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t n : {1, 2, 16, 64}) {
    for (const std::int64_t nodes : {1, 10}) bench->Args({n, nodes});
  }
}

BENCHMARK(dotp_kernel)->Apply(sizes)->UseRealTime();
BENCHMARK(dotp_by_hand)->Apply(sizes)->UseRealTime();
BENCHMARK(dotp_operations)->Apply(sizes)->UseRealTime();
BENCHMARK(polynomial_kernel)->Apply(sizes)->UseRealTime();
BENCHMARK(polynomial_by_hand)->Apply(sizes)->UseRealTime();
BENCHMARK(black_scholes_kernel)->Apply(sizes)->UseRealTime();
BENCHMARK(black_scholes_by_hand)->Apply(sizes)->UseRealTime();
BENCHMARK(range_kernel)
    ->Args({100'000'000, 1})
    ->Args({100'000'000, 0})
    ->Args({10'000'000'000, 0})
    ->UseRealTime();
BENCHMARK(split_kernel)->Apply(sizes)->UseRealTime();
BENCHMARK(split_operations)->Apply(sizes)->UseRealTime();
BENCHMARK(chain_kernel)->Apply(few);
BENCHMARK(chain_operations)->Apply(few);

}  // namespace
}  // namespace bench

BENCHMARK_MAIN();
