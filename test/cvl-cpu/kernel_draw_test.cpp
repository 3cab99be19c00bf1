// RAND in kernels against the operation: the same numbers, and the stream goes on behind them.

#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {
namespace {

constexpr std::uint64_t kSeed = 17;
constexpr std::int64_t kLengths[] = {0, 1, 7, 512, 513, 16384, 100'003};

Value draw(CpuBackend& cpu, const Value& bounds) {
  return execute(cpu, Op::Rand, Type::Int, {bounds});
}
Value same_bounds(CpuBackend& cpu, double bound, std::int64_t length) {
  return upload(cpu, Type::Int, std::vector<double>(static_cast<std::size_t>(length), bound));
}
std::string next(CpuBackend& cpu) {
  return bits(cpu, draw(cpu, upload(cpu, Type::Int, {1e9, 1e9})));
}
/// Bounds between 1 and 100.
std::vector<double> some_bounds(std::int64_t length) {
  std::vector<double> bounds;
  for (std::int64_t i = 0; i < length; ++i) bounds.push_back(static_cast<double>(1 + i * 37 % 100));
  return bounds;
}

TEST_CASE("kernels draw what RAND draws") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId x = b.in("x", Type::Int, n);
  auto t = b.thunk(), u = b.thunk(), v = b.thunk();
  const ArrayId fixed = b.random("fixed", b.flat(n), t.give({t.number(1000)}));
  const ArrayId any = b.random("any", b.flat(n), u.give({u.own(x)}));
  b.out(any);
  b.out(b.map("sum", b.flat(n), Type::Int,
              v.give({v.apply(Op::Add, Type::Int, {v.own(fixed), v.own(any)})})));
  auto f = b.thunk(), p = b.thunk();
  const ArrayId kept = b.array("kept", Type::Int, b.size("m"));
  Binding& filter = b.bind(Binding::Kind::Filter, b.flat(n));
  filter.arrays = {kept};
  filter.elements = f.give({f.own(fixed)});
  filter.flags = p.give({p.apply(Op::Less, Type::Int, {p.own(any), p.number(20)})});
  b.out(kept);
  filter.segdes = {b.segdes("d", b.literal(1), b.kernel.arrays[kept].length)};
  for_backends([&](CpuBackend& cpu) {
    for (const std::int64_t length : kLengths) {
      const Value bounds = upload(cpu, Type::Int, some_bounds(length));
      cpu.seed(kSeed);
      const Value first = draw(cpu, same_bounds(cpu, 1000, length));
      const Value second = draw(cpu, bounds);
      const std::string behind = next(cpu);
      const Value flags = execute(cpu, Op::Less, Type::Int, {second, same_bounds(cpu, 20, length)});
      const Value sum = execute(cpu, Op::Add, Type::Int, {first, second});
      const Value packed =
          execute(cpu, Op::Pack, Type::Int, {first, flags, descriptor(cpu, {length})});
      const auto prepared = cpu.prepare(b.kernel);
      for (int round = 0; round < 2; ++round) {
        cpu.seed(kSeed);
        std::vector<Value> operands{bounds}, results(3);
        REQUIRE(cpu.run(*prepared, operands.data(), results.data()));
        REQUIRE(bits(cpu, results[0]) == bits(cpu, second));
        REQUIRE(bits(cpu, results[1]) == bits(cpu, sum));
        REQUIRE(bits(cpu, results[2]) == bits(cpu, packed));
        REQUIRE(next(cpu) == behind);
      }
    }
  });
}

TEST_CASE("draws of one kernel follow each other, whatever runs first") {
  // The first one is over a space that a pass of the kernel makes, and nobody reads the second.
  KernelBuilder b;
  const SizeId n = b.size("n"), m = b.size("m");
  const ArrayId x = b.in("x", Type::Int, n);
  auto s = b.thunk();
  Binding& segments = b.bind(Binding::Kind::Segments, b.flat(n));
  segments.elements = s.give({s.own(x)});
  const auto made = b.segdes("made", n, m);
  b.kernel.bindings.back().segdes = {made};
  auto t = b.thunk(), u = b.thunk(), v = b.thunk(), w = b.thunk();
  const ArrayId first = b.random("first", b.under(made), t.give({t.number(50)}));
  b.random("unread", b.flat(n), u.give({u.number(3)}));
  b.out(b.random("third", b.flat(n), v.give({v.number(70)})));
  b.out(b.reduce("sums", b.under(made), Op::AddReduce, Type::Int, w.give({w.own(first)})));
  for_backends([&](CpuBackend& cpu) {
    const std::vector<double> lengths = some_bounds(3000);
    std::int64_t total = 0;
    Lengths segmentation;
    for (const double length : lengths) {
      segmentation.push_back(static_cast<std::int64_t>(length));
      total += segmentation.back();
    }
    cpu.seed(kSeed);
    const Value numbers = draw(cpu, same_bounds(cpu, 50, total));
    draw(cpu, same_bounds(cpu, 3, 3000));
    const Value third = draw(cpu, same_bounds(cpu, 70, 3000));
    const std::string behind = next(cpu);
    const Value sums =
        execute(cpu, Op::AddReduce, Type::Int, {numbers, descriptor(cpu, segmentation)});
    cpu.seed(kSeed);
    const auto results = run(cpu, b.kernel, {upload(cpu, Type::Int, lengths)});
    REQUIRE(bits(cpu, results[0]) == bits(cpu, third));
    REQUIRE(bits(cpu, results[1]) == bits(cpu, sums));
    REQUIRE(next(cpu) == behind);
  });
}

TEST_CASE("random numbers are summed without being stored") {
  KernelBuilder b;
  const SizeId n = b.literal(3'000'000);
  auto t = b.thunk(), u = b.thunk();
  const ArrayId r = b.random("r", b.flat(n), t.give({t.number(1000)}));
  b.out(b.reduce("s", b.flat(n), Op::AddReduce, Type::Int, u.give({u.own(r)})));
  for (const int threads : {1, 3}) {
    CpuBackend cpu(options({8, 8}, threads, cvl::cpu::usable_isas().back()));
    const auto results = run(cpu, b.kernel, {});
    const auto sum = static_cast<double>(*results[0].vector().inline_elements<std::int64_t>());
    REQUIRE(sum / 3'000'000 == Approx(499.5).epsilon(0.002));
    REQUIRE(cpu.heap().statistics().peak_live_bytes == 0);
  }
}

TEST_CASE("bounds below 1 fail as in RAND, although nobody reads the numbers") {
  CpuBackend cpu(options({4, 8}, 2, cvl::cpu::usable_isas().back()));
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId x = b.in("x", Type::Int, n);
  auto t = b.thunk(), q = b.thunk();
  b.random("unread", b.flat(n), t.give({t.own(x)}));
  b.out(b.map("q", b.flat(n), Type::Int,
              q.give({q.apply(Op::Divide, Type::Int, {q.number(12), q.own(x)})})));
  std::string message;
  for (const std::int64_t length : {20, 3000, 200'000}) {
    std::vector<double> bounds(static_cast<std::size_t>(length), 1.0);
    bounds[bounds.size() - 2] = -4;
    bounds[bounds.size() / 2] = 0;
    cpu.seed(kSeed);
    const std::string begin = next(cpu);
    cpu.seed(kSeed);
    REQUIRE(failure_of(cpu, b.kernel, {upload(cpu, Type::Int, bounds)}, &message) ==
            vcode::ErrorCode::RandRange);
    REQUIRE(message == "`RAND` of a number below 1\nelement " + std::to_string(length / 2) +
                           " is 0 (of " + std::to_string(length) + " elements, counted from 0)");
    REQUIRE(next(cpu) == begin);
    bounds[bounds.size() / 2] = 1;
    REQUIRE(failure_of(cpu, b.kernel, {upload(cpu, Type::Int, bounds)}, &message) ==
            vcode::ErrorCode::RandRange);
    REQUIRE(message.find("element " + std::to_string(length - 2) + " is -4") != std::string::npos);
  }
}

}  // namespace
}  // namespace kernel_test
