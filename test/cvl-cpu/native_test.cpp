// Machine code for steps of kernels, and for rounds of them, against the steps: the same bits, and
// the same failures.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/native_support.hpp"

namespace kernel_test {
namespace {

constexpr std::int64_t kLengths[] = {1, 3, 8, 15, 16, 17, 63, 64, 65, 512, 513, 1100};

/// Bit k of `uniform` says that operand k is one element for all.
void check_operation(Op op, Type written, unsigned uniform) {
  const vcode::OpInfo& info = vcode::info(op);
  KernelBuilder b;
  const SizeId n = b.size("n");
  const SizeId one = b.literal(1);
  auto t = b.thunk();
  std::vector<Type> types;
  Expressions::Id args[3] = {};
  for (std::size_t k = 0; k < info.operands.size(); ++k) {
    types.push_back(*vcode::operand_type(info.operands[k], written));
    const bool single = (uniform >> k & 1) != 0;
    const ArrayId array = b.in("x" + std::to_string(k), types[k], single ? one : n);
    args[k] = single ? t.at(array, t.number(0)) : t.own(array);
  }
  const auto result = types.size() == 1   ? t.apply(op, written, {args[0]})
                      : types.size() == 2 ? t.apply(op, written, {args[0], args[1]})
                                          : t.apply(op, written, {args[0], args[1], args[2]});
  const Type type = *vcode::operand_type(info.results[0], written);
  const ArrayId stored = b.map("r", b.flat(n), type, t.give({result}));
  b.out(stored);
  // Reads it in a register; alone, the operation would be too little for a loop.
  auto u = b.thunk();
  const auto again = type == Type::Bool    ? u.apply(Op::Not, Type::Bool, {u.own(stored)})
                     : type == Type::Float ? u.apply(Op::Add, type, {u.own(stored), u.real(0.25)})
                                           : u.apply(Op::Add, type, {u.own(stored), u.index()});
  b.out(b.map("s", b.flat(n), type, u.give({again})));
  for_pairs([&](Pair& pair) {
    CAPTURE(info.text, vcode::type_name(written), uniform);
    Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
    for (const std::int64_t length : kLengths) {
      CAPTURE(length);
      const auto operands = [&](CpuBackend& cpu) {
        std::vector<Value> values;
        for (std::size_t k = 0; k < types.size(); ++k) {
          const bool single = (uniform >> k & 1) != 0;
          values.emplace_back(
              operand(cpu, types[k], single ? 1 : length, static_cast<unsigned>(k + 1)));
        }
        return values;
      };
      REQUIRE(with_code.of(operands(pair.code)) == by_steps.of(operands(pair.steps)));
    }
  });
}

}  // namespace

TEST_CASE("machine code of each operation gives the bits of its kernel", "[native]") {
  for (const vcode::OpInfo& info : vcode::all_ops()) {
    if (info.family != vcode::Family::Elementwise) continue;
    for (const Type type : {Type::Int, Type::Float, Type::Bool}) {
      if (info.takes_type() ? !info.allows(type) : type != Type::Int) continue;
      const unsigned all = (1U << info.operands.size()) - 1;
      for (unsigned uniform = 0; uniform < all; ++uniform) check_operation(info.op, type, uniform);
    }
  }
}

TEST_CASE("bitwise operations that machine code does as one give the same bits", "[native]") {
  std::mt19937 random(7);
  const auto any = [&](std::size_t below) { return random() % below; };
  for (int round = 0; round < 60; ++round) {
    KernelBuilder b;
    const SizeId n = b.size("n");
    auto t = b.thunk();
    std::vector<Expressions::Id> known;
    for (std::size_t k = 0; k < 2 + any(3); ++k) {
      known.push_back(t.own(b.in("x" + std::to_string(k), Type::Int, n)));
    }
    known.push_back(t.number(static_cast<std::int64_t>(any(1000))));
    for (std::size_t k = 0; k < 2 + any(9); ++k) {
      // Mostly the last ones, so that trees become deep.
      const auto operand = [&] {
        return known[known.size() - 1 - any(std::min<std::size_t>(4, known.size()))];
      };
      constexpr Op kOps[] = {Op::And, Op::Or, Op::Xor, Op::Not};
      const Op op = kOps[any(4)];
      known.push_back(op == Op::Not ? t.apply(op, Type::Int, {operand()})
                                    : t.apply(op, Type::Int, {operand(), operand()}));
    }
    const std::size_t inputs = b.kernel.arrays.size();
    std::vector<Expressions::Id> results = {known.back()};
    if (any(2) == 0) results.push_back(known[known.size() - 2]);
    const Thunk thunk = t.give({results});
    for (std::size_t k = 0; k < results.size(); ++k) {
      Thunk one = thunk;
      one.results = {results[k]};
      b.out(b.map("r" + std::to_string(k), b.flat(n), Type::Int, one));
    }
    for_pairs([&](Pair& pair) {
      CAPTURE(round);
      Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
      const auto operands = [&](CpuBackend& cpu) {
        std::vector<Value> values;
        for (std::size_t k = 0; k < inputs; ++k) {
          values.emplace_back(operand(cpu, Type::Int, 1100, static_cast<unsigned>(k + 1)));
        }
        return values;
      };
      REQUIRE(with_code.of(operands(pair.code)) == by_steps.of(operands(pair.steps)));
    });
  }
}

// Some only look like rotations: with another width, another mask, or another number.
TEST_CASE("numbers that are rotated by shifts have the same bits in machine code", "[native]") {
  enum class Count { Literal, OfElement, Same, Right };
  for (const std::int64_t width : {32, 64}) {
    for (const Count count : {Count::Literal, Count::OfElement, Count::Same, Count::Right}) {
      for (const std::int64_t literal : {1, 5, 31, 32, 33, 63}) {
        for (const std::string_view wrong : {"nothing", "rest", "mask", "number", "order"}) {
          KernelBuilder b;
          const SizeId n = b.size("n");
          auto t = b.thunk();
          const auto x = t.own(b.in("x", Type::Int, n)), y = t.own(b.in("y", Type::Int, n));
          const ArrayId one = b.in("c", Type::Int, b.literal(1));
          const auto apply = [&](Op op, Expressions::Id p, Expressions::Id q) {
            return t.apply(op, Type::Int, {p, q});
          };
          const bool is_wrong_rest = wrong == "rest";
          const auto all = t.number(is_wrong_rest ? width - 1 : width);
          const bool is_literal = count == Count::Literal;
          const auto given = is_literal             ? t.number(literal)
                             : count == Count::Same ? t.at(one, t.number(0))
                                                    : y;
          const auto other = is_literal ? t.number(width - literal - (is_wrong_rest ? 1 : 0))
                                        : apply(Op::Subtract, all, given);
          const auto left = count == Count::Right ? other : given;
          const auto right = count == Count::Right ? given : other;
          const std::int64_t bit = wrong == "mask" ? 2 : 1;
          const auto ones = static_cast<std::int64_t>((std::uint64_t{1} << literal) -
                                                      static_cast<std::uint64_t>(bit));
          const auto mask =
              is_literal
                  ? t.number(ones)
                  : apply(Op::Subtract, apply(Op::ShiftLeft, t.number(1), left), t.number(bit));
          const auto high = apply(Op::ShiftLeft, x, left);
          const auto from = wrong == "number" ? y : x;
          const auto low = apply(Op::And, apply(Op::ShiftRight, from, right), mask);
          const bool turned = wrong == "order";  // which makes no difference
          const auto rotated = turned ? apply(Op::Or, low, high) : apply(Op::Or, high, low);
          b.out(b.map("r", b.flat(n), Type::Int, t.give({apply(Op::Add, rotated, x)})));
          for_pairs([&](Pair& pair) {
            CAPTURE(width, static_cast<int>(count), literal, wrong);
            Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
            const auto operands = [&](CpuBackend& cpu) {
              std::vector<Value> values;
              values.emplace_back(operand(cpu, Type::Int, 300, 1));
              values.emplace_back(operand(cpu, Type::Int, 300, 2));
              values.emplace_back(operand(cpu, Type::Int, 1, static_cast<unsigned>(literal)));
              return values;
            };
            REQUIRE(with_code.of(operands(pair.code)) == by_steps.of(operands(pair.steps)));
          });
        }
      }
    }
  }
}

TEST_CASE("division by the same number is exact up to the ends of the range", "[native]") {
  for (const Op op : {Op::Divide, Op::Modulo}) {
    KernelBuilder b;
    const SizeId n = b.size("n");
    const ArrayId x = b.in("x", Type::Int, n);
    const ArrayId y = b.in("y", Type::Int, b.literal(1));
    auto t = b.thunk();
    const auto quotient = t.apply(op, Type::Int, {t.own(x), t.at(y, t.number(0))});
    b.out(b.map("r", b.flat(n), Type::Int,
                t.give({t.apply(Op::Xor, Type::Int, {quotient, t.index()})})));
    for_pairs([&](Pair& pair) {
      Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
      std::vector<double> divisors{0, 1, -1};
      for (int bit = 1; bit < 31; ++bit) {
        for (const int beside : {-1, 0, 1}) {
          divisors.push_back((std::int64_t{1} << bit) + beside);
          divisors.push_back(-divisors.back());
        }
      }
      for (const double divisor : divisors) {
        // Multiples, and what lies beside them.
        std::vector<double> xs{-2147483648.0, -2147483647.0, 2147483647.0, 2147483646.0};
        for (double multiple = 0; std::abs(multiple) < 2147483000.0 && xs.size() < 900;
             multiple = multiple * 1.3 + (divisor == 0 ? 1 : std::abs(divisor))) {
          const double exact = divisor == 0 ? multiple : std::trunc(multiple / divisor) * divisor;
          for (const double beside : {-1.0, 0.0, 1.0}) {
            xs.push_back(exact + beside);
            xs.push_back(-exact + beside);
          }
        }
        CAPTURE(divisor);
        const auto operands = [&](CpuBackend& cpu) {
          return std::vector<Value>{upload(cpu, Type::Int, xs), upload(cpu, Type::Int, {divisor})};
        };
        REQUIRE(with_code.of(operands(pair.code)) == by_steps.of(operands(pair.steps)));
      }
    });
  }
}

TEST_CASE("what fails in machine code is found by the steps", "[native]") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId x = b.in("x", Type::Int, n);
  const ArrayId y = b.in("y", Type::Int, n);
  auto t = b.thunk();
  const auto quotient = t.apply(Op::Divide, Type::Int, {t.own(x), t.own(y)});
  const auto wanted = t.apply(Op::Less, Type::Int, {t.own(x), t.number(5)});
  const auto rest =
      t.apply(Op::Modulo, Type::Int,
              {t.number(17), t.apply(Op::Subtract, Type::Int, {t.own(y), t.number(2)})});
  const auto chosen = t.choose(wanted, rest, t.number(8));
  b.out(
      b.map("r", b.flat(n), Type::Int, t.give({t.apply(Op::Add, Type::Int, {quotient, chosen})})));
  for_pairs([&](Pair& pair) {
    Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
    for (const std::int64_t length : {1, 16, 100, 600}) {
      for (const std::int64_t at : {std::int64_t{0}, length / 2, length - 1}) {
        for (const double bad : {0.0, 2.0, 3.0}) {
          for (const double numerator : {1.0, 6.0}) {
            CAPTURE(length, at, bad, numerator);
            // The operands are nobody else's: the result may lie over one of them.
            const auto operands = [&](CpuBackend& cpu) {
              std::vector<double> xs(static_cast<std::size_t>(length), numerator);
              std::vector<double> ys(static_cast<std::size_t>(length), 7.0);
              ys[static_cast<std::size_t>(at)] = bad;
              return std::vector<Value>{upload(cpu, Type::Int, xs), upload(cpu, Type::Int, ys)};
            };
            const std::string expected = by_steps.of(operands(pair.steps));
            const bool fails = bad == 0 || (bad == 2 && numerator < 5);
            REQUIRE((expected.find("zero") != std::string::npos) == fails);
            REQUIRE(with_code.of(operands(pair.code)) == expected);
          }
        }
      }
    }
  });
}

/// A walk through a text, numbers and flags: each letter says how far to go on. It leaves them now
/// and then, where nothing is read. Then there are zeros, or something else.
vcode::Kernel walking_kernel(bool zeros) {
  KernelBuilder b;
  const SizeId n = b.size("n"), m = b.size("m");
  const ArrayId text = b.in("text", Type::Int, m), numbers = b.in("numbers", Type::Float, m);
  const ArrayId flags = b.in("flags", Type::Bool, m), steps = b.in("steps", Type::Int, m);
  const ArrayId x = b.in("x", Type::Int, n), wanted = b.in("wanted", Type::Int, n);
  auto e = b.thunk();
  const Thunk elements = e.give({e.own(x), e.own(wanted), e.real(0.5), e.flag(false)});
  auto c = b.thunk();
  const Thunk condition =
      c.give({c.apply(Op::Greater, Type::Int, {c.state(1, Type::Int), c.number(0)})});
  auto t = b.thunk();
  const auto place = t.state(0, Type::Int), size = t.size(m);
  const auto inside = t.apply(Op::And, Type::Bool,
                              {t.apply(Op::GreaterEqual, Type::Int, {place, t.number(0)}),
                               t.apply(Op::Less, Type::Int, {place, size})});
  const auto read = [&](ArrayId array, auto otherwise) {
    return t.choose(inside, t.at(array, place), otherwise);
  };
  const auto go =
      t.apply(Op::Add, Type::Int,
              {read(text, t.number(zeros ? 0 : -3)), read(steps, t.number(zeros ? 0 : 40))});
  const auto end = t.apply(Op::Add, Type::Int, {size, t.number(9)});
  const Thunk next = t.give(
      {t.apply(Op::Modulo, Type::Int, {t.apply(Op::Add, Type::Int, {place, go}), end}),
       t.apply(Op::Subtract, Type::Int, {t.state(1, Type::Int), t.number(1)}),
       t.apply(Op::Add, Type::Float,
               {t.apply(Op::Multiply, Type::Float, {t.state(2, Type::Float), t.real(0.5)}),
                read(numbers, t.real(zeros ? 0.0 : 1.0))}),
       t.apply(Op::NotEqual, Type::Bool, {t.state(3, Type::Bool), read(flags, t.flag(!zeros))})});
  for (const ArrayId array : b.iterate("s", b.flat(n), elements, condition, next, 100'000)) {
    b.out(array);
  }
  return b.kernel;
}

TEST_CASE("machine code for many rounds reads elements from anywhere", "[native]") {
  const vcode::Kernel kernels[] = {walking_kernel(true), walking_kernel(false)};
  constexpr std::int64_t kPlaces = 1200;
  std::string letters;
  for (std::int64_t i = 0; i < kPlaces; ++i) letters += static_cast<char>('A' + i * i % 150);
  for_pairs([&](Pair& pair) {
    for (const vcode::Kernel& kernel : kernels) {
      Runs with_code(pair.code, kernel), by_steps(pair.steps, kernel);
      for (const std::int64_t length : {1, 64, 1025}) {
        // The text takes a byte for each letter, a whole INT, or is the same letter everywhere.
        for (const int form : {0, 1, 2, 0}) {
          const auto operands = [&](CpuBackend& cpu) {
            Vector text = cpu.upload_characters(letters);
            if (form == 1) text = cpu.materialized(text);
            if (form == 2) text = upload(cpu, Type::Int, std::vector<double>(kPlaces, 99));
            std::vector<double> starts, rounds, steps;
            for (std::int64_t i = 0; i < length; ++i) {
              starts.push_back(static_cast<double>(i * 7 % kPlaces));
              rounds.push_back(static_cast<double>(i % 97 == 0 ? 120 : i % 20));
            }
            for (std::int64_t i = 0; i < kPlaces; ++i) {
              steps.push_back(static_cast<double>(i % 23 - 11));
            }
            return std::vector<Value>{text,
                                      upload(cpu, Type::Float, numbers(kPlaces, 3, 10.0)),
                                      operand(cpu, Type::Bool, kPlaces, 5),
                                      upload(cpu, Type::Int, steps),
                                      upload(cpu, Type::Int, starts),
                                      upload(cpu, Type::Int, rounds)};
          };
          CAPTURE(length, form);
          const std::string result = with_code.of(operands(pair.code));
          REQUIRE(result == by_steps.of(operands(pair.steps)));
        }
      }
    }
  });
}

}  // namespace kernel_test
