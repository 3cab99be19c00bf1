// Gathers and scatters whose indices count up within segments: moved run by run, unless one fails.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {
namespace {

/// s segments of n elements; a gather from and a scatter to the places that `first` says.
struct Slices {
  KernelBuilder b;

  explicit Slices(Type type) {
    const SizeId s = b.size("s");
    const SizeId n = b.size("n");
    const SizeId m = b.size("m");
    const SegdesId d = b.in_segdes("d", s, n);
    const ArrayId first = b.in("first", Type::Int, s);
    const ArrayId from = b.in("from", type, m);
    const ArrayId values = b.in("values", type, n);
    auto g = b.thunk();
    b.out(b.map("taken", b.under(d), type, g.give({g.at(from, counting(g, first, d))})));
    auto e = b.thunk();
    auto x = b.thunk();
    auto z = b.thunk();
    b.out(b.scatter("put", b.flat(n), b.flat(m), type, e.give({e.own(values)}),
                    x.give({counting(x, first, d)}), z.give({z.own(from)})));
    auto v = b.thunk();
    auto c = b.thunk();
    b.out(b.scatter("covered", b.flat(n), b.flat(n), type, v.give({v.own(values)}),
                    c.give({counting(c, first, d)})));
  }

  void check(CpuBackend& cpu, Type type, const Lengths& lengths, const Numbers& first) const {
    const Numbers values = numbers(total(lengths), 21, 100);
    const Numbers from = numbers(total(lengths) + 3, 22, 100);
    Numbers taken;
    Numbers put = from;
    Numbers covered(values.size());
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      for (std::int64_t k = 0; k < lengths[s]; ++k) {
        const auto at = static_cast<std::size_t>(first[s]) + static_cast<std::size_t>(k);
        put[at] = covered[at] = values[taken.size()];
        taken.push_back(from[at]);
      }
    }
    const auto results = run(cpu, b.kernel,
                             {descriptor(cpu, lengths), upload(cpu, Type::Int, first),
                              upload(cpu, type, from), upload(cpu, type, values)});
    REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, type, taken)));
    REQUIRE(bits(cpu, results[1]) == bits(cpu, upload(cpu, type, put)));
    REQUIRE(bits(cpu, results[2]) == bits(cpu, upload(cpu, type, covered)));
  }
};

}  // namespace

TEST_CASE("slices are taken and put, side by side, mixed and over each other") {
  for (const Type type : {Type::Int, Type::Float}) {
    const Slices slices(type);
    for_backends([&](CpuBackend& cpu) {
      for (const Lengths& lengths : shapes()) {
        slices.check(cpu, type, lengths, ascending_starts(lengths));
        slices.check(cpu, type, lengths, mixed_starts(lengths));
        Numbers halved = ascending_starts(lengths);
        for (double& start : halved)
          start = static_cast<double>(static_cast<std::int64_t>(start) / 2);
        slices.check(cpu, type, lengths, halved);
      }
    });
  }
}

TEST_CASE("what slices leave out is zeros") {
  for (const Type type : {Type::Int, Type::Bool, Type::Float}) {
    KernelBuilder b;
    const SizeId s = b.size("s");
    const SizeId n = b.size("n");
    const SizeId m = b.size("m");
    const SegdesId d = b.in_segdes("d", s, n);
    const ArrayId first = b.in("first", Type::Int, s);
    const ArrayId values = b.in("values", type, n);
    b.in("places", Type::Int, m);
    auto e = b.thunk();
    auto x = b.thunk();
    b.out(b.scatter("put", b.flat(n), b.flat(m), type, e.give({e.own(values)}),
                    x.give({counting(x, first, d)})));
    const auto check = [&](CpuBackend& cpu, const Lengths& lengths, const Numbers& starts) {
      const Numbers sent = numbers(total(lengths), 23, type == Type::Bool ? 2 : 100);
      Numbers put(static_cast<std::size_t>(2 * total(lengths) + 5));
      std::size_t next = 0;
      for (std::size_t k = 0; k < lengths.size(); ++k) {
        const auto at = put.begin() + static_cast<std::ptrdiff_t>(starts[k]);
        for (std::int64_t i = 0; i < lengths[k]; ++i) at[i] = sent[next++];
      }
      const auto results =
          run(cpu, b.kernel,
              {descriptor(cpu, lengths), upload(cpu, Type::Int, starts), upload(cpu, type, sent),
               upload(cpu, Type::Int, Numbers(put.size()))});
      REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, type, put)));
    };
    for_backends([&](CpuBackend& cpu) {
      for (const Lengths& lengths : shapes()) {
        for (Numbers starts : {ascending_starts(lengths), mixed_starts(lengths)}) {
          for (double& start : starts) start += 3;
          check(cpu, lengths, starts);
          for (double& start : starts) start *= 2;
          check(cpu, lengths, starts);
        }
      }
    });
  }
}

TEST_CASE("slices are taken backwards") {
  for (const Type type : {Type::Int, Type::Bool, Type::Float}) {
    // Element last - k for the k-th element of a segment; and where that lies below m - 1, and not
    // below 0, or else element 1.
    KernelBuilder b;
    const SizeId s = b.size("s"), n = b.size("n"), m = b.size("m");
    const SegdesId d = b.in_segdes("d", s, n);
    const ArrayId last = b.in("last", Type::Int, s);
    const ArrayId from = b.in("from", type, m);
    const auto place = [&](Expressions& t) {
      return t.apply(Op::Subtract, Type::Int,
                     {t.at(last, t.seg_no(d, t.index())), t.seg_off(d, t.index())});
    };
    auto g = b.thunk(), h = b.thunk();
    b.out(b.map("taken", b.under(d), type, g.give({g.at(from, place(g))})));
    const auto least = h.apply(Op::GreaterEqual, Type::Int, {place(h), h.number(0)});
    const auto limit = h.apply(Op::Subtract, Type::Int, {h.size(m), h.number(1)});
    const auto inside =
        h.apply(Op::And, Type::Bool, {least, h.apply(Op::Less, Type::Int, {place(h), limit})});
    const auto kept = h.apply(Op::Select, Type::Int, {inside, place(h), h.number(1)});
    b.out(b.map("kept", b.under(d), type, h.give({h.at(from, kept)})));
    KernelBuilder only_kept = b;
    only_kept.kernel.bindings.erase(only_kept.kernel.bindings.begin());
    only_kept.kernel.outputs.erase(only_kept.kernel.outputs.begin());
    for_backends([&](CpuBackend& cpu) {
      for (const Lengths& lengths : shapes()) {
        const Numbers source = numbers(total(lengths) + 3, 24, type == Type::Bool ? 2 : 100);
        const auto length = static_cast<std::int64_t>(source.size());
        for (const std::int64_t beside : {0, 2}) {
          Numbers ends = mixed_starts(lengths), taken, expected;
          for (std::size_t k = 0; k < lengths.size(); ++k) {
            ends[k] += static_cast<double>(lengths[k] - 1);
            // Some lie before the first element, or behind the last one.
            if (k % 3 == 1) ends[k] -= static_cast<double>(beside);
            if (k % 3 == 2) ends[k] += static_cast<double>(2 * beside);
            for (std::int64_t i = 0; i < lengths[k]; ++i) {
              const std::int64_t at = static_cast<std::int64_t>(ends[k]) - i;
              expected.push_back(
                  source[static_cast<std::size_t>(at >= 0 && at < length - 1 ? at : 1)]);
              if (beside == 0) taken.push_back(source[static_cast<std::size_t>(at)]);
            }
          }
          const std::vector<Value> operands{descriptor(cpu, lengths), upload(cpu, Type::Int, ends),
                                            upload(cpu, type, source)};
          const auto results = run(cpu, beside == 0 ? b.kernel : only_kept.kernel, operands);
          REQUIRE(bits(cpu, results.back()) == bits(cpu, upload(cpu, type, expected)));
          if (beside == 0) REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, type, taken)));
        }
      }
    });
  }
}

TEST_CASE("slices whose places are only kept below a bound") {
  // Element first + t, where t = shift + k is below a limit, or else element 1.
  KernelBuilder b;
  const SizeId s = b.size("s"), n = b.size("n"), m = b.size("m");
  const SegdesId d = b.in_segdes("d", s, n);
  const ArrayId first = b.in("first", Type::Int, s), shift = b.in("shift", Type::Int, s);
  const ArrayId limit = b.in("limit", Type::Int, s), from = b.in("from", Type::Float, m);
  auto t = b.thunk();
  const auto own = [&](ArrayId array) { return t.at(array, t.seg_no(d, t.index())); };
  const auto add = [&](Expressions::Id x, Expressions::Id y) {
    return t.apply(Op::Add, Type::Int, {x, y});
  };
  const auto place = add(own(shift), t.seg_off(d, t.index()));
  const auto below = t.apply(Op::Less, Type::Int, {place, own(limit)});
  const auto kept = t.apply(Op::Select, Type::Int, {below, add(own(first), place), t.number(1)});
  b.out(b.map("kept", b.under(d), Type::Float, t.give({t.at(from, kept)})));
  for_backends([&](CpuBackend& cpu) {
    for (const Lengths& lengths : shapes()) {
      const Numbers source = numbers(total(lengths) + 9, 24, 100);
      // All places are in bounds; some bounds do not hold at the end; some places are below 0.
      for (const int how : {0, 1, 2}) {
        Numbers starts = mixed_starts(lengths), shifts, limits, expected;
        for (std::size_t k = 0; k < lengths.size(); ++k) {
          const bool some = k % 5 == 3 || lengths.size() == 1;
          starts[k] += 4;
          shifts.push_back(how == 2 && some ? -3 : 2);
          limits.push_back(shifts[k] +
                           static_cast<double>(lengths[k] - (how == 1 && some ? 1 : 0)));
          for (std::int64_t i = 0; i < lengths[k]; ++i) {
            const double at = shifts[k] + static_cast<double>(i);
            expected.push_back(
                source[static_cast<std::size_t>(at < limits[k] ? starts[k] + at : 1)]);
          }
        }
        const auto results = run(cpu, b.kernel,
                                 {descriptor(cpu, lengths), upload(cpu, Type::Int, starts),
                                  upload(cpu, Type::Int, shifts), upload(cpu, Type::Int, limits),
                                  upload(cpu, Type::Float, source)});
        REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, Type::Float, expected)));
      }
    }
  });
}

TEST_CASE("sums of products of slices have the bits of the operations") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const SegdesId d = b.in_segdes("d", s, n);
  const SegdesId same = b.in_segdes("same", s, n);
  const ArrayId first = b.in("first", Type::Int, s);
  const ArrayId second = b.in("second", Type::Int, s);
  const ArrayId u = b.in("u", Type::Float, m);
  const ArrayId v = b.in("v", Type::Float, m);
  auto t = b.thunk();
  b.out(b.reduce(
      "sums", b.under(d), Op::AddReduce, Type::Float,
      t.give({t.apply(Op::Multiply, Type::Float,
                      {t.at(u, counting(t, first, d)), t.at(v, counting(t, second, same))})})));
  std::vector<Lengths> all = shapes();
  all.insert(all.end(), {Lengths(300, 500), Lengths(90, 600), Lengths(20, 1300)});
  all.push_back({1000, 3, 0, 127, 128, 129, 2, 5000, 0, 511, 512, 513, 640, 1, 70'000});
  for_backends([&](CpuBackend& cpu) {
    for (const Lengths& lengths : all) {
      const std::int64_t length = total(lengths) + 5;
      const Numbers from = numbers(length, 41), others = numbers(length, 42);
      const Numbers starts = mixed_starts(lengths);
      // All but the first ones at the same place, as far as it goes.
      Numbers again(lengths.size());
      again[0] = 5;
      Numbers x, y;
      for (std::size_t k = 0; k < lengths.size(); ++k) {
        for (std::int64_t i = 0; i < lengths[k]; ++i) {
          x.push_back(from[static_cast<std::size_t>(starts[k]) + static_cast<std::size_t>(i)]);
          y.push_back(others[static_cast<std::size_t>(again[k]) + static_cast<std::size_t>(i)]);
        }
      }
      const Segdes segdes = descriptor(cpu, lengths);
      const Value products = execute(cpu, Op::Multiply, Type::Float,
                                     {upload(cpu, Type::Float, x), upload(cpu, Type::Float, y)});
      const auto results = run(cpu, b.kernel,
                               {segdes, descriptor(cpu, lengths), upload(cpu, Type::Int, starts),
                                upload(cpu, Type::Int, again), upload(cpu, Type::Float, from),
                                upload(cpu, Type::Float, others)});
      REQUIRE(bits(cpu, results[0]) ==
              bits(cpu, execute(cpu, Op::AddReduce, Type::Float, {products, segdes})));
    }
  });
}

TEST_CASE("elements are gathered at places that were taken run by run") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const SegdesId d = b.in_segdes("d", s, n);
  const ArrayId first = b.in("first", Type::Int, s);
  const ArrayId from = b.in("from", Type::Int, m);
  const ArrayId u = b.in("u", Type::Float, m);
  const ArrayId v = b.in("v", Type::Int, m);
  auto g = b.thunk();
  const ArrayId at = b.map(
      "at", b.under(d), Type::Int,
      g.give({g.apply(Op::Add, Type::Int, {g.at(from, counting(g, first, d)), g.number(1)})}));
  b.out(at);
  for (const ArrayId array : {u, v}) {
    auto e = b.thunk();
    b.out(b.map("taken" + std::to_string(array), b.flat(n), array == u ? Type::Float : Type::Int,
                e.give({e.at(array, e.own(at))})));
  }
  for_backends([&](CpuBackend& cpu) {
    for (const Lengths& lengths : shapes()) {
      const std::int64_t length = total(lengths) + 3;
      const Numbers starts = ascending_starts(lengths);
      const Numbers floats = numbers(length, 31, 100);
      const Numbers ints = numbers(length, 32, 100);
      Numbers places(static_cast<std::size_t>(length));
      for (std::size_t k = 0; k < places.size(); ++k) {
        places[k] = static_cast<double>(static_cast<std::int64_t>(k) * 7919 % (length - 1));
      }
      Numbers expected, expected_floats, expected_ints;
      for (std::size_t k = 0; k < lengths.size(); ++k) {
        for (std::int64_t i = 0; i < lengths[k]; ++i) {
          const auto place = static_cast<std::size_t>(starts[k]) + static_cast<std::size_t>(i);
          expected.push_back(places[place] + 1);
          expected_floats.push_back(floats[static_cast<std::size_t>(expected.back())]);
          expected_ints.push_back(ints[static_cast<std::size_t>(expected.back())]);
        }
      }
      const auto results = run(
          cpu, b.kernel,
          {descriptor(cpu, lengths), upload(cpu, Type::Int, starts), upload(cpu, Type::Int, places),
           upload(cpu, Type::Float, floats), upload(cpu, Type::Int, ints)});
      REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, Type::Int, expected)));
      REQUIRE(bits(cpu, results[1]) == bits(cpu, upload(cpu, Type::Float, expected_floats)));
      REQUIRE(bits(cpu, results[2]) == bits(cpu, upload(cpu, Type::Int, expected_ints)));
    }
  });
}

TEST_CASE("the first place outside is reported, whichever thread finds it") {
  const Slices slices(Type::Int);
  for_backends([&](CpuBackend& cpu) {
    const bool wide = cpu.element_bytes(Type::Int) == 8;
    const Lengths lengths(30000, 3);
    const auto fails = [&](std::size_t segment, double start, const std::string& index) {
      Numbers first = ascending_starts(lengths);
      first[segment] = start;
      std::string message;
      const auto values = upload(cpu, Type::Int, numbers(90000, 23, 100));
      failure_of(cpu, slices.b.kernel,
                 {descriptor(cpu, lengths), upload(cpu, Type::Int, first), values, values},
                 &message);
      CAPTURE(segment, start, message);
      REQUIRE(message.find(index) != std::string::npos);
      REQUIRE(message.find(std::to_string(3 * segment + (start == 89998 ? 2 : 0))) !=
              std::string::npos);
    };
    fails(0, -1, "-1");
    fails(20001, 89998, "90000");
    fails(29999, 2147483646, "2147483646");
    if (wide) fails(12345, 9223372036854774784.0, "9223372036854774784");
  });
}

TEST_CASE("segments are appended in segments") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const SegdesId from = b.in_segdes("from", s, n);
  const SegdesId into = b.in_segdes("into", s, m);
  const ArrayId behind = b.in("behind", Type::Int, s);
  const ArrayId values = b.in("values", Type::Float, n);
  auto e = b.thunk();
  auto x = b.thunk();
  b.out(b.scatter("result", b.under(from), b.under(into), Type::Float, e.give({e.own(values)}),
                  x.give({counting(x, behind, from)})));
  for_backends([&](CpuBackend& cpu) {
    for (const Lengths& lengths : shapes()) {
      Lengths targets;
      Numbers starts;
      Numbers expected;
      const Numbers given = numbers(total(lengths), 24);
      std::size_t next = 0;
      for (std::size_t k = 0; k < lengths.size(); ++k) {
        starts.push_back(static_cast<double>(k % 3));
        targets.push_back(lengths[k] + static_cast<std::int64_t>(k % 3) + 1);
        expected.insert(expected.end(), k % 3, 0.0);
        for (std::int64_t i = 0; i < lengths[k]; ++i) expected.push_back(given[next++]);
        expected.push_back(0.0);
      }
      const auto operands = [&] {
        return std::vector<Value>{descriptor(cpu, lengths), descriptor(cpu, targets),
                                  upload(cpu, Type::Int, starts), upload(cpu, Type::Float, given)};
      };
      REQUIRE(bits(cpu, run(cpu, b.kernel, operands())[0]) ==
              bits(cpu, upload(cpu, Type::Float, expected)));
      // One place too far, in the last segment that has elements.
      const auto last = std::find_if(lengths.rbegin(), lengths.rend(),
                                     [](std::int64_t length) { return length > 0; });
      if (last == lengths.rend()) continue;
      starts[static_cast<std::size_t>(lengths.rend() - last) - 1] += 2;
      std::string message;
      failure_of(cpu, b.kernel, operands(), &message);
      REQUIRE(message.find(std::to_string(total(lengths) - 1)) != std::string::npos);
    }
  });
}

TEST_CASE("rows of a regular nest become parts of segments, if they are the scatter's own") {
  constexpr std::int64_t kRow = 14, kTarget = 16;
  KernelBuilder b;
  const SizeId s = b.size("s"), n = b.size("n"), m = b.size("m");
  const SegdesId from = b.in_segdes("from", s, n);
  const SegdesId into = b.in_segdes("into", s, m);
  const ArrayId values = b.in("values", Type::Float, n);
  auto e = b.thunk();
  auto x = b.thunk();
  const auto place = x.apply(Op::Modulo, Type::Int, {x.index(), x.number(kRow)});
  b.out(b.scatter("result", b.under(from), b.under(into), Type::Float, e.give({e.own(values)}),
                  x.give({place})));
  for_backends([&](CpuBackend& cpu) {
    for (const std::size_t count : {1, 3, 100, 5000}) {
      const auto check = [&](const Lengths& lengths, const Lengths& targets) {
        const Numbers given = numbers(total(lengths), 24);
        Numbers expected;
        std::int64_t next = 0;
        for (std::size_t k = 0; k < count; ++k) {
          const std::size_t start = expected.size();
          expected.resize(start + static_cast<std::size_t>(targets[k]));
          for (std::int64_t i = 0; i < lengths[k]; ++i, ++next) {
            expected[start + static_cast<std::size_t>(next % kRow)] =
                given[static_cast<std::size_t>(next)];
          }
        }
        REQUIRE(bits(cpu, run(cpu, b.kernel,
                              {descriptor(cpu, lengths), descriptor(cpu, targets),
                               upload(cpu, Type::Float, given)})[0]) ==
                bits(cpu, upload(cpu, Type::Float, expected)));
      };
      const Lengths rows(count, kRow);
      Lengths targets(count, kTarget);
      check(rows, targets);
      targets.back() = 40;
      check(rows, targets);
      if (count == 1) continue;
      Lengths others = rows;
      others[0] += 5;
      others[1] -= 5;
      check(others, targets);
      std::string message;
      targets[count / 2] = kRow - 1;
      failure_of(cpu, b.kernel,
                 {descriptor(cpu, rows), descriptor(cpu, targets),
                  upload(cpu, Type::Float, numbers(total(rows), 24))},
                 &message);
      REQUIRE(message.find("13") != std::string::npos);
    }
  });
}

}  // namespace kernel_test
