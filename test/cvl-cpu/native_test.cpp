// Machine code for steps of kernels against the steps: the same bits, and the same failures.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {
namespace {

/// Numbers at the ends of what a type holds, and between them.
Vector operand(CpuBackend& cpu, Type type, std::int64_t n, unsigned seed) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static const std::vector<double> kFloats = {
      0.0,    -0.0,   0.5,          -0.5,          0.49999999999999994,
      1.5,    -1.5,   2.5,          -2.5,          kInfinity,
      -1e300, 1e300,  2147483647.0, -2147483648.0, 2147483648.5,
      1e-310, 4.0e18, -kInfinity,   9.3e18,        std::numeric_limits<double>::quiet_NaN()};
  static const std::vector<double> kInts = {1,  -1, 2,          7,           -7,         31,
                                            32, 63, 2147483647, -2147483648, 1000000007, -64};
  std::vector<double> elements = numbers(n, seed, type == Type::Int ? 1e6 : 100.0);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::size_t at = i * 7 + seed;
    if (type == Type::Bool) {
      elements[i] = elements[i] < 0 ? 1 : 0;
    } else if (type == Type::Float && i % 3 == 0) {
      elements[i] = kFloats[at % kFloats.size()];
    } else if (type == Type::Int) {
      elements[i] = i % 3 == 0 ? kInts[at % kInts.size()] : std::floor(elements[i]);
      if (elements[i] == 0) elements[i] = 3;  // divisors
    }
  }
  return upload(cpu, type, elements);
}

constexpr std::int64_t kLengths[] = {1, 3, 8, 15, 16, 17, 63, 64, 65, 512, 513, 1100};

/// A kernel that is run again and again: its code is made once.
class Runs {
 public:
  Runs(CpuBackend& cpu, const vcode::Kernel& kernel)
      : cpu_(cpu), kernel_(kernel), prepared_(cpu.prepare(kernel)) {}

  /// The bits of all results, NaN for any NaN, or the message of the failure.
  std::string of(std::vector<Value> operands) {
    std::vector<Value> results(kernel_.outputs.size());
    std::string text;
    try {
      cpu_.run(*prepared_, operands.data(), results.data());
      for (const Value& result : results) {
        const bool floats = result.is_vector() && result.vector().type == Type::Float;
        if (floats && cpu_.widths().float_bytes == 8) {
          text += with_one_nan<double>(bits(cpu_, result));
        } else {
          text += floats ? with_one_nan<float>(bits(cpu_, result)) : bits(cpu_, result);
        }
      }
    } catch (const cvl::Failure& failure) {
      text = failure.message();
      for (const std::string& note : failure.notes()) text += "\n" + note;
    }
    return text;
  }

 private:
  /// Which one comes of two depends on which is the first operand of a product.
  template <class Float>
  static std::string with_one_nan(std::string bits) {
    for (std::size_t at = 0; at < bits.size(); at += sizeof(Float)) {
      Float number;
      std::memcpy(&number, bits.data() + at, sizeof number);
      if (std::isnan(number)) number = std::numeric_limits<Float>::quiet_NaN();
      std::memcpy(bits.data() + at, &number, sizeof number);
    }
    return bits;
  }

  CpuBackend& cpu_;
  const vcode::Kernel& kernel_;
  std::unique_ptr<cvl::PreparedKernel> prepared_;
};

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

namespace {

/// Long, short and empty segments, with ends on, before and behind those of tiles.
std::vector<Lengths> long_and_short() {
  const std::int64_t tile = cvl::cpu::tuning.fold_tile_bytes / 8;
  return {Lengths(300, 500),
          {0, 0, 31, 32, 33, 0, 1, 2, 128, 0, 0, 700, 3, 0},
          {tile, 0, tile - 32, 32, tile + 1, 0, 2 * tile + 31, 32, 5},
          {3, 3 * tile, 0, 0, 100, 20, 30, 200, 31, 31, tile - 10, 10, 0},
          Lengths(1000, 32),
          {5, 0, 700, 0, 0, 6, 0, 64, 7, 0, 0, 300, 8, 9, 0, 100, 20, 0},
          {40, 0, 64, 70, 0, 130, 7, 9, 2 * tile, 0}};
}

}  // namespace

TEST_CASE("long segments are summed up in machine code", "[native]") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const SegdesId d = b.in_segdes("d", s, n);
  const ArrayId first = b.in("first", Type::Int, s), last = b.in("last", Type::Int, s);
  const ArrayId scale = b.in("scale", Type::Float, s);
  const ArrayId u = b.in("u", Type::Float, m);
  const ArrayId v = b.in("v", Type::Float, n);
  const ArrayId limit = b.in("limit", Type::Float, b.literal(1));
  const auto run = [&](Expressions& t) { return t.at(u, counting(t, first, d)); };
  auto x = b.thunk();
  auto y = b.thunk();
  auto z = b.thunk();
  auto w = b.thunk();
  const auto scaled =
      x.apply(Op::Multiply, Type::Float, {x.at(scale, x.seg_no(d, x.index())), run(x)});
  b.out(b.reduce("sums", b.under(d), Op::AddReduce, Type::Float,
                 x.give({x.apply(Op::Subtract, Type::Float, {scaled, x.own(v)})})));
  const auto squared = y.apply(Op::Multiply, Type::Float, {run(y), run(y)});
  b.out(b.reduce("squares", b.under(d), Op::AddReduce, Type::Float, y.give({squared})));
  const auto backwards = w.apply(Op::Subtract, Type::Int,
                                 {w.at(last, w.seg_no(d, w.index())), w.seg_off(d, w.index())});
  b.out(b.reduce("products", b.under(d), Op::AddReduce, Type::Float,
                 w.give({w.apply(Op::Multiply, Type::Float, {run(w), w.at(u, backwards)})})));
  // A negation, whose bits are those of all lanes that a mask has.
  const auto below = z.apply(Op::Less, Type::Float, {run(z), z.at(limit, z.number(0))});
  b.out(b.reduce("any", b.flat(n), Op::OrReduce, Type::Bool,
                 z.give({z.apply(Op::Not, Type::Bool, {below})})));
  for_pairs(
      [&](Pair& pair) {
        Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
        for (const Lengths& lengths : long_and_short()) {
          const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
          std::vector<double> us = numbers(longest + 40, 5);
          std::vector<double> starts;
          for (std::size_t k = 0; k < lengths.size(); ++k) starts.push_back(k % 41);
          for (const double most : {2.0, 0.999}) {
            for (const double beyond : {0.0, 1.0}) {
              CAPTURE(lengths.size(), most, beyond);
              // The last run ends where the vector does, or behind it.
              if (lengths.back() > 0) {
                starts.back() = static_cast<double>(longest + 40 - lengths.back()) + beyond;
              }
              std::vector<double> ends = starts;
              for (std::size_t k = 0; k < ends.size(); ++k) {
                ends[k] += static_cast<double>(lengths[k] - 1);
              }
              const auto operands = [&](CpuBackend& cpu) {
                return std::vector<Value>{
                    descriptor(cpu, lengths),
                    upload(cpu, Type::Int, starts),
                    upload(cpu, Type::Int, ends),
                    upload(cpu, Type::Float, numbers(static_cast<std::int64_t>(lengths.size()), 6)),
                    upload(cpu, Type::Float, us),
                    upload(cpu, Type::Float, numbers(total(lengths), 7)),
                    upload(cpu, Type::Float, {most})};
              };
              const std::string expected = by_steps.of(operands(pair.steps));
              REQUIRE((expected.find("out of range") != std::string::npos) ==
                      (beyond > 0 && lengths.back() > 0));
              REQUIRE(with_code.of(operands(pair.code)) == expected);
            }
          }
        }
      },
      "native_pays_after=0,pieces_mean_length=1");
}

TEST_CASE("segments are folded in machine code where nothing else is read of them", "[native]") {
  for (const Type type : {Type::Float, Type::Int}) {
    KernelBuilder b;
    const SizeId s = b.size("s"), n = b.size("n");
    const SegdesId d = b.in_segdes("d", s, n);
    const ArrayId x = b.in("x", type, n), y = b.in("y", type, n);
    for (const Op fold : {Op::AddReduce, Op::MultiplyReduce, Op::MaxReduce, Op::MinReduce}) {
      auto t = b.thunk();
      b.out(b.reduce(std::string(vcode::info(fold).text), b.under(d), fold, type,
                     t.give({t.apply(Op::Subtract, type, {t.own(x), t.own(y)})})));
    }
    const ArrayId flags = b.in("flags", Type::Bool, n);
    auto f = b.thunk();
    const auto less = f.apply(Op::Less, type, {f.own(x), f.own(x)});
    b.out(b.reduce("any", b.flat(n), Op::OrReduce, Type::Bool,
                   f.give({f.apply(Op::Or, Type::Bool, {f.own(flags), less})})));
    for_pairs(
        [&](Pair& pair) {
          Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
          bool any = false;  // in turn
          for (const Lengths& lengths : long_and_short()) {
            any = !any;
            CAPTURE(vcode::type_name(type), lengths.size(), any);
            const auto operands = [&](CpuBackend& cpu) {
              std::vector<double> flag(static_cast<std::size_t>(total(lengths)));
              if (any) flag[flag.size() / 3] = 1;
              return std::vector<Value>{
                  descriptor(cpu, lengths), operand(cpu, type, total(lengths), 3),
                  operand(cpu, type, total(lengths), 5), upload(cpu, Type::Bool, flag)};
            };
            const std::string expected = by_steps.of(operands(pair.steps));
            REQUIRE((expected.back() == '\1') == any);
            REQUIRE(with_code.of(operands(pair.code)) == expected);
          }
        },
        "native_pays_after=0,pieces_mean_length=1");
  }
}

TEST_CASE("rows are folded in machine code, with what is the same in each", "[native]") {
  constexpr Op kFolds[] = {Op::AddReduce, Op::MultiplyReduce, Op::MaxReduce, Op::MinReduce};
  for (const Type type : {Type::Int, Type::Float}) {
    for (const Op fold : kFolds) {
      for (const std::int64_t length : {5, 160, 1000}) {
        KernelBuilder b;
        const SizeId s = b.size("s"), n = b.size("n"), m = b.size("m");
        const SegdesId d = b.in_segdes("d", s, n);
        const ArrayId in_row = b.in("in_row", type, b.literal(length));
        const ArrayId by_row = b.in("by_row", type, m);
        const ArrayId own = b.in("own", type, n);
        const auto value = [&](Expressions& t) {
          const auto row = t.apply(Op::Divide, Type::Int, {t.index(), t.number(length)});
          const auto column = t.apply(Op::Modulo, Type::Int, {t.index(), t.number(length)});
          return t.apply(Op::Subtract, type, {t.at(in_row, column), t.at(by_row, row)});
        };
        auto x = b.thunk();
        auto y = b.thunk();
        auto z = b.thunk();
        const auto less = x.apply(Op::Less, type, {value(x), x.own(own)});
        b.out(b.reduce("chosen", b.under(d), fold, type,
                       x.give({x.apply(Op::Select, type, {less, value(x), x.own(own)})})));
        // Without runs, and where rows are no segments.
        const auto row = y.apply(Op::Divide, Type::Int, {y.index(), y.number(length)});
        b.out(b.reduce("scaled", b.under(d), fold, type,
                       y.give({y.apply(Op::Multiply, type, {y.own(own), y.at(by_row, row)})})));
        auto w = b.thunk();
        const auto turned = w.apply(
            Op::Subtract, Type::Int,
            {w.number(length - 1), w.apply(Op::Modulo, Type::Int, {w.index(), w.number(length)})});
        b.out(b.reduce("turned", b.under(d), fold, type,
                       w.give({w.apply(Op::Subtract, type, {w.at(in_row, turned), w.own(own)})})));
        b.out(b.map("values", b.flat(n), type, z.give({value(z)})));
        for_pairs(
            [&](Pair& pair) {
              Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
              for (const std::int64_t rows : {2, 70}) {
                // Segments of other lengths than the rows; elements for fewer rows than there are.
                for (const int segments : {1, 2}) {
                  for (const std::int64_t missing : {0, segments == 1 ? 1 : 0}) {
                    CAPTURE(vcode::info(fold).text, vcode::type_name(type), length, rows, segments,
                            missing);
                    const auto operands = [&](CpuBackend& cpu) {
                      const Lengths lengths =
                          segments == 1 ? Lengths(static_cast<std::size_t>(rows), length)
                                        : Lengths{rows * length - length / 2, 0, length / 2};
                      return std::vector<Value>{descriptor(cpu, lengths),
                                                operand(cpu, type, length, 3),
                                                operand(cpu, type, rows - missing, 8),
                                                operand(cpu, type, rows * length, 11)};
                    };
                    const std::string expected = by_steps.of(operands(pair.steps));
                    REQUIRE((expected.find("out of range") != std::string::npos) == (missing > 0));
                    REQUIRE(with_code.of(operands(pair.code)) == expected);
                  }
                }
              }
            },
            "native_pays_after=0,pieces_mean_length=1");
      }
    }
  }
}

TEST_CASE("rows side by side are folded in machine code, from the first element to the last",
          "[native]") {
  for (const Type type : {Type::Float, Type::Int}) {
    KernelBuilder b;
    const SizeId s = b.size("s"), n = b.size("n"), m = b.size("m");
    const SegdesId d = b.in_segdes("d", s, n);
    const ArrayId first = b.in("first", Type::Int, s), by_row = b.in("by_row", type, s);
    const ArrayId u = b.in("u", type, m), own = b.in("own", type, n);
    const ArrayId flags = b.in("flags", Type::Bool, n), divisor = b.in("divisor", Type::Int, s);
    const auto of_row = [&](Expressions& t, ArrayId array) {
      return t.at(array, t.seg_no(d, t.index()));
    };
    // Elements of a run, the own one, and a number of the row; for each way of folding them.
    for (const Op fold : {Op::AddReduce, Op::MultiplyReduce, Op::MaxReduce, Op::MinReduce}) {
      auto t = b.thunk();
      const auto product =
          t.apply(Op::Multiply, type, {t.at(u, counting(t, first, d)), t.own(own)});
      b.out(b.reduce(std::string(vcode::info(fold).text), b.under(d), fold, type,
                     t.give({t.apply(Op::Subtract, type, {product, of_row(t, by_row)})})));
    }
    // Positions in the row, a choice, and a division by a number of the row, which may fail.
    auto q = b.thunk();
    const auto chosen =
        q.apply(Op::Select, Type::Int, {q.own(flags), q.seg_off(d, q.index()), of_row(q, first)});
    b.out(b.reduce("quotients", b.under(d), Op::AddReduce, Type::Int,
                   q.give({q.apply(Op::Divide, Type::Int, {chosen, of_row(q, divisor)})})));
    auto f = b.thunk();
    const auto reaches = f.apply(Op::Greater, type, {f.own(own), of_row(f, by_row)});
    b.out(b.reduce("any", b.flat(n), Op::OrReduce, Type::Bool, f.give({reaches})));
    for_pairs(
        [&](Pair& pair) {
          Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
          for (const std::int64_t length : {1, 3, 31, 100, 127}) {
            for (const std::int64_t rows : {16, 17, 90, 600}) {
              // All rows read the same run, each has its own, or so many in turn share one.
              for (const std::int64_t share : {rows, std::int64_t{1}, std::int64_t{40}}) {
                for (const double last_divisor : {7.0, 0.0}) {
                  CAPTURE(vcode::type_name(type), length, rows, share, last_divisor);
                  const auto operands = [&](CpuBackend& cpu) {
                    std::vector<double> starts, divisors;
                    for (std::int64_t k = 0; k < rows; ++k) {
                      starts.push_back(static_cast<double>(k / share * 5 % 89));
                      divisors.push_back(static_cast<double>(k % 9 + 1));
                    }
                    divisors.back() = last_divisor;
                    const auto lengths = Lengths(static_cast<std::size_t>(rows), length);
                    return std::vector<Value>{descriptor(cpu, lengths),
                                              upload(cpu, Type::Int, starts),
                                              upload(cpu, type, numbers(rows, 8)),
                                              upload(cpu, type, numbers(length + 88, 3)),
                                              upload(cpu, type, numbers(rows * length, 11)),
                                              operand(cpu, Type::Bool, rows * length, 4),
                                              upload(cpu, Type::Int, divisors)};
                  };
                  const std::string expected = by_steps.of(operands(pair.steps));
                  REQUIRE((expected.find("zero") != std::string::npos) == (last_divisor == 0.0));
                  REQUIRE(with_code.of(operands(pair.code)) == expected);
                }
              }
            }
          }
        },
        "native_pays_after=0,rows_side_by_side=1,longest_block=256");
  }
}

TEST_CASE("long segments are stored in machine code, also over what is read", "[native]") {
  // x less a number of the segment, y less another one or an element of a run; and, if more is
  // wanted, positions in the segment, a comparison, and a sum.
  enum class Way : std::uint8_t { None, Forwards, Backwards };
  for (const auto way : {Way::None, Way::Forwards, Way::Backwards}) {
    for (const bool more : {false, true}) {
      KernelBuilder b;
      const SizeId s = b.size("s"), n = b.size("n"), m = b.size("m");
      const SegdesId d = b.in_segdes("d", s, n);
      const ArrayId x = b.in("x", Type::Float, n), y = b.in("y", Type::Int, n);
      const ArrayId number = b.in("number", Type::Float, s), other = b.in("other", Type::Int, s);
      const ArrayId first = b.in("first", Type::Int, s), u = b.in("u", Type::Int, m);
      const auto own = [&](Expressions& t, ArrayId array) {
        return t.at(array, t.seg_no(d, t.index()));
      };
      const auto difference = [&](Expressions& t) {
        return t.apply(Op::Subtract, Type::Float, {t.own(x), own(t, number)});
      };
      auto p = b.thunk(), q = b.thunk(), r = b.thunk(), o = b.thunk();
      b.out(b.map("differences", b.under(d), Type::Float, p.give({difference(p)})));
      const auto turned =
          q.apply(Op::Subtract, Type::Int, {own(q, first), q.seg_off(d, q.index())});
      auto taken = way == Way::None       ? own(q, other)
                   : way == Way::Forwards ? q.at(u, counting(q, first, d))
                                          : q.at(u, turned);
      if (more) taken = q.apply(Op::Add, Type::Int, {taken, q.seg_off(d, q.index())});
      b.out(b.map("taken", b.under(d), Type::Int,
                  q.give({q.apply(Op::Subtract, Type::Int, {q.own(y), taken})})));
      if (more) {
        b.out(b.map("less", b.under(d), Type::Bool,
                    r.give({r.apply(Op::Less, Type::Float, {difference(r), r.real(0.0)})})));
        b.out(b.reduce("sums", b.under(d), Op::AddReduce, Type::Float, o.give({difference(o)})));
      }
      for_pairs(
          [&](Pair& pair) {
            Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
            for (const Lengths& lengths : long_and_short()) {
              const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
              const auto count = static_cast<std::int64_t>(lengths.size());
              for (const double beyond : {0.0, 1.0, 0.0}) {
                CAPTURE(static_cast<int>(way), more, lengths.size(), beyond);
                std::vector<double> starts;
                for (std::size_t k = 0; k < lengths.size(); ++k) starts.push_back(k % 41);
                starts.back() = static_cast<double>(longest + 40 - lengths.back()) + beyond;
                if (way == Way::Backwards) {
                  for (std::size_t k = 0; k < lengths.size(); ++k) {
                    starts[k] += static_cast<double>(lengths[k] - 1);
                  }
                }
                // Some of the operands are nobody else's, so that results lie over them.
                const auto operands = [&](CpuBackend& cpu) {
                  return std::vector<Value>{descriptor(cpu, lengths),
                                            upload(cpu, Type::Float, numbers(total(lengths), 7)),
                                            upload(cpu, Type::Int, numbers(total(lengths), 8, 1e6)),
                                            upload(cpu, Type::Float, numbers(count, 6)),
                                            upload(cpu, Type::Int, numbers(count, 9, 1e6)),
                                            upload(cpu, Type::Int, starts),
                                            upload(cpu, Type::Int, numbers(longest + 40, 5, 1e6))};
                };
                const std::string expected = by_steps.of(operands(pair.steps));
                REQUIRE((expected.find("out of range") != std::string::npos) ==
                        (way != Way::None && beyond > 0 && lengths.back() > 0));
                REQUIRE(with_code.of(operands(pair.code)) == expected);
              }
            }
          },
          "native_pays_after=0,pieces_mean_length=1");
    }
  }
}

TEST_CASE("a division that fails in what is stored in machine code is found by the steps",
          "[native]") {
  KernelBuilder b;
  const SizeId s = b.size("s"), n = b.size("n");
  const SegdesId d = b.in_segdes("d", s, n);
  const ArrayId x = b.in("x", Type::Int, n), y = b.in("y", Type::Int, s);
  auto t = b.thunk();
  const auto own = t.at(y, t.seg_no(d, t.index()));
  b.out(b.map("quotients", b.under(d), Type::Int,
              t.give({t.apply(Op::Divide, Type::Int, {t.own(x), own})})));
  for_pairs(
      [&](Pair& pair) {
        Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
        for (const double divisor : {3.0, 0.0}) {
          for (const std::size_t at : {0, 46, 99}) {
            CAPTURE(divisor, at);
            std::vector<double> ys(100, 7.0);
            ys[at] = divisor;
            const auto operands = [&](CpuBackend& cpu) {
              return std::vector<Value>{descriptor(cpu, Lengths(100, 707)),
                                        upload(cpu, Type::Int, numbers(70700, 8, 1e6)),
                                        upload(cpu, Type::Int, ys)};
            };
            const std::string expected = by_steps.of(operands(pair.steps));
            REQUIRE((expected.find("zero") != std::string::npos) == (divisor == 0));
            REQUIRE(with_code.of(operands(pair.code)) == expected);
          }
        }
      },
      "native_pays_after=0,pieces_mean_length=1");
}

TEST_CASE("a division that fails in a sum in machine code is found by the steps", "[native]") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const SegdesId d = b.in_segdes("d", s, n);
  const ArrayId x = b.in("x", Type::Int, m);
  const ArrayId y = b.in("y", Type::Int, n);
  auto t = b.thunk();
  const auto run = t.at(x, t.seg_off(d, t.index()));
  b.out(b.reduce("sums", b.under(d), Op::AddReduce, Type::Int,
                 t.give({t.apply(Op::Divide, Type::Int, {run, t.own(y)})})));
  for_pairs(
      [&](Pair& pair) {
        Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
        const Lengths lengths(100, 707);
        for (const double divisor : {3.0, 0.0}) {
          for (const std::size_t at : {0, 32767, 32768, 70699}) {
            CAPTURE(divisor, at);
            std::vector<double> ys(70700, 7.0);
            ys[at] = divisor;
            const auto operands = [&](CpuBackend& cpu) {
              return std::vector<Value>{descriptor(cpu, lengths),
                                        upload(cpu, Type::Int, numbers(707, 8, 1e6)),
                                        upload(cpu, Type::Int, ys)};
            };
            const std::string expected = by_steps.of(operands(pair.steps));
            REQUIRE((expected.find("zero") != std::string::npos) == (divisor == 0));
            REQUIRE(with_code.of(operands(pair.code)) == expected);
          }
        }
      },
      "native_pays_after=0,pieces_mean_length=1");
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
