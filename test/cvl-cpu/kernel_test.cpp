// Kernels of the CPU library against the operations that they replace: the same results, to the
// bit, for all lengths, segmentations, widths, instruction sets and numbers of threads.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl-cpu/kernel_builder.hpp"
#include "cvl/failure.hpp"

namespace {

using cvl::Segdes;
using cvl::Value;
using cvl::Vector;
using cvl::cpu::CpuBackend;
using cvl::cpu::CpuOptions;
using cvl::cpu::Isa;
using kernel_test::KernelBuilder;
using vcode::ArrayId;
using vcode::Binding;
using vcode::Op;
using vcode::SegdesId;
using vcode::SizeId;
using vcode::Type;

using Lengths = std::vector<std::int64_t>;

CpuOptions options(cvl::Widths widths, int threads, Isa isa) {
  CpuOptions result;
  result.widths = widths;
  result.threads = threads;
  result.isa = isa;
  return result;
}

/// Uploads numbers in the width of the run.
Vector upload(CpuBackend& cpu, Type type, const std::vector<double>& numbers) {
  const auto as = [&](auto sample) {
    std::vector<decltype(sample)> elements;
    for (const double number : numbers) elements.push_back(static_cast<decltype(sample)>(number));
    return cpu.upload(type, elements.data(), static_cast<std::int64_t>(elements.size()));
  };
  const cvl::Widths widths = cpu.widths();
  if (type == Type::Bool) return as(std::uint8_t{});
  if (type == Type::Int) return widths.int_bytes == 4 ? as(std::int32_t{}) : as(std::int64_t{});
  return widths.float_bytes == 4 ? as(float{}) : as(double{});
}

/// The elements of a vector, as bytes.
std::string bits(CpuBackend& cpu, const Vector& vector) {
  std::string result(static_cast<std::size_t>(vector.length) * cpu.element_bytes(vector.type), ' ');
  cpu.download(vector, 0, vector.length, result.data());
  return result;
}
std::string bits(CpuBackend& cpu, const Value& value) {
  if (value.is_vector()) return bits(cpu, value.vector());
  return bits(cpu, cvl::segdes_lengths(cpu, value.segdes())) + "/" +
         std::to_string(value.segdes().total);
}

Segdes descriptor(CpuBackend& cpu, const Lengths& lengths) {
  return cvl::make_segdes(cpu, upload(cpu, Type::Int, {lengths.begin(), lengths.end()}));
}

std::vector<double> numbers(std::int64_t n, unsigned seed, double scale = 1.0) {
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(n));
  std::vector<double> result(static_cast<std::size_t>(n));
  for (double& number : result) {
    number = (static_cast<double>(random() % 2'000'003) / 1'000'000.7 - 1.0) * scale;
  }
  return result;
}

Value execute(CpuBackend& cpu, Op op, Type type, std::vector<Value> operands, int which = 0) {
  Value results[vcode::kMaxResults];
  cpu.execute(op, type, operands.data(), results);
  return results[which];
}

std::vector<Value> run(CpuBackend& cpu, const vcode::Kernel& kernel, std::vector<Value> operands) {
  const auto prepared = cpu.prepare(kernel);
  REQUIRE(prepared != nullptr);
  std::vector<Value> results(kernel.outputs.size());
  REQUIRE(cpu.run(*prepared, operands.data(), results.data()));
  return results;
}

/// Calls test for every configuration of the library.
void for_backends(const std::function<void(CpuBackend&)>& test) {
  const auto isas = cvl::cpu::usable_isas();
  for (const cvl::Widths widths : {cvl::Widths{4, 8}, cvl::Widths{8, 4}}) {
    for (const int threads : {1, 2, 4}) {
      CpuBackend cpu(options(widths, threads, isas.back()));
      test(cpu);
    }
    CpuBackend first(options(widths, 2, isas.front()));
    test(first);
  }
}

/// Segmentations with borders on, before and behind those of blocks and tiles.
std::vector<Lengths> shapes() {
  std::vector<Lengths> result = {{0}, {0, 0, 0}, {1}, {5}, {3, 0, 4}, {64}, {65}, {0, 63, 0, 2}};
  result.push_back({1000});
  result.push_back({16384});
  result.push_back({16385, 0});
  result.push_back({32768, 1});
  result.push_back({40000, 0, 30000, 1, 0});
  result.push_back({200'001});
  result.push_back(Lengths(9000, 7));
  Lengths mixed;
  std::mt19937_64 random(7);
  for (int k = 0; k < 20'000; ++k) mixed.push_back(static_cast<std::int64_t>(random() % 9));
  result.push_back(mixed);
  return result;
}

std::int64_t total(const Lengths& lengths) {
  std::int64_t sum = 0;
  for (const std::int64_t length : lengths) sum += length;
  return sum;
}

Op reduce_op(Op scan) {
  return static_cast<Op>(static_cast<int>(scan) - static_cast<int>(Op::AddScan) +
                         static_cast<int>(Op::AddReduce));
}

vcode::ErrorCode failure_of(CpuBackend& cpu, const vcode::Kernel& kernel,
                            std::vector<Value> operands, std::string* message = nullptr) {
  const auto prepared = cpu.prepare(kernel);
  std::vector<Value> results(kernel.outputs.size());
  try {
    cpu.run(*prepared, operands.data(), results.data());
  } catch (const cvl::Failure& failure) {
    if (message != nullptr) {
      *message = failure.message();
      for (const auto& note : failure.notes()) *message += "\n" + note;
    }
    return failure.code();
  }
  FAIL("the kernel did not fail");
  return vcode::ErrorCode::Internal;
}

}  // namespace

TEST_CASE("a chain of maps gives what the operations give") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId x = b.in("x", Type::Float, n);
  const ArrayId y = b.in("y", Type::Float, n);
  auto t = b.thunk();
  const auto product = t.apply(Op::Multiply, Type::Float, {t.own(x), t.own(y)});
  const auto sum = t.apply(Op::Add, Type::Float, {product, t.real(0.1)});
  const auto small = t.apply(Op::Less, Type::Float, {t.real(0.5), sum});
  const auto chosen = t.apply(Op::Select, Type::Float, {small, sum, t.own(y)});
  b.out(b.map(
      "r", b.flat(n), Type::Float,
      t.give({t.apply(Op::Exp, Type::Int, {t.apply(Op::Multiply, Type::Float, {chosen, sum})})})));
  for_backends([&](CpuBackend& cpu) {
    for (const std::int64_t length : {0, 1, 2, 3, 17, 64, 255, 256, 513, 5000, 100'003}) {
      const Vector vx = upload(cpu, Type::Float, numbers(length, 1));
      const Vector vy = upload(cpu, Type::Float, numbers(length, 2));
      const Segdes all = Segdes::single(length);
      const auto dist = [&](double value) {
        return execute(cpu, Op::Distribute, Type::Float, {upload(cpu, Type::Float, {value}), all});
      };
      const Value p = execute(cpu, Op::Multiply, Type::Float, {vx, vy});
      const Value s = execute(cpu, Op::Add, Type::Float, {p, dist(0.1)});
      const Value f = execute(cpu, Op::Less, Type::Float, {dist(0.5), s});
      const Value c = execute(cpu, Op::Select, Type::Float, {f, s, vy});
      const Value e =
          execute(cpu, Op::Exp, Type::Int, {execute(cpu, Op::Multiply, Type::Float, {c, s})});
      REQUIRE(bits(cpu, run(cpu, b.kernel, {vx, vy})[0]) == bits(cpu, e));
    }
  });
}

TEST_CASE("fused reductions combine in the order of the operations") {
  for (const Op op : {Op::AddReduce, Op::MultiplyReduce, Op::MaxReduce, Op::MinReduce}) {
    KernelBuilder b;
    const SizeId s = b.size("s");
    const SizeId n = b.size("n");
    const SegdesId d = b.in_segdes("d", s, n);
    const ArrayId x = b.in("x", Type::Float, n);
    const ArrayId y = b.in("y", Type::Float, n);
    const auto product = [&] {
      auto t = b.thunk();
      return t.give({t.apply(Op::Multiply, Type::Float, {t.own(x), t.own(y)})});
    };
    const auto own = [&] {
      auto t = b.thunk();
      return t.give({t.own(x)});
    };
    b.out(b.reduce("segments", b.under(d), op, Type::Float, product()));
    b.out(b.reduce("all", b.flat(n), op, Type::Float, product()));
    b.out(b.reduce("direct", b.under(d), op, Type::Float, own()));
    for_backends([&](CpuBackend& cpu) {
      for (const Lengths& lengths : shapes()) {
        const std::int64_t length = total(lengths);
        const Segdes segdes = descriptor(cpu, lengths);
        const Vector vx = upload(cpu, Type::Float, numbers(length, 3));
        const Vector vy = upload(cpu, Type::Float, numbers(length, 4));
        const Value p = execute(cpu, Op::Multiply, Type::Float, {vx, vy});
        const auto results = run(cpu, b.kernel, {segdes, vx, vy});
        REQUIRE(bits(cpu, results[0]) == bits(cpu, execute(cpu, op, Type::Float, {p, segdes})));
        REQUIRE(bits(cpu, results[1]) ==
                bits(cpu, execute(cpu, op, Type::Float, {p, Segdes::single(length)})));
        REQUIRE(bits(cpu, results[2]) == bits(cpu, execute(cpu, op, Type::Float, {vx, segdes})));
      }
    });
  }
}

TEST_CASE("fused scans combine in the order of the operations, and maps follow them") {
  for (const Op op : {Op::AddScan, Op::MaxScan}) {
    for (const Type type : {Type::Float, Type::Int}) {
      KernelBuilder b;
      const SizeId s = b.size("s");
      const SizeId n = b.size("n");
      const SegdesId d = b.in_segdes("d", s, n);
      const ArrayId x = b.in("x", type, n);
      const ArrayId y = b.in("y", type, n);
      auto t = b.thunk();
      const ArrayId p = b.scan("p", b.under(d), reduce_op(op), type,
                               t.give({t.apply(Op::Add, type, {t.own(x), t.own(y)})}));
      auto u = b.thunk();
      const ArrayId q = b.scan("q", b.flat(n), reduce_op(op), type, u.give({u.own(x)}));
      auto v = b.thunk();
      b.out(b.map("r", b.under(d), type,
                  v.give({v.apply(Op::Subtract, type, {v.own(p), v.own(x)})})));
      b.out(q);
      auto w = b.thunk();
      b.out(b.reduce("m", b.under(d), Op::MaxReduce, type, w.give({w.own(p)})));
      for_backends([&](CpuBackend& cpu) {
        for (const Lengths& lengths : shapes()) {
          const std::int64_t length = total(lengths);
          const Segdes segdes = descriptor(cpu, lengths);
          const double scale = type == Type::Int ? 1000 : 1;
          const Vector vx = upload(cpu, type, numbers(length, 5, scale));
          const Vector vy = upload(cpu, type, numbers(length, 6, scale));
          const Value sum = execute(cpu, Op::Add, type, {vx, vy});
          const Value vp = execute(cpu, op, type, {sum, segdes});
          const auto results = run(cpu, b.kernel, {segdes, vx, vy});
          REQUIRE(bits(cpu, results[0]) == bits(cpu, execute(cpu, Op::Subtract, type, {vp, vx})));
          REQUIRE(bits(cpu, results[1]) ==
                  bits(cpu, execute(cpu, op, type, {vx, Segdes::single(length)})));
          REQUIRE(bits(cpu, results[2]) ==
                  bits(cpu, execute(cpu, Op::MaxReduce, type, {vp, segdes})));
        }
      });
    }
  }
}

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
  const ArrayId r = b.array("r", Type::Float, m);
  Binding& scatter = b.bind(Binding::Kind::Scatter, b.under(from));
  scatter.arrays = {r};
  scatter.into = b.under(into);
  auto e = b.thunk();
  scatter.elements = e.give({e.own(v)});
  auto x = b.thunk();
  scatter.index = x.give({x.own(i)});
  auto z0 = b.thunk();
  scatter.defaults = z0.give({z0.own(z)});
  b.out(r);
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

TEST_CASE("the branch that is not taken does not fail") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const ArrayId x = b.in("x", Type::Int, n);
  const ArrayId v = b.in("v", Type::Int, m);
  auto t = b.thunk();
  const auto zero = t.apply(Op::Equal, Type::Int, {t.own(x), t.number(0)});
  const auto quotient = t.apply(Op::Divide, Type::Int, {t.number(100), t.own(x)});
  const auto inside = t.apply(Op::Less, Type::Int, {quotient, t.number(3)});
  const auto element = t.at(v, t.apply(Op::Modulo, Type::Int, {t.number(7), t.own(x)}));
  b.out(b.map("r", b.flat(n), Type::Int,
              t.give({t.choose(zero, t.number(-1), t.choose(inside, element, quotient))})));
  for_backends([&](CpuBackend& cpu) {
    for (const std::int64_t length : {1, 2, 63, 300, 70'000}) {
      std::vector<double> xs, expected;
      for (std::int64_t k = 0; k < length; ++k) {
        const std::int64_t value = k % 50;
        xs.push_back(static_cast<double>(value));
        if (value == 0) {
          expected.push_back(-1);
        } else {
          const std::int64_t q = 100 / value;
          expected.push_back(static_cast<double>(q < 3 ? (7 % value) * 10 : q));
        }
      }
      // Only quotients below 3 read v; then the index is 7.
      const Vector elements = upload(cpu, Type::Int, {0, 10, 20, 30, 40, 50, 60, 70});
      REQUIRE(bits(cpu, run(cpu, b.kernel, {upload(cpu, Type::Int, xs), elements})[0]) ==
              bits(cpu, upload(cpu, Type::Int, expected)));
    }
  });
}

TEST_CASE("division by the same number everywhere is division") {
  for (const Op op : {Op::Divide, Op::Modulo}) {
    KernelBuilder b;
    const SizeId n = b.size("n");
    const ArrayId x = b.in("x", Type::Int, n);
    const ArrayId y = b.in("y", Type::Int, b.literal(1));
    auto t = b.thunk();
    b.out(b.map("r", b.flat(n), Type::Int,
                t.give({t.apply(op, Type::Int, {t.own(x), t.at(y, t.number(0))})})));
    for_backends([&](CpuBackend& cpu) {
      const double least = cpu.widths().int_bytes == 4 ? -2147483648.0 : -9223372036854775808.0;
      std::vector<double> xs = numbers(1000, 30, 2e9);
      for (const double special : {0.0, 1.0, -1.0, 7.0, -8.0, 2147483647.0, -2147483648.0, least}) {
        xs.push_back(special);
      }
      const Vector vx = upload(cpu, Type::Int, xs);
      for (const double divisor :
           {1.0, 2.0, 3.0, 7.0, 64.0, 1073741824.0, 2147483647.0, -1.0, -2.0, -7.0, least}) {
        const Vector vy = upload(cpu, Type::Int, {divisor});
        const Value dist = execute(cpu, Op::Distribute, Type::Int,
                                   {vy, Segdes::single(static_cast<std::int64_t>(xs.size()))});
        REQUIRE(bits(cpu, run(cpu, b.kernel, {vx, vy})[0]) ==
                bits(cpu, execute(cpu, op, Type::Int, {vx, dist})));
      }
    });
  }
}

TEST_CASE("failures of kernels name the first position in the first binding") {
  CpuBackend cpu(options({4, 8}, 2, cvl::cpu::usable_isas().back()));
  KernelBuilder b;
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const ArrayId x = b.in("x", Type::Int, n);
  const ArrayId v = b.in("v", Type::Int, m);
  auto t = b.thunk();
  Binding& check = b.bind(Binding::Kind::Assert, b.flat(n));
  check.elements = t.give({t.apply(Op::Less, Type::Int, {t.own(x), t.number(1000)})});
  check.message = "too large";
  auto q = b.thunk();
  b.out(b.map("q", b.flat(n), Type::Int,
              q.give({q.apply(Op::Divide, Type::Int, {q.number(12), q.own(x)})})));
  auto g = b.thunk();
  b.out(b.map("g", b.flat(n), Type::Int, g.give({g.at(v, g.own(x))})));
  const auto operands = [&](std::vector<double> special, std::int64_t length) {
    std::vector<double> xs(static_cast<std::size_t>(length), 1.0);
    for (std::size_t k = 0; k < special.size(); ++k) {
      xs[static_cast<std::size_t>(length) - 1 - 3 * k] = special[k];
    }
    return std::vector<Value>{upload(cpu, Type::Int, xs), upload(cpu, Type::Int, {1, 2, 3})};
  };
  std::string message;
  for (const std::int64_t length : {20, 3000, 200'000}) {
    REQUIRE(failure_of(cpu, b.kernel, operands({5}, length), &message) ==
            vcode::ErrorCode::IndexOutOfRange);
    REQUIRE(message ==
            "index 5 is out of range in kernel `k`\n`v` has 3 elements; the index is used "
            "at position " +
                std::to_string(length - 1) + " of " + std::to_string(length) + " (counted from 0)");
    REQUIRE(failure_of(cpu, b.kernel, operands({0, 7}, length), &message) ==
            vcode::ErrorCode::DivisionByZero);
    REQUIRE(message.find("element " + std::to_string(length - 1) + " of") != std::string::npos);
    REQUIRE(failure_of(cpu, b.kernel, operands({0, 7, 1000, 0}, length), &message) ==
            vcode::ErrorCode::AssertionFailed);
    REQUIRE(message.find("too large\n") == 0);
    REQUIRE(message.find("at position " + std::to_string(length - 7)) != std::string::npos);
  }
}

TEST_CASE("sizes of operands are checked") {
  CpuBackend cpu(options({4, 8}, 1, cvl::cpu::usable_isas().back()));
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId x = b.in("x", Type::Int, n);
  const ArrayId y = b.in("y", Type::Int, n);
  auto t = b.thunk();
  b.out(b.map("r", b.flat(n), Type::Int,
              t.give({t.apply(Op::Add, Type::Int, {t.own(x), t.own(y)})})));
  std::string message;
  REQUIRE(failure_of(cpu, b.kernel,
                     {upload(cpu, Type::Int, {1, 2, 3}), upload(cpu, Type::Int, {1, 2})},
                     &message) == vcode::ErrorCode::LengthMismatch);
  REQUIRE(message == "lengths do not fit in kernel `k`: `y` has 2 where 3 is needed\n`n` is 3");
}

TEST_CASE("negative lengths and sizes fail") {
  CpuBackend cpu(options({4, 8}, 1, cvl::cpu::usable_isas().back()));
  KernelBuilder b;
  const SizeId n = b.size("n");
  const SizeId t = b.size("t");
  const ArrayId l = b.in("l", Type::Int, n);
  const SegdesId d = b.segdes("d", n, t);
  auto e = b.thunk();
  Binding& segments = b.bind(Binding::Kind::Segments, b.flat(n));
  segments.segdes = {d};
  segments.elements = e.give({e.apply(Op::Subtract, Type::Int, {e.own(l), e.number(1)})});
  b.out_segdes(d);
  std::string message;
  REQUIRE(failure_of(cpu, b.kernel, {upload(cpu, Type::Int, {2, 3, 0, 1})}, &message) ==
          vcode::ErrorCode::NegativeLength);
  REQUIRE(message.find("a segment cannot have -1 elements\nelement 2 of") == 0);

  KernelBuilder c;
  const ArrayId k = c.in("k", Type::Int, c.literal(1));
  const SizeId size = c.size("size");
  auto f = c.thunk();
  Binding& binding = c.bind(Binding::Kind::Size);
  binding.size = size;
  binding.elements = f.give({f.at(k, f.number(0))});
  auto g = c.thunk();
  c.out(c.map("r", c.flat(size), Type::Int, g.give({g.index()})));
  REQUIRE(failure_of(cpu, c.kernel, {upload(cpu, Type::Int, {-4})}, &message) ==
          vcode::ErrorCode::NegativeLength);
  REQUIRE(message == "`size` of kernel `k` cannot be -4\na size must not be negative");
}

TEST_CASE("a generated range is summed without being stored") {
  KernelBuilder b;
  const ArrayId k = b.in("k", Type::Int, b.literal(1));
  const SizeId n = b.size("n");
  auto f = b.thunk();
  Binding& size = b.bind(Binding::Kind::Size);
  size.size = n;
  size.elements = f.give({f.at(k, f.number(0))});
  auto g = b.thunk();
  const ArrayId x =
      b.map("x", b.flat(n), Type::Float,
            g.give({g.apply(Op::Log, Type::Int,
                            {g.apply(Op::IntToFloat, Type::Int,
                                     {g.apply(Op::Add, Type::Int, {g.index(), g.number(1)})})})}));
  auto h = b.thunk();
  const ArrayId r = b.reduce("r", b.flat(n), Op::AddReduce, Type::Float, h.give({h.own(x)}));
  auto o = b.thunk();
  const ArrayId half = b.array("half", Type::Float, b.literal(1));
  Binding& once = b.bind(Binding::Kind::Once);
  once.arrays = {half};
  once.elements = o.give({o.apply(Op::Divide, Type::Float, {o.at(r, o.number(0)), o.real(2)})});
  b.out(r);
  b.out(half);
  for (const int threads : {1, 3}) {
    CpuBackend cpu(options({4, 8}, threads, cvl::cpu::usable_isas().back()));
    const std::size_t before = cpu.heap().statistics().peak_live_bytes;
    const auto results = run(cpu, b.kernel, {upload(cpu, Type::Int, {1'000'000})});
    const double sum = *results[0].vector().inline_elements<double>();
    REQUIRE(sum == Approx(std::lgamma(1'000'001.0)).epsilon(1e-12));
    REQUIRE(*results[1].vector().inline_elements<double>() == sum / 2);
    REQUIRE(cpu.heap().statistics().peak_live_bytes == before);
  }
}

TEST_CASE("a kernel takes over the storage of an operand that nobody else holds") {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId x = b.in("x", Type::Float, n);
  const ArrayId y = b.in("y", Type::Float, n);
  auto t = b.thunk();
  b.out(b.map("r", b.flat(n), Type::Float,
              t.give({t.apply(Op::Add, Type::Float, {t.own(x), t.own(y)})})));
  auto u = b.thunk();
  b.out(b.map("q", b.flat(n), Type::Float,
              u.give({u.apply(Op::Multiply, Type::Float, {u.own(x), u.own(y)})})));
  CpuBackend cpu(options({4, 8}, 1, cvl::cpu::usable_isas().back()));
  for (const std::int64_t length : {100, 1000, 50'000}) {
    const auto xs = numbers(length, 20);
    const auto ys = numbers(length, 21);
    const Value sum = execute(cpu, Op::Add, Type::Float,
                              {upload(cpu, Type::Float, xs), upload(cpu, Type::Float, ys)});
    const Value product = execute(cpu, Op::Multiply, Type::Float,
                                  {upload(cpu, Type::Float, xs), upload(cpu, Type::Float, ys)});
    const Vector kept = upload(cpu, Type::Float, xs);
    const std::string kept_bits = bits(cpu, kept);
    const auto taken = cpu.heap().statistics().takeovers;
    std::vector<Value> operands;  // a list in braces would hold them too
    operands.emplace_back(kept);
    operands.emplace_back(upload(cpu, Type::Float, ys));
    const auto results = run(cpu, b.kernel, std::move(operands));
    REQUIRE(cpu.heap().statistics().takeovers == taken + 1);
    REQUIRE(bits(cpu, kept) == kept_bits);
    REQUIRE(bits(cpu, results[0]) == bits(cpu, sum));
    REQUIRE(bits(cpu, results[1]) == bits(cpu, product));
  }
}
