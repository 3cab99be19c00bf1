// One prepared kernel, run again and again with operands that lie in another way each time.

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"
#include "cvl/failure.hpp"

namespace kernel_test {
namespace {

using Random = std::mt19937_64;

/// n INTs: one number everywhere, a progression, numbers that fit bytes, or any.
Vector operand(CpuBackend& cpu, Random& random, std::int64_t n) {
  const Segdes all = Segdes::single(n);
  const auto number = [&](double value) { return upload(cpu, Type::Int, {value}); };
  const auto seed = static_cast<unsigned>(random() % 1000);
  switch (random() % 4) {
    case 0:
      return execute(cpu, Op::Distribute, Type::Int, {number(seed), all}).vector();
    case 1:
      return execute(cpu, Op::Index, Type::Int, {number(seed), number(seed % 5), all}).vector();
    case 2: {
      Numbers small(static_cast<std::size_t>(n));
      for (double& one : small) one = static_cast<double>(seed % 3 + random() % 200);
      return upload(cpu, Type::Int, small);
    }
    default:
      return upload(cpu, Type::Int, numbers(n, seed, 1e6));
  }
}

/// The results of a run as bytes, or how it fails.
std::vector<std::string> outcome(CpuBackend& cpu, cvl::PreparedKernel& kernel,
                                 std::vector<Value> operands, std::size_t results) {
  std::vector<Value> found(results);
  try {
    const bool runs = cpu.run(kernel, operands.data(), found.data());
    if (!runs) return {"not run"};
  } catch (const cvl::Failure& failure) {
    return {failure.what()};
  }
  std::vector<std::string> all;
  for (const Value& value : found) all.push_back(bits(cpu, value));
  return all;
}

}  // namespace

TEST_CASE("a kernel gives the same whatever its operands were before") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const SizeId one = b.literal(1);
  const ArrayId chooses = b.in("chooses", Type::Int, one);
  const ArrayId shift = b.in("shift", Type::Int, one);
  const ArrayId x = b.in("x", Type::Int, n);
  const ArrayId y = b.in("y", Type::Int, n);
  auto t = b.thunk();
  const auto first = t.at(chooses, t.number(0));
  const auto by = t.at(shift, t.number(0));
  const auto even = t.apply(Op::Equal, Type::Int, {first, t.number(0)});
  const auto beside = t.apply(Op::Add, Type::Int, {t.index(), by});
  const auto before = t.apply(Op::Less, Type::Int, {beside, t.size(n)});
  const auto fetched = t.choose(before, t.at(y, beside), t.number(7));
  const auto chosen = t.apply(Op::Select, Type::Int, {even, t.own(x), fetched});
  const auto ratio = t.apply(Op::Divide, Type::Int, {t.own(y), t.own(x)});
  const auto sum = t.apply(Op::Add, Type::Int, {chosen, ratio});
  b.out(b.map("r", b.flat(n), Type::Int, t.give({sum})));
  auto u = b.thunk();
  b.out(b.map(
      "c", b.flat(n), Type::Int,
      u.give({u.choose(u.apply(Op::Equal, Type::Int, {u.at(chooses, u.number(0)), u.number(0)}),
                       u.own(x), u.own(y))})));

  for_pairs([&](Pair& pair) {
    const auto kept = pair.code.prepare(b.kernel);
    Random random(20);
    for (int run = 0; run < 200; ++run) {
      const std::int64_t lengths[] = {1, 40, 513, 2000, 20'000};
      const std::int64_t length = lengths[random() % 5];
      const auto seed = random();
      const auto operands = [&](CpuBackend& cpu) {
        Random same(seed);
        const auto number = [&](std::uint64_t limit) {
          return upload(cpu, Type::Int, {static_cast<double>(same() % limit)});
        };
        std::vector<Value> all{number(2), number(3)};
        for (int k = 0; k < 2; ++k) all.push_back(operand(cpu, same, length));
        return all;
      };
      CAPTURE(run, length);
      const auto fresh = pair.steps.prepare(b.kernel);
      REQUIRE(outcome(pair.code, *kept, operands(pair.code), 2) ==
              outcome(pair.steps, *fresh, operands(pair.steps), 2));
    }
  });
}

}  // namespace kernel_test
