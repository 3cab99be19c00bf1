// Places of runs that are computed: from numbers, lengths and starts of segments, from what other
// segments have, and between bounds.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {
namespace {

/// Appends so many elements of a vector from a place on.
void append_run(Numbers& to, const Numbers& from, double place, std::int64_t length) {
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(place);
  to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(length));
}

}  // namespace

TEST_CASE("places that are computed from the numbers of segments") {
  // 20 + 7 (k % 80), and an element of a table at k / 3 + 1, which is there for some lengths only.
  constexpr std::int64_t kTurn = 80, kStep = 7;
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const SizeId k = b.size("k");
  const SegdesId d = b.in_segdes("d", s, n);
  const ArrayId table = b.in("table", Type::Int, k);
  const ArrayId from = b.in("from", Type::Float, m);
  const auto place = [&](Expressions& t, Expressions::Id start) {
    return t.at(from, t.apply(Op::Add, Type::Int, {start, t.seg_off(d, t.index())}));
  };
  auto t = b.thunk();
  const auto turn = t.apply(Op::Modulo, Type::Int, {t.seg_no(d, t.index()), t.number(kTurn)});
  const auto computed =
      t.apply(Op::Add, Type::Int,
              {t.number(20), t.apply(Op::Multiply, Type::Int, {turn, t.number(kStep)})});
  b.out(b.map("computed", b.under(d), Type::Float, t.give({place(t, computed)})));
  auto u = b.thunk();
  const auto third = u.apply(Op::Divide, Type::Int, {u.seg_no(d, u.index()), u.number(3)});
  const auto next = u.apply(Op::Add, Type::Int, {third, u.number(1)});
  b.out(b.reduce("fetched", b.under(d), Op::AddReduce, Type::Float,
                 u.give({place(u, u.at(table, next))})));
  for_backends([&](CpuBackend& cpu) {
    for (const Lengths& lengths : shapes()) {
      if (total(lengths) == 0) continue;
      const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
      const Numbers given = numbers(20 + kTurn * kStep + longest, 27, 50);
      const auto segments = static_cast<std::int64_t>(lengths.size());
      Numbers places, taken;
      for (std::int64_t i = 0; i < segments / 3 + 2; ++i) {
        places.push_back(static_cast<double>(i * 11 % 500));
      }
      for (std::int64_t i = 0; i < segments; ++i) {
        append_run(taken, given, static_cast<double>(20 + i % kTurn * kStep),
                   lengths[static_cast<std::size_t>(i)]);
      }
      const auto operands = [&] {
        return std::vector<Value>{descriptor(cpu, lengths), upload(cpu, Type::Int, places),
                                  upload(cpu, Type::Float, given)};
      };
      const auto results = run(cpu, b.kernel, operands());
      REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, Type::Float, taken)));
      Numbers all;
      for (std::int64_t i = 0; i < segments; ++i) {
        append_run(all, given, places[static_cast<std::size_t>(i / 3 + 1)],
                   lengths[static_cast<std::size_t>(i)]);
      }
      const Vector summed = upload(cpu, Type::Float, all);
      REQUIRE(bits(cpu, results[1]) == bits(cpu, execute(cpu, Op::AddReduce, Type::Float,
                                                         {summed, descriptor(cpu, lengths)})));
      // A table that ends before the first segment's place.
      places.resize(1);
      REQUIRE(failure_of(cpu, b.kernel, operands()) == vcode::ErrorCode::IndexOutOfRange);
    }
  });
}

TEST_CASE("a bounded place within a segment is looked up in another") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const SegdesId own = b.in_segdes("own", s, n);
  const SegdesId other = b.in_segdes("other", s, m);
  const ArrayId skip = b.in("skip", Type::Int, s);
  const ArrayId from = b.in("from", Type::Int, m);
  auto t = b.thunk();
  const auto at = counting(t, skip, own);
  const auto segment = t.seg_no(own, t.index());
  const auto place = t.apply(Op::Add, Type::Int, {t.seg_start(other, segment), at});
  const auto checked = bounded(t, at, t.seg_len(other, segment), place);
  b.out(b.map("y", b.under(own), Type::Int, t.give({t.at(from, checked)})));
  for_backends([&](CpuBackend& cpu) {
    for (const Lengths& lengths : shapes()) {
      Lengths others;
      Numbers skips;
      Numbers expected;
      const Numbers given =
          numbers(total(lengths) + 2 * static_cast<std::int64_t>(lengths.size()), 25, 1000);
      double next = 0;
      for (const std::int64_t length : lengths) {
        skips.push_back(1);
        others.push_back(length + 2);
        append_run(expected, given, next + 1, length);
        next += static_cast<double>(length) + 2;
      }
      const auto operands = [&] {
        return std::vector<Value>{descriptor(cpu, lengths), descriptor(cpu, others),
                                  upload(cpu, Type::Int, skips), upload(cpu, Type::Int, given)};
      };
      REQUIRE(bits(cpu, run(cpu, b.kernel, operands())[0]) ==
              bits(cpu, upload(cpu, Type::Int, expected)));
      // The segment that follows exists, but is not the own one.
      if (lengths.front() == 0) continue;
      skips.front() = 3;
      std::string message;
      failure_of(cpu, b.kernel, operands(), &message);
      REQUIRE(message.find("-1") != std::string::npos);
      REQUIRE(message.find(std::to_string(lengths.front() - 1)) != std::string::npos);
    }
  });
}

TEST_CASE("places that count up from differences of what the segments have") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const SegdesId d = b.in_segdes("d", s, n);
  const ArrayId high = b.in("high", Type::Int, s);
  const ArrayId low = b.in("low", Type::Int, s);
  const ArrayId from = b.in("from", Type::Float, m);
  auto t = b.thunk();
  const auto segment = t.seg_no(d, t.index());
  const auto start = t.apply(
      Op::Subtract, Type::Int,
      {t.at(high, segment), t.apply(Op::Subtract, Type::Int, {t.at(low, segment), t.number(1)})});
  b.out(b.map("y", b.under(d), Type::Float,
              t.give({t.at(from, t.apply(Op::Add, Type::Int, {start, t.seg_off(d, t.index())}))})));
  for_backends([&](CpuBackend& cpu) {
    for (const Lengths& lengths : shapes()) {
      const Numbers starts = ascending_starts(lengths);
      const Numbers given = numbers(total(lengths) + 1, 26);
      Numbers highs, lows;
      for (std::size_t k = 0; k < lengths.size(); ++k) {
        lows.push_back(static_cast<double>(k % 5));
        highs.push_back(starts[k] + lows.back());
      }
      const auto results = run(cpu, b.kernel,
                               {descriptor(cpu, lengths), upload(cpu, Type::Int, highs),
                                upload(cpu, Type::Int, lows), upload(cpu, Type::Float, given)});
      REQUIRE(bits(cpu, results[0]) ==
              bits(cpu, upload(cpu, Type::Float, Numbers(given.begin() + 1, given.end()))));
    }
  });
}

TEST_CASE("one element for all segments is fetched for each") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SizeId o = b.size("o");
  const SegdesId d = b.in_segdes("d", s, n);
  const SegdesId outer = b.in_segdes("outer", o, s);
  const ArrayId factor = b.in("factor", Type::Float, s);
  const ArrayId outer_factor = b.in("outer_factor", Type::Float, o);
  const ArrayId v = b.in("v", Type::Float, n);
  // Of the own segment, and of the segment that this one is part of.
  for (const ArrayId factors : {factor, outer_factor}) {
    auto t = b.thunk();
    const auto own = t.seg_no(d, t.index());
    const auto segment = factors == factor ? own : t.seg_no(outer, own);
    b.out(b.map("y" + std::to_string(factors), b.under(d), Type::Float,
                t.give({t.apply(Op::Multiply, Type::Float, {t.own(v), t.at(factors, segment)})})));
  }
  for_backends([&](CpuBackend& cpu) {
    for (const Lengths& lengths : shapes()) {
      const Vector given = upload(cpu, Type::Float, numbers(total(lengths), 27, 100));
      const Value three = upload(cpu, Type::Float, {3});
      const auto spread = [&](std::int64_t count) {
        return execute(cpu, Op::Distribute, Type::Float, {three, Segdes::single(count)});
      };
      const Lengths each(lengths.size(), 1);
      const Value factors = spread(static_cast<std::int64_t>(lengths.size()));
      const Value expected = execute(cpu, Op::Multiply, Type::Float, {given, spread(given.length)});
      for (const Value& result :
           run(cpu, b.kernel,
               {descriptor(cpu, lengths), descriptor(cpu, each), factors, factors, given})) {
        REQUIRE(bits(cpu, result) == bits(cpu, expected));
      }
    }
  });
}

TEST_CASE("lengths and starts of the segments that positions number") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SizeId fewer = b.size("fewer");
  const SegdesId d = b.in_segdes("d", s, n);
  b.in("behind", Type::Int, fewer);  // says how many segments have one before them
  auto l = b.thunk();
  b.out(b.map("length", b.flat(s), Type::Int, l.give({l.seg_len(d, l.index())})));
  auto f = b.thunk();
  b.out(b.map("start", b.flat(s), Type::Int, f.give({f.seg_start(d, f.index())})));
  auto t = b.thunk();
  const auto next = t.apply(Op::Add, Type::Int, {t.index(), t.number(1)});
  b.out(b.map("next", b.flat(fewer), Type::Int, t.give({t.seg_len(d, next)})));
  for_backends([&](CpuBackend& cpu) {
    for (const Lengths& lengths : shapes()) {
      const Numbers own(lengths.begin(), lengths.end());
      const auto results =
          run(cpu, b.kernel,
              {descriptor(cpu, lengths), upload(cpu, Type::Int, Numbers(lengths.size() - 1, 0.0))});
      REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, Type::Int, own)));
      REQUIRE(bits(cpu, results[1]) ==
              bits(cpu, upload(cpu, Type::Int, ascending_starts(lengths))));
      REQUIRE(bits(cpu, results[2]) ==
              bits(cpu, upload(cpu, Type::Int, Numbers(own.begin() + 1, own.end()))));
    }
  });
}

TEST_CASE(
    "the first number of a segment that does not exist is told, also where all have one length") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SegdesId d = b.in_segdes("d", s, n);
  auto t = b.thunk();
  const auto behind = t.apply(Op::Add, Type::Int, {t.index(), t.number(2)});
  b.out(b.map("length", b.flat(s), Type::Int, t.give({t.seg_len(d, behind)})));
  for_backends([&](CpuBackend& cpu) {
    Lengths mixed(3000, 2);
    mixed[1234] = 5;
    for (const Lengths& lengths : {Lengths(3000, 2), mixed}) {
      std::string message;
      CHECK(failure_of(cpu, b.kernel, {descriptor(cpu, lengths)}, &message) ==
            vcode::ErrorCode::IndexOutOfRange);
      CAPTURE(message);
      CHECK(message.find("3000") != std::string::npos);
      CHECK(message.find("2998") != std::string::npos);
    }
  });
}

TEST_CASE("several segments in turn read runs of one vector") {
  for (const std::int64_t divisor : {2, 3, 1000}) {
    KernelBuilder b;
    const SizeId s = b.size("s");
    const SizeId n = b.size("n");
    const SizeId m = b.size("m");
    const SizeId h = b.size("h");
    const SegdesId d = b.in_segdes("d", s, n);
    const ArrayId first = b.in("first", Type::Int, h);
    const ArrayId from = b.in("from", Type::Float, m);
    auto t = b.thunk();
    const auto group = t.apply(Op::Divide, Type::Int, {t.seg_no(d, t.index()), t.number(divisor)});
    const auto at = t.apply(Op::Add, Type::Int, {t.at(first, group), t.seg_off(d, t.index())});
    b.out(b.map("taken", b.under(d), Type::Float, t.give({t.at(from, at)})));
    for_backends([&](CpuBackend& cpu) {
      // Twice with one kernel, which may keep what it has prepared.
      const auto prepared = cpu.prepare(b.kernel);
      REQUIRE(prepared != nullptr);
      for (const Lengths& lengths : shapes()) {
        const auto count = static_cast<std::int64_t>(lengths.size());
        const std::int64_t groups = (count + divisor - 1) / divisor;
        const Numbers values = numbers(total(lengths) + groups, 31, 100);
        Numbers starts;
        for (std::int64_t g = 0; g < groups; ++g)
          starts.push_back(static_cast<double>(g % 7 * (groups > 6)));
        Numbers taken;
        for (std::int64_t k = 0; k < count; ++k) {
          append_run(taken, values, starts[static_cast<std::size_t>(k / divisor)],
                     lengths[static_cast<std::size_t>(k)]);
        }
        const auto operands = [&](const Numbers& firsts) {
          return std::vector<Value>{descriptor(cpu, lengths), upload(cpu, Type::Int, firsts),
                                    upload(cpu, Type::Float, values)};
        };
        std::vector<Value> all = operands(starts);
        Value result;
        REQUIRE(cpu.run(*prepared, all.data(), &result));
        REQUIRE(bits(cpu, result) == bits(cpu, upload(cpu, Type::Float, taken)));
        if (groups < 2 || lengths.back() == 0) continue;
        // The last group has no element in `first`: the same kernel finds that out.
        Numbers fewer = starts;
        fewer.pop_back();
        all = operands(fewer);
        REQUIRE_THROWS_AS(cpu.run(*prepared, all.data(), &result), cvl::Failure);
        Numbers wrong = starts;
        wrong.back() = static_cast<double>(values.size());
        std::string message;
        REQUIRE(failure_of(cpu, b.kernel, operands(wrong), &message) ==
                failure_of(cpu, b.kernel, operands(fewer)));
      }
    });
  }
}

TEST_CASE("several segments in turn read parts of one segment, and nothing beyond it") {
  for (const std::int64_t divisor : {2, 3, 1000}) {
    KernelBuilder b;
    const SizeId s = b.size("s");
    const SizeId n = b.size("n");
    const SizeId m = b.size("m");
    const SizeId h = b.size("h");
    const SegdesId d = b.in_segdes("d", s, n);
    const SegdesId whole = b.in_segdes("whole", h, m);
    const ArrayId start = b.in("start", Type::Int, s);
    const ArrayId from = b.in("from", Type::Float, m);
    auto t = b.thunk();
    const auto group = t.apply(Op::Divide, Type::Int, {t.seg_no(d, t.index()), t.number(divisor)});
    const auto at = counting(t, start, d);
    const auto place = t.apply(Op::Add, Type::Int, {t.seg_start(whole, group), at});
    const auto checked = bounded(t, at, t.seg_len(whole, group), place);
    b.out(b.map("taken", b.under(d), Type::Float, t.give({t.at(from, checked)})));
    for_backends([&](CpuBackend& cpu) {
      for (const Lengths& lengths : shapes()) {
        const auto count = static_cast<std::int64_t>(lengths.size());
        const std::int64_t groups = (count + divisor - 1) / divisor;
        const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
        Lengths wholes;
        for (std::int64_t g = 0; g < groups; ++g) wholes.push_back(longest + 1 + g % 3);
        const Numbers begins = ascending_starts(wholes);
        const Numbers values = numbers(total(wholes), 17, 100);
        Numbers starts, taken;
        for (std::int64_t k = 0; k < count; ++k) {
          starts.push_back(static_cast<double>(k % 2));
          append_run(taken, values, begins[static_cast<std::size_t>(k / divisor)] + starts.back(),
                     lengths[static_cast<std::size_t>(k)]);
        }
        const auto operands = [&](const Lengths& of_groups, const Numbers& own) {
          return std::vector<Value>{descriptor(cpu, lengths), descriptor(cpu, of_groups),
                                    upload(cpu, Type::Int, own), upload(cpu, Type::Float, values)};
        };
        const auto result = run(cpu, b.kernel, operands(wholes, starts))[0];
        REQUIRE(bits(cpu, result) == bits(cpu, upload(cpu, Type::Float, taken)));
        if (lengths.back() == 0 || groups < 2) continue;
        // The last part begins in front of its group, ends behind it, or has no group.
        for (const double wrong : {-1.0, static_cast<double>(wholes.back())}) {
          Numbers outside = starts;
          outside.back() = wrong;
          REQUIRE(failure_of(cpu, b.kernel, operands(wholes, outside)) ==
                  vcode::ErrorCode::IndexOutOfRange);
        }
        Lengths fewer = wholes;
        fewer[fewer.size() - 2] += fewer.back();
        fewer.pop_back();
        REQUIRE(failure_of(cpu, b.kernel, operands(fewer, starts)) ==
                vcode::ErrorCode::IndexOutOfRange);
      }
    });
  }
}

TEST_CASE("a place is bounded twice: a slice of a slice") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const SegdesId d = b.in_segdes("d", s, n);
  const ArrayId outer = b.in("outer", Type::Int, s);  // where a slice begins in another one, …
  const ArrayId longest = b.in("longest", Type::Int, s);
  const ArrayId inner = b.in("inner", Type::Int, s);  // … and that one in the vector
  const ArrayId limit = b.in("limit", Type::Int, s);
  const ArrayId from = b.in("from", Type::Float, m);
  auto t = b.thunk();
  const auto of_segment = [&](ArrayId array) { return t.at(array, t.seg_no(d, t.index())); };
  const auto second = counting(t, outer, d);
  const auto place = t.apply(Op::Add, Type::Int, {of_segment(inner), second});
  const auto checked = bounded(t, t.seg_off(d, t.index()), of_segment(longest),
                               bounded(t, second, of_segment(limit), place));
  b.out(b.map("taken", b.under(d), Type::Float, t.give({t.at(from, checked)})));
  for_backends([&](CpuBackend& cpu) {
    for (const Lengths& lengths : shapes()) {
      const Numbers begins = ascending_starts(lengths);
      Numbers outers, longests, inners, limits, taken;
      const Numbers values = numbers(total(lengths) + 10, 41, 100);
      for (std::size_t k = 0; k < lengths.size(); ++k) {
        outers.push_back(static_cast<double>(k % 3));
        longests.push_back(static_cast<double>(lengths[k]));
        inners.push_back(begins[k]);
        limits.push_back(static_cast<double>(lengths[k]) + outers[k]);
        append_run(taken, values, begins[k] + outers[k], lengths[k]);
      }
      const auto operands = [&](const Numbers& bound, const Numbers& other) {
        return std::vector<Value>{descriptor(cpu, lengths),      upload(cpu, Type::Int, outers),
                                  upload(cpu, Type::Int, bound), upload(cpu, Type::Int, inners),
                                  upload(cpu, Type::Int, other), upload(cpu, Type::Float, values)};
      };
      const auto result = run(cpu, b.kernel, operands(longests, limits))[0];
      REQUIRE(bits(cpu, result) == bits(cpu, upload(cpu, Type::Float, taken)));
      for (std::size_t k = 0; k < lengths.size(); k += lengths.size() / 3 + 1) {
        if (lengths[k] == 0) continue;
        Numbers less = longests, lower = limits;
        less[k] -= 1;
        lower[k] -= 1;
        REQUIRE(failure_of(cpu, b.kernel, operands(less, limits)) ==
                vcode::ErrorCode::IndexOutOfRange);
        REQUIRE(failure_of(cpu, b.kernel, operands(longests, lower)) ==
                vcode::ErrorCode::IndexOutOfRange);
      }
    }
  });
}

}  // namespace kernel_test
