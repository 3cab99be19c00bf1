// Short rows of one length that are stored column by column.

#include "cvl-cpu/kernel_interleave.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {
namespace {

using Id = Expressions::Id;

/// Three results over n elements, chosen by their place in rows of `length`, of vectors that have
/// an element for each row.
struct Rows {
  std::int64_t length;
  KernelBuilder b;
  SizeId n;
  ArrayId x, y, z;

  explicit Rows(std::int64_t row_length) : length(row_length), n(b.size("n")) {
    b.in_segdes("d", b.size("s"), n);
    x = b.in("x", Type::Int, b.size("k"));
    y = b.in("y", Type::Float, b.size("l"));
    z = b.in("z", Type::Bool, b.size("m"));
    auto ints = b.thunk();
    const Id product = ints.apply(Op::Multiply, Type::Int, {ints.at(x, row(ints)), ints.index()});
    b.out(b.map("ints", b.flat(n), Type::Int,
                ints.give({ints.choose(
                    is_at(ints, 0), ints.at(x, row(ints)),
                    ints.choose(is_at(ints, 1), ints.number(7),
                                ints.apply(Op::Add, Type::Int, {product, column(ints)})))})));
    auto floats = b.thunk();
    b.out(b.map("floats", b.flat(n), Type::Float,
                floats.give({floats.choose(is_at(floats, length - 1), floats.real(0.5),
                                           floats.at(y, row(floats)))})));
    auto flags = b.thunk();
    b.out(b.map("flags", b.flat(n), Type::Bool,
                flags.give({flags.apply(Op::Xor, Type::Bool,
                                        {flags.at(z, row(flags)), is_at(flags, 1)})})));
  }

  Id column(Expressions& t) const {
    return t.apply(Op::Modulo, Type::Int, {t.index(), t.number(length)});
  }
  Id row(Expressions& t) const {
    return t.apply(Op::Divide, Type::Int, {t.index(), t.number(length)});
  }
  Id is_at(Expressions& t, std::int64_t place) const {
    return t.apply(Op::Equal, Type::Int, {column(t), t.number(place)});
  }
};

Segdes whole(std::int64_t n) {
  return Segdes::single(n);
}

}  // namespace

TEST_CASE("short rows are stored as their elements say, one by one") {
  for (std::int64_t length = 2; length <= 9; ++length) {
    const Rows rows(length);
    for_backends([&](CpuBackend& cpu) {
      for (const std::int64_t count : {1, 255, 256, 511, 3000, 20000}) {
        // With the beginning of one more row, too.
        for (const std::int64_t more : {std::int64_t{0}, std::int64_t{1}}) {
          const std::int64_t n = count * length + more;
          const Numbers xs = numbers(count + 1, 81, 100), ys = numbers(count + 1, 82);
          Numbers zs, ints, floats, flags;
          for (const double x : xs) zs.push_back(x > 0);
          for (std::int64_t i = 0; i < n; ++i) {
            const auto r = static_cast<std::size_t>(i / length);
            const std::int64_t column = i % length;
            const auto x = static_cast<std::int64_t>(xs[r]);
            ints.push_back(static_cast<double>(column == 0 ? x : column == 1 ? 7 : x * i + column));
            floats.push_back(column == length - 1 ? 0.5 : ys[r]);
            flags.push_back((zs[r] != 0) != (column == 1));
          }
          const auto found = run(cpu, rows.b.kernel,
                                 {whole(n), upload(cpu, Type::Int, xs),
                                  upload(cpu, Type::Float, ys), upload(cpu, Type::Bool, zs)});
          INFO(count << " rows of " << length << " and " << more);
          REQUIRE(bits(cpu, found[0]) == bits(cpu, upload(cpu, Type::Int, ints)));
          REQUIRE(bits(cpu, found[1]) == bits(cpu, upload(cpu, Type::Float, floats)));
          REQUIRE(bits(cpu, found[2]) == bits(cpu, upload(cpu, Type::Bool, flags)));
        }
      }
    });
  }
}

TEST_CASE("short rows that are parts of longer ones") {
  // Row r of `length` elements goes to row r of the target, from `start` on.
  constexpr std::int64_t kLength = 3, kCount = 700;
  for (const bool zeroed : {false, true}) {
    KernelBuilder b;
    const SizeId s = b.size("s"), n = b.size("n"), m = b.size("m");
    const SegdesId from = b.in_segdes("from", s, n), into = b.in_segdes("into", s, m);
    const ArrayId x = b.in("x", Type::Int, b.size("k"));
    const ArrayId start = b.in("start", Type::Int, b.literal(1));
    const ArrayId before = b.in("before", Type::Int, m);
    auto index = b.thunk();
    auto value = b.thunk();
    auto defaults = b.thunk();
    const auto column = [](Expressions& t) {
      return t.apply(Op::Modulo, Type::Int, {t.index(), t.number(kLength)});
    };
    const Id row = value.apply(Op::Divide, Type::Int, {value.index(), value.number(kLength)});
    const ArrayId y = b.array("y", Type::Int, m);
    Binding& scatter = b.bind(Binding::Kind::Scatter, b.under(from));
    scatter.into = b.under(into);
    scatter.arrays = {y};
    scatter.elements =
        value.give({value.apply(Op::Multiply, Type::Int, {value.at(x, row), column(value)})});
    scatter.index = index.give(
        {index.apply(Op::Add, Type::Int, {index.at(start, index.number(0)), column(index)})});
    if (!zeroed) scatter.defaults = defaults.give({defaults.own(before)});
    b.out(y);
    for_backends([&](CpuBackend& cpu) {
      const Numbers xs = numbers(kCount, 85, 100);
      // Also where the rows are not equally long, and where the last element lies outside.
      for (const std::int64_t length : {3, 5, 8, 40}) {
        for (const bool equal : {true, false}) {
          Lengths targets(kCount, length);
          if (!equal) targets.back() = length + 1;
          const Numbers old = numbers(total(targets), 86, 100);
          const auto operands = [&](std::int64_t at) -> std::vector<Value> {
            return {descriptor(cpu, Lengths(kCount, kLength)), descriptor(cpu, targets),
                    upload(cpu, Type::Int, xs), upload(cpu, Type::Int, {static_cast<double>(at)}),
                    upload(cpu, Type::Int, old)};
          };
          for (std::int64_t at = 0; at <= length - kLength; at += 2) {
            Numbers expected = zeroed ? Numbers(old.size(), 0) : old;
            for (std::int64_t i = 0; i < kCount * kLength; ++i) {
              const std::int64_t place = i / kLength * length + at + i % kLength;
              const double x = std::trunc(xs[static_cast<std::size_t>(i / kLength)]);
              expected[static_cast<std::size_t>(place)] = x * static_cast<double>(i % kLength);
            }
            const auto found = run(cpu, b.kernel, operands(at));
            REQUIRE(bits(cpu, found[0]) == bits(cpu, upload(cpu, Type::Int, expected)));
          }
          std::vector<Value> short_operand = operands(0);
          short_operand[2] = upload(cpu, Type::Int, numbers(kCount - 1, 85, 100));
          REQUIRE(failure_of(cpu, b.kernel, short_operand) == vcode::ErrorCode::IndexOutOfRange);
          REQUIRE(failure_of(cpu, b.kernel, operands(length - kLength + 1)) ==
                  vcode::ErrorCode::IndexOutOfRange);
          REQUIRE(failure_of(cpu, b.kernel, operands(-1)) == vcode::ErrorCode::IndexOutOfRange);
        }
      }
    });
  }
}

TEST_CASE("a vector that has too few elements for the rows fails where it did") {
  const Rows rows(4);
  for_backends([&](CpuBackend& cpu) {
    constexpr std::int64_t kCount = 1000;
    const Value x = upload(cpu, Type::Int, numbers(kCount - 1, 83, 100));
    const Value y = upload(cpu, Type::Float, numbers(kCount, 84));
    const Value z = upload(cpu, Type::Bool, Numbers(kCount, 1));
    std::string message;
    REQUIRE(failure_of(cpu, rows.b.kernel, {whole(4 * kCount), x, y, z}, &message) ==
            vcode::ErrorCode::IndexOutOfRange);
    REQUIRE(message.find("999") != std::string::npos);
    const auto found = run(cpu, rows.b.kernel, {whole(4 * kCount - 4), x, y, z});
    REQUIRE(found[0].vector().length == 4 * kCount - 4);
  });
}

TEST_CASE("which passes are stored by columns") {
  const auto planned = [](const KernelBuilder& b) {
    const auto plan = cvl::plan_kernel(b.kernel);
    REQUIRE(plan);
    const auto rows = cvl::cpu::plan_interleave(plan->passes.at(0));
    return rows ? rows->row_length : 0;
  };
  CHECK(planned(Rows(2).b) == 2);
  CHECK(planned(Rows(8).b) == 8);
  CHECK(planned(Rows(9).b) == 0);
  Rows own(3);
  auto t = own.b.thunk();
  const ArrayId w = own.b.in("w", Type::Int, own.n);
  own.b.out(own.b.map("sums", own.b.flat(own.n), Type::Int,
                      t.give({t.apply(Op::Add, Type::Int, {t.own(w), own.column(t)})})));
  CHECK(planned(own.b) == 0);
}

}  // namespace kernel_test
