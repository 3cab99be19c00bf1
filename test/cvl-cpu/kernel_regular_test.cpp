// Rows of regular nests, to which positions are divided.

#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {
TEST_CASE("rows of regular nests are read where they lie") {
  constexpr std::int64_t kCycle = 7;  // rows that are read again and again
  for (const std::int64_t length : {3, 128, 500, 700}) {
    KernelBuilder b;
    const SizeId s = b.size("s");
    const SizeId n = b.size("n");
    const SizeId m = b.size("m");
    const SizeId k = b.size("k");
    const SegdesId d = b.in_segdes("d", s, n);
    const ArrayId first = b.in("first", Type::Int, k);
    const ArrayId u = b.in("u", Type::Float, m);
    const ArrayId v = b.in("v", Type::Float, m);
    const auto in_row = [&](Expressions& t) {
      return t.apply(Op::Modulo, Type::Int, {t.index(), t.number(length)});
    };
    const auto row = [&](Expressions& t) {
      return t.apply(Op::Divide, Type::Int, {t.index(), t.number(length)});
    };
    const auto cyclic = [&](Expressions& t) {
      const auto which = t.apply(Op::Modulo, Type::Int, {row(t), t.number(kCycle)});
      const auto start = t.apply(Op::Multiply, Type::Int, {which, t.number(length)});
      return t.at(u, t.apply(Op::Add, Type::Int, {start, in_row(t)}));
    };
    const auto fetched = [&](Expressions& t) {
      return t.at(v, t.apply(Op::Add, Type::Int, {in_row(t), t.at(first, row(t))}));
    };
    auto x = b.thunk();
    auto y = b.thunk();
    auto z = b.thunk();
    b.out(b.map("cyclic", b.flat(n), Type::Float, x.give({cyclic(x)})));
    b.out(b.map("fetched", b.flat(n), Type::Float, y.give({fetched(y)})));
    b.out(b.reduce("sums", b.under(d), Op::AddReduce, Type::Float,
                   z.give({z.apply(Op::Multiply, Type::Float, {cyclic(z), fetched(z)})})));
    for_backends([&](CpuBackend& cpu) {
      for (const std::int64_t rows : {1, 10, 400}) {
        const Numbers us = numbers(length * 20, 61), vs = numbers(length * 20, 62);
        Numbers starts, expected_u, expected_v;
        for (std::int64_t r = 0; r < rows; ++r) {
          starts.push_back(static_cast<double>(r * 37 % (length * 19)));
          for (std::int64_t i = 0; i < length; ++i) {
            expected_u.push_back(us[static_cast<std::size_t>(r % kCycle * length + i)]);
            expected_v.push_back(vs[static_cast<std::size_t>(r * 37 % (length * 19) + i)]);
          }
        }
        const Segdes segdes = descriptor(cpu, Lengths(static_cast<std::size_t>(rows), length));
        const auto operands = [&](const Numbers& given) -> std::vector<Value> {
          return {segdes, upload(cpu, Type::Int, given), upload(cpu, Type::Float, us),
                  upload(cpu, Type::Float, vs)};
        };
        const auto results = run(cpu, b.kernel, operands(starts));
        const Value products =
            execute(cpu, Op::Multiply, Type::Float,
                    {upload(cpu, Type::Float, expected_u), upload(cpu, Type::Float, expected_v)});
        REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, Type::Float, expected_u)));
        REQUIRE(bits(cpu, results[1]) == bits(cpu, upload(cpu, Type::Float, expected_v)));
        REQUIRE(bits(cpu, results[2]) ==
                bits(cpu, execute(cpu, Op::AddReduce, Type::Float, {products, segdes})));
        // A row that lies outside, and one that begins nowhere.
        Numbers outside = starts;
        outside.back() = static_cast<double>(length * 19 + 1);
        REQUIRE(failure_of(cpu, b.kernel, operands(outside)) == vcode::ErrorCode::IndexOutOfRange);
        outside = starts;
        outside.pop_back();
        REQUIRE(failure_of(cpu, b.kernel, operands(outside)) == vcode::ErrorCode::IndexOutOfRange);
      }
    });
  }
}

}  // namespace kernel_test
