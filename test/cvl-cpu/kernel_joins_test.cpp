// Gathers from joined vectors, run by run, from whichever a run lies in.

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/kernel_support.hpp"
#include "sanitized.hpp"

namespace kernel_test {
namespace {

/// The elements of runs of such lengths that begin there.
Numbers runs_of(const Numbers& all, const Lengths& lengths, const Numbers& first) {
  Numbers taken;
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    const auto from = all.begin() + static_cast<std::int64_t>(first[s]);
    taken.insert(taken.end(), from, from + lengths[s]);
  }
  return taken;
}

/// Elements of vectors joined one behind the other, at the places that `first` says.
struct Joined {
  KernelBuilder b;

  Joined(Type type, std::size_t count) {
    const SizeId s = b.size("s");
    const SizeId n = b.size("n");
    const SegdesId d = b.in_segdes("d", s, n);
    const ArrayId first = b.in("first", Type::Int, s);
    auto t = b.thunk();
    const auto place = counting(t, first, d);
    Expressions::Id end = 0, value = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const SizeId length = b.size("m" + std::to_string(k));
      const ArrayId vector = b.in("v" + std::to_string(k), type, length);
      if (k == 0) {
        value = t.at(vector, place);
        end = t.size(length);
        continue;
      }
      const auto inside = t.apply(Op::Less, Type::Int, {place, end});
      const auto offset = t.apply(Op::Subtract, Type::Int, {place, end});
      value = t.choose(inside, value, t.at(vector, offset));
      end = t.apply(Op::Add, Type::Int, {end, t.size(length)});
    }
    b.out(b.map("taken", b.under(d), type, t.give({value})));
  }

  /// The vectors are those between these places of all elements.
  void check(CpuBackend& cpu, Type type, const Lengths& lengths, const Numbers& first,
             const std::vector<std::int64_t>& cuts) const {
    const Numbers all = numbers(total(lengths), 24, 100);
    std::vector<Value> operands{descriptor(cpu, lengths), upload(cpu, Type::Int, first)};
    std::int64_t begin = 0;
    for (const std::int64_t cut : cuts) {
      operands.push_back(upload(cpu, type, Numbers(all.begin() + begin, all.begin() + cut)));
      begin = cut;
    }
    operands.push_back(upload(cpu, type, Numbers(all.begin() + begin, all.end())));
    const auto results = run(cpu, b.kernel, operands);
    REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, type, runs_of(all, lengths, first))));
  }
};

}  // namespace

TEST_CASE("runs are taken from joined vectors, also those that pass from one to the next") {
  for (const Type type : {Type::Int, Type::Float}) {
    const Joined two(type, 2), three(type, 3);
    for_backends([&](CpuBackend& cpu) {
      for (const Lengths& lengths : shapes()) {
        const std::int64_t n = total(lengths);
        const Numbers starts = mixed_starts(lengths);
        std::int64_t border = 0;  // the greatest start in the first half
        for (const double start : starts) {
          if (start <= static_cast<double>(n) / 2) {
            border = std::max(border, static_cast<std::int64_t>(start));
          }
        }
        for (const std::int64_t cut : {std::int64_t{0}, std::min<std::int64_t>(n, 1), border, n / 2,
                                       std::max<std::int64_t>(n - 1, 0), n}) {
          // Long vectors take a sanitizer half a minute: it sees the cut that starts pass over.
          if (testing::kSanitized && n > 50'000 && cut != border) continue;
          CAPTURE(n, cut);
          two.check(cpu, type, lengths, starts, {cut});
          three.check(cpu, type, lengths, starts, {cut, cut});
          three.check(cpu, type, lengths, starts, {cut / 2, cut});
          three.check(cpu, type, lengths, ascending_starts(lengths), {cut, (cut + n) / 2});
        }
      }
    });
  }
}

TEST_CASE("the first place outside of joined vectors is reported") {
  const Joined joined(Type::Int, 2);
  for_backends([&](CpuBackend& cpu) {
    const Lengths lengths(30000, 3);
    for (const auto& [segment, start, position] :
         {std::tuple(0, -1.0, 0), std::tuple(20001, 89998.0, 60005)}) {
      Numbers first = ascending_starts(lengths);
      first[static_cast<std::size_t>(segment)] = start;
      std::string message;
      failure_of(cpu, joined.b.kernel,
                 {descriptor(cpu, lengths), upload(cpu, Type::Int, first),
                  upload(cpu, Type::Int, numbers(50000, 25, 100)),
                  upload(cpu, Type::Int, numbers(40000, 26, 100))},
                 &message);
      CAPTURE(segment, start, message);
      REQUIRE(message.find(std::to_string(position)) != std::string::npos);
    }
  });
}

TEST_CASE("runs of joined texts, and of a text and others") {
  const Joined joined(Type::Int, 2);
  for_backends([&](CpuBackend& cpu) {
    const Lengths lengths(3000, 7);
    const Numbers first = mixed_starts(lengths);
    std::string text(12001, ' ');
    for (std::size_t k = 0; k < text.size(); ++k) text[k] = static_cast<char>('a' + k % 26);
    for (const bool other : {false, true}) {
      Numbers all(text.begin(), text.end());
      Numbers rest;
      for (std::size_t k = 0; k < 8999; ++k) {
        rest.push_back(other ? static_cast<double>(k * 1000) : static_cast<double>('A' + k % 26));
      }
      all.insert(all.end(), rest.begin(), rest.end());
      const Vector second = other ? upload(cpu, Type::Int, rest)
                                  : cpu.upload_characters(std::string(rest.begin(), rest.end()));
      const auto results = run(cpu, joined.b.kernel,
                               {descriptor(cpu, lengths), upload(cpu, Type::Int, first),
                                cpu.upload_characters(text), second});
      REQUIRE(bits(cpu, results[0]) ==
              bits(cpu, upload(cpu, Type::Int, runs_of(all, lengths, first))));
    }
  });
}

namespace {

/// Elements of v0 from the first number of `borders` on, as many as the second one says, then the
/// same one up to the third place, and behind it elements of v1 from the fourth number on.
struct Patched {
  KernelBuilder b;

  Patched(Type type, bool by_segments) {
    const SizeId n = b.size("n");
    const SegdesId d = b.in_segdes("d", b.size("s"), n);
    const ArrayId first = b.in("first", Type::Int, b.size("s1"));
    const ArrayId borders = b.in("borders", Type::Int, b.literal(4));
    const ArrayId fill = b.in("fill", type, b.literal(1));
    const ArrayId v0 = b.in("v0", type, b.size("m0")), v1 = b.in("v1", type, b.size("m1"));
    auto t = b.thunk();
    const auto place = by_segments ? counting(t, first, d) : t.index();
    const auto border = [&](std::int64_t k) { return t.at(borders, t.number(k)); };
    const auto in_first = t.apply(Op::Add, Type::Int, {border(0), place});
    const auto in_second = t.apply(
        Op::Add, Type::Int, {t.apply(Op::Subtract, Type::Int, {place, border(2)}), border(3)});
    const auto behind = t.choose(t.apply(Op::Less, Type::Int, {place, border(2)}),
                                 t.at(fill, t.number(0)), t.at(v1, in_second));
    const auto value =
        t.choose(t.apply(Op::Less, Type::Int, {place, border(1)}), t.at(v0, in_first), behind);
    b.out(b.map("taken", b.under(d), type, t.give({value})));
  }
};

}  // namespace

TEST_CASE("runs are taken from slices, and from what is the same everywhere") {
  constexpr double kFill = 77;
  for (const bool by_segments : {false, true}) {
    for (const Type type : {Type::Int, Type::Float}) {
      const Patched patched(type, by_segments);
      for_backends([&](CpuBackend& cpu) {
        for (const Lengths& lengths : shapes()) {
          const std::int64_t n = total(lengths);
          for (const auto& [front, filled] :
               {std::pair(n / 3, n / 3), {n, 0}, {0, std::min<std::int64_t>(n, 1)}}) {
            const std::int64_t border = std::min(front + filled, n);
            const Numbers v0 = numbers(front + 5, 30, 100), v1 = numbers(n - border + 9, 31, 100);
            Numbers all(v0.begin() + 2, v0.begin() + 2 + front);
            all.resize(static_cast<std::size_t>(border), kFill);
            all.insert(all.end(), v1.begin() + 4, v1.begin() + 4 + (n - border));
            const Numbers first = by_segments ? mixed_starts(lengths) : Numbers{};
            const auto results =
                run(cpu, patched.b.kernel,
                    {descriptor(cpu, lengths), upload(cpu, Type::Int, first),
                     upload(cpu, Type::Int,
                            {2, static_cast<double>(front), static_cast<double>(border), 4}),
                     upload(cpu, type, {kFill}), upload(cpu, type, v0), upload(cpu, type, v1)});
            CAPTURE(by_segments, n, front, filled);
            REQUIRE(bits(cpu, results[0]) ==
                    bits(cpu, upload(cpu, type, by_segments ? runs_of(all, lengths, first) : all)));
          }
        }
      });
    }
  }
}

TEST_CASE("runs of texts, and of one character") {
  const Patched patched(Type::Int, false);
  for_backends([&](CpuBackend& cpu) {
    std::string text(50'000, ' ');
    for (std::size_t k = 0; k < text.size(); ++k) text[k] = static_cast<char>('a' + k % 26);
    for (const double fill : {45.0, 1000.0, -1.0}) {  // the last two are no bytes
      constexpr std::int64_t kFront = 20'000, kBorder = 21'000, kAll = 60'000;
      Numbers all(text.begin() + 3, text.begin() + 3 + kFront);
      all.resize(kBorder, fill);
      all.insert(all.end(), text.begin() + 8, text.begin() + 8 + (kAll - kBorder));
      const auto results =
          run(cpu, patched.b.kernel,
              {descriptor(cpu, {kAll}), upload(cpu, Type::Int, {}),
               upload(cpu, Type::Int,
                      {3, static_cast<double>(kFront), static_cast<double>(kBorder), 8}),
               upload(cpu, Type::Int, {fill}), cpu.upload_characters(text),
               cpu.upload_characters(text)});
      CAPTURE(fill);
      REQUIRE(bits(cpu, results[0]) == bits(cpu, upload(cpu, Type::Int, all)));
    }
  });
}

TEST_CASE("the first place outside of a slice is reported") {
  const Patched patched(Type::Int, false);
  for_backends([&](CpuBackend& cpu) {
    const auto fails = [&](Numbers borders, std::int64_t position) {
      std::string message;
      failure_of(
          cpu, patched.b.kernel,
          {descriptor(cpu, {40'000}), upload(cpu, Type::Int, {}), upload(cpu, Type::Int, borders),
           upload(cpu, Type::Int, {0}), upload(cpu, Type::Int, numbers(20'000, 25, 100)),
           upload(cpu, Type::Int, numbers(20'000, 26, 100))},
          &message);
      CAPTURE(position, message);
      REQUIRE(message.find(std::to_string(position)) != std::string::npos);
    };
    fails({-1, 100, 20'000, 0}, 0);
    fails({19'000, 1001, 20'000, 0}, 1000);
    fails({0, 10, 20'000, -1}, 20'000);
    fails({0, 10, 20'000, 1}, 39'999);
  });
}

}  // namespace kernel_test
