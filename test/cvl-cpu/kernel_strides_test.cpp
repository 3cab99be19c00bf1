// Scatters to places that are equally far apart, and the extremes of such numbers.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {
TEST_CASE("one value is sent to places that are equally far apart") {
  for (const Type type : {Type::Int, Type::Float}) {
    KernelBuilder b;
    const SizeId s = b.size("s");
    const SizeId n = b.size("n");
    const SizeId m = b.size("m");
    const SegdesId d = b.in_segdes("d", s, n);
    const ArrayId first = b.in("first", Type::Int, s);
    const ArrayId stride = b.in("stride", Type::Int, s);
    const ArrayId old = b.in("old", type, m);
    const auto places = [&](bool exchanged) {
      auto t = b.thunk();
      const auto own = t.seg_no(d, t.index());
      const auto offset = t.seg_off(d, t.index());
      const auto way = exchanged ? t.apply(Op::Multiply, Type::Int, {t.at(stride, own), offset})
                                 : t.apply(Op::Multiply, Type::Int, {offset, t.at(stride, own)});
      return t.give({exchanged ? t.apply(Op::Add, Type::Int, {way, t.at(first, own)})
                               : t.apply(Op::Add, Type::Int, {t.at(first, own), way})});
    };
    auto e = b.thunk();
    auto z = b.thunk();
    b.out(b.scatter("put", b.flat(n), b.flat(m), type,
                    e.give({type == Type::Int ? e.number(7) : e.real(7)}), places(false),
                    z.give({z.own(old)})));
    auto f = b.thunk();
    b.out(
        b.scatter("marks", b.flat(n), b.flat(m), Type::Bool, f.give({f.flag(true)}), places(true)));
    b.out(b.reduce("least", b.flat(n), Op::MinReduce, Type::Int, places(false)));
    b.out(b.reduce("greatest", b.flat(n), Op::MaxReduce, Type::Int, places(true)));
    for_backends([&](CpuBackend& cpu) {
      const auto check = [&](std::int64_t length, const Lengths& lengths, const Numbers& starts,
                             const Numbers& strides) {
        const Numbers given = numbers(length, 51, 100);
        Numbers put = given, marks(given.size()), all;
        for (std::size_t k = 0; k < lengths.size(); ++k) {
          for (std::int64_t i = 0; i < lengths[k]; ++i) {
            const auto at =
                static_cast<std::size_t>(starts[k] + static_cast<double>(i) * strides[k]);
            put[at] = 7;
            marks[at] = 1;
            all.push_back(static_cast<double>(at));
          }
        }
        const auto results = run(cpu, b.kernel,
                                 {descriptor(cpu, lengths), upload(cpu, Type::Int, starts),
                                  upload(cpu, Type::Int, strides), upload(cpu, type, given)});
        REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, type, put)));
        REQUIRE(bits(cpu, results[1]) == bits(cpu, upload(cpu, Type::Bool, marks)));
        if (all.empty()) return;
        const auto [least, greatest] = std::minmax_element(all.begin(), all.end());
        REQUIRE(bits(cpu, results[2]) == bits(cpu, upload(cpu, Type::Int, {*least})));
        REQUIRE(bits(cpu, results[3]) == bits(cpu, upload(cpu, Type::Int, {*greatest})));
      };
      check(10, {0, 0}, {3, 100}, {1, -5});
      check(1000, {300, 0, 90, 1}, {5, 2000, 999, 0}, {3, 1, -11, 700});
      check(700'000, {200'000, 50, 100'000, 69'999}, {10, 650'000, 699'999, 3}, {3, 0, -6, 10});
      check(700'000, {30'000}, {10}, {23});
      Numbers starts, strides;
      Lengths lengths;
      for (int k = 2; k < 400; ++k) {
        starts.push_back(k);
        strides.push_back(k);
        lengths.push_back((200'000 - k) / k);
      }
      check(200'000, lengths, starts, strides);
      // Outside on either side, by stride and by wrapping around.
      const auto fails = [&](const Lengths& some, const Numbers& from, const Numbers& by) {
        REQUIRE(failure_of(cpu, b.kernel,
                           {descriptor(cpu, some), upload(cpu, Type::Int, from),
                            upload(cpu, Type::Int, by), upload(cpu, type, Numbers(1000))}) ==
                vcode::ErrorCode::IndexOutOfRange);
      };
      fails({100, 50}, {0, 900}, {1, 3});
      fails({100}, {98}, {-1});
      fails({100}, {0}, {1 << 30});
    });
  }
}

TEST_CASE("extremes of numbers that wrap around, equally far apart") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SegdesId d = b.in_segdes("d", s, n);
  const ArrayId first = b.in("first", Type::Int, s);
  const ArrayId stride = b.in("stride", Type::Int, s);
  for (const Op op : {Op::MinReduce, Op::MaxReduce}) {
    auto t = b.thunk();
    const auto own = t.seg_no(d, t.index());
    const auto way = t.apply(Op::Multiply, Type::Int, {t.seg_off(d, t.index()), t.at(stride, own)});
    b.out(b.reduce("r" + std::to_string(b.kernel.outputs.size()), b.flat(n), op, Type::Int,
                   t.give({t.apply(Op::Add, Type::Int, {t.at(first, own), way})})));
  }
  for_backends([&](CpuBackend& cpu) {
    const auto check = [&](const Lengths& lengths, const Numbers& starts, const Numbers& strides) {
      Numbers offsets, from, by;
      for (std::size_t k = 0; k < lengths.size(); ++k) {
        for (std::int64_t i = 0; i < lengths[k]; ++i) {
          offsets.push_back(static_cast<double>(i));
          from.push_back(starts[k]);
          by.push_back(strides[k]);
        }
      }
      const Value way = execute(cpu, Op::Multiply, Type::Int,
                                {upload(cpu, Type::Int, offsets), upload(cpu, Type::Int, by)});
      const Value all = execute(cpu, Op::Add, Type::Int, {way, upload(cpu, Type::Int, from)});
      const auto results = run(cpu, b.kernel,
                               {descriptor(cpu, lengths), upload(cpu, Type::Int, starts),
                                upload(cpu, Type::Int, strides)});
      for (const std::size_t k : {0, 1}) {
        const Op op = k == 0 ? Op::MinReduce : Op::MaxReduce;
        REQUIRE(bits(cpu, results[k]) ==
                bits(cpu, execute(cpu, op, Type::Int, {all, Segdes::single(total(lengths))})));
      }
    };
    check({1}, {-5}, {3});
    check({100}, {7}, {-13});
    check({100}, {5}, {1 << 28});
    check({100, 0, 1000, 500}, {-3, 8, 2'000'000'000, 4}, {-1, 5, 1, 1 << 20});
    check({100, 0, 1000, 500}, {-3, 8, -20, 4}, {-1, 5, 77, 100});
    check(Lengths(3000, 3), Numbers(3000, 4.0), Numbers(3000, -2.0));
  });
}

}  // namespace kernel_test
