// Reductions and scans in kernels against the operations that they replace, to the bit.

#include <cmath>
#include <cstdint>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {

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
      const ArrayId p = b.scan("p", b.under(d), vcode::reduction_of(op), type,
                               t.give({t.apply(Op::Add, type, {t.own(x), t.own(y)})}));
      auto u = b.thunk();
      const ArrayId q = b.scan("q", b.flat(n), vcode::reduction_of(op), type, u.give({u.own(x)}));
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

}  // namespace kernel_test
