// Machine code for rounds of few states against single rounds: random bodies of all operations that
// it can have, with choices that decide several components, and divisions by all kinds of numbers.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"
#include "sanitized.hpp"

namespace kernel_test {
namespace {

/// States (i, j, x, flag, k): INT, INT, FLOAT, BOOL, and the number of rounds that are left.
class BodyGenerator {
 public:
  explicit BodyGenerator(unsigned seed) : random_(seed) {}

  vcode::Kernel kernel() {
    KernelBuilder b;
    n_ = b.size("n");
    m_ = b.size("m");
    const ArrayId i = b.in("i", Type::Int, n_), x = b.in("x", Type::Float, n_);
    const ArrayId rounds = b.in("rounds", Type::Int, n_);
    ints_ = b.in("ints", Type::Int, m_);
    text_ = b.in("text", Type::Int, m_);
    reals_ = b.in("reals", Type::Float, m_);
    flags_ = b.in("flags", Type::Bool, m_);
    auto e = b.thunk();
    const Thunk elements = e.give({e.own(i), e.index(), e.own(x), e.flag(true), e.own(rounds)});
    auto c = b.thunk();
    auto goes_on = c.apply(Op::Greater, Type::Int, {c.state(4, Type::Int), c.number(0)});
    for (int k = below(3); k > 0; --k) {
      const auto more = flag(c, 2);
      const Op op = below(3) > 0 ? Op::Or : Op::And;
      // Most go on for several rounds.
      goes_on = op == Op::And ? c.apply(Op::And, Type::Bool, {goes_on, either(c, more)})
                              : c.apply(Op::And, Type::Bool,
                                        {goes_on, c.apply(Op::Or, Type::Bool, {more, flag(c, 1)})});
    }
    const Thunk condition = c.give({goes_on});
    auto t = b.thunk();
    const auto decides = flag(t, 2);
    const auto next = [&](Id value, Id other) {
      return below(2) == 0 ? t.choose(decides, value, other) : value;
    };
    const Thunk body =
        t.give({next(number(t, 3), number(t, 1)), next(number(t, 3), t.state(1, Type::Int)),
                next(real(t, 3), t.state(2, Type::Float)), next(flag(t, 2), t.state(3, Type::Bool)),
                t.apply(Op::Subtract, Type::Int, {t.state(4, Type::Int), t.number(1)})});
    for (const ArrayId array : b.iterate("s", b.flat(n_), elements, condition, body, 100'000)) {
      b.out(array);
    }
    return b.kernel;
  }

 private:
  using Id = Expressions::Id;

  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  /// T in most cases.
  Id either(Expressions& t, Id flag) {
    return t.apply(
        Op::Or, Type::Bool,
        {flag, t.apply(Op::NotEqual, Type::Int,
                       {t.apply(Op::Modulo, Type::Int, {t.state(4, Type::Int), t.number(5)}),
                        t.number(0)})});
  }

  Id number(Expressions& t, int depth) {
    static constexpr std::int64_t kNumbers[] = {
        0, 1, -1, 2, -2, 3, 7, -10, 8, -64, 100, 12345, INT32_MAX, INT32_MIN, 641, 1 << 30};
    const auto literal = [&] { return t.number(kNumbers[below(std::size(kNumbers))]); };
    if (depth == 0) {
      static constexpr std::uint32_t kStates[] = {0, 1, 4};
      return below(3) == 0 ? literal() : t.state(kStates[below(3)], Type::Int);
    }
    const auto part = [&] { return number(t, depth - 1); };
    const auto apply = [&](Op op) { return t.apply(op, Type::Int, {part(), part()}); };
    static constexpr Op kOps[] = {Op::Add,       Op::Subtract,   Op::Multiply, Op::And, Op::Or,
                                  Op::ShiftLeft, Op::ShiftRight, Op::Xor,      Op::Add};
    switch (below(12)) {
      case 0:
        return t.choose(flag(t, depth - 1), part(), part());
      case 1:
        return t.apply(Op::Not, Type::Int, {part()});
      case 2:
      case 3: {
        const Op op = below(2) == 0 ? Op::Divide : Op::Modulo;
        if (below(2) == 0) {
          const std::int64_t by = kNumbers[1 + below(std::size(kNumbers) - 1)];
          return t.apply(op, Type::Int, {part(), t.number(by)});
        }
        const Id by = part();
        return t.apply(
            op, Type::Int,
            {part(), t.choose(t.apply(Op::Equal, Type::Int, {by, t.number(0)}), t.number(1), by)});
      }
      case 4:
        return read(t, below(2) == 0 ? ints_ : text_, t.number(0), depth);
      case 5: {
        static constexpr Op kRoundings[] = {Op::Floor, Op::Ceil, Op::Trunc, Op::Round};
        return t.apply(kRoundings[below(4)], Type::Float, {real(t, depth - 1)});
      }
      case 6:
        return t.apply(Op::BoolToInt, Type::Bool, {flag(t, depth - 1)});
      default:
        return apply(kOps[below(std::size(kOps))]);
    }
  }

  Id real(Expressions& t, int depth) {
    static constexpr double kReals[] = {0.0, 0.5, -1.0, 1.5, 1e9, 3.0};
    if (depth == 0) {
      return below(3) == 0 ? t.real(kReals[below(std::size(kReals))]) : t.state(2, Type::Float);
    }
    const auto part = [&] { return real(t, depth - 1); };
    static constexpr Op kOps[] = {Op::Add, Op::Subtract, Op::Multiply, Op::Divide};
    switch (below(9)) {
      case 8: {
        static constexpr Op kFunctions[] = {Op::Log,  Op::Exp,  Op::Sin,  Op::Cos,
                                            Op::Tan,  Op::Asin, Op::Acos, Op::Atan,
                                            Op::Sinh, Op::Cosh, Op::Tanh};
        return t.apply(kFunctions[below(11)], Type::Float, {part()});
      }
      case 0:
        return t.choose(flag(t, depth - 1), part(), part());
      case 1:
        return t.apply(Op::Sqrt, Type::Float,
                       {t.apply(Op::Multiply, Type::Float, {part(), part()})});
      case 2:
        return t.apply(Op::IntToFloat, Type::Int, {number(t, depth - 1)});
      case 3:
        return read(t, reals_, t.real(0.0), depth);
      default:
        return t.apply(kOps[below(4)], Type::Float, {part(), part()});
    }
  }

  Id flag(Expressions& t, int depth) {
    if (depth == 0) return t.state(3, Type::Bool);
    const auto part = [&] { return flag(t, depth - 1); };
    static constexpr Op kLogic[] = {Op::And, Op::Or, Op::Xor, Op::Equal, Op::NotEqual};
    static constexpr Op kComparisons[] = {Op::Less,         Op::LessEqual, Op::Greater,
                                          Op::GreaterEqual, Op::Equal,     Op::NotEqual};
    switch (below(8)) {
      case 0:
        return t.apply(Op::Not, Type::Bool, {part()});
      case 1:
        return t.choose(part(), part(), part());
      case 2:
        return t.apply(Op::IntToBool, Type::Int, {number(t, depth - 1)});
      case 3:
        return read(t, flags_, t.flag(false), depth);
      case 4:
        return t.apply(kComparisons[below(6)], Type::Float,
                       {real(t, depth - 1), real(t, depth - 1)});
      case 5:
        return t.apply(kComparisons[below(6)], Type::Int,
                       {number(t, depth - 1), number(t, depth - 1)});
      default:
        return t.apply(kLogic[below(5)], Type::Bool, {part(), part()});
    }
  }

  /// The element at a place that may be outside, where it is `otherwise`.
  Id read(Expressions& t, ArrayId array, Id otherwise, int depth) {
    const Id place = number(t, depth - 1);
    const Id inside = t.apply(Op::And, Type::Bool,
                              {t.apply(Op::GreaterEqual, Type::Int, {place, t.number(0)}),
                               t.apply(Op::Less, Type::Int, {place, t.size(m_)})});
    return t.choose(inside, t.at(array, place), otherwise);
  }

  std::mt19937 random_;
  SizeId n_ = 0, m_ = 0;
  ArrayId ints_ = 0, text_ = 0, reals_ = 0, flags_ = 0;
};

/// The bits of FLOATs, but of all that are no numbers the same: their signs are the processor's.
template <class Float>
std::string numbers_in(std::string bits) {
  for (std::size_t at = 0; at < bits.size(); at += sizeof(Float)) {
    Float number;
    std::memcpy(&number, bits.data() + at, sizeof number);
    if (std::isnan(number)) std::memset(bits.data() + at, 0xFF, sizeof number);
  }
  return bits;
}
std::string numbers_in(CpuBackend& cpu, const Value& value) {
  std::string all = bits(cpu, value);
  if (value.vector().type != Type::Float) return all;
  return cpu.widths().float_bytes == 8 ? numbers_in<double>(std::move(all))
                                       : numbers_in<float>(std::move(all));
}

TEST_CASE("machine code for rounds of few states gives the states that single rounds give",
          "[native]") {
  const int programs = ::testing::some_of(60);
  std::size_t different = 0;
  for_pairs([&](Pair& pair) {
    for (int seed = 1; seed <= programs; ++seed) {
      const vcode::Kernel kernel = BodyGenerator(static_cast<unsigned>(seed)).kernel();
      std::string states;
      for (const std::int64_t length : {1, 2, 4, 5}) {
        const auto of = [&](CpuBackend& cpu) {
          constexpr std::int64_t kLetters = 50;
          Numbers rounds = numbers(length, 3, 60.0);
          for (double& number : rounds) number = 40.0 + std::floor(number / 2);
          std::string result;
          for (const Value& value :
               run(cpu, kernel,
                   {upload(cpu, Type::Int, numbers(length, static_cast<unsigned>(seed), 1e5)),
                    upload(cpu, Type::Float, numbers(length, 7, 10.0)),
                    upload(cpu, Type::Int, rounds),
                    upload(cpu, Type::Int, numbers(kLetters, 1, 1e6)),
                    cpu.upload_characters(std::string(kLetters, '\xfe')),
                    upload(cpu, Type::Float, numbers(kLetters, 2)),
                    upload(cpu, Type::Bool, Numbers(kLetters, 1.0))})) {
            result += numbers_in(cpu, value);
          }
          return result;
        };
        INFO("seed " << seed << ", " << length << " states");
        const std::string expected = of(pair.steps);
        REQUIRE(of(pair.code) == expected);
        different += states.empty() || expected.substr(0, 4) != states.substr(0, 4);
        states = expected;
      }
    }
  });
  CHECK(different > static_cast<std::size_t>(programs));
}

}  // namespace
}  // namespace kernel_test
