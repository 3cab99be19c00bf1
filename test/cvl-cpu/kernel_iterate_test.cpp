// ITERATE against loops in C++: over blocks and tiles, with states that go on for one round and for
// thousands, and with more states than a thread keeps at a time.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {
namespace {

constexpr std::int64_t kIterated[] = {0,   1,    7,    63,   64,   65,   511,  512,
                                      513, 1023, 1025, 4095, 4097, 9000, 16385};

/// How many rounds state i needs: mostly few, now and then many.
std::vector<double> rounds_wanted(std::int64_t length) {
  std::vector<double> wanted;
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t spread = i * 7919 % 101;
    wanted.push_back(static_cast<double>(spread == 0 ? 3000 : spread % 17));
  }
  return wanted;
}

/// States (a, b, left, step, half, odd) of INT, INT, INT, INT, FLOAT and BOOL: a and b are
/// Fibonacci numbers, `left` counts down by `step`, which stays what it is.
vcode::Kernel counting_kernel(bool same_step, std::int64_t rounds) {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId wanted = b.in("wanted", Type::Int, n);
  const ArrayId step = b.in("step", Type::Int, same_step ? b.literal(1) : n);
  auto e = b.thunk();
  const auto first = same_step ? e.at(step, e.number(0)) : e.own(step);
  const Thunk elements =
      e.give({e.index(), e.number(1), e.own(wanted), first, e.real(1024.0), e.flag(false)});
  auto c = b.thunk();
  const Thunk condition =
      c.give({c.apply(Op::Greater, Type::Int, {c.state(2, Type::Int), c.number(0)})});
  auto t = b.thunk();
  const auto ints = [&](std::uint32_t k) { return t.state(k, Type::Int); };
  const Thunk next =
      t.give({ints(1), t.apply(Op::Add, Type::Int, {ints(0), ints(1)}),
              t.apply(Op::Subtract, Type::Int, {ints(2), ints(3)}), ints(3),
              t.choose(t.state(5, Type::Bool), t.state(4, Type::Float),
                       t.apply(Op::Multiply, Type::Float, {t.state(4, Type::Float), t.real(0.5)})),
              t.apply(Op::Not, Type::Bool, {t.state(5, Type::Bool)})});
  for (const ArrayId array : b.iterate("s", b.flat(n), elements, condition, next, rounds)) {
    b.out(array);
  }
  return b.kernel;
}

struct State {
  std::int64_t a, b, left, step;
  double half;
  bool odd;
};

State counted(std::int64_t index, std::int64_t wanted, std::int64_t step, std::int64_t rounds,
              bool wide) {
  State state{index, 1, wanted, step, 1024.0, false};
  for (std::int64_t k = 0; k < rounds && state.left > 0; ++k) {
    auto sum = static_cast<std::uint64_t>(state.a) + static_cast<std::uint64_t>(state.b);
    const auto next = wide ? static_cast<std::int64_t>(sum)
                           : static_cast<std::int64_t>(static_cast<std::int32_t>(sum));
    state = {state.b,   next, state.left - step, step, state.odd ? state.half : state.half * 0.5,
             !state.odd};
  }
  return state;
}

TEST_CASE("states go on until each has come to its end") {
  for_backends([](CpuBackend& cpu) {
    const bool wide = cpu.widths().int_bytes == 8;
    const double least = cpu.widths().float_bytes == 8 ? 0 : std::ldexp(1.0, -149);
    for (const bool same_step : {false, true}) {
      for (const std::int64_t rounds : {0, 1, 5, 100'000}) {
        const auto kernel = counting_kernel(same_step, rounds);
        const auto prepared = cpu.prepare(kernel);
        for (const std::int64_t length : kIterated) {
          if (length > 5000 && rounds == 1) continue;
          const std::vector<double> wanted = rounds_wanted(length);
          std::vector<double> steps(static_cast<std::size_t>(same_step ? 1 : length), 2);
          for (std::size_t i = 0; i < steps.size(); i += 3) steps[i] = 1;
          std::vector<Value> operands{upload(cpu, Type::Int, wanted),
                                      upload(cpu, Type::Int, steps)};
          std::vector<Value> results(6);
          REQUIRE(cpu.run(*prepared, operands.data(), results.data()));
          std::vector<double> columns[6];
          for (std::int64_t i = 0; i < length; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const State last =
                counted(i, static_cast<std::int64_t>(wanted[at]),
                        static_cast<std::int64_t>(steps[same_step ? 0 : at]), rounds, wide);
            const double numbers[] = {0,
                                      0,
                                      static_cast<double>(last.left),
                                      static_cast<double>(last.step),
                                      last.half <= least / 2 ? 0 : last.half,
                                      last.odd ? 1.0 : 0.0};
            for (std::size_t k = 2; k < 6; ++k) columns[k].push_back(numbers[k]);
            columns[0].push_back(static_cast<double>(last.a % 1'000'003));
            columns[1].push_back(static_cast<double>(last.b % 1'000'003));
          }
          // Numbers of 64 bits are more than a double can hold.
          const Value modulus = upload(
              cpu, Type::Int, std::vector<double>(static_cast<std::size_t>(length), 1000003));
          for (std::size_t k = 0; k < 2; ++k) {
            results[k] = execute(cpu, Op::Modulo, Type::Int, {results[k], modulus});
          }
          constexpr Type kTypes[] = {Type::Int, Type::Int,   Type::Int,
                                     Type::Int, Type::Float, Type::Bool};
          for (std::size_t k = 0; k < 6; ++k) {
            INFO("component " << k << " of " << length << ", rounds " << rounds);
            REQUIRE(bits(cpu, results[k]) == bits(cpu, Value(upload(cpu, kTypes[k], columns[k]))));
          }
        }
      }
    }
  });
}

TEST_CASE("machine code for many rounds gives the states that single rounds give", "[native]") {
  // Three states that change places, one of them divided, and one that nothing reads.
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId x = b.in("x", Type::Float, n);
  const ArrayId wanted = b.in("wanted", Type::Int, n);
  auto e = b.thunk();
  const Thunk elements =
      e.give({e.own(x), e.real(0.25), e.real(3.0), e.own(wanted), e.number(-1), e.flag(true)});
  auto c = b.thunk();
  const Thunk condition =
      c.give({c.apply(Op::And, Type::Bool,
                      {c.apply(Op::Greater, Type::Int, {c.state(3, Type::Int), c.number(0)}),
                       c.apply(Op::Less, Type::Float, {c.state(0, Type::Float), c.real(1e6)})})});
  auto t = b.thunk();
  const auto floats = [&](std::uint32_t k) { return t.state(k, Type::Float); };
  const auto left = t.state(3, Type::Int);
  const auto odd = t.apply(Op::Equal, Type::Int,
                           {t.apply(Op::Modulo, Type::Int, {left, t.number(3)}), t.number(1)});
  const auto product = t.apply(Op::Multiply, Type::Float, {floats(0), floats(2)});
  const Thunk next =
      t.give({floats(1), floats(2),
              t.choose(odd,
                       t.apply(Op::Sqrt, Type::Float,
                               {t.apply(Op::Multiply, Type::Float, {floats(0), floats(0)})}),
                       t.apply(Op::Add, Type::Float, {product, t.real(0.125)})),
              t.apply(Op::Subtract, Type::Int, {left, t.number(1)}),
              t.apply(Op::Divide, Type::Int, {left, t.number(7)}), odd});
  for (const ArrayId array : b.iterate("s", b.flat(n), elements, condition, next, 100'000)) {
    b.out(array);
  }
  // Made before the rounds, or while they go on.
  for (const char* const setting : {"native_pays_after=0", "rounds_without_code=2"}) {
    for_pairs(
        [&](Pair& pair) {
          for (const std::int64_t length : kIterated) {
            const auto of = [&](CpuBackend& cpu) {
              std::string result;
              const auto results = run(cpu, b.kernel,
                                       {upload(cpu, Type::Float, numbers(length, 5, 10.0)),
                                        upload(cpu, Type::Int, rounds_wanted(length))});
              for (const Value& value : results) result += bits(cpu, value);
              return result;
            };
            INFO(length << " states");
            REQUIRE(of(pair.code) == of(pair.steps));
          }
        },
        setting);
  }
}

/// States (acc, sum, k, u, v, odd, flag, last, quotient, rounds). Where all k are equal at first,
/// so they are, and u, v, odd and quotient, in each round. `divides`: which not all machine code
/// can.
vcode::Kernel sharing_kernel(bool divides) {
  KernelBuilder b;
  const SizeId n = b.size("n"), m = b.size("m");
  const ArrayId x = b.in("x", Type::Float, n), first = b.in("first", Type::Int, n);
  const ArrayId ints = b.in("ints", Type::Int, m), text = b.in("text", Type::Int, m);
  const ArrayId reals = b.in("reals", Type::Float, m), flags = b.in("flags", Type::Bool, m);
  const ArrayId rounds = b.in("rounds", Type::Int, b.literal(1));
  auto e = b.thunk();
  const Thunk elements =
      e.give({e.own(x), e.index(), e.own(first), e.real(1.5), e.real(0.25), e.flag(false),
              e.flag(true), e.number(0), e.number(1000), e.at(rounds, e.number(0))});
  auto c = b.thunk();
  const Thunk condition =
      c.give({c.apply(Op::Less, Type::Int, {c.state(2, Type::Int), c.state(9, Type::Int)})});
  auto t = b.thunk();
  const auto k = t.state(2, Type::Int), sum = t.state(1, Type::Int), odd = t.state(5, Type::Bool);
  const auto read = [&](ArrayId array, Expressions::Id otherwise) {
    const auto inside = t.apply(Op::And, Type::Bool,
                                {t.apply(Op::GreaterEqual, Type::Int, {k, t.number(0)}),
                                 t.apply(Op::Less, Type::Int, {k, t.size(m)})});
    return t.choose(inside, t.at(array, k), otherwise);
  };
  const auto add = [&](Type type, Expressions::Id p, Expressions::Id q) {
    return t.apply(Op::Add, type, {p, q});
  };
  const auto product =
      t.apply(Op::Multiply, Type::Float, {t.state(0, Type::Float), read(reals, t.real(0.5))});
  const auto quotient = t.state(8, Type::Int);
  const Thunk next = t.give(
      {add(Type::Float, product, t.state(3, Type::Float)),
       t.choose(odd, add(Type::Int, sum, read(ints, t.number(0))),
                add(Type::Int, t.state(7, Type::Int), read(text, quotient))),
       add(Type::Int, k, t.number(1)), t.state(4, Type::Float), t.state(3, Type::Float),
       t.apply(Op::Not, Type::Bool, {odd}),
       t.apply(Op::Xor, Type::Bool, {t.state(6, Type::Bool), read(flags, odd)}), sum,
       add(Type::Int,
           t.apply(divides ? Op::Divide : Op::Subtract, Type::Int, {quotient, t.number(3)}), k),
       t.state(9, Type::Int)});
  for (const ArrayId array : b.iterate("s", b.flat(n), elements, condition, next, 100'000)) {
    b.out(array);
  }
  return b.kernel;
}

TEST_CASE("machine code for states that share some components gives the same states", "[native]") {
  const auto check = [](CpuBackend& code, CpuBackend& steps, bool divides) {
    const vcode::Kernel kernel = sharing_kernel(divides);
    const auto in_code = code.prepare(kernel), in_steps = steps.prepare(kernel);
    for (const std::int64_t length : {0, 1, 7, 63, 64, 65, 513, 9000}) {
      for (const std::int64_t rounds : {0, 1, 15, 40, 300}) {
        // All k are equal, or not, or there is nothing to read, or vectors that are not in memory.
        for (const int how : {0, 1, 0, 2, 3, 4}) {
          CAPTURE(divides, length, rounds, how);
          const auto of = [&](CpuBackend& cpu, cvl::PreparedKernel& prepared) {
            const std::int64_t letters = how == 2 ? 0 : 50;
            const Value all = descriptor(cpu, {letters});
            const auto same = [&](Type type, double element) {
              return execute(cpu, Op::Distribute, type, {upload(cpu, type, {element}), all});
            };
            const auto number = [&](double value) { return upload(cpu, Type::Int, {value}); };
            const Value counted =
                execute(cpu, Op::Index, Type::Int, {number(-7), number(123'456'789), all});
            const bool in_memory = how < 3;
            const Value equal =
                execute(cpu, Op::Distribute, Type::Int,
                        {upload(cpu, Type::Int, {-2.0}), descriptor(cpu, {length})});
            std::vector<Value> operands{
                upload(cpu, Type::Float, numbers(length, 5, 10.0)),
                how == 1 || how == 4 ? Value(upload(cpu, Type::Int, rounds_wanted(length))) : equal,
                in_memory ? Value(upload(cpu, Type::Int, numbers(letters, 1, 1e6))) : counted,
                in_memory ? Value(cpu.upload_characters(
                                std::string(static_cast<std::size_t>(letters), '\xfe')))
                          : same(Type::Int, 77.0),
                in_memory ? Value(upload(cpu, Type::Float, numbers(letters, 2)))
                          : same(Type::Float, 1.25),
                in_memory ? Value(upload(cpu, Type::Bool,
                                         Numbers(static_cast<std::size_t>(letters), 1.0)))
                          : same(Type::Bool, 1.0),
                upload(cpu, Type::Int, {static_cast<double>(rounds)})};
            std::vector<Value> results(10);
            REQUIRE(cpu.run(prepared, operands.data(), results.data()));
            std::string result;
            for (const Value& value : results) result += bits(cpu, value);
            return result;
          };
          REQUIRE(of(code, *in_code) == of(steps, *in_steps));
        }
      }
    }
  };
  for_pairs([&](Pair& pair) {
    check(pair.code, pair.steps, pair.code.widths().int_bytes == 4);
    check(pair.code, pair.steps, false);
  });
}

TEST_CASE("states that would go on for long end when the run is to end") {
  for_backends([](CpuBackend& cpu) {
    constexpr std::int64_t kLength = 5000, kWanted = 100'000;
    const auto kernel = counting_kernel(true, 100'000);
    const auto prepared = cpu.prepare(kernel);
    std::vector<Value> operands{upload(cpu, Type::Int, std::vector<double>(kLength, kWanted)),
                                upload(cpu, Type::Int, std::vector<double>(1, 1))};
    std::vector<Value> results(6);
    cpu.stop = [] { return true; };
    REQUIRE(cpu.run(*prepared, operands.data(), results.data()));
    cpu.stop = nullptr;
    for (std::int64_t i = 0; i < kLength; ++i) {
      REQUIRE(cvl::read_int(cpu, results[2].vector(), i) > kWanted - 100);
    }
  });
}

TEST_CASE("states are read by what follows in the kernel, and only what is read is kept") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId x = b.in("x", Type::Int, n);
  auto m = b.thunk();
  const ArrayId twice = b.map("twice", b.flat(n), Type::Int,
                              m.give({m.apply(Op::Add, Type::Int, {m.own(x), m.own(x)})}));
  auto e = b.thunk();
  const Thunk elements = e.give({e.own(twice), e.number(0), e.number(9)});
  auto c = b.thunk();
  const Thunk condition =
      c.give({c.apply(Op::Greater, Type::Int, {c.state(0, Type::Int), c.number(1)})});
  auto t = b.thunk();
  const Thunk next =
      t.give({t.apply(Op::Divide, Type::Int, {t.state(0, Type::Int), t.number(2)}),
              t.apply(Op::Add, Type::Int, {t.state(1, Type::Int), t.number(1)}), t.number(4)});
  const auto last = b.iterate("s", b.flat(n), elements, condition, next, 1000);
  b.out(b.reduce("sum", b.flat(n), Op::AddReduce, Type::Int, [&] {
    auto r = b.thunk();
    return r.give({r.own(last[1])});
  }()));
  auto r = b.thunk();
  b.out(b.map("y", b.flat(n), Type::Int,
              r.give({r.apply(Op::Add, Type::Int, {r.own(last[1]), r.own(twice)})})));
  for_backends([&](CpuBackend& cpu) {
    for (const std::int64_t length : kIterated) {
      std::vector<double> operand, y;
      double sum = 0;
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t value = i * 37 % 5000 - 100;
        int steps = 0;
        for (std::int64_t rest = 2 * value; rest > 1; rest /= 2) ++steps;
        operand.push_back(static_cast<double>(value));
        y.push_back(static_cast<double>(steps + 2 * value));
        sum += steps;
      }
      const auto results = run(cpu, b.kernel, {upload(cpu, Type::Int, operand)});
      REQUIRE(bits(cpu, results[0]) == bits(cpu, Value(upload(cpu, Type::Int, {sum}))));
      REQUIRE(bits(cpu, results[1]) == bits(cpu, Value(upload(cpu, Type::Int, y))));
    }
  });
}

}  // namespace
}  // namespace kernel_test
