// Machine code for reads that pass from one vector to another, or out of it, against the steps: the
// same bits, and the same failures.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/native_support.hpp"

namespace kernel_test {
namespace {

using Node = Expressions::Id;

/// The place if it is inside of [0, limit), else 1.
Node kept_inside(Expressions& t, Node place, SizeId limit) {
  const auto not_below = t.apply(Op::GreaterEqual, Type::Int, {place, t.number(0)});
  const auto below = t.apply(Op::Less, Type::Int, {place, t.size(limit)});
  return t.apply(Op::Select, Type::Int,
                 {t.apply(Op::And, Type::Bool, {not_below, below}), place, t.number(1)});
}

/// The place if it is not behind a vector, else 0: it fails below zero.
Node kept_below(Expressions& t, Node place, SizeId limit) {
  const auto below = t.apply(Op::Less, Type::Int, {place, t.size(limit)});
  return t.apply(Op::Select, Type::Int, {below, place, t.number(0)});
}

constexpr std::int64_t kFar = 1'000'000;

}  // namespace

TEST_CASE("what is read beside a vector, from joined ones and backwards, in machine code",
          "[native]") {
  const bool over = GENERATE(false, true);  // what is read at the own place
  KernelBuilder b;
  const SizeId n = b.size("n"), m = b.size("m"), k = b.size("k"), one = b.literal(1);
  const ArrayId shifts[] = {b.in("s0", Type::Int, one), b.in("s1", Type::Int, one),
                            b.in("s2", Type::Int, one), b.in("s3", Type::Int, one)};
  const ArrayId own = b.in("own", Type::Float, n), from = b.in("from", Type::Float, m);
  const ArrayId left = b.in("left", Type::Float, k), right = b.in("right", Type::Float, n);
  auto p = b.thunk(), q = b.thunk();
  const auto shifted = [&](Expressions& t, int number) {
    return t.apply(Op::Add, Type::Int, {t.at(shifts[number], t.number(0)), t.index()});
  };
  const auto beside = p.at(from, kept_inside(p, shifted(p, 0), m));
  const auto turned = p.apply(Op::Subtract, Type::Int, {p.at(shifts[1], p.number(0)), p.index()});
  const auto back = p.at(from, kept_inside(p, turned, m));
  const auto place = shifted(p, 2);
  const auto behind = p.apply(Op::Subtract, Type::Int, {place, p.size(k)});
  const auto joined = p.choose(p.apply(Op::Less, Type::Int, {place, p.size(k)}), p.at(left, place),
                               p.at(right, behind));
  const auto end = shifted(p, 2);
  const auto filled =
      p.choose(p.apply(Op::Less, Type::Int, {end, p.size(k)}), p.at(left, end), p.real(0.25));
  const auto add = [&](Node a, Node c) { return p.apply(Op::Add, Type::Float, {a, c}); };
  b.out(b.map("sums", b.flat(n), Type::Float,
              p.give({add(add(add(add(p.own(own), beside), back), joined), filled)})));
  if (!over) {
    const auto below = q.at(from, kept_below(q, shifted(q, 3), m));
    const auto number = q.apply(Op::Trunc, Type::Float, {below});
    b.out(b.map("numbers", b.flat(n), Type::Int,
                q.give({q.apply(Op::Subtract, Type::Int, {number, q.index()})})));
  }
  for_pairs(
      [&](Pair& pair) {
        Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
        for (const std::int64_t length : {257, 700, 5000, 40'000}) {
          for (const std::int64_t shift : {0, 1, -1, 3, -16, 300, -513, 5000}) {
            const std::int64_t about = length / 2 + shift;
            for (const std::int64_t below : {shift, std::int64_t{2}, kFar}) {
              CAPTURE(length, shift, below);
              const auto operands = [&](CpuBackend& cpu) {
                const auto number = [&](std::int64_t value) {
                  return upload(cpu, Type::Int, {static_cast<double>(value)});
                };
                const std::int64_t joined_from = std::clamp<std::int64_t>(shift, 0, 20);
                return std::vector<Value>{
                    number(shift),
                    number(length - 1 + shift),
                    number(joined_from),
                    number(below),
                    upload(cpu, Type::Float, numbers(length, 7)),
                    upload(cpu, Type::Float, numbers(length + 9, 8)),
                    upload(cpu, Type::Float, numbers(std::max(about, std::int64_t{20}), 9)),
                    upload(cpu, Type::Float, numbers(length, 10))};
              };
              const std::string expected = by_steps.of(operands(pair.steps));
              REQUIRE((expected.find("out of range") != std::string::npos) == (!over && below < 0));
              REQUIRE(with_code.of(operands(pair.code)) == expected);
            }
          }
        }
      },
      "native_pays_after=0");
}

TEST_CASE("what is read beside segments in machine code", "[native]") {
  KernelBuilder b;
  const SizeId s = b.size("s"), n = b.size("n"), m = b.size("m"), one = b.literal(1);
  const SegdesId d = b.in_segdes("d", s, n);
  const ArrayId first = b.in("first", Type::Int, s), shift = b.in("shift", Type::Int, one);
  const ArrayId own = b.in("own", Type::Float, n), from = b.in("from", Type::Float, m);
  auto p = b.thunk(), q = b.thunk();
  const auto beside = [&](Expressions& t) {
    const auto offset = t.seg_off(d, t.index());
    const auto place = t.apply(Op::Add, Type::Int, {t.at(first, t.seg_no(d, t.index())), offset});
    return t.at(from, kept_inside(t, place, m));
  };
  const auto shifted = p.apply(Op::Add, Type::Int, {p.at(shift, p.number(0)), p.index()});
  const auto sum =
      p.apply(Op::Add, Type::Float, {beside(p), p.at(from, kept_inside(p, shifted, m))});
  b.out(b.map("differences", b.under(d), Type::Float,
              p.give({p.apply(Op::Subtract, Type::Float, {sum, p.own(own)})})));
  const auto offset = q.apply(Op::Add, Type::Int, {q.seg_off(d, q.index()), q.index()});
  b.out(b.map("offsets", b.under(d), Type::Int,
              q.give({q.choose(q.apply(Op::Less, Type::Float, {beside(q), q.real(0.0)}), offset,
                               q.at(first, q.seg_no(d, q.index())))})));
  for_pairs(
      [&](Pair& pair) {
        Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
        const std::int64_t tile = cvl::cpu::tuning.map_tile;
        for (const Lengths& lengths :
             {Lengths(3, 500), Lengths{0, 0, 31, 700, 33, 0, 1, 2, 128, 0, 700, 3, 0},
              Lengths{tile, 0, tile - 32, 32, tile + 1, 0, 2 * tile + 31, 32, 5},
              Lengths(1000, 40)}) {
          for (const std::int64_t moved : {0, 1, -1, -300, 600}) {
            CAPTURE(lengths.size(), moved);
            std::vector<double> starts;
            for (std::size_t k = 0; k < lengths.size(); ++k) {
              starts.push_back(static_cast<double>(moved) - static_cast<double>(k % 3));
            }
            const auto operands = [&](CpuBackend& cpu) {
              return std::vector<Value>{descriptor(cpu, lengths), upload(cpu, Type::Int, starts),
                                        upload(cpu, Type::Int, {static_cast<double>(-moved)}),
                                        upload(cpu, Type::Float, numbers(total(lengths), 7)),
                                        upload(cpu, Type::Float, numbers(600, 8))};
            };
            REQUIRE(with_code.of(operands(pair.code)) == by_steps.of(operands(pair.steps)));
          }
        }
      },
      "native_pays_after=0,pieces_mean_length=1");
}

TEST_CASE("rows are chosen by conditions on their numbers", "[native]") {
  const Op op = GENERATE(Op::Less, Op::LessEqual, Op::Greater, Op::GreaterEqual, Op::Equal);
  const Op both = GENERATE(Op::And, Op::Or);
  KernelBuilder b;
  const SizeId s = b.size("s"), n = b.size("n"), m = b.size("m"), one = b.literal(1);
  const SegdesId d = b.in_segdes("d", s, n);
  const ArrayId first = b.in("first", Type::Int, s), bound = b.in("bound", Type::Int, one);
  const ArrayId own = b.in("own", Type::Float, n), from = b.in("from", Type::Float, m);
  auto t = b.thunk();
  const auto row = t.apply(Op::Subtract, Type::Int, {t.seg_no(d, t.index()), t.number(1)});
  const auto other = t.apply(op, Type::Int, {row, t.at(bound, t.number(0))});
  const auto inside = t.apply(Op::GreaterEqual, Type::Int, {row, t.number(0)});
  // The first row has none before it, but for which condition it is.
  const auto flag = t.apply(both, Type::Bool, {inside, other});
  const auto chosen = t.apply(Op::Select, Type::Int, {flag, row, t.number(2)});
  const auto start = t.at(first, chosen);
  const auto place = t.apply(Op::Add, Type::Int, {start, t.seg_off(d, t.index())});
  const auto taken = t.at(from, kept_inside(t, place, m));
  b.out(b.map("sums", b.under(d), Type::Float,
              t.give({t.apply(Op::Add, Type::Float, {taken, t.own(own)})})));
  for_pairs(
      [&](Pair& pair) {
        Runs with_code(pair.code, b.kernel), by_steps(pair.steps, b.kernel);
        for (const Lengths& lengths : {Lengths(5, 300), Lengths{40, 0, 700, 33, 1, 0, 5000, 8}}) {
          for (const std::int64_t limit : {-1, 0, 1, 3, 100}) {
            CAPTURE(lengths.size(), limit);
            std::vector<double> starts;
            for (std::size_t k = 0; k < lengths.size(); ++k) {
              starts.push_back(static_cast<double>(k * 100) - 30);
            }
            const auto operands = [&](CpuBackend& cpu) {
              return std::vector<Value>{descriptor(cpu, lengths), upload(cpu, Type::Int, starts),
                                        upload(cpu, Type::Int, {static_cast<double>(limit)}),
                                        upload(cpu, Type::Float, numbers(total(lengths), 7)),
                                        upload(cpu, Type::Float, numbers(900, 8))};
            };
            const std::string expected = by_steps.of(operands(pair.steps));
            const bool fails = both == Op::Or && (op == Op::Less           ? limit > -1
                                                  : op == Op::LessEqual    ? limit >= -1
                                                  : op == Op::Greater      ? limit < -1
                                                  : op == Op::GreaterEqual ? limit <= -1
                                                                           : limit == -1);
            REQUIRE((expected.find("out of range") != std::string::npos) == fails);
            REQUIRE(with_code.of(operands(pair.code)) == expected);
          }
        }
      },
      "native_pays_after=0,pieces_mean_length=1");
}

}  // namespace kernel_test
