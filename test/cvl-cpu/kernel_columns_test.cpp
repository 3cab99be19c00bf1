// Reductions of short rows, column by column, against operations on all elements, to the bit.

#include "cvl-cpu/kernel_columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {
namespace {

using Id = Expressions::Id;

/// Rows of different numbers and lengths, on both sides of where they are too few or too long.
const std::vector<std::pair<std::int64_t, std::int64_t>> kRows = {
    {2, 3}, {255, 5}, {256, 1}, {700, 2}, {300, 16}, {1000, 17}, {400, 127}, {300, 128}, {5000, 7}};

/// v[own row + column] op w[column], reduced.
struct Window {
  KernelBuilder b;
  SegdesId rows;

  Window(Op reduction, Op op, Type type) {
    rows = b.in_segdes("rows", b.size("s"), b.size("n"));
    const ArrayId v = b.in("v", type, b.size("m"));
    const ArrayId w = b.in("w", type, b.size("k"));
    auto t = b.thunk();
    const Id column = t.seg_off(rows, t.index());
    const Id place = t.apply(Op::Add, Type::Int, {t.seg_no(rows, t.index()), column});
    b.out(b.reduce("r", b.under(rows), reduction, type,
                   t.give({t.apply(op, type, {t.at(v, place), t.at(w, column)})})));
  }
};

Segdes equal(CpuBackend& cpu, std::int64_t count, std::int64_t length) {
  return descriptor(cpu, Lengths(static_cast<std::size_t>(count), length));
}

/// What the windows of `v` are combined with, element by element.
struct Elements {
  Numbers v, w;
};
Elements elements_of(const Numbers& v, const Numbers& w, std::int64_t count) {
  Elements all;
  for (std::int64_t r = 0; r < count; ++r) {
    for (std::size_t j = 0; j < w.size(); ++j) {
      all.v.push_back(v[static_cast<std::size_t>(r) + j]);
      all.w.push_back(w[j]);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("rows are reduced as the operations do it, from left to right") {
  for (const Op reduction : {Op::AddReduce, Op::MultiplyReduce, Op::MaxReduce, Op::MinReduce,
                             Op::AndReduce, Op::OrReduce, Op::XorReduce}) {
    for (const Type type : {Type::Int, Type::Float, Type::Bool}) {
      const bool logical =
          reduction == Op::AndReduce || reduction == Op::OrReduce || reduction == Op::XorReduce;
      if (logical ? type == Type::Float : type == Type::Bool) continue;
      const Op op = type == Type::Bool ? Op::Xor : Op::Multiply;
      const Window window(reduction, op, type);
      for_backends([&](CpuBackend& cpu) {
        for (const auto& [count, length] : kRows) {
          const double scale = type == Type::Int ? 100 : type == Type::Bool ? 0 : 1;
          Numbers v = numbers(count + length, 71, scale), w = numbers(length, 72, scale);
          if (type == Type::Bool) {
            for (std::size_t k = 0; k < v.size(); ++k) v[k] = k % 3 == 0;
          }
          if (type == Type::Float) {
            v[v.size() / 2] = std::numeric_limits<double>::quiet_NaN();
            v[0] = w[0] = -0.0;
          }
          const Segdes rows = equal(cpu, count, length);
          const auto found =
              run(cpu, window.b.kernel, {rows, upload(cpu, type, v), upload(cpu, type, w)});
          const Elements all = elements_of(v, w, count);
          const Value values =
              execute(cpu, op, type, {upload(cpu, type, all.v), upload(cpu, type, all.w)});
          INFO(count << " rows of " << length);
          REQUIRE(bits(cpu, found[0]) == bits(cpu, execute(cpu, reduction, type, {values, rows})));
        }
      });
    }
  }
}

TEST_CASE("the order in a row does not depend on where tiles end") {
  for_backends([&](CpuBackend& cpu) {
    constexpr std::int64_t kCount = 9000, kLength = 9;
    const Numbers x = numbers(kCount * kLength, 73);
    const Value all = execute(cpu, Op::AddReduce, Type::Float,
                              {upload(cpu, Type::Float, x), equal(cpu, kCount, kLength)});
    for (const std::int64_t row : {0, 1, 455, 3640, 3641, 7281, 8999}) {
      const auto first = x.begin() + row * kLength;
      const Value one = execute(
          cpu, Op::AddReduce, Type::Float,
          {upload(cpu, Type::Float, Numbers(first, first + kLength)), Segdes::single(kLength)});
      const std::string bytes = bits(cpu, one);
      REQUIRE(bits(cpu, all).substr(static_cast<std::size_t>(row) * bytes.size(), bytes.size()) ==
              bytes);
    }
  });
}

TEST_CASE("several reductions, positions, and what earlier ones have found") {
  KernelBuilder b;
  const SegdesId rows = b.in_segdes("rows", b.size("s"), b.size("n"));
  const ArrayId v = b.in("v", Type::Int, b.size("m"));
  const auto value = [&](Expressions& t) {
    const Id start = t.seg_start(rows, t.seg_no(rows, t.index()));
    const Id length = t.seg_len(rows, t.seg_no(rows, t.index()));
    const Id place = t.apply(Op::Subtract, Type::Int, {t.index(), start});
    const Id other =
        t.apply(Op::Modulo, Type::Int,
                {t.seg_no(rows, t.index()), t.apply(Op::Add, Type::Int, {length, t.number(3)})});
    return t.at(v, t.apply(Op::Add, Type::Int, {place, other}));
  };
  auto t = b.thunk();
  auto u = b.thunk();
  auto w = b.thunk();
  const ArrayId least =
      b.reduce("least", b.under(rows), Op::MinReduce, Type::Int, t.give({value(t)}));
  b.out(least);
  b.out(b.reduce("sum", b.under(rows), Op::AddReduce, Type::Int, u.give({value(u)})));
  // Where the least one is.
  const Id found =
      w.apply(Op::Equal, Type::Int, {value(w), w.at(least, w.seg_no(rows, w.index()))});
  b.out(b.reduce("place", b.under(rows), Op::MinReduce, Type::Int,
                 w.give({w.apply(Op::Select, Type::Int,
                                 {found, w.seg_off(rows, w.index()), w.number(1000)})})));
  for_backends([&](CpuBackend& cpu) {
    for (const auto& [count, length] : kRows) {
      Numbers v_numbers = numbers(2 * length + 3, 74, 50);
      for (double& number : v_numbers) number = std::trunc(number);
      Numbers leasts, sums, places;
      for (std::int64_t r = 0; r < count; ++r) {
        const auto first = v_numbers.begin() + r % (length + 3);
        const auto at = std::min_element(first, first + length);
        leasts.push_back(*at);
        places.push_back(static_cast<double>(at - first));
        double sum = 0;
        for (auto it = first; it != first + length; ++it) sum += *it;
        sums.push_back(sum);
      }
      const auto results =
          run(cpu, b.kernel, {equal(cpu, count, length), upload(cpu, Type::Int, v_numbers)});
      INFO(count << " rows of " << length);
      REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, Type::Int, leasts)));
      REQUIRE(bits(cpu, results[1]) == bits(cpu, upload(cpu, Type::Int, sums)));
      REQUIRE(bits(cpu, results[2]) == bits(cpu, upload(cpu, Type::Int, places)));
    }
  });
}

TEST_CASE("what is asked of all elements does not keep rows from being reduced by columns") {
  KernelBuilder b;
  const auto n = b.size("n");
  const SegdesId rows = b.in_segdes("rows", b.size("s"), n);
  const ArrayId v = b.in("v", Type::Float, b.size("m"));
  const ArrayId w = b.in("w", Type::Int, b.size("k"));
  const auto all_elements = KernelBuilder::flat(n);
  const auto number = [&](Expressions& t) {
    return t.at(
        v, t.apply(Op::Add, Type::Int, {t.seg_no(rows, t.index()), t.seg_off(rows, t.index())}));
  };
  const auto column = [&](Expressions& t) { return t.at(w, t.seg_off(rows, t.index())); };
  auto t = b.thunk();
  const ArrayId negative =
      b.reduce("negative", all_elements, Op::OrReduce, Type::Bool,
               t.give({t.apply(Op::Less, Type::Float, {number(t), t.real(0)})}));
  auto u = b.thunk();
  const ArrayId roots = b.reduce("roots", b.under(rows), Op::AddReduce, Type::Float,
                                 u.give({u.apply(Op::Sqrt, Type::Int, {number(u)})}));
  auto x = b.thunk();
  const ArrayId sum = b.reduce("sum", all_elements, Op::AddReduce, Type::Int, x.give({column(x)}));
  for (const ArrayId result : {negative, roots, sum}) b.out(result);
  const auto is_by_columns = [&] {
    const auto plan = cvl::plan_kernel(b.kernel);
    REQUIRE(plan);
    return cvl::cpu::plan_columns(plan->passes.at(0)).has_value();
  };
  CHECK(is_by_columns());
  for_backends([&](CpuBackend& cpu) {
    for (const auto& [count, length] : kRows) {
      Numbers v_numbers = numbers(count + length, 75), w_numbers = numbers(length, 76, 50);
      for (double& some : v_numbers) some = std::abs(some);
      for (double& some : w_numbers) some = std::trunc(some);
      const Segdes segdes = equal(cpu, count, length);
      INFO(count << " rows of " << length);
      for (const bool any : {false, true}) {
        if (any) v_numbers[static_cast<std::size_t>(count / 2)] = -1;
        const auto found =
            run(cpu, b.kernel,
                {segdes, upload(cpu, Type::Float, v_numbers), upload(cpu, Type::Int, w_numbers)});
        const Elements all = elements_of(v_numbers, w_numbers, count);
        double total = 0;
        for (const double some : w_numbers) total += some * static_cast<double>(count);
        const Value own_roots =
            execute(cpu, Op::Sqrt, Type::Int, {upload(cpu, Type::Float, all.v)});
        REQUIRE(bits(cpu, found[0]) == bits(cpu, upload(cpu, Type::Bool, {any ? 1.0 : 0.0})));
        REQUIRE(bits(cpu, found[1]) ==
                bits(cpu, execute(cpu, Op::AddReduce, Type::Float, {own_roots, segdes})));
        REQUIRE(bits(cpu, found[2]) == bits(cpu, upload(cpu, Type::Int, {total})));
      }
    }
  });
  // The order in which FLOATs meet can be seen.
  auto y = b.thunk();
  b.out(b.reduce("all", all_elements, Op::AddReduce, Type::Float, y.give({number(y)})));
  CHECK_FALSE(is_by_columns());
}

TEST_CASE("a failure in a column is the one that comes first in the rows") {
  const Window window(Op::AddReduce, Op::Divide, Type::Int);
  for_backends([&](CpuBackend& cpu) {
    constexpr std::int64_t kCount = 600, kLength = 20;
    const Segdes rows = equal(cpu, kCount, kLength);
    const Numbers v(kCount + kLength - 1, 7), w(kLength, 3);
    const auto failure = [&](const Numbers& some_v, const Numbers& some_w) {
      std::string message;
      const auto code = failure_of(
          cpu, window.b.kernel,
          {rows, upload(cpu, Type::Int, some_v), upload(cpu, Type::Int, some_w)}, &message);
      return std::pair(code, message);
    };
    Numbers zero = w;
    zero[5] = 0;
    const auto [divided, where] = failure(v, zero);
    CHECK(divided == vcode::ErrorCode::DivisionByZero);
    CHECK(where.find("5") != std::string::npos);
    // The last row but two ends behind the vector in its last column, the next one a column
    // earlier.
    const auto [outside, place] = failure(Numbers(v.begin(), v.end() - 3), w);
    CHECK(outside == vcode::ErrorCode::IndexOutOfRange);
    const std::int64_t last = (kCount - 3) * kLength + kLength - 1;
    INFO(place);
    CHECK(place.find(std::to_string(last)) != std::string::npos);
    // And it runs again.
    CHECK(run(cpu, window.b.kernel, {rows, upload(cpu, Type::Int, v), upload(cpu, Type::Int, w)})
              .size() == 1);
  });
}

}  // namespace kernel_test
