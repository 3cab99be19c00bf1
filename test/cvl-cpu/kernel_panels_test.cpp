// Reductions of long rows, panel by panel, against operations on all elements, to the bit.

#include "cvl-cpu/kernel_panels.hpp"

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

/// Rows of different numbers and lengths: on both sides of where they are too few or too short, of
/// the rows of a panel, and of the tiles that cut them.
const std::vector<std::pair<std::int64_t, std::int64_t>> kRows = {
    {3, 200},  {4, 127},  {4, 128},  {5, 1000},  {15, 257},   {16, 130},  {17, 300},  {31, 129},
    {33, 128}, {40, 331}, {97, 160}, {130, 200}, {6, 40'000}, {20, 9000}, {130, 2000}};

Segdes equal(CpuBackend& cpu, std::int64_t count, std::int64_t length) {
  return descriptor(cpu, Lengths(static_cast<std::size_t>(count), length));
}

std::optional<cvl::cpu::PanelPlan> panel_plan(const vcode::Kernel& kernel) {
  const auto plan = cvl::plan_kernel(kernel);
  REQUIRE(plan);
  return cvl::cpu::plan_panels(plan->passes.at(0));
}

/// Columns of a matrix m, whose rows lie one behind the other: each element op w[row of m],
/// reduced.
struct Columns {
  KernelBuilder b;
  SegdesId rows;  // columns of m

  Columns(Op reduction, Op op, Type type) {
    rows = b.in_segdes("rows", b.size("s"), b.size("n"));
    const ArrayId m = b.in("m", type, b.size("n"));
    const ArrayId w = b.in("w", type, b.size("k"));
    auto t = b.thunk();
    const Id column = t.seg_off(rows, t.index());
    const Id start = t.apply(Op::Multiply, Type::Int, {column, t.seg_count(rows)});
    const Id place = t.apply(Op::Add, Type::Int, {start, t.seg_no(rows, t.index())});
    b.out(b.reduce("r", b.under(rows), reduction, type,
                   t.give({t.apply(op, type, {t.at(m, place), t.at(w, column)})})));
  }
};

/// Column by column, the elements of a matrix with so many columns, and what they meet.
struct Elements {
  Numbers m, w;
};
Elements by_columns(const Numbers& m, const Numbers& w, std::int64_t columns) {
  Elements all;
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::size_t k = 0; k < w.size(); ++k) {
      all.m.push_back(m[k * static_cast<std::size_t>(columns) + static_cast<std::size_t>(j)]);
      all.w.push_back(w[k]);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("columns of a matrix are reduced as the operations do it") {
  for (const Op reduction : {Op::AddReduce, Op::MultiplyReduce, Op::MaxReduce, Op::MinReduce,
                             Op::AndReduce, Op::OrReduce, Op::XorReduce}) {
    for (const Type type : {Type::Int, Type::Float}) {
      const bool logical =
          reduction == Op::AndReduce || reduction == Op::OrReduce || reduction == Op::XorReduce;
      if (logical && type == Type::Float) continue;
      const Columns columns(reduction, Op::Multiply, type);
      const auto plan = panel_plan(columns.b.kernel);
      REQUIRE(plan);
      CHECK(plan->fetched.size() == 1);
      for_backends([&](CpuBackend& cpu) {
        for (const auto& [count, length] : kRows) {
          const double scale = type == Type::Int ? 100 : 1;
          Numbers m = numbers(count * length, 81, scale);
          const Numbers w = numbers(length, 82, scale);
          if (type == Type::Float) {
            m[m.size() / 2] = std::numeric_limits<double>::quiet_NaN();
            m[0] = -0.0;
          }
          const Segdes rows = equal(cpu, count, length);
          const auto found =
              run(cpu, columns.b.kernel, {rows, upload(cpu, type, m), upload(cpu, type, w)});
          const Elements all = by_columns(m, w, count);
          const Value values = execute(cpu, Op::Multiply, type,
                                       {upload(cpu, type, all.m), upload(cpu, type, all.w)});
          INFO(count << " rows of " << length);
          REQUIRE(bits(cpu, found[0]) == bits(cpu, execute(cpu, reduction, type, {values, rows})));
        }
      });
    }
  }
}

TEST_CASE("panels read rows that lie anywhere, the same for some, and small numbers") {
  KernelBuilder b;
  const SegdesId rows = b.in_segdes("rows", b.size("s"), b.size("n"));
  const ArrayId m = b.in("m", Type::Float, b.size("n"));
  const ArrayId small = b.in("small", Type::Int, b.size("q"));
  const ArrayId start = b.in("start", Type::Int, b.size("s"));
  const auto row = [&](Expressions& t) { return t.seg_no(rows, t.index()); };
  const auto column = [&](Expressions& t) { return t.seg_off(rows, t.index()); };
  // A row where it lies, in any order of rows; a column of a third of the rows; a part of a vector
  // in descending order, which counts from the other end.
  const auto along = [&](Expressions& t) {
    return t.at(m, t.apply(Op::Add, Type::Int, {t.at(start, row(t)), column(t)}));
  };
  const auto shared = [&](Expressions& t) {
    const Id third = t.apply(Op::Divide, Type::Int, {row(t), t.number(3)});
    const Id place = t.apply(Op::Multiply, Type::Int, {column(t), t.seg_count(rows)});
    return t.at(m, t.apply(Op::Add, Type::Int, {place, third}));
  };
  const auto descending = [&](Expressions& t) {
    const Id end = t.apply(Op::Add, Type::Int, {t.seg_count(rows), t.seg_len(rows, row(t))});
    const Id last = t.apply(Op::Subtract, Type::Int, {end, t.number(2)});
    const Id behind = t.apply(Op::Subtract, Type::Int, {last, column(t)});
    return t.at(small, t.apply(Op::Subtract, Type::Int, {behind, row(t)}));
  };
  auto t = b.thunk();
  b.out(b.reduce("sum", b.under(rows), Op::AddReduce, Type::Float,
                 t.give({t.apply(Op::Multiply, Type::Float, {along(t), shared(t)})})));
  // What belongs to a position, to a row and to a column.
  auto u = b.thunk();
  const Id both = u.apply(Op::Add, Type::Int,
                          {u.apply(Op::Multiply, Type::Int, {descending(u), row(u)}),
                           u.apply(Op::Xor, Type::Int, {u.index(), column(u)})});
  b.out(b.reduce("mixed", b.under(rows), Op::AddReduce, Type::Int, u.give({both})));
  const auto plan = panel_plan(b.kernel);
  REQUIRE(plan);
  CHECK(plan->fetched.size() == 3);
  CHECK(plan->folds.size() == 2);
  for_backends([&](CpuBackend& cpu) {
    for (const auto& [count, length] : kRows) {
      const Numbers m_numbers = numbers(count * length, 83);
      Numbers small_numbers = numbers(count + length, 84, 120);
      for (double& number : small_numbers) number = std::trunc(std::abs(number));
      Numbers starts, first, second, mixed;
      for (std::int64_t r = 0; r < count; ++r) {
        const std::int64_t from = (r * 7 + 3) % count * length;
        starts.push_back(static_cast<double>(from));
        double sum = 0;
        for (std::int64_t c = 0; c < length; ++c) {
          first.push_back(m_numbers[static_cast<std::size_t>(from + c)]);
          second.push_back(m_numbers[static_cast<std::size_t>(c * count + r / 3)]);
          const double some = small_numbers[static_cast<std::size_t>(count + length - 2 - c - r)];
          sum += some * static_cast<double>(r) + static_cast<double>((r * length + c) ^ c);
        }
        mixed.push_back(sum);
      }
      if (mixed.back() > std::numeric_limits<std::int32_t>::max()) continue;
      const Segdes segdes = equal(cpu, count, length);
      const auto found =
          run(cpu, b.kernel,
              {segdes, upload(cpu, Type::Float, m_numbers), upload(cpu, Type::Int, small_numbers),
               upload(cpu, Type::Int, starts)});
      const Value values =
          execute(cpu, Op::Multiply, Type::Float,
                  {upload(cpu, Type::Float, first), upload(cpu, Type::Float, second)});
      INFO(count << " rows of " << length);
      REQUIRE(bits(cpu, found[0]) ==
              bits(cpu, execute(cpu, Op::AddReduce, Type::Float, {values, segdes})));
      REQUIRE(bits(cpu, found[1]) == bits(cpu, upload(cpu, Type::Int, mixed)));
    }
  });
}

TEST_CASE("what is stored of columns is transposed") {
  for (const Type type : {Type::Int, Type::Float, Type::Bool}) {
    KernelBuilder b;
    const auto n = b.size("n");
    const SegdesId rows = b.in_segdes("rows", b.size("s"), n);
    const ArrayId m = b.in("m", type, n);
    const ArrayId own = b.in("own", Type::Int, n);
    auto t = b.thunk();
    const Id start =
        t.apply(Op::Multiply, Type::Int, {t.seg_off(rows, t.index()), t.seg_count(rows)});
    const Id place = t.apply(Op::Add, Type::Int, {start, t.seg_no(rows, t.index())});
    const ArrayId transposed =
        b.map("transposed", KernelBuilder::under(rows), type, t.give({t.at(m, place)}));
    b.out(transposed);
    // The same with rows that lie in descending order.
    const Op op = type == Type::Bool ? Op::Xor : Op::Add;
    auto v = b.thunk();
    const Id row = v.seg_no(rows, v.index()), column = v.seg_off(rows, v.index());
    const Id last = v.apply(Op::Subtract, Type::Int, {v.seg_count(rows), v.number(1)});
    const Id other = v.apply(Op::Multiply, Type::Int,
                             {v.apply(Op::Subtract, Type::Int, {last, row}), v.seg_len(rows, row)});
    const Id by_rows = v.apply(Op::Multiply, Type::Int, {column, v.seg_count(rows)});
    b.out(b.map("both", KernelBuilder::under(rows), type,
                v.give({v.apply(op, type,
                                {v.at(m, v.apply(Op::Add, Type::Int, {by_rows, row})),
                                 v.at(m, v.apply(Op::Add, Type::Int, {other, column}))})})));
    // What has no place in a panel is computed beside it.
    auto u = b.thunk();
    b.out(b.map("twice", KernelBuilder::under(rows), Type::Int,
                u.give({u.apply(Op::Add, Type::Int, {u.own(own), u.own(own)})})));
    const auto plan = panel_plan(b.kernel);
    REQUIRE(plan);
    CHECK(plan->stores.size() == 2);
    CHECK(plan->rest.sinks.size() == 1);
    for_backends([&](CpuBackend& cpu) {
      for (const auto& [count, length] : {std::pair{130, 200},
                                          {17, 1000},
                                          {1000, 17},
                                          {33, 601},
                                          {4, 5000},
                                          {3, 6000},
                                          {16, 30}}) {
        Numbers m_numbers = numbers(count * length, 86, type == Type::Int ? 1000 : 1);
        if (type == Type::Bool) {
          for (std::size_t k = 0; k < m_numbers.size(); ++k) m_numbers[k] = k % 3 == 0;
        }
        Numbers own_numbers = numbers(count * length, 87, 100), twice;
        for (double& number : own_numbers) twice.push_back(2 * (number = std::trunc(number)));
        const auto found = run(cpu, b.kernel,
                               {equal(cpu, count, length), upload(cpu, type, m_numbers),
                                upload(cpu, Type::Int, own_numbers)});
        const Elements all =
            by_columns(m_numbers, Numbers(static_cast<std::size_t>(length), 1.0), count);
        INFO(count << " rows of " << length);
        REQUIRE(bits(cpu, found[0]) == bits(cpu, upload(cpu, type, all.m)));
        Numbers by_rows;
        for (std::int64_t r = count; r-- > 0;) {
          const auto first = m_numbers.begin() + r * length;
          by_rows.insert(by_rows.end(), first, first + length);
        }
        const Value both =
            execute(cpu, op, type, {upload(cpu, type, all.m), upload(cpu, type, by_rows)});
        REQUIRE(bits(cpu, found[1]) == bits(cpu, both));
        REQUIRE(bits(cpu, found[2]) == bits(cpu, upload(cpu, Type::Int, twice)));
      }
    });
  }
}

TEST_CASE("rows that the pass divides its positions to are reduced by panels, too") {
  constexpr std::int64_t kLength = 192, kCount = 50;
  KernelBuilder b;
  const SegdesId rows = b.in_segdes("rows", b.literal(kCount), b.literal(kCount * kLength));
  const ArrayId m = b.in("m", Type::Float, b.literal(kCount * kLength));
  auto t = b.thunk();
  const Id row = t.apply(Op::Divide, Type::Int, {t.index(), t.number(kLength)});
  const Id column = t.apply(Op::Modulo, Type::Int, {t.index(), t.number(kLength)});
  const Id start = t.apply(Op::Multiply, Type::Int, {column, t.number(kCount)});
  b.out(b.reduce("r", b.under(rows), Op::AddReduce, Type::Float,
                 t.give({t.at(m, t.apply(Op::Add, Type::Int, {start, row}))})));
  const auto plan = panel_plan(b.kernel);
  REQUIRE(plan);
  CHECK(plan->nest.row_length == kLength);
  for_backends([&](CpuBackend& cpu) {
    const Numbers m_numbers = numbers(kCount * kLength, 85);
    const Segdes segdes = equal(cpu, kCount, kLength);
    const auto found = run(cpu, b.kernel, {segdes, upload(cpu, Type::Float, m_numbers)});
    const Elements all = by_columns(m_numbers, Numbers(kLength, 1.0), kCount);
    REQUIRE(bits(cpu, found[0]) == bits(cpu, execute(cpu, Op::AddReduce, Type::Float,
                                                     {upload(cpu, Type::Float, all.m), segdes})));
  });
}

TEST_CASE("passes that panels have no place for") {
  KernelBuilder b;
  const auto n = b.size("n");
  const SegdesId rows = b.in_segdes("rows", b.size("s"), n);
  const ArrayId own = b.in("own", Type::Float, n);
  const ArrayId m = b.in("m", Type::Float, b.size("k"));
  const auto fetched = [&](Expressions& t) {
    return t.at(m, t.apply(Op::Multiply, Type::Int,
                           {t.seg_off(rows, t.index()), t.seg_no(rows, t.index())}));
  };
  SECTION("elements one behind the other") {
    auto t = b.thunk();
    b.out(b.reduce("r", b.under(rows), Op::AddReduce, Type::Float,
                   t.give({t.apply(Op::Add, Type::Float, {t.own(own), fetched(t)})})));
  }
  SECTION("elements that are stored by their position alone") {
    auto t = b.thunk();
    b.out(b.map("r", KernelBuilder::flat(n), Type::Float,
                t.give({t.at(m, t.apply(Op::Multiply, Type::Int, {t.index(), t.index()}))})));
  }
  SECTION("nothing that is fetched by row and column") {
    auto t = b.thunk();
    b.out(b.reduce("r", b.under(rows), Op::AddReduce, Type::Float,
                   t.give({t.apply(Op::Add, Type::Float,
                                   {t.at(m, t.seg_off(rows, t.index())),
                                    t.at(m, t.seg_no(rows, t.index()))})})));
  }
  CHECK_FALSE(panel_plan(b.kernel));
}

TEST_CASE("places far outside of all vectors") {
  KernelBuilder b;
  const SegdesId rows = b.in_segdes("rows", b.size("s"), b.size("n"));
  const ArrayId m = b.in("m", Type::Float, b.size("k"));
  const ArrayId start = b.in("start", Type::Int, b.size("s"));
  const ArrayId step = b.in("step", Type::Int, b.size("l"));
  auto t = b.thunk();
  const Id place =
      t.apply(Op::Add, Type::Int,
              {t.at(start, t.seg_no(rows, t.index())), t.at(step, t.seg_off(rows, t.index()))});
  b.out(b.reduce("r", b.under(rows), Op::AddReduce, Type::Float, t.give({t.at(m, place)})));
  REQUIRE(panel_plan(b.kernel));
  for_backends([&](CpuBackend& cpu) {
    constexpr std::int64_t kCount = 16, kLength = 200;
    const bool wide = cpu.element_bytes(Type::Int) == 8;
    const double far = wide ? 4.611686018427388e18 : 1073741824.0;
    const Segdes segdes = equal(cpu, kCount, kLength);
    const Numbers m_numbers = numbers(kCount * kLength, 88);
    const auto operands = [&](double first, double second) {
      return std::vector<Value>{segdes, upload(cpu, Type::Float, m_numbers),
                                upload(cpu, Type::Int, Numbers(kCount, first)),
                                upload(cpu, Type::Int, Numbers(kLength, second))};
    };
    CHECK(failure_of(cpu, b.kernel, operands(far, far)) == vcode::ErrorCode::IndexOutOfRange);
    CHECK(failure_of(cpu, b.kernel, operands(5, -far)) == vcode::ErrorCode::IndexOutOfRange);
    // They meet in the vector.
    const auto found = run(cpu, b.kernel, operands(-far, far));
    const auto near = run(cpu, b.kernel, operands(0, 0));
    CHECK(bits(cpu, found[0]) == bits(cpu, near[0]));
  });
}

TEST_CASE("a failure in a panel is the one that comes first in the rows") {
  const Columns columns(Op::AddReduce, Op::Divide, Type::Int);
  for_backends([&](CpuBackend& cpu) {
    constexpr std::int64_t kCount = 40, kLength = 200;
    const Segdes rows = equal(cpu, kCount, kLength);
    const Numbers m(kCount * kLength, 7), w(kLength, 3);
    const auto failure = [&](const Numbers& some_w) {
      std::string message;
      const auto code =
          failure_of(cpu, columns.b.kernel,
                     {rows, upload(cpu, Type::Int, m), upload(cpu, Type::Int, some_w)}, &message);
      return std::pair(code, message);
    };
    Numbers zero = w;
    zero[5] = 0;
    const auto [divided, where] = failure(zero);
    CHECK(divided == vcode::ErrorCode::DivisionByZero);
    INFO(where);
    CHECK(where.find("5") != std::string::npos);
    CHECK(failure(Numbers(kLength - 1, 3)).first == vcode::ErrorCode::IndexOutOfRange);
    // And it runs again.
    CHECK(run(cpu, columns.b.kernel, {rows, upload(cpu, Type::Int, m), upload(cpu, Type::Int, w)})
              .size() == 1);
  });
}

}  // namespace kernel_test
