// Filters, splits, sends and appends in kernels against the operations that they replace.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {

TEST_CASE("filters and splits give what packs give") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const ArrayId a = b.in("a", Type::Int, n);
  const SegdesId d = b.in_segdes("d", s, n);
  const ArrayId pivot = b.in("p", Type::Int, s);
  auto t = b.thunk();
  const auto q = t.at(pivot, t.seg_no(d, t.index()));
  const auto less = t.apply(Op::Less, Type::Int, {t.own(a), q});
  const auto equal = t.apply(Op::Equal, Type::Int, {t.own(a), q});
  const ArrayId c =
      b.map("c", b.flat(n), Type::Int,
            t.give({t.choose(less, t.number(0), t.choose(equal, t.number(1), t.number(2)))}));
  Binding& split = b.bind(Binding::Kind::Split, b.under(d));
  std::vector<ArrayId> parts;
  std::vector<SegdesId> descriptors;
  for (int k = 0; k < 3; ++k) {
    const SizeId size = b.size("n" + std::to_string(k));
    parts.push_back(b.array("part" + std::to_string(k), Type::Int, size));
    descriptors.push_back(b.segdes("d" + std::to_string(k), s, size));
    b.out(parts.back());
    b.out_segdes(descriptors.back());
  }
  split.arrays = parts;
  split.segdes = descriptors;
  split.classes = 3;
  auto e = b.thunk();
  split.elements = e.give({e.own(a)});
  auto f = b.thunk();
  split.flags = f.give({f.own(c)});
  // A filter over the flat space, with a value that is computed while packing.
  const SizeId kept = b.size("kept");
  const ArrayId doubled = b.array("doubled", Type::Int, kept);
  const SegdesId one = b.segdes("one", b.literal(1), kept);
  Binding& filter = b.bind(Binding::Kind::Filter, b.flat(n));
  filter.arrays = {doubled};
  filter.segdes = {one};
  auto g = b.thunk();
  filter.elements = g.give({g.apply(Op::Add, Type::Int, {g.own(a), g.own(a)})});
  auto h = b.thunk();
  filter.flags = h.give({h.apply(Op::Greater, Type::Int, {h.own(a), h.number(0)})});
  b.out(doubled);
  b.out_segdes(one);
  for_backends([&](CpuBackend& cpu) {
    for (const Lengths& lengths : shapes()) {
      const std::int64_t length = total(lengths);
      const Segdes segdes = descriptor(cpu, lengths);
      const Vector va = upload(cpu, Type::Int, numbers(length, 8, 3));
      const Vector vp =
          upload(cpu, Type::Int, numbers(static_cast<std::int64_t>(lengths.size()), 9, 2));
      const Value dist = execute(cpu, Op::Distribute, Type::Int, {vp, segdes});
      const auto results = run(cpu, b.kernel, {va, segdes, vp});
      const Op compare[] = {Op::Less, Op::Equal, Op::Greater};
      for (std::size_t k = 0; k < 3; ++k) {
        const Value flags = execute(cpu, compare[k], Type::Int, {va, dist});
        REQUIRE(bits(cpu, results[2 * k]) ==
                bits(cpu, execute(cpu, Op::Pack, Type::Int, {va, flags, segdes}, 0)));
        REQUIRE(bits(cpu, results[2 * k + 1]) ==
                bits(cpu, execute(cpu, Op::Pack, Type::Int, {va, flags, segdes}, 1)));
      }
      const Segdes all = Segdes::single(length);
      const Value zeros = execute(cpu, Op::Subtract, Type::Int, {va, va});
      const Value flags = execute(cpu, Op::Greater, Type::Int, {va, zeros});
      const Value twice = execute(cpu, Op::Add, Type::Int, {va, va});
      REQUIRE(bits(cpu, results[6]) ==
              bits(cpu, execute(cpu, Op::Pack, Type::Int, {twice, flags, all}, 0)));
      REQUIRE(bits(cpu, results[7]) ==
              bits(cpu, execute(cpu, Op::Pack, Type::Int, {twice, flags, all}, 1)));
    }
  });
}

TEST_CASE("of several writers the last position wins, in segments too") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const ArrayId v = b.in("v", Type::Float, n);
  const ArrayId i = b.in("i", Type::Int, n);
  const SegdesId from = b.in_segdes("from", s, n);
  const ArrayId z = b.in("z", Type::Float, m);
  const SegdesId into = b.in_segdes("into", s, m);
  auto e = b.thunk();
  auto x = b.thunk();
  auto z0 = b.thunk();
  b.out(b.scatter("r", b.under(from), b.under(into), Type::Float, e.give({e.own(v)}),
                  x.give({x.own(i)}), z0.give({z0.own(z)})));
  for_backends([&](CpuBackend& cpu) {
    for (const Lengths& lengths : shapes()) {
      const std::int64_t length = total(lengths);
      Lengths targets;
      std::vector<double> indices;
      std::mt19937_64 random(11);
      for (const std::int64_t own : lengths) {
        targets.push_back(own == 0 ? 2 : own / 2 + 1);
        for (std::int64_t k = 0; k < own; ++k) {
          indices.push_back(
              static_cast<double>(random() % static_cast<std::uint64_t>(targets.back())));
        }
      }
      const Segdes source = descriptor(cpu, lengths);
      const Segdes target = descriptor(cpu, targets);
      const Vector vv = upload(cpu, Type::Float, numbers(length, 12));
      const Vector vi = upload(cpu, Type::Int, indices);
      const Vector vz = upload(cpu, Type::Float, numbers(total(targets), 13));
      const auto expected =
          bits(cpu, execute(cpu, Op::DPermute, Type::Float, {vv, vi, vz, source, target}));
      REQUIRE(bits(cpu, run(cpu, b.kernel, {vv, vi, source, vz, target})[0]) == expected);
    }
  });
}

TEST_CASE("several scatters, a sum and a map share a pass") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const ArrayId i = b.in("i", Type::Int, n);
  const ArrayId v = b.in("v", Type::Float, n);
  const ArrayId w = b.in("w", Type::Int, n);
  b.in("z", Type::Int, m);  // says how long the targets are
  auto t = b.thunk();
  b.out(b.map("doubled", b.flat(n), Type::Int,
              t.give({t.apply(Op::Add, Type::Int, {t.own(w), t.own(w)})})));
  for (const ArrayId values : {v, w}) {
    const Type type = values == v ? Type::Float : Type::Int;
    auto e = b.thunk();
    auto x = b.thunk();
    b.out(b.scatter("r" + std::to_string(values), b.flat(n), b.flat(m), type,
                    e.give({e.own(values)}), x.give({x.own(i)})));
  }
  auto e = b.thunk();
  b.out(b.reduce("sum", b.flat(n), Op::AddReduce, Type::Float, e.give({e.own(v)})));
  for_backends([&](CpuBackend& cpu) {
    for (const std::int64_t length : {7, 16385, 200'001}) {
      std::mt19937_64 random(31);
      const std::int64_t targets = length / 2 + 1;
      std::vector<double> indices;
      for (std::int64_t k = 0; k < length; ++k) {
        indices.push_back(static_cast<double>(random() % static_cast<std::uint64_t>(targets)));
      }
      const Vector vi = upload(cpu, Type::Int, indices);
      const Vector vv = upload(cpu, Type::Float, numbers(length, 32));
      const Vector vw = upload(cpu, Type::Int, numbers(length, 33, 1e6));
      const Vector vz =
          upload(cpu, Type::Int, std::vector<double>(static_cast<std::size_t>(targets)));
      const Vector zeros =
          upload(cpu, Type::Float, std::vector<double>(static_cast<std::size_t>(targets)));
      const Segdes own = Segdes::single(length);
      const Segdes into = Segdes::single(targets);
      const auto results = run(cpu, b.kernel, {vi, vv, vw, vz});
      const auto expect = [&](int result, const Value& expected) {
        REQUIRE(bits(cpu, results[static_cast<std::size_t>(result)]) == bits(cpu, expected));
      };
      expect(0, execute(cpu, Op::Add, Type::Int, {vw, vw}));
      expect(1, execute(cpu, Op::DPermute, Type::Float, {vv, vi, zeros, own, into}));
      expect(2, execute(cpu, Op::DPermute, Type::Int, {vw, vi, vz, own, into}));
      expect(3, execute(cpu, Op::AddReduce, Type::Float, {vv, own}));
    }
  });
}

TEST_CASE("threads share the scatters of a pass whose values are computed") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const ArrayId i = b.in("i", Type::Int, n);
  const ArrayId v = b.in("v", Type::Float, n);
  b.in("z", Type::Int, m);  // says how long the targets are
  constexpr int kScatters = 5;
  for (int k = 0; k < kScatters; ++k) {
    auto e = b.thunk();
    auto x = b.thunk();
    b.out(b.scatter("r" + std::to_string(k), b.flat(n), b.flat(m), Type::Float,
                    e.give({e.apply(Op::Multiply, Type::Float, {e.own(v), e.real(k)})}),
                    x.give({x.own(i)})));
  }
  auto t = b.thunk();
  b.out(b.map("twice", b.flat(n), Type::Float,
              t.give({t.apply(Op::Add, Type::Float, {t.own(v), t.own(v)})})));
  for_backends([&](CpuBackend& cpu) {
    for (const std::int64_t length : {7, 16385, 200'001}) {
      const std::int64_t targets = length / 2 + 1;
      std::vector<double> indices;
      for (std::int64_t k = 0; k < length; ++k) {
        indices.push_back(static_cast<double>(k * 7919 % targets));
      }
      const auto count = static_cast<std::size_t>(targets);
      const Vector vi = upload(cpu, Type::Int, indices);
      const Vector vv = upload(cpu, Type::Float, numbers(length, 34));
      const Vector zeros = upload(cpu, Type::Float, std::vector<double>(count));
      const auto results =
          run(cpu, b.kernel, {vi, vv, upload(cpu, Type::Int, std::vector<double>(count))});
      for (int k = 0; k < kScatters; ++k) {
        const std::vector<double> factors(static_cast<std::size_t>(length), k);
        const Value products =
            execute(cpu, Op::Multiply, Type::Float, {vv, upload(cpu, Type::Float, factors)});
        REQUIRE(bits(cpu, results[static_cast<std::size_t>(k)]) ==
                bits(cpu, execute(cpu, Op::DPermute, Type::Float,
                                  {products, vi, zeros, Segdes::single(length),
                                   Segdes::single(targets)})));
      }
      REQUIRE(bits(cpu, results[kScatters]) ==
              bits(cpu, execute(cpu, Op::Add, Type::Float, {vv, vv})));
    }
  });
}

TEST_CASE("a split into more classes than the state of a tile counts") {
  constexpr int kClasses = 40;
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId a = b.in("a", Type::Float, n);
  const ArrayId c = b.in("c", Type::Int, n);
  std::vector<ArrayId> parts;
  std::vector<SegdesId> descriptors;
  for (int k = 0; k < kClasses; ++k) {
    const SizeId size = b.size("n" + std::to_string(k));
    parts.push_back(b.array("part" + std::to_string(k), Type::Float, size));
    descriptors.push_back(b.segdes("d" + std::to_string(k), b.literal(1), size));
    b.out(parts.back());
  }
  Binding& split = b.bind(Binding::Kind::Split, b.flat(n));
  split.arrays = parts;
  split.segdes = descriptors;
  split.classes = kClasses;
  auto e = b.thunk();  // computed while packing
  split.elements = e.give({e.apply(Op::Multiply, Type::Float, {e.own(a), e.own(a)})});
  auto f = b.thunk();
  split.flags = f.give({f.own(c)});
  for_backends([&](CpuBackend& cpu) {
    for (const std::int64_t length : {0, 5, 1000, 50'000}) {
      const Vector values = upload(cpu, Type::Float, numbers(length, 41));
      const Value squares = execute(cpu, Op::Multiply, Type::Float, {values, values});
      std::vector<double> numbers_of_classes;
      for (std::int64_t k = 0; k < length; ++k) {
        // Most elements are of one class: its blocks are written without a detour.
        numbers_of_classes.push_back(k % 3 != 0 ? 7 : static_cast<double>(k % kClasses));
      }
      const Vector classes = upload(cpu, Type::Int, numbers_of_classes);
      const auto results = run(cpu, b.kernel, {values, classes});
      for (int k = 0; k < kClasses; ++k) {
        const Vector own =
            upload(cpu, Type::Int, std::vector<double>(numbers_of_classes.size(), k));
        const Value flags = execute(cpu, Op::Equal, Type::Int, {classes, own});
        REQUIRE(bits(cpu, results[static_cast<std::size_t>(k)]) ==
                bits(cpu, execute(cpu, Op::Pack, Type::Float,
                                  {squares, flags, Segdes::single(length)}, 0)));
      }
    }
  });
}

TEST_CASE("gathers and scatters that only move elements are run one after the other") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const ArrayId i = b.in("i", Type::Int, n);
  const ArrayId v = b.in("v", Type::Float, n);
  const ArrayId w = b.in("w", Type::Int, n);
  const ArrayId x = b.in("x", Type::Float, m);
  const ArrayId z = b.in("z", Type::Int, m);
  // An index that is stored, and one whose storage a result may take over.
  auto t = b.thunk();
  const ArrayId turned = b.map(
      "turned", b.flat(n), Type::Int,
      t.give({t.apply(Op::Subtract, Type::Int,
                      {t.apply(Op::Subtract, Type::Int, {t.size(m), t.number(1)}), t.own(i)})}));
  b.out(turned);
  auto d = b.thunk();
  b.out(b.map("doubled", b.flat(n), Type::Int,
              d.give({d.apply(Op::Add, Type::Int, {d.own(i), d.own(i)})})));
  for (const ArrayId index : {i, turned}) {
    for (const ArrayId from : {x, z}) {
      auto e = b.thunk();
      b.out(b.map("g" + std::to_string(index) + "_" + std::to_string(from), b.flat(n),
                  from == x ? Type::Float : Type::Int, e.give({e.at(from, e.own(index))})));
    }
  }
  for (const ArrayId values : {v, w}) {
    auto e = b.thunk();
    auto at = b.thunk();
    b.out(b.scatter("r" + std::to_string(values), b.flat(n), b.flat(m),
                    values == v ? Type::Float : Type::Int, e.give({e.own(values)}),
                    at.give({at.own(turned)})));
  }
  for_backends([&](CpuBackend& cpu) {
    const auto prepared = cpu.prepare(b.kernel);
    for (const std::int64_t length : {0, 7, 600, 40'000, 0, 513, 16'385}) {
      const std::int64_t targets = length / 3 + 3;
      std::mt19937_64 random(51);
      std::vector<double> indices, turned_indices;
      for (std::int64_t k = 0; k < length; ++k) {
        indices.push_back(static_cast<double>(random() % static_cast<std::uint64_t>(targets)));
        turned_indices.push_back(static_cast<double>(targets - 1) - indices.back());
      }
      const Vector vi = upload(cpu, Type::Int, indices);
      const Vector vt = upload(cpu, Type::Int, turned_indices);
      const Vector vv = upload(cpu, Type::Float, numbers(length, 52));
      const Vector vw = upload(cpu, Type::Int, numbers(length, 53, 1e6));
      const Vector vx = upload(cpu, Type::Float, numbers(targets, 54));
      const Vector vz = upload(cpu, Type::Int, numbers(targets, 55, 1e6));
      const auto zeros = [&](Type type) {
        return upload(cpu, type, std::vector<double>(static_cast<std::size_t>(targets)));
      };
      const Segdes own = Segdes::single(length);
      const Segdes into = Segdes::single(targets);
      std::vector<Value> operands = {upload(cpu, Type::Int, indices), vv, vw, vx, vz};
      std::vector<Value> results(b.kernel.outputs.size());
      REQUIRE(cpu.run(*prepared, operands.data(), results.data()));
      const auto expect = [&](std::size_t result, const Value& expected) {
        REQUIRE(bits(cpu, results[result]) == bits(cpu, expected));
      };
      expect(0, vt);
      expect(1, execute(cpu, Op::Add, Type::Int, {vi, vi}));
      expect(2, execute(cpu, Op::BPermute, Type::Float, {vx, vi, into, own}));
      expect(3, execute(cpu, Op::BPermute, Type::Int, {vz, vi, into, own}));
      expect(4, execute(cpu, Op::BPermute, Type::Float, {vx, vt, into, own}));
      expect(5, execute(cpu, Op::BPermute, Type::Int, {vz, vt, into, own}));
      expect(6, execute(cpu, Op::DPermute, Type::Float, {vv, vt, zeros(Type::Float), own, into}));
      expect(7, execute(cpu, Op::DPermute, Type::Int, {vw, vt, zeros(Type::Int), own, into}));
    }
  });
}

TEST_CASE("lengths of segments are gathered beside vectors, and as the same elements") {
  // Of each order: a vector and a descriptor of its elements, and another vector.
  for (const bool vector_first : {true, false}) {
    CAPTURE(vector_first);
    KernelBuilder b;
    const SizeId n = b.size("n");
    const SizeId m = b.size("m");
    const ArrayId i = b.in("i", Type::Int, n);
    const ArrayId l = b.in("l", Type::Int, m);
    const ArrayId x = b.in("x", Type::Float, m);
    const SegdesId d = b.segdes("d", n, b.size("t"));
    const auto gather = [&](ArrayId from) {
      auto e = b.thunk();
      return e.give({e.at(from, e.own(i))});
    };
    const auto store = [&](const char* name, ArrayId from, Type type) {
      b.out(b.map(name, b.flat(n), type, gather(from)));
    };
    if (vector_first) store("lengths", l, Type::Int);
    Binding& segments = b.bind(Binding::Kind::Segments, b.flat(n));
    segments.segdes = {d};
    segments.elements = gather(l);
    if (!vector_first) store("lengths", l, Type::Int);
    b.out_segdes(d);
    store("values", x, Type::Float);
    for_backends([&](CpuBackend& cpu) {
      for (const std::int64_t length : {7, 600, 40'000}) {
        const std::int64_t targets = length / 3 + 3;
        std::mt19937_64 random(61);
        std::vector<double> indices, lengths;
        for (std::int64_t k = 0; k < length; ++k) {
          indices.push_back(static_cast<double>(random() % static_cast<std::uint64_t>(targets)));
        }
        for (std::int64_t k = 0; k < targets; ++k) {
          lengths.push_back(static_cast<double>(random() % 5));
        }
        const Vector vi = upload(cpu, Type::Int, indices);
        const Vector vl = upload(cpu, Type::Int, lengths);
        const Vector vx = upload(cpu, Type::Float, numbers(targets, 62));
        const Segdes own = Segdes::single(length);
        const Segdes into = Segdes::single(targets);
        const auto results = run(cpu, b.kernel, {vi, vl, vx});
        const Value gathered = execute(cpu, Op::BPermute, Type::Int, {vl, vi, into, own});
        REQUIRE(bits(cpu, results[0]) == bits(cpu, gathered));
        REQUIRE(bits(cpu, execute(cpu, Op::Lengths, Type::Int, {results[1]})) ==
                bits(cpu, gathered));
        REQUIRE(bits(cpu, results[2]) ==
                bits(cpu, execute(cpu, Op::BPermute, Type::Float, {vx, vi, into, own})));
      }
    });
  }
}

TEST_CASE("of the failures of several moves the first binding's is reported") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId i = b.in("i", Type::Int, n);
  const ArrayId v = b.in("v", Type::Float, n);
  const ArrayId w = b.in("w", Type::Int, n);
  for (const ArrayId values : {v, w}) {
    const Type type = values == v ? Type::Float : Type::Int;
    const std::string number = std::to_string(values);
    auto e = b.thunk();
    b.out(b.map("g" + number, b.flat(n), type, e.give({e.at(values, e.own(i))})));
    auto f = b.thunk();
    auto at = b.thunk();
    b.out(b.scatter("r" + number, b.flat(n), b.flat(n), type, f.give({f.own(values)}),
                    at.give({at.own(i)})));
  }
  for_backends([&](CpuBackend& cpu) {
    constexpr std::int64_t kLength = 20'000;
    auto indices = numbers(kLength, 61, 0);
    indices[12'345] = kLength;
    indices[12'399] = -1;
    std::string message;
    failure_of(cpu, b.kernel,
               {upload(cpu, Type::Int, indices), upload(cpu, Type::Float, numbers(kLength, 62)),
                upload(cpu, Type::Int, numbers(kLength, 63, 9))},
               &message);
    INFO(message);
    CHECK(message.find("12345") != std::string::npos);
    CHECK(message.find("20000") != std::string::npos);
    CHECK(message.find("`v`") != std::string::npos);
  });
}

TEST_CASE("a scatter to the own positions gives the vector that is sent") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId i = b.in("i", Type::Int, n);
  const ArrayId v = b.in("v", Type::Float, n);
  auto e = b.thunk();
  auto at = b.thunk();
  b.out(
      b.scatter("r", b.flat(n), b.flat(n), Type::Float, e.give({e.own(v)}), at.give({at.own(i)})));
  for_backends([&](CpuBackend& cpu) {
    constexpr std::int64_t kLength = 40'000;
    const Vector values = upload(cpu, Type::Float, numbers(kLength, 71));
    const auto range = [&](double first, double step) {
      return execute(cpu, Op::Index, Type::Int,
                     {upload(cpu, Type::Int, {first}), upload(cpu, Type::Int, {step}),
                      Segdes::single(kLength)});
    };
    const auto sent = run(cpu, b.kernel, {range(0, 1), values});
    CHECK(sent[0].vector().buffer.get() == values.buffer.get());
    REQUIRE(bits(cpu, sent[0]) == bits(cpu, values));
    const Value backwards = range(kLength - 1, -1);
    REQUIRE(bits(cpu, run(cpu, b.kernel, {backwards, values})[0]) ==
            bits(cpu, execute(cpu, Op::Permute, Type::Float,
                              {values, backwards, Segdes::single(kLength)})));
  });
}

TEST_CASE("elements in turn go to ranges side by side or over each other") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const ArrayId v = b.in("v", Type::Int, n);
  const ArrayId distance = b.in("distance", Type::Int, b.literal(1));
  b.in("z", Type::Int, m);  // says how long the target is
  auto e = b.thunk();
  auto x = b.thunk();
  const auto range = x.apply(Op::Modulo, Type::Int, {x.index(), x.number(3)});
  const auto position =
      x.apply(Op::Add, Type::Int,
              {x.apply(Op::Divide, Type::Int, {x.index(), x.number(3)}),
               x.apply(Op::Multiply, Type::Int, {range, x.at(distance, x.number(0))})});
  b.out(b.scatter("r", b.flat(n), b.flat(m), Type::Int, e.give({e.own(v)}), x.give({position})));
  for_backends([&](CpuBackend& cpu) {
    for (const std::int64_t length : {8, 300'000}) {
      const std::int64_t rows = (length + 2) / 3;
      for (const std::int64_t apart : {rows, rows + 5, rows - 1, std::int64_t{1}}) {
        const auto values = numbers(length, 41, 1e6);
        std::vector<double> expected(static_cast<std::size_t>(rows + 2 * apart));
        for (std::int64_t k = 0; k < length; ++k) {
          expected[static_cast<std::size_t>(k / 3 + k % 3 * apart)] =
              values[static_cast<std::size_t>(k)];
        }
        const auto results = run(
            cpu, b.kernel,
            {upload(cpu, Type::Int, values), upload(cpu, Type::Int, {static_cast<double>(apart)}),
             upload(cpu, Type::Int, std::vector<double>(expected.size()))});
        REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, Type::Int, expected)));
      }
    }
  });
}

TEST_CASE("an append pulls from both vectors and reads neither out of range") {
  KernelBuilder b;
  const SizeId s = b.size("s");
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const SizeId t = b.size("t");
  const ArrayId a = b.in("a", Type::Int, n);
  const SegdesId da = b.in_segdes("da", s, n);
  const ArrayId c = b.in("b", Type::Int, m);
  const SegdesId db = b.in_segdes("db", s, m);
  const SegdesId dy = b.segdes("dy", s, t);
  auto l = b.thunk();
  Binding& segments = b.bind(Binding::Kind::Segments, b.flat(s));
  segments.segdes = {dy};
  segments.elements =
      l.give({l.apply(Op::Add, Type::Int, {l.seg_len(da, l.index()), l.seg_len(db, l.index())})});
  auto e = b.thunk();
  const auto j = e.seg_no(dy, e.index());
  const auto o = e.seg_off(dy, e.index());
  const auto k = e.seg_len(da, j);
  const auto first = e.at(a, e.apply(Op::Add, Type::Int, {e.seg_start(da, j), o}));
  const auto second = e.at(
      c,
      e.apply(Op::Add, Type::Int, {e.seg_start(db, j), e.apply(Op::Subtract, Type::Int, {o, k})}));
  b.out(b.map("y", b.under(dy), Type::Int,
              e.give({e.choose(e.apply(Op::Less, Type::Int, {o, k}), first, second)})));
  b.out_segdes(dy);
  for_backends([&](CpuBackend& cpu) {
    for (const Lengths& lengths : shapes()) {
      Lengths others(lengths.rbegin(), lengths.rend());
      const std::vector<double> va = numbers(total(lengths), 14, 1e6);
      const std::vector<double> vb = numbers(total(others), 15, 1e6);
      std::vector<double> expected;
      auto from_a = va.begin();
      auto from_b = vb.begin();
      Lengths sums;
      for (std::size_t k2 = 0; k2 < lengths.size(); ++k2) {
        expected.insert(expected.end(), from_a, from_a + lengths[k2]);
        expected.insert(expected.end(), from_b, from_b + others[k2]);
        from_a += lengths[k2];
        from_b += others[k2];
        sums.push_back(lengths[k2] + others[k2]);
      }
      const auto results = run(cpu, b.kernel,
                               {upload(cpu, Type::Int, va), descriptor(cpu, lengths),
                                upload(cpu, Type::Int, vb), descriptor(cpu, others)});
      REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, Type::Int, expected)));
      REQUIRE(bits(cpu, results[1]) == bits(cpu, Value(descriptor(cpu, sums))));
    }
  });
}

}  // namespace kernel_test
