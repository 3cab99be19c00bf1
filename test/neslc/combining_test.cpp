// reduce, scan and the sorting of any type against plain loops and std::stable_sort, on random
// values of several lengths, as the program is written and optimized.
#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "process.hpp"
#include "sanitized.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

using Word = std::string;
using Entry = std::pair<int, Word>;
using Ints = std::vector<int>;

/// In the notation of NESL, which is that of results too.
std::string text(int value) {
  return std::to_string(value);
}
std::string text(const Word& value) {
  return '"' + value + '"';
}
template <typename A, typename B>
std::string text(const std::pair<A, B>& value) {
  return fmt::format("({}, {})", text(value.first), text(value.second));
}
template <typename T>
std::string text(const std::vector<T>& values) {
  std::string result;
  for (const T& value : values) result += (result.empty() ? "" : ", ") + text(value);
  return "[" + result + "]";
}

class Random {
 public:
  int below(int limit) { return static_cast<int>(generator_() % static_cast<unsigned>(limit)); }
  Word word() {
    Word result;
    for (int letters = below(below(9) == 0 ? 60 : 5); letters > 0; --letters) {
      result += static_cast<char>('a' + below(3));
    }
    return result;
  }

 private:
  std::minstd_rand generator_{17};
};

template <typename Make>
auto sequence(int length, const Make& make) {
  std::vector<decltype(make())> result;
  for (int i = 0; i < length; ++i) result.push_back(make());
  return result;
}

template <typename T, typename Less = std::less<T>>
std::vector<T> sorted(std::vector<T> values, const Less& less = {}) {
  std::stable_sort(values.begin(), values.end(), less);
  return values;
}

/// Pieces of three elements, each one sorted.
template <typename T, typename Less = std::less<T>>
std::vector<std::vector<T>> sorted_pieces(const std::vector<T>& values, const Less& less = {}) {
  std::vector<std::vector<T>> pieces;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 3 == 0) pieces.emplace_back();
    pieces.back().push_back(values[i]);
  }
  for (auto& piece : pieces) piece = sorted(piece, less);
  return pieces;
}

/// A program, and what it must print. The lengths are not known when it is compiled.
class Expectation {
 public:
  void given(const std::string& name, const std::string& literal, const std::string& type) {
    program_ += fmt::format("{} = given({});\n", name, literal == "[]" ? "[] " + type : literal);
    results_.emplace_back();
  }
  void add(const std::string& expression, const std::string& value) {
    program_ += expression + ";\n";
    results_.push_back("it = " + value + " : ");
  }
  void check() const {
    const Folder folder;
    const std::string path = folder.write("program.nesl", program_).string();
    for (const char* options : {"-O0", "-O3"}) {
      CAPTURE(options);
      const Output output = run(nesl("run '" + path + "' " + options));
      CHECK(output.err == "");
      const std::vector<std::string> lines = lines_of(output.out);
      REQUIRE(lines.size() == results_.size());
      for (std::size_t i = 0; i < lines.size(); ++i) {
        CHECK(lines[i].substr(0, results_[i].size()) == results_[i]);
      }
    }
  }

 private:
  std::string program_ =
      "set print_length 10000;\nfunction given(s) = {x in s; i in index(#s) | i >= 0};\n";
  std::vector<std::string> results_;
};

const std::vector<int> kLengths = ::testing::some_sizes({0, 1, 2, 3, 9, 17, 65, 300});

TEST_CASE("sorted and ranks order values of any type") {
  Random random;
  Expectation expected;
  for (const int length : kLengths) {
    const auto words = sequence(length, [&] { return random.word(); });
    const auto entries = sequence(length, [&] { return Entry(random.below(4), random.word()); });
    const auto lists = sequence(
        length, [&] { return sequence(1 + random.below(4), [&] { return random.below(3); }); });
    Ints order(words.size());
    std::iota(order.begin(), order.end(), 0);
    order = sorted(order, [&](int a, int b) {
      return words[static_cast<std::size_t>(a)] < words[static_cast<std::size_t>(b)];
    });
    expected.given("words", text(words), "[char]");
    expected.given("entries", text(entries), "(int, [char])");
    expected.given("lists", text(lists), "[int]");
    expected.add("sorted(words)", text(sorted(words)));
    expected.add("sorted(entries)", text(sorted(entries)));
    expected.add("sorted(lists)", text(sorted(lists)));
    expected.add("permute(index(#words), ranks(words))", text(order));
    expected.add("{sorted(g) : g in group_by(words, 3)}", text(sorted_pieces(words)));
    expected.add("{sorted(g) : g in group_by(lists, 3)}", text(sorted_pieces(lists)));
  }
  expected.check();
}

TEST_CASE("sort_by and sort_with are stable") {
  Random random;
  Expectation expected;
  const auto by_key = [](const Entry& a, const Entry& b) { return a.first < b.first; };
  const auto by_length = [](const Word& a, const Word& b) { return a.size() > b.size(); };
  for (const int length : kLengths) {
    const auto words = sequence(length, [&] { return random.word(); });
    const auto entries = sequence(length, [&] { return Entry(random.below(9), random.word()); });
    expected.given("words", text(words), "[char]");
    expected.given("entries", text(entries), "(int, [char])");
    expected.add("sort_by({k : (k, v) in entries}, entries)", text(sorted(entries, by_key)));
    expected.add("sort_with(((a, b) => first(a) < first(b)), entries)",
                 text(sorted(entries, by_key)));
    expected.add("sort_with(((v, w) => #v > #w), words)", text(sorted(words, by_length)));
    expected.add("{sort_with(((v, w) => #v > #w), g) : g in group_by(words, 3)}",
                 text(sorted_pieces(words, by_length)));
    Ints down(words.size());
    std::iota(down.rbegin(), down.rend(), 0);
    expected.add("let n = #words in {sort_with(((a, b) => a > b), index(m)) : m in [0, n]}",
                 text(std::vector<Ints>{{}, down}));
  }
  expected.check();
}

TEST_CASE("reduce and scan combine in the order of the sequence") {
  Random random;
  Expectation expected;
  // x -> a * x + b one after the other: associative, but does not commute.
  constexpr int kModulus = 97;
  const auto after = [](const std::pair<int, int>& p, const std::pair<int, int>& q) {
    return std::pair(p.first * q.first % kModulus, (q.first * p.second + q.second) % kModulus);
  };
  const std::string lambda =
      "((p, q) => let (a, b) = p; (c, d) = q in (rem(a * c, 97), rem(c * b + d, 97)))";
  for (const int length : kLengths) {
    const auto maps =
        sequence(length, [&] { return std::pair(1 + random.below(96), random.below(kModulus)); });
    const auto words = sequence(length, [&] { return random.word(); });
    const auto ints = sequence(length, [&] { return random.below(100) - 50; });
    std::vector<std::pair<int, int>> before;
    std::pair<int, int> all(1, 0);
    for (const auto& map : maps) {
      before.push_back(all);
      all = after(all, map);
    }
    const Word joined = std::accumulate(words.begin(), words.end(), Word());
    const int sum = std::accumulate(ints.begin(), ints.end(), 0);
    const int greatest = ints.empty() ? -99 : *std::max_element(ints.begin(), ints.end());
    Ints sums_before;
    for (int part = 7; const int value : ints) {
      sums_before.push_back(part);
      part += value;
    }
    expected.given("maps", text(maps), "(int, int)");
    expected.given("words", text(words), "[char]");
    expected.given("ints", text(ints), "int");
    expected.add("reduce(" + lambda + ", (1, 0), maps)", text(all));
    expected.add("scan(" + lambda + ", (1, 0), maps)",
                 fmt::format("({}, {}, {})", text(before), all.first, all.second));
    expected.add("reduce(((v, w) => v ++ w), \"\", words)", text(joined));
    expected.add("{reduce(((v, w) => v ++ w), \"\", s) : s in [words, [] [char], words]}",
                 text(std::vector<Word>{joined, "", joined}));
    expected.add("reduce(((a, b) => a + b), 0, ints)", text(sum));
    expected.add("reduce(max, -99, ints)", text(greatest));
    expected.add("{reduce(max, -99, s) : s in [[] int, ints]}", text(Ints{-99, greatest}));
    // What is given as the identity comes first, as it does without the operation of the machine.
    expected.add("scan(((a, b) => a + b), 7, ints)",
                 fmt::format("({}, {})", text(sums_before), length == 0 ? 7 : sum));
    expected.add("scan(((a, b) => let c = b in a + c), 7, ints)",
                 fmt::format("({}, {})", text(sums_before), length == 0 ? 7 : sum));
  }
  expected.check();
}

}  // namespace
}  // namespace neslc::testing
