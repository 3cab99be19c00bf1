// Appends, as operations and in kernels: the same elements however the storage is come by, and the
// storage of whoever else reads the operand is left alone.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"

namespace kernel_test {
namespace {

Vector positions(CpuBackend& cpu, std::int64_t first, std::int64_t count) {
  return execute(cpu, Op::Index, Type::Int,
                 {cvl::make_int(cpu.widths(), first), cvl::make_int(cpu.widths(), 1),
                  Segdes::single(count)})
      .vector();
}

Vector copies(CpuBackend& cpu, Type type, double number, std::int64_t count) {
  return execute(cpu, Op::Distribute, type, {upload(cpu, type, {number}), Segdes::single(count)})
      .vector();
}

/// Operands of which the first is held by nobody else. (A list in braces would hold it, too.)
std::vector<Value> operands(Vector first, std::vector<Value> others) {
  std::vector<Value> all;
  all.emplace_back(std::move(first));
  for (Value& other : others) all.push_back(std::move(other));
  return all;
}

/// `first` with more elements behind it, all of them 0 or 1.
Vector lengthened(CpuBackend& cpu, Vector first, std::int64_t more, double rest) {
  const std::int64_t length = first.length;
  const Type type = first.type;
  return execute(cpu, Op::DPermute, type,
                 operands(std::move(first),
                          {positions(cpu, 0, length), copies(cpu, type, rest, length + more),
                           Segdes::single(length), Segdes::single(length + more)}))
      .vector();
}

/// A kernel that makes b of a and m - n zeros, or, if told, gives a as well.
vcode::Kernel lengthening(Type type, bool gives_both) {
  KernelBuilder b;
  const SizeId n = b.size("n");
  const SizeId m = b.size("m");
  const ArrayId a = b.in("a", type, n);
  b.in("z", Type::Bool, m);  // says how long the target is
  auto e = b.thunk();
  auto x = b.thunk();
  const ArrayId target =
      b.scatter("b", b.flat(n), b.flat(m), type, e.give({e.own(a)}), x.give({x.index()}));
  if (gives_both) b.out(a);
  b.out(target);
  return b.kernel;
}

std::string concatenated(CpuBackend& cpu, const Vector& first, Type type, double rest,
                         std::int64_t more) {
  return bits(cpu, first) + bits(cpu, copies(cpu, type, rest, more));
}

constexpr Type kAppendedTypes[] = {Type::Int, Type::Float, Type::Bool};
constexpr std::int64_t kFirstLengths[] = {0, 1, 5, 63, 64, 65, 1000, 40000};
constexpr std::int64_t kMoreLengths[] = {0, 1, 3, 100, 30000};

}  // namespace

TEST_CASE("what is appended to stays what it was for whoever reads it later") {
  for_backends([&](CpuBackend& cpu) {
    for (const Type type : kAppendedTypes) {
      for (const std::int64_t n : kFirstLengths) {
        for (const std::int64_t more : kMoreLengths) {
          for (const double rest : {0.0, 1.0}) {
            const Vector shared = upload(cpu, type, numbers(n, 4, 1.9));
            const std::string before = bits(cpu, shared);
            const std::string expected = concatenated(cpu, shared, type, rest, more);
            REQUIRE(bits(cpu, lengthened(cpu, shared, more, rest)) == expected);
            REQUIRE(bits(cpu, shared) == before);
            Vector alone = upload(cpu, type, numbers(n, 4, 1.9));
            REQUIRE(bits(cpu, lengthened(cpu, std::move(alone), more, rest)) == expected);
          }
        }
      }
    }
  });
}

TEST_CASE("kernels append to vectors that others read, and to those that nobody does") {
  for (const bool gives_both : {false, true}) {
    for_backends([&](CpuBackend& cpu) {
      for (const Type type : kAppendedTypes) {
        const vcode::Kernel kernel = lengthening(type, gives_both);
        for (const std::int64_t n : kFirstLengths) {
          for (const std::int64_t more : kMoreLengths) {
            const Vector z = copies(cpu, Type::Bool, 0, n + more);
            const Vector shared = upload(cpu, type, numbers(n, 4, 1.9));
            const std::string before = bits(cpu, shared);
            const std::string expected = concatenated(cpu, shared, type, 0, more);
            REQUIRE(bits(cpu, run(cpu, kernel, {shared, z}).back()) == expected);
            REQUIRE(bits(cpu, shared) == before);
            std::vector<Value> results =
                run(cpu, kernel, operands(upload(cpu, type, numbers(n, 4, 1.9)), {z}));
            REQUIRE(bits(cpu, results.back()) == expected);
            if (!gives_both) continue;
            // Both may lie in one block. Writing one of them must not be seen in the other.
            REQUIRE(bits(cpu, results.front()) == before);
            if (n == 0) continue;
            const Value at = cvl::make_int(cpu.widths(), 0);
            const Value changed =
                execute(cpu, Op::Replace, type,
                        operands(std::move(results.back().vector()),
                                 {at, upload(cpu, type, {1}), Segdes::single(n + more)}));
            REQUIRE(bits(cpu, results.front()) == before);
            REQUIRE(bits(cpu, changed) ==
                    bits(cpu, upload(cpu, type, {1})) + expected.substr(cpu.element_bytes(type)));
          }
        }
      }
    });
  }
}

TEST_CASE("two vectors that are appended to the same one do not meet") {
  for_backends([&](CpuBackend& cpu) {
    const Vector shared = upload(cpu, Type::Float, numbers(5000, 4));
    const Vector base = lengthened(cpu, shared, 0, 0);
    const Vector first = lengthened(cpu, base, 3000, 0);
    const Vector second = lengthened(cpu, base, 3000, 1);
    REQUIRE(bits(cpu, first) == concatenated(cpu, shared, Type::Float, 0, 3000));
    REQUIRE(bits(cpu, second) == concatenated(cpu, shared, Type::Float, 1, 3000));
  });
}

TEST_CASE("a vector that grows moves a few times only, and keeps little room") {
  for (const bool in_kernel : {false, true}) {
    CpuBackend cpu(options({4, 8}, 1, cvl::cpu::usable_isas().back()));
    const vcode::Kernel kernel = lengthening(Type::Float, false);
    Vector grown = copies(cpu, Type::Float, 0, 0);
    Vector other = grown;  // two that grow in turn are in each other's way
    std::vector<const std::byte*> seen;
    constexpr std::int64_t kRounds = 500;
    constexpr std::int64_t kPiece = 300;
    for (std::int64_t round = 0; round < kRounds; ++round) {
      for (Vector* vector : {&grown, &other}) {
        const std::int64_t length = vector->length + kPiece;
        *vector = in_kernel
                      ? run(cpu, kernel,
                            operands(std::move(*vector), {copies(cpu, Type::Bool, 0, length)}))[0]
                            .vector()
                      : lengthened(cpu, std::move(*vector), kPiece, 0);
        REQUIRE(vector->length == length);
      }
      if (seen.empty() || seen.back() != grown.buffer->data) seen.push_back(grown.buffer->data);
    }
    CHECK(seen.size() < 25);
    CHECK(cpu.heap().statistics().live_bytes < 2 * 8 * kRounds * kPiece * 8 / 5);
    CHECK(cpu.heap().statistics().peak_live_bytes < 2 * 8 * kRounds * kPiece * 5 / 2);
  }
}

TEST_CASE("no room is kept that the limit does not leave") {
  constexpr std::int64_t kPiece = 10'000;
  CpuOptions limited = options({4, 8}, 1, cvl::cpu::usable_isas().back());
  limited.memory_limit = std::size_t{4} << 20;
  CpuBackend cpu(limited);
  Vector grown = copies(cpu, Type::Float, 0, 0);
  Vector other = grown;
  std::int64_t length = 0;
  const auto grow = [&](Vector& vector) { vector = lengthened(cpu, std::move(vector), kPiece, 1); };
  try {
    while (true) {
      grow(grown);
      grow(other);
      length += kPiece;
    }
  } catch (const cvl::Failure& failure) {
    CHECK(failure.code() == vcode::ErrorCode::OutOfMemory);
  }
  // Both, and the one that moves once more.
  CHECK(length * 8 * 3 > std::int64_t{3} << 20);
}

}  // namespace kernel_test
