// Passes over short vectors in machine code against the same kernels by steps: the same bits, and
// the same failures, run after run of one kernel.

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"
#include "cvl-cpu/movement.hpp"
#include "tuned.hpp"
#include "vcode/parser.hpp"

namespace kernel_test {
namespace {

using Operands = std::vector<Value>;

vcode::Program parsed(const std::string& kernel) {
  const std::string text = "FCODE 3\nWIDTH INT ANY\nWIDTH FLOAT ANY\n" + kernel;
  vcode::Diagnostics diagnostics;
  auto program = vcode::parse(std::make_shared<vcode::Source>("kernel.fcode", text), diagnostics);
  REQUIRE(program);
  return *std::move(program);
}

/// A kernel on both libraries of a pair, ready to run many times.
class Twice {
 public:
  Twice(Pair& pair, const std::string& kernel) : pair_(pair), program_(parsed(kernel)) {
    code_ = pair.code.prepare(program_.kernels[0]);
    steps_ = pair.steps.prepare(program_.kernels[0]);
    REQUIRE(code_ != nullptr);
    REQUIRE(steps_ != nullptr);
  }

  /// `make` uploads the operands to a library.
  template <class Make>
  void check(const Make& make) {
    const std::vector<std::string> code = outcome(pair_.code, *code_, make(pair_.code));
    const std::vector<std::string> steps = outcome(pair_.steps, *steps_, make(pair_.steps));
    REQUIRE(code == steps);
  }

 private:
  /// The results, or the failure.
  std::vector<std::string> outcome(CpuBackend& cpu, cvl::PreparedKernel& kernel,
                                   Operands operands) const {
    std::vector<Value> results(program_.kernels[0].outputs.size());
    try {
      const bool ran = cpu.run(kernel, operands.data(), results.data());
      REQUIRE(ran);
    } catch (const cvl::Failure& failure) {
      std::string text = failure.message();
      for (const std::string& note : failure.notes()) text += "\n" + note;
      return {text};
    }
    std::vector<std::string> all;
    for (const Value& result : results) all.push_back(bits(cpu, result));
    return all;
  }

  Pair& pair_;
  vcode::Program program_;
  std::unique_ptr<cvl::PreparedKernel> code_, steps_;
};

constexpr const char* kAtOnce = "short_pass=1024,short_runs=0";
const std::vector<std::int64_t> kLengths = {1,  2,  0,  4,   7,    8,    9,    16, 17,
                                            63, 64, 65, 200, 1023, 1024, 1025, 3};

Numbers counted(std::int64_t n, std::int64_t step, std::int64_t modulus, std::int64_t from = 0) {
  Numbers result;
  for (std::int64_t i = 0; i < n; ++i) {
    result.push_back(static_cast<double>(from + (i * step) % modulus));
  }
  return result;
}

/// Regions of memory that hold code made while the program runs; neighbours are one.
std::int64_t code_regions() {
  std::ifstream maps("/proc/self/maps");
  std::int64_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    const bool anonymous = line.find(" 00:00 0") != std::string::npos;
    const bool named = line.find('[') != std::string::npos;
    count += anonymous && !named && line.find(" r-xp ") != std::string::npos ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("short vectors are computed, stored, reduced and looked through", "[native]") {
  for_pairs(
      [](Pair& pair) {
        Twice kernel(
            pair,
            "KERNEL k\n"
            "IN x : VEC INT n,\n  y : VEC FLOAT n,\n  p : VEC BOOL n,\n  k : VEC INT 1,\n"
            "  t : VEC INT m\n"
            "OUT a : VEC INT n,\n  b : VEC FLOAT n,\n  c : VEC BOOL n,\n  d : VEC INT 1,\n"
            "  e : VEC FLOAT 1,\n  f : VEC BOOL 1,\n  g : VEC BOOL 1,\n  h : VEC INT r,\n"
            "  l : VEC BOOL 1\n"
            "DO\n"
            "  SIZE r = (+ INT 3 k[0])\n"
            "  a = MAP n ( i => (+ INT (* INT x[i] k[0]) (IF (AND BOOL (>= INT x[i] 0) (< INT "
            "x[i] m)) t[x[i]] (- INT 0 i))) )\n"
            "  b = MAP n ( i => (IF p[i] (/ FLOAT y[i] 3.0) (I_TO_F x[i])) )\n"
            "  c = MAP n ( i => (OR BOOL p[i] (< FLOAT y[i] 0.0)) )\n"
            "  d = REDUCE n ( i => x[i] ) + INT\n"
            "  e = REDUCE n ( i => (* FLOAT y[i] y[i]) ) + FLOAT\n"
            "  f = REDUCE n ( i => (> INT x[i] 5) ) OR BOOL\n"
            "  g = REDUCE n ( i => (> INT x[i] -9) ) AND BOOL\n"
            "  h = MAP r ( i => (+ INT i n) )\n"
            "  l = ONCE (> INT k[0] 2)\n"
            "SPEC\nEND\nFUNC MAIN RET\n");
        for (const std::int64_t n : kLengths) {
          CAPTURE(n);
          for (const std::int64_t m : {5, 2000}) {
            kernel.check([&](CpuBackend& cpu) -> Operands {
              return {upload(cpu, Type::Int, counted(n, 7, 2005, -8)),
                      upload(cpu, Type::Float, numbers(n, 3)),
                      upload(cpu, Type::Bool, counted(n, 1, 3, -1)),
                      upload(cpu, Type::Int, {static_cast<double>(n % 5)}),
                      upload(cpu, Type::Int, counted(m, 3, 1000))};
            });
          }
        }
      },
      kAtOnce);
}

TEST_CASE("what fails in short vectors fails as it does by steps", "[native]") {
  for_pairs(
      [](Pair& pair) {
        Twice kernel(pair,
                     "KERNEL k\n"
                     "IN x : VEC INT n,\n  t : VEC INT m,\n  k : VEC INT 1\n"
                     "OUT a : VEC INT n,\n  b : VEC INT n,\n  s : SEG n q,\n  c : VEC INT r\n"
                     "DO\n"
                     "  ASSERT 1 ( i => (< INT k[0] 9) ) \"nine\"\n"
                     "  ASSERT n ( i => (< INT x[i] 80) ) \"eighty\"\n"
                     "  SIZE r = (- INT 6 k[0])\n"
                     "  a = MAP n ( i => (IF (> INT x[i] 2) t[x[i]] i) )\n"
                     "  b = MAP n ( i => (IF (> INT x[i] 3) (/ INT 100 (- INT x[i] 20)) 0) )\n"
                     "  s = SEGMENTS n ( i => (- INT x[i] k[0]) )\n"
                     "  c = MAP r ( i => t[k[0]] )\n"
                     "SPEC\nEND\nFUNC MAIN RET\n");
        for (const std::int64_t n : {1, 5, 16, 40, 300}) {
          for (const double last : {5.0, 2.0, 20.0, 60.0, 90.0, 4.0}) {
            for (const double k : {0.0, 3.0, 5.0, 7.0, 9.0, -1.0}) {
              CAPTURE(n, last, k);
              kernel.check([&](CpuBackend& cpu) -> Operands {
                Numbers xs = counted(n, 3, 16, 4);
                xs.back() = last;
                return {upload(cpu, Type::Int, xs), upload(cpu, Type::Int, counted(50, 3, 100)),
                        upload(cpu, Type::Int, {k})};
              });
            }
          }
        }
      },
      kAtOnce);
}

TEST_CASE("segments of short vectors", "[native]") {
  const std::string kernel =
      "KERNEL k\n"
      "IN s : SEG c n,\n  x : VEC INT n,\n  y : VEC FLOAT n,\n  w : VEC INT c,\n  u : SEG v m,\n"
      "  z : VEC FLOAT m\n"
      "OUT a : VEC INT n,\n  b : VEC INT c,\n  d : VEC FLOAT c,\n  e : VEC BOOL c,\n"
      "  f : VEC INT k0,\n  g : VEC FLOAT k0,\n  fs : SEG c k0,\n  h : VEC INT n,\n"
      "  l : VEC FLOAT n,\n  o : VEC INT k1,\n  os : SEG c k1,\n  q : VEC INT k2,\n  qs : SEG c "
      "k2,\n"
      "  r : VEC FLOAT n\n"
      "DO\n"
      "  a = MAP n ( i => (+ INT (* INT (SEGNO s i) 100) (+ INT (SEGOFF s i) (SEGLEN s (SEGNO s "
      "i)))) "
      ")\n"
      "  b = MAP c ( j => (+ INT (SEGLEN s j) (SEGSTART s j)) )\n"
      "  d = REDUCE s ( i => (+ FLOAT y[i] z[(+ INT (SEGSTART u (% (SEGNO s i) v)) (% (SEGOFF s i) "
      "2))]) "
      ") + FLOAT\n"
      "  e = REDUCE s ( i => (> INT x[i] w[(SEGNO s i)]) ) OR BOOL\n"
      "  f, g, fs = FILTER s ( i => x[i], y[i] ) ( i => (> INT x[i] 4) )\n"
      "  h = SCAN s ( i => x[i] ) + INT\n"
      "  l = SCAN n ( i => y[i] ) MAX FLOAT\n"
      "  o, os, q, qs = SPLIT 2 s ( i => x[i] ) ( i => (% x[i] 3) )\n"
      "  r = MAP n ( i => (EXP (* FLOAT y[i] (I_TO_F h[i]))) )\n"
      "SPEC\nEND\nFUNC MAIN RET\n";
  const std::vector<Lengths> shapes = {{5},           {3, 3, 3},     {1, 0, 4, 2}, {0, 0, 7},
                                       {9, 9},        {64, 1, 0, 3}, {700, 324},   Lengths(60, 7),
                                       {1000, 0, 25}, {2, 1}};
  for_pairs(
      [&](Pair& pair) {
        Twice twice(pair, kernel);
        for (const Lengths& lengths : shapes) {
          const std::int64_t n = total(lengths);
          const auto count = static_cast<std::int64_t>(lengths.size());
          CAPTURE(n, count);
          for (const Lengths& others : {Lengths{2, 2, 2}, Lengths{3, 2, 5}}) {
            twice.check([&](CpuBackend& cpu) -> Operands {
              return {descriptor(cpu, lengths),
                      upload(cpu, Type::Int, counted(n, 5, 11)),
                      upload(cpu, Type::Float, numbers(n, 5)),
                      upload(cpu, Type::Int, counted(count, 3, 12)),
                      descriptor(cpu, others),
                      upload(cpu, Type::Float, numbers(total(others), 6))};
            });
          }
        }
      },
      kAtOnce);
}

TEST_CASE("short vectors are sent to places", "[native]") {
  const std::string kernel =
      "KERNEL k\n"
      "IN x : VEC INT n,\n  p : VEC INT n,\n  f : VEC BOOL n,\n  y : VEC INT m,\n  s : SEG c n,\n"
      "  u : SEG c m\n"
      "OUT a : VEC INT m,\n  b : VEC BOOL m,\n  d : VEC INT m\n"
      "DO\n"
      "  a = SCATTER n ( i => x[i] ) ( i => p[i] ) WHEN ( i => f[i] ) INTO m ( j => (+ INT y[j] 1) "
      ")\n"
      "  b = SCATTER n ( i => (> INT x[i] 3) ) ( i => (IF f[i] p[i] 0) ) INTO m\n"
      "  d = SCATTER s ( i => x[i] ) ( i => (SEGOFF s i) ) INTO u ( j => y[j] )\n"
      "SPEC\nEND\nFUNC MAIN RET\n";
  for_pairs(
      [&](Pair& pair) {
        Twice twice(pair, kernel);
        for (const std::int64_t n : {1, 3, 4, 17, 100, 600}) {
          for (const std::int64_t beyond : {0, 1}) {
            for (const std::int64_t m : {n, n + 5, std::int64_t{1500}}) {
              if (m < n) continue;
              CAPTURE(n, beyond, m);
              twice.check([&](CpuBackend& cpu) -> Operands {
                const Lengths from = {n / 2, 0, n - n / 2};
                const Lengths to = {n / 2, m - n, n - n / 2};
                return {upload(cpu, Type::Int, counted(n, 5, 11)),
                        upload(cpu, Type::Int, counted(n, 7, m, beyond)),
                        upload(cpu, Type::Bool, counted(n, 1, 3)),
                        upload(cpu, Type::Int, counted(m, 3, 12)),
                        descriptor(cpu, from),
                        descriptor(cpu, to)};
              });
            }
          }
        }
      },
      kAtOnce);
}

TEST_CASE("a short text in which other numbers are written is none any more", "[native]") {
  for_pairs(
      [&](Pair& pair) {
        const vcode::Program program = parsed(
            "KERNEL k\n"
            "IN y : VEC INT m,\n  p : VEC INT n\n"
            "OUT a : VEC INT m\n"
            "DO\n"
            "  a = SCATTER n ( i => (+ INT p[i] 1000) ) ( i => p[i] ) INTO m ( j => y[j] )\n"
            "SPEC\nEND\nFUNC MAIN RET\n");
        for (const std::size_t m : {4u, 50u}) {
          Value text = pair.code.upload_characters(std::string(m, 'a'));
          const Value found = run(pair.code, program.kernels[0],
                                  {std::move(text), upload(pair.code, Type::Int, {2, 0})})[0];
          REQUIRE(int_at(pair.code, found.vector(), 2) == 1002);
          REQUIRE_FALSE(found.vector().fits_bytes);
        }
      },
      kAtOnce);
}

TEST_CASE("operands of short passes lie in many ways", "[native]") {
  const std::string kernel =
      "KERNEL k\n"
      "IN t : VEC INT m,\n  p : VEC INT n,\n  x : VEC INT n\n"
      "OUT a : VEC INT n,\n  b : VEC INT n,\n  c : VEC INT n\n"
      "DO\n"
      "  a = MAP n ( i => (IF (AND BOOL (>= INT p[i] 0) (< INT p[i] m)) t[p[i]] 32) )\n"
      "  b = MAP n ( i => (+ INT x[i] t[0]) )\n"
      "  c = MAP n ( i => x[i] )\n"
      "SPEC\nEND\nFUNC MAIN RET\n";
  for_pairs(
      [&](Pair& pair) {
        Twice twice(pair, kernel);
        for (const std::int64_t n : {1, 5, 30, 1024}) {
          for (const std::int64_t m : {1, 3, 1000, 5000}) {
            for (int round = 0; round < 5; ++round) {
              CAPTURE(n, m, round);
              twice.check([&](CpuBackend& cpu) -> Operands {
                const Vector text =
                    cpu.upload_characters(std::string(static_cast<std::size_t>(m), 'a'));
                const Vector plain = upload(cpu, Type::Int, counted(m, 7, 100));
                const Vector one = upload(cpu, Type::Int, {6});
                const Value same =
                    execute(cpu, Op::Distribute, Type::Int, {one, Segdes::single(m)});
                const Value index = execute(
                    cpu, Op::Index, Type::Int,
                    {upload(cpu, Type::Int, {2}), upload(cpu, Type::Int, {3}), Segdes::single(n)});
                const Value table[] = {text, plain, same};
                return {table[round % 3], upload(cpu, Type::Int, counted(n, 3, m + 1)),
                        round % 2 == 0 ? index : Value(upload(cpu, Type::Int, counted(n, 3, 40)))};
              });
            }
          }
        }
      },
      kAtOnce);
}

TEST_CASE("processors without vectors of 32 bytes are not given code for such", "[native]") {
  const tuned::Scope scope(tuned::from_environment() + "," + kAtOnce);
  for (const cvl::cpu::Isa isa : cvl::cpu::usable_isas()) {
    CAPTURE(cvl::cpu::isa_name(isa));
    Pair pair({4, 8}, isa);
    Twice kernel(pair,
                 "KERNEL k\n"
                 "IN p : VEC BOOL n,\n  x : VEC INT m\n"
                 "OUT y : VEC INT m\n"
                 "DO\n"
                 "  ASSERT n ( i => p[i] ) \"not all\"\n"
                 "  y = MAP m ( i => x[i] )\n"
                 "SPEC\nEND\nFUNC MAIN RET\n");
    const auto before = code_regions();
    kernel.check([](CpuBackend& cpu) -> Operands {
      return {upload(cpu, Type::Bool, Numbers(20, 1)), upload(cpu, Type::Int, Numbers(30, 7))};
    });
    CHECK((code_regions() > before) == (isa != cvl::cpu::Isa::Baseline));
  }
}

}  // namespace kernel_test
