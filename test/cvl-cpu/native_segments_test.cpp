// Machine code for pieces and rows of segments against the steps: the same bits, and the same
// failures.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/native_support.hpp"

namespace kernel_test {
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
            std::vector<Lengths> all = long_and_short();
            all.insert(all.begin(), Lengths{70, 30});  // no pieces, and nothing is taken over
            for (const Lengths& lengths : all) {
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
                std::vector<Value> own = operands(pair.code), kept;
                if (&lengths == &all.front()) kept = own;
                REQUIRE(with_code.of(std::move(own)) == expected);
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

}  // namespace kernel_test
