// Gathers whose indices are kept inside of a vector: runs, and what lies beside them, forwards and
// backwards.

#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {
namespace {

/// What lies outside of a vector is read from one of its places: the index of element i of n is
/// shift + i or shift - i where that is inside of [0, limit), as far as the form of the condition
/// says.
TEST_CASE("places outside of a vector are kept inside") {
  enum class Form { FromZero, Below, Both };
  const Form form = GENERATE(Form::FromZero, Form::Below, Form::Both);
  const bool backwards = GENERATE(false, true);
  const bool joined = GENERATE(false, true);
  KernelBuilder b;
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const SizeId one = b.literal(1);
  const ArrayId shift = b.in("shift", Type::Int, one);
  const ArrayId from = b.in("from", Type::Float, m);
  b.in("own", Type::Int, n);
  const ArrayId behind = b.in("behind", Type::Float, one);
  auto t = b.thunk();
  const auto first = t.at(shift, t.number(0));
  const auto place = t.apply(backwards ? Op::Subtract : Op::Add, Type::Int, {first, t.index()});
  const auto not_below = t.apply(Op::GreaterEqual, Type::Int, {place, t.number(0)});
  const auto below = t.apply(Op::Less, Type::Int, {place, t.size(m)});
  const auto inside = form == Form::FromZero ? not_below
                      : form == Form::Below  ? below
                                             : t.apply(Op::And, Type::Bool, {not_below, below});
  const auto kept = t.apply(Op::Select, Type::Int, {inside, place, t.number(1)});
  const auto taken = t.at(from, kept);
  const auto rest = t.apply(Op::Subtract, Type::Int, {kept, t.size(m)});
  const auto all =
      joined ? t.choose(t.apply(Op::Less, Type::Int, {kept, t.size(m)}), taken, t.at(behind, rest))
             : taken;
  b.out(b.map("y", b.flat(n), Type::Float, t.give({all})));
  for_backends([&](CpuBackend& cpu) {
    for (const std::int64_t length : {1, 5, 17, 64, 1000, 5000}) {
      const Numbers given = numbers(length + 2, 44, 100);
      const Numbers own(static_cast<std::size_t>(length));
      for (const std::int64_t shift : {0, 1, 2, 3, 18, 19, 900, -1, -2, -16, -300, -100'000}) {
        const std::int64_t begin = backwards ? shift + length - 1 : shift;
        Numbers expected;
        bool fails = false;
        for (std::int64_t i = 0; i < length; ++i) {
          const std::int64_t at = backwards ? begin - i : begin + i;
          const bool taken = form == Form::FromZero ? at >= 0
                             : form == Form::Below  ? at < length + 2
                                                    : at >= 0 && at < length + 2;
          fails |= taken && (at < 0 || at >= length + 2 + (joined ? 1 : 0));
          if (fails) break;
          const bool is_behind = taken && at == length + 2;
          expected.push_back(is_behind ? 7 : given[static_cast<std::size_t>(taken ? at : 1)]);
        }
        const std::vector<Value> operands = {
            upload(cpu, Type::Int, {static_cast<double>(begin)}), upload(cpu, Type::Float, given),
            upload(cpu, Type::Int, own), upload(cpu, Type::Float, {7.0})};
        CAPTURE(length, begin, backwards, joined);
        if (fails) {
          REQUIRE(failure_of(cpu, b.kernel, operands) == vcode::ErrorCode::IndexOutOfRange);
        } else {
          REQUIRE(bits(cpu, run(cpu, b.kernel, operands)[0]) ==
                  bits(cpu, upload(cpu, Type::Float, expected)));
        }
      }
    }
  });
}

TEST_CASE("several elements scattered to the one place inside") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId values = b.in("values", Type::Int, n);
  auto e = b.thunk();
  auto x = b.thunk();
  const auto place = x.apply(Op::Subtract, Type::Int, {x.index(), x.number(9)});
  const auto inside = x.apply(Op::GreaterEqual, Type::Int, {place, x.number(0)});
  const auto kept = x.apply(Op::Select, Type::Int, {inside, place, x.number(0)});
  b.out(b.scatter("y", b.flat(n), b.flat(n), Type::Int, e.give({e.own(values)}), x.give({kept})));
  for_backends([&](CpuBackend& cpu) {
    for (const std::int64_t length : {1, 5, 17, 1000, 70'000}) {
      const Numbers given = numbers(length, 45, 100);
      Numbers expected(given.size());
      for (std::size_t i = 0; i < given.size(); ++i) expected[i < 9 ? 0 : i - 9] = given[i];
      REQUIRE(bits(cpu, run(cpu, b.kernel, {upload(cpu, Type::Int, given)})[0]) ==
              bits(cpu, upload(cpu, Type::Int, expected)));
    }
  });
}

TEST_CASE("an index that has wrapped around may lie inside") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const SizeId one = b.literal(1);
  const ArrayId far = b.in("far", Type::Int, one);
  const ArrayId from = b.in("from", Type::Float, n);
  auto t = b.thunk();
  // far + far + 2 + i is i for INTs of 32 bits, and beyond the vector for others.
  const auto first = t.at(far, t.number(0));
  const auto twice = t.apply(Op::Add, Type::Int, {first, first});
  const auto more = t.apply(Op::Add, Type::Int, {t.index(), t.number(2)});
  const auto place = t.apply(Op::Add, Type::Int, {twice, more});
  const auto inside = t.apply(Op::And, Type::Bool,
                              {t.apply(Op::GreaterEqual, Type::Int, {place, t.number(0)}),
                               t.apply(Op::Less, Type::Int, {place, t.size(n)})});
  const auto kept = t.apply(Op::Select, Type::Int, {inside, place, t.number(0)});
  b.out(b.map("y", b.flat(n), Type::Float, t.give({t.at(from, kept)})));
  for_backends([&](CpuBackend& cpu) {
    for (const std::int64_t length : {1, 5, 1000, 5000}) {
      const Numbers given = numbers(length, 46, 100);
      const bool wraps = cpu.element_bytes(Type::Int) == 4;
      const Numbers expected = wraps ? given : Numbers(given.size(), given[0]);
      const auto result = run(
          cpu, b.kernel, {upload(cpu, Type::Int, {2147483647.0}), upload(cpu, Type::Float, given)});
      REQUIRE(bits(cpu, result[0]) == bits(cpu, upload(cpu, Type::Float, expected)));
    }
  });
}

}  // namespace
}  // namespace kernel_test
