// Maps in kernels against the operations that they replace: the same results, to the bit, for all
// lengths, widths, instruction sets and numbers of threads.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {

TEST_CASE("a chain of maps gives what the operations give") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId x = b.in("x", Type::Float, n);
  const ArrayId y = b.in("y", Type::Float, n);
  auto t = b.thunk();
  const auto product = t.apply(Op::Multiply, Type::Float, {t.own(x), t.own(y)});
  const auto sum = t.apply(Op::Add, Type::Float, {product, t.real(0.1)});
  const auto small = t.apply(Op::Less, Type::Float, {t.real(0.5), sum});
  const auto chosen = t.apply(Op::Select, Type::Float, {small, sum, t.own(y)});
  b.out(b.map(
      "r", b.flat(n), Type::Float,
      t.give({t.apply(Op::Exp, Type::Int, {t.apply(Op::Multiply, Type::Float, {chosen, sum})})})));
  for_backends([&](CpuBackend& cpu) {
    for (const std::int64_t length : {0, 1, 2, 3, 17, 64, 255, 256, 513, 5000, 100'003}) {
      const Vector vx = upload(cpu, Type::Float, numbers(length, 1));
      const Vector vy = upload(cpu, Type::Float, numbers(length, 2));
      const Segdes all = Segdes::single(length);
      const auto dist = [&](double value) {
        return execute(cpu, Op::Distribute, Type::Float, {upload(cpu, Type::Float, {value}), all});
      };
      const Value p = execute(cpu, Op::Multiply, Type::Float, {vx, vy});
      const Value s = execute(cpu, Op::Add, Type::Float, {p, dist(0.1)});
      const Value f = execute(cpu, Op::Less, Type::Float, {dist(0.5), s});
      const Value c = execute(cpu, Op::Select, Type::Float, {f, s, vy});
      const Value e =
          execute(cpu, Op::Exp, Type::Int, {execute(cpu, Op::Multiply, Type::Float, {c, s})});
      REQUIRE(bits(cpu, run(cpu, b.kernel, {vx, vy})[0]) == bits(cpu, e));
    }
  });
}

TEST_CASE("the branch that is not taken does not fail") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const ArrayId x = b.in("x", Type::Int, n);
  const ArrayId v = b.in("v", Type::Int, m);
  auto t = b.thunk();
  const auto zero = t.apply(Op::Equal, Type::Int, {t.own(x), t.number(0)});
  const auto quotient = t.apply(Op::Divide, Type::Int, {t.number(100), t.own(x)});
  const auto inside = t.apply(Op::Less, Type::Int, {quotient, t.number(3)});
  const auto element = t.at(v, t.apply(Op::Modulo, Type::Int, {t.number(7), t.own(x)}));
  b.out(b.map("r", b.flat(n), Type::Int,
              t.give({t.choose(zero, t.number(-1), t.choose(inside, element, quotient))})));
  for_backends([&](CpuBackend& cpu) {
    for (const std::int64_t length : {1, 2, 63, 300, 70'000}) {
      std::vector<double> xs, expected;
      for (std::int64_t k = 0; k < length; ++k) {
        const std::int64_t value = k % 50;
        xs.push_back(static_cast<double>(value));
        if (value == 0) {
          expected.push_back(-1);
        } else {
          const std::int64_t q = 100 / value;
          expected.push_back(static_cast<double>(q < 3 ? (7 % value) * 10 : q));
        }
      }
      // Only quotients below 3 read v; then the index is 7.
      const Vector elements = upload(cpu, Type::Int, {0, 10, 20, 30, 40, 50, 60, 70});
      REQUIRE(bits(cpu, run(cpu, b.kernel, {upload(cpu, Type::Int, xs), elements})[0]) ==
              bits(cpu, upload(cpu, Type::Int, expected)));
    }
  });
}

TEST_CASE("division by the same number everywhere is division") {
  for (const Op op : {Op::Divide, Op::Modulo}) {
    KernelBuilder b;
    const SizeId n = b.size("n");
    const ArrayId x = b.in("x", Type::Int, n);
    const ArrayId y = b.in("y", Type::Int, b.literal(1));
    auto t = b.thunk();
    b.out(b.map("r", b.flat(n), Type::Int,
                t.give({t.apply(op, Type::Int, {t.own(x), t.at(y, t.number(0))})})));
    for_backends([&](CpuBackend& cpu) {
      const double least = cpu.widths().int_bytes == 4 ? -2147483648.0 : -9223372036854775808.0;
      std::vector<double> xs = numbers(1000, 30, 2e9);
      for (const double special : {0.0, 1.0, -1.0, 7.0, -8.0, 2147483647.0, -2147483648.0, least}) {
        xs.push_back(special);
      }
      const Vector vx = upload(cpu, Type::Int, xs);
      for (const double divisor :
           {1.0, 2.0, 3.0, 7.0, 64.0, 1073741824.0, 2147483647.0, -1.0, -2.0, -7.0, least}) {
        const Vector vy = upload(cpu, Type::Int, {divisor});
        const Value dist = execute(cpu, Op::Distribute, Type::Int,
                                   {vy, Segdes::single(static_cast<std::int64_t>(xs.size()))});
        REQUIRE(bits(cpu, run(cpu, b.kernel, {vx, vy})[0]) ==
                bits(cpu, execute(cpu, op, Type::Int, {vx, dist})));
      }
    });
  }
}

TEST_CASE("a kernel takes over the storage of an operand that nobody else holds") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId x = b.in("x", Type::Float, n);
  const ArrayId y = b.in("y", Type::Float, n);
  auto t = b.thunk();
  b.out(b.map("r", b.flat(n), Type::Float,
              t.give({t.apply(Op::Add, Type::Float, {t.own(x), t.own(y)})})));
  auto u = b.thunk();
  b.out(b.map("q", b.flat(n), Type::Float,
              u.give({u.apply(Op::Multiply, Type::Float, {u.own(x), u.own(y)})})));
  CpuBackend cpu(options({4, 8}, 1, cvl::cpu::usable_isas().back()));
  for (const std::int64_t length : {100, 1000, 50'000}) {
    const auto xs = numbers(length, 20);
    const auto ys = numbers(length, 21);
    const Value sum = execute(cpu, Op::Add, Type::Float,
                              {upload(cpu, Type::Float, xs), upload(cpu, Type::Float, ys)});
    const Value product = execute(cpu, Op::Multiply, Type::Float,
                                  {upload(cpu, Type::Float, xs), upload(cpu, Type::Float, ys)});
    const Vector kept = upload(cpu, Type::Float, xs);
    const std::string kept_bits = bits(cpu, kept);
    const auto taken = cpu.heap().statistics().takeovers;
    std::vector<Value> operands;  // a list in braces would hold them too
    operands.emplace_back(kept);
    operands.emplace_back(upload(cpu, Type::Float, ys));
    const auto results = run(cpu, b.kernel, std::move(operands));
    REQUIRE(cpu.heap().statistics().takeovers == taken + 1);
    REQUIRE(bits(cpu, kept) == kept_bits);
    REQUIRE(bits(cpu, results[0]) == bits(cpu, sum));
    REQUIRE(bits(cpu, results[1]) == bits(cpu, product));
  }
}

TEST_CASE("where segments start is kept when it is asked for again") {
  KernelBuilder b;
  const SizeId count = b.size("s");
  const SegdesId d = b.in_segdes("d", count, b.size("n"));
  auto t = b.thunk();
  const ArrayId starts =
      b.scan("starts", b.flat(count), Op::AddReduce, Type::Int, t.give({t.seg_len(d, t.index())}));
  b.out(starts);
  auto u = b.thunk();
  b.out(b.map("next", b.flat(count), Type::Int,
              u.give({u.apply(Op::Add, Type::Int, {u.own(starts), u.number(1)})})));
  for_backends([&](CpuBackend& cpu) {
    for (const Lengths& lengths : shapes()) {
      const Segdes segdes = descriptor(cpu, lengths);
      const auto segments = static_cast<std::int64_t>(lengths.size());
      const Value one = Segdes::single(segments);
      const Value all = execute(cpu, Op::AddScan, Type::Int,
                                {execute(cpu, Op::Lengths, Type::Int, {segdes}), one});
      const Value ones = upload(cpu, Type::Int, Numbers(lengths.size(), 1));
      const Value next = execute(cpu, Op::Add, Type::Int, {all, ones});
      std::vector<Value> before;
      for (int round = 0; round < 4; ++round) {
        std::vector<Value> found = run(cpu, b.kernel, {segdes});
        REQUIRE(bits(cpu, found[0]) == bits(cpu, all));
        REQUIRE(bits(cpu, found[1]) == bits(cpu, next));
        const Vector& vector = found[0].vector();
        if (round > 1 && !segdes.uniform && segments > cvl::cpu::tuning.short_pass) {
          REQUIRE(vector.buffer.get() == before[0].vector().buffer.get());
        }
        before = std::move(found);
      }
    }
  });
}

}  // namespace kernel_test
