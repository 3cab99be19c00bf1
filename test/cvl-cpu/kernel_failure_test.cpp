// What kernels report when they fail.

#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {

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

TEST_CASE("the first binding counts, whichever pass it is part of") {
  CpuBackend cpu(options({4, 8}, 2, cvl::cpu::usable_isas().back()));
  KernelBuilder b;
  const SizeId n = b.size("n"), m = b.size("m"), t = b.size("t");
  const ArrayId x = b.in("x", Type::Int, n), y = b.in("y", Type::Int, m);
  const auto divided = [&](const char* name, SizeId size, ArrayId divisor) {
    auto e = b.thunk();
    b.out(b.map(name, b.flat(size), Type::Int,
                e.give({e.apply(Op::Divide, Type::Int, {e.number(1), e.own(divisor)})})));
  };
  // Two passes, the first with bindings 0 and 2, the second with bindings 1 and 3 ...
  auto first = b.thunk();
  b.out(b.map("first", b.flat(n), Type::Int, first.give({first.own(x)})));
  divided("in y", m, y);
  const SegdesId d = b.segdes("d", n, t);
  auto lengths = b.thunk();
  Binding& segments = b.bind(Binding::Kind::Segments, b.flat(n));
  segments.segdes = {d};
  segments.elements = lengths.give({lengths.own(x)});
  b.out_segdes(d);
  divided("again in y", m, y);
  // ... and one over what the first has failed to make.
  auto rest = b.thunk();
  b.out(b.map("rest", b.under(d), Type::Int, rest.give({rest.index()})));
  const auto failure = [&](std::vector<double> xs, std::vector<double> ys, std::string* message) {
    return failure_of(cpu, b.kernel, {upload(cpu, Type::Int, xs), upload(cpu, Type::Int, ys)},
                      message);
  };
  std::string message;
  CHECK(failure({1, -1}, {1, 1, 1}, &message) == vcode::ErrorCode::NegativeLength);
  CHECK(message ==
        "a segment cannot have -1 elements\nelement 1 of the lengths (of 2, counted from 0)");
  CHECK(failure({1, -1}, {1, 1, 0}, &message) == vcode::ErrorCode::DivisionByZero);
  CHECK(message.find("element 2 of the divisor is 0 (of 3 ") != std::string::npos);
}

TEST_CASE("what fails behind a failure is not reported") {
  CpuOptions limited = options({4, 8}, 1, cvl::cpu::usable_isas().back());
  limited.memory_limit = 6'000'000;  // for y, but not for a result of its length beside it
  CpuBackend cpu(limited);
  KernelBuilder b;
  const SizeId n = b.size("n"), m = b.size("m");
  const ArrayId x = b.in("x", Type::Int, n), y = b.in("y", Type::Int, m);
  const auto quotients = [&](const char* name, SizeId size, ArrayId divisor) {
    auto e = b.thunk();
    b.out(b.map(name, b.flat(size), Type::Int,
                e.give({e.apply(Op::Divide, Type::Int, {e.number(1), e.own(divisor)})})));
  };
  // The pass over x has bindings 0 and 2, so that the one over y, of binding 1, follows a failure
  // of binding 2.
  auto first = b.thunk();
  b.out(b.map("first", b.flat(n), Type::Int, first.give({first.own(x)})));
  quotients("in y", m, y);
  quotients("in x", n, x);
  const Vector lasting = upload(cpu, Type::Int, std::vector<double>(1'000'000, 1.0));
  CHECK(failure_of(cpu, b.kernel, {upload(cpu, Type::Int, {1, 2}), lasting}) ==
        vcode::ErrorCode::OutOfMemory);
  CHECK(failure_of(cpu, b.kernel, {upload(cpu, Type::Int, {1, 0}), lasting}) ==
        vcode::ErrorCode::DivisionByZero);
}

TEST_CASE("an array may be several results") {
  CpuBackend cpu(options({4, 8}, 1, cvl::cpu::usable_isas().back()));
  KernelBuilder b;
  const SizeId n = b.size("n");
  const ArrayId x = b.in("x", Type::Int, n);
  auto e = b.thunk();
  const ArrayId next = b.map("next", b.flat(n), Type::Int,
                             e.give({e.apply(Op::Add, Type::Int, {e.own(x), e.number(1)})}));
  b.out(next);
  b.out(next);
  const auto results = run(cpu, b.kernel, {upload(cpu, Type::Int, {1, 2, 3})});
  for (const Value& result : results) {
    CHECK(bits(cpu, result) == bits(cpu, upload(cpu, Type::Int, {2, 3, 4})));
  }
}

TEST_CASE("guarded reads that would fail everywhere fail where they are wanted") {
  KernelBuilder b;
  const SizeId n = b.size("n"), m = b.size("m"), s = b.size("s");
  const ArrayId wanted = b.in("wanted", Type::Bool, n);
  const ArrayId from = b.in("from", Type::Int, m);
  const SegdesId d = b.in_segdes("d", s, m);
  auto t = b.thunk();
  b.out(b.map("elements", b.flat(n), Type::Int,
              t.give({t.choose(t.own(wanted), t.own(from), t.number(-1))})));
  auto g = b.thunk();
  b.out(b.map("segments", b.flat(n), Type::Int,
              g.give({g.choose(g.own(wanted), g.seg_no(d, g.number(2)), g.number(-2))})));
  auto h = b.thunk();
  b.out(b.map("lengths", b.flat(n), Type::Int,
              h.give({h.choose(h.own(wanted), h.seg_len(d, h.number(3)), h.number(-3))})));
  for_backends([&](CpuBackend& cpu) {
    const auto operands = [&](std::vector<double> flags, const Lengths& lengths) {
      return std::vector<Value>{
          upload(cpu, Type::Bool, flags),
          upload(cpu, Type::Int, std::vector<double>(static_cast<std::size_t>(total(lengths)), 4)),
          descriptor(cpu, lengths)};
    };
    const std::vector<double> none(700, 0.0);
    const auto results = run(cpu, b.kernel, operands(none, {0}));
    CHECK(bits(cpu, results[0]) == bits(cpu, upload(cpu, Type::Int, std::vector<double>(700, -1))));
    CHECK(bits(cpu, results[1]) == bits(cpu, upload(cpu, Type::Int, std::vector<double>(700, -2))));
    CHECK(bits(cpu, results[2]) == bits(cpu, upload(cpu, Type::Int, std::vector<double>(700, -3))));
    std::vector<double> one = none;
    one[600] = 1;
    std::string message;
    // No element, no segment of element 2, no segment 3.
    CHECK(failure_of(cpu, b.kernel, operands(one, {0}), &message) ==
          vcode::ErrorCode::IndexOutOfRange);
    CHECK(message.find("index 600 is out of range") == 0);
    std::vector<double> early = none;
    early[1] = 1;
    CHECK(failure_of(cpu, b.kernel, operands(early, {1, 1}), &message) ==
          vcode::ErrorCode::IndexOutOfRange);
    CHECK(message.find("index 2 is out of range") == 0);
    CHECK(failure_of(cpu, b.kernel, operands(early, {2, 1}), &message) ==
          vcode::ErrorCode::IndexOutOfRange);
    CHECK(message.find("index 3 is out of range") == 0);
  });
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

}  // namespace kernel_test
