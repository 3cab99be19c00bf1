// What a loop reads again for each instance of a loop around it is fetched before, and gives the
// same values and failures, as do functions that read elements. A read of a place that a function
// computes is not fetched before: such programs say what is right.
#include <algorithm>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "both_levels.hpp"
#include "process.hpp"
#include "sanitized.hpp"

namespace neslc::testing {
namespace {

class Reads : public BothLevels {
 public:
  Reads() {
    define("function at(m, i, j) = let p = 1 * i; q = 1 * j in m[p][q]");
    define("function of(v, i) = let p = 1 * i in v[p]");
    define("function cell(m, i, j) = m[i][j]");
    define("function item(v, i) = v[i]");
    define("function named(m, i, j) = let r = m[i]; (k, p) = (j, 0) in r[k + p]");
    define("function place(v, i) = let (w, k) = (v, i) in w[k]");
    define("function table(h, w) = {{10 * i + j : j in [0:w]} : i in [0:h]}");
  }

  /// The program with calls of at(m, i, j) and of(v, i) does the same with m[i][j] and v[i].
  void check_reads(const std::string& text) {
    static const std::regex matrix(R"(at\((\w+), ([^,]+), ([^)]+)\))"),
        vector(R"(of\((\w+), ([^)]+)\))");
    const std::string fetched =
        std::regex_replace(std::regex_replace(text, matrix, "$1[$2][$3]"), vector, "$1[$2]");
    REQUIRE(fetched != text);
    const std::string expected = message_of(check(text));
    CHECK(message_of(check(fetched)) == expected);
    static const std::regex at(R"(\bat\()"), of(R"(\bof\()");
    const std::string by_functions =
        std::regex_replace(std::regex_replace(text, at, "cell("), of, "item(");
    CHECK(message_of(check(by_functions)) == expected);
    const std::string by_names =
        std::regex_replace(std::regex_replace(text, at, "named("), of, "place(");
    CHECK(message_of(check(by_names)) == expected);
  }

  /// Of a failure, whose details may be those of another element.
  static std::string message_of(const std::string& value) {
    return value.substr(0, value.find('\n', 1));
  }
};

TEST_CASE("products of matrices by indices", "[reads]") {
  Reads reads;
  reads.define(
      "function times(a, b, h, n, w) = "
      "{{sum({a[i][k] * b[k][j] : k in [0:n]}) : j in [0:w]} : i in [0:h]}");
  CHECK(reads.check("times([[1, 2], [3, 4], [5, 6]], [[1, 2, 3], [4, 5, 6]], 3, 2, 3)") ==
        "[[9, 12, 15], [19, 26, 33], [29, 40, 51]]");
  for (const int h : ::testing::some_sizes({0, 1, 3, 40})) {
    for (const int n : ::testing::some_sizes({0, 1, 2, 50})) {
      for (const int w : ::testing::some_sizes({0, 1, 4})) {
        // Of matrices that fit, that are larger, and in which rows or columns are missing.
        for (const auto& [more_a, more_b] : {std::pair{0, 0}, {2, 3}, {-1, 0}, {0, -1}}) {
          reads.check_reads(
              fmt::format("let a = table({}, {}); b = table({}, {}) in "
                          "{{{{sum({{at(a, i, k) * at(b, k, j) : k in [0:{}]}}) : j in [0:{}]}} : "
                          "i in [0:{}]}}",
                          std::max(h + more_a, 0), n, n, std::max(w + more_b, 0), n, w, h));
        }
      }
    }
  }
}

TEST_CASE("reads that are the same for some loop around", "[reads]") {
  Reads reads;
  // Of which the loops go different ways, also outside of the matrix.
  const char* const forms[] = {
      "{{sum({at(a, k, i) * at(b, k, j) : k in [0:n]}) : j in [0:n]} : i in [0:n]}",
      "{{sum({at(a, k + 1, i) - at(b, j - 1, k) : k in index(n)}) : j in [1:n]} : i in index(n)}",
      "{{max_val({at(a, i, k) + at(b, 1 + k, j) : k in [0:n - 1]}) : j in [0:n:2]} : i in [0:n]}",
      "{sum({of(v, k) * at(a, i, k) : k in [0:n]}) : i in [0:n]}",
      "{sum({of(v, k + i) * of(v, k) : k in [0:n]}) : i in [0:n]}",
      "{{{{at(a, i, l) + at(b, l, k) * of(v, j) : l in [0:n]} : k in [0:j]} : j in [0:n]} : i in "
      "[0:n]}",
      "{{{at(b, l, k) : l in [k:n]} : k in [0:n]} : i in v}",
      "{{{at(b, l, k) : l in [i:n]} : k in [0:n]} : i in [0:n]}",
      "{{{(at(b, l, k), l) : l in [0:n] | at(b, l, k) > 5} : k in [0:n]} : i in v}",
      "{{sum({at(b, k, k) : k in [0:n]}) : j in [0:n]} : i in [0:n]}",
      "{{sum({x * at(b, k, j) : x in r; k in index(#r)}) : j in [0:n]} : r in a}",
      "{let s = of(v, i) in {sum({at(b, k, s) * s : k in [0:n]}) : j in [0:n]} : i in [0:n]}",
      "{{if j > 0 then sum({at(b, k, j - 1) : k in [0:n]}) else 0 : j in [0:n]} : i in [0:n]}",
      "{{sum({if k == 9 then at(b, k, j) else k : k in [0:n]}) : j in [0:n]} : i in [0:n]}",
      "{sum({#r + sum({at(b, k, j) : k in [0:#r]}) : j in [0:2]}) : r in a}",
      "{{{at(r, k, j) : k in index(#r)} : j in index(#r[0])} : r in [a, b, a]}",
      "{{sum({of(r, k) * at(b, k, j) : k in [0:n]}) : j in [0:n]} : r in [v, [] int, v]}",
      "{{sum({at(b, k, i + j) * at(b, i + k, j) : k in [0:2]}) : j in [0:2]} : i in [0:2]}",
      "{{{at(a, i + c, l) + at(b, l, k + j) : l in [0:2]} : k in [0:2]; c in v} : j in [0:2]; i in "
      "[0:2]}",
      "{if x > 1 then {sum({at(b, k, j) + x : k in [0:n]}) : j in [0:n]} else [] int : x in v}",
      // Columns, row by row.
      "{{sum({x * y : x in r; y in {of(q, j) : q in b}}) : j in [0:n]} : r in a}",
      "{{{of(q, j) + x : q in b; x in r} : j in index(n)} : r in a}",
      "{{{of(q, 1 + j) : q in b | of(q, 1 + j) > 4} : j in [0:n - 1]} : i in v}",
      "{{{of(q, j) : q in b} : j in [0:n + 1]} : i in v}",
      "{{{of(q, k) : q in m} : k in [0:n]} : m in [a, b, a]}",
      "{{{{of(q, k) + i : q in m} : k in [0:n]} : i in v} : m in [a, b]}",
      "{{sum({of(q, j) * of(q, i) : q in b}) : j in [0:n]} : i in [0:n]}",
      "{let c = if i > 1 then a else b in {{of(q, j) : q in c} : j in [0:n]} : i in [0:n]}",
      "{{if j > 1 then sum({of(q, j) : q in b}) else 0 : j in [0:n]} : i in [0:n]}",
      "{{sum({if k == 2 then of(q, j) else k : q in b; k in index(#b)}) : j in [0:n]} : i in v}",
      "{{{let s = of(q, j) in (s, q, s + j) : q in b} : j in [0:n]} : i in v}",
      "{{{of(q, j) : q in b} : q in b} : j in [0:n]}",
      "{{{of(q, #q - j) : q in b} : j in [1:n]} : i in v}",
      "{{{of(q, j + #q - n) : q in b} : j in [0:n]} : i in v}",
  };
  for (const char* const form : forms) {
    for (const int size : ::testing::some_sizes({0, 1, 3, 5})) {
      for (const char* const n : {"#a", "3"}) {
        if (::testing::kSanitized && n == std::string("3")) continue;
        reads.check_reads(
            fmt::format("let a = table({0}, {0}); n = {1}; b = table({0}, {0}); v = {{2 * i - 1 : "
                        "i in [0:{0}]}} in {2}",
                        size, n, form));
      }
    }
  }
}

TEST_CASE("elements of the rows that a loop goes through", "[reads]") {
  Reads reads;
  reads.define("function by(r, j) = if j < #r then r[j] else -1");
  // With the rows, and with their numbers.
  const std::pair<const char*, const char*> forms[] = {
      {"{{r[j] : r in a} : j in [0:n]}", "{{a[i][j] : i in index(#a)} : j in [0:n]}"},
      {"{sum({r[j] * x : r in a; x in v}) : j in [0:n]}",
       "{sum({a[i][j] * v[i] : i in index(#a)}) : j in [0:n]}"},
      {"let z = zip(a, v) in {{r[j] * x : (r, x) in z} : j in [0:n]}",
       "{{a[i][j] * v[i] : i in index(#a)} : j in [0:n]}"},
      {"{{r[j] : r in a | r[j] > 5} : j in [0:n]}",
       "{{a[i][j] : i in index(#a) | a[i][j] > 5} : j in [0:n]}"},
      {"{{by(r, j) : r in a} : j in [0:n + 2]}",
       "{{if j < #a[i] then a[i][j] else -1 : i in index(#a)} : j in [0:n + 2]}"},
      {"{{{r[j] + r[k] : k in [0:j]} : r in a} : j in [0:n]}",
       "{{{a[i][j] + a[i][k] : k in [0:j]} : i in index(#a)} : j in [0:n]}"},
      {"{{let s = r in (s[j], #s, sum(s)) : r in a} : j in [0:n]}",
       "{{(a[i][j], #a[i], sum(a[i])) : i in index(#a)} : j in [0:n]}"},
      {"{{{q[j] : q in r} : r in b} : j in [0:n]}",
       "{{{b[i][k][j] : k in index(#b[i])} : i in index(#b)} : j in [0:n]}"},
      {"{{r[j][0] : r in b} : j in [0:n]}", "{{b[i][j][0] : i in index(#b)} : j in [0:n]}"},
      {"{{r[j] : r in b} : j in [0:n]}", "{{b[i][j] : i in index(#b)} : j in [0:n]}"},
      {"{let x = v[j] in {if r[j] > 3 then r[x] else x : r in a} : j in [0:n]}",
       "{let x = v[j] in {if a[i][j] > 3 then a[i][x] else x : i in index(#a)} : j in [0:n]}"},
      {"{{{r[j] : r in m} : j in [0:n]} : m in b}",
       "{{{b[k][i][j] : i in index(#b[k])} : j in [0:n]} : k in index(#b)}"},
      {"{{let x = v[j] in {r[j] + x : r in m} : j in [0:n]} : m in b}",
       "{{let x = v[j] in {b[k][i][j] + x : i in index(#b[k])} : j in [0:n]} : k in index(#b)}"},
  };
  for (const auto& [rows, numbers] : forms) {
    for (const int size : ::testing::some_sizes({0, 1, 3, 5})) {
      for (const char* const n : {"#a", "3"}) {
        const std::string given = fmt::format(
            "let a = table({0}, {0}); n = {1}; v = {{2 * i - 1 : i in [0:{0}]}}; "
            "b = {{table(i, {0}) : i in [0:{0}]}} in ",
            size, n);
        CHECK(Reads::message_of(reads.check(given + rows)) ==
              Reads::message_of(reads.check(given + numbers)));
      }
    }
  }
}

TEST_CASE("where nothing is read, nothing fails", "[reads]") {
  Reads reads;
  reads.define("function columns(b, n, m) = {{sum({b[k][j] : k in [0:n]}) : j in [0:n]} : i in m}");
  CHECK(reads.check("columns([] [int], 3, [] int)") == "[]");
  CHECK(reads.check("columns([] [int], -3, [] int)") == "[]");
  CHECK(reads.check("columns([[1, 2], [3]], 1, [0, 0])") == "[[1], [1]]");
  CHECK(reads.check("columns([[1, 2], [3]], 2, [0])").find("outside the sequence") !=
        std::string::npos);
  reads.define("function turned(b, n, m) = {{{q[j] : q in b} : j in [0:n]} : i in m}");
  CHECK(reads.check("turned([] [int], 3, [7])") == "[[[], [], []]]");
  CHECK(reads.check("turned([[1], [2, 3]], 2, [] int)") == "[]");
  CHECK(reads.check("turned([[1], [2, 3]], 1, [0, 0])") == "[[[1, 2]], [[1, 2]]]");
  CHECK(reads.check("turned([[1], [2, 3]], 2, [0])").find("outside the sequence") !=
        std::string::npos);
  reads.define("function by_row(m) = {{sum({[r][0][k] : k in [0:3]}) : j in [1:#r]} : r in m}");
  CHECK(reads.check("by_row([[1], [1, 2, 3], [4, 5, 6, 7]])") == "[[], [6, 6], [15, 15, 15]]");
}

TEST_CASE("elements by positions that begin or end at another one", "[reads]") {
  Reads reads;
  // Some of them are always inside, and others where `more` is not too great.
  reads.define("function above(v, n, more) = {sum({v[j + more] : j in [i:n]}) : i in [0:n]}");
  reads.define(
      "function below(v, n, more) = {sum({v[j] * v[i - j] : j in [0:i + 1 + more]}) : i in [0:n]}");
  reads.define(
      "function shifted(v, n, more) = {sum({v[j] * v[j + i] : j in index(n - i + more)}) : "
      "i in [0:n]}");
  reads.define(
      "function products(v, n, more) = {sum({v[j] * v[i - j] : "
      "j in [max(0, i - n + 1):min(i + more, n - 1) + 1]}) : i in [0:n + n - 1]}");
  reads.define(
      "function windows(v, n, more) = {sum({v[j] : j in [max(i - 2, 0):min(i + 2, n + more)]}) : "
      "i in [0:n]}");
  CHECK(reads.check("above([1, 2, 4], 3, 0)") == "[7, 6, 4]");
  CHECK(reads.check("below([1, 2, 4], 3, 0)") == "[1, 4, 12]");
  CHECK(reads.check("shifted([1, 2, 4], 3, 0)") == "[21, 10, 4]");
  CHECK(reads.check("products([1, 2, 4], 3, 0)") == "[1, 4, 12, 16, 16]");
  CHECK(reads.check("windows([1, 2, 4], 3, 0)") == "[3, 7, 7]");
  for (const char* function : {"above", "below", "shifted", "products", "windows"}) {
    for (const int n : ::testing::some_sizes({0, 1, 2, 9})) {
      for (const int more : {0, 1, -1, 2, 2147483647}) {
        reads.check(fmt::format(
            "let n = {0} + rand(1) in {1}({{i * i + 1 : i in [0:n]}}, n, {2} + rand(1))", n,
            function, more));
      }
    }
  }
}

TEST_CASE("rows are not copied for each of their elements", "[reads]") {
  Folder folder;
  // Copied, they would be 500 MB.
  folder.write("p.nesl",
               "function table(n) = {{i + j : j in [0:n]} : i in [0:n]};\n"
               "function sums(m) = {sum({r[j] : r in m}) : j in index(#m)};\n"
               "sum(sums(table(500 + rand(1))));\n");
  for (const char* level : {"-O0", "-O3"}) {
    const MemoryRun measured = run_measured(nesl(std::string("run p.nesl ") + level), folder);
    CHECK(measured.err == "");
    if (!::testing::kSanitized) CHECK(measured.kilobytes < 120'000);
  }
}

TEST_CASE("products of matrices hold no products of elements, however their rows are made") {
  Folder folder;
  // They would be 500 MB. Measuring the time keeps what makes the rows apart.
  folder.write("p.nesl",
               "function multiply(a, b) = let columns = transpose(b) in "
               "{{sum({x * y : x in row; y in column}) : column in columns} : row in a};\n"
               "function numbers(n, k) = {float(rem(i * 7919, k)) : i in index(n)};\n"
               "function total(n) = let a = group_by(numbers(n * n, 1000), n); "
               "b = group_by(numbers(n * n, 100), n); (c, s) = time(multiply(a, b)); "
               "e = flatten(c) in sum({float(1 + rem(i, 7)) * x : i in index(#e); x in e});\n"
               "n = 400;\n"
               "total(n);\n");
  const MemoryRun measured = run_measured(nesl("run p.nesl -O3"), folder);
  CHECK(measured.err == "");
  if (!::testing::kSanitized) CHECK(measured.kilobytes < 100'000);
}

TEST_CASE("no more is fetched than there is in the matrix", "[reads]") {
  Folder folder;
  // Of the same column again and again it would be 320 MB.
  folder.write("p.nesl",
               "function sums(a, v, n) = "
               "{{sum({a[k][i] * a[k + 1][j] : k in [0:n]}) : j in [0:2]} : i in v};\n"
               "n = 1000 + rand(1);\n"
               "sum(flatten(sums({[k, k] : k in [0:n + 1]}, dist(0, 40 * n), n)));\n");
  const std::string command = nesl("run p.nesl --int=64 -O3");
  CHECK(run(command, folder).out.find("it = 26666640000000 : int") != std::string::npos);
  const MemoryRun measured = run_measured(command, folder);
  CHECK(measured.err == "");
  if (!::testing::kSanitized) CHECK(measured.kilobytes < 100'000);
}

TEST_CASE("columns that are read again and again are turned once", "[reads]") {
  Evaluations evaluations(3);
  evaluations.define("function at(m, i, j) = m[i][j]");
  evaluations.define("function by_pair(m, p) = let (i, j) = p in m[i][j]");
  evaluations.define("function named(m, i, j) = let r = m[i] in r[j]");
  evaluations.define("function cell(a, b, i, j) = sum({at(a, i, k) * at(b, k, j) : k in [0:#b]})");
  for (const char* const products :
       {"{{sum({a[i][k] * a[k][j] : k in [0:n]}) : j in [0:n]} : i in [0:n]}",
        "{{sum({at(a, i, k) * at(a, k, j) : k in [0:n]}) : j in [0:n]} : i in [0:n]}",
        "{{cell(a, a, i, j) : j in [0:n]} : i in [0:n]}",
        "{{sum({by_pair(a, (i, k)) * named(a, k, j) : k in [0:n]}) : j in [0:n]} : i in [0:n]}",
        "{{sum({r[i] * r[j] : r in a}) : j in [0:n]} : i in [0:n]}"}) {
    const std::string product = evaluations.compiled(
        std::string("let n = 3 + rand(1); a = {{rand(j + 9) : j in [0:n]} : i in [0:n]} in ") +
        products);
    // The innermost loop goes through two rows, which begin at a place for each pair of i and j.
    const auto reduction = product.find("REDUCE s");
    REQUIRE(reduction != std::string::npos);
    const std::string body = product.substr(reduction, product.find("SPEC", reduction) - reduction);
    INFO(body);
    CHECK(std::regex_search(
        body, std::regex(R"(\* INT\s+x\d\[\(\+ INT x\d\[\(SEGNO s\d i\)\] \(SEGOFF s\d i\)\)\])"
                         R"(\s+x\d\[\(\+ INT x\d\[\(SEGNO s\d i\)\] \(SEGOFF s\d i\)\)\])")));
  }
}

TEST_CASE("products of the columns of rows", "[reads]") {
  Reads reads;
  reads.define("function gram(m, n) = {{sum({r[i] * r[j] : r in m}) : j in [0:n]} : i in [0:n]}");
  CHECK(reads.check("gram(table(3, 2), 2)") == "[[500, 530], [530, 563]]");
  CHECK(reads.check("gram([[1, 2], [3, 4, 5]], 2)") == "[[10, 14], [14, 20]]");
  CHECK(reads.check("gram([] [int], 2)") == "[[0, 0], [0, 0]]");
  CHECK(reads.check("gram([[1]], 0)") == "[]");
  CHECK(reads.check("gram([[1, 2], [3]], 0)") == "[]");
  CHECK(reads.check("gram([[1, 2], [3]], 2)").find("outside") != std::string::npos);
  CHECK(reads.check("{gram(m, #m) : m in [[[1, 2], [3, 4]], [] [int], [[5]]]}") ==
        "[[[10, 14], [14, 20]], [], [[25]]]");
  CHECK(reads.check("{{{sum({r[i] * r[j] : r in m | r[i] > k}) : j in [0:2]} : i in [0:2]} : m in "
                    "[[[1, 2], [3, 4]], [[5, 6]]]; k in [1, 9]}") ==
        "[[[9, 12], [14, 20]], [[0, 0], [0, 0]]]");
  CHECK(reads.check("{sum({w * r[0] : r in table(2, 2)}) : w in [1, 2, 3]}") == "[10, 20, 30]");
  CHECK(reads.check("{sum({w * r[0] : r in m}) : w in [1, 2]; m in [table(2, 2), table(1, 1)]}") ==
        "[10, 0]");
  // Nothing is read where there are no instances.
  CHECK(reads.check("{{sum({r[i] * r[j] : r in m}) : j in [0:n]} : i in [5, 6]; m in "
                    "[table(2, 2), table(2, 2)]; n in [0, 0]}") == "[[], []]");
  reads.define(
      "function planes(n) = {{{x * 100 + 10 * y + z : z in [0:n]} : y in [0:n]} : x in [0:n]}");
  CHECK(reads.check("{{sum({p[i][1] * p[j][0] : p in planes(3)}) : j in [0:2]} : i in [0:2]}") ==
        "[[50300, 53330], [53300, 56630]]");
}

TEST_CASE("places that kernels compute are not made for their length alone", "[reads]") {
  Reads reads;
  const std::string products =
      "let p = {{rand(1) + i * j : j in [0:3]} : i in [0:5 + rand(1)]} in "
      "{{sum({q[i] * q[j] : q in p}) : j in index(#p[0])} : i in index(#p[0])}";
  CHECK(reads.check(products) == "[[0, 0, 0], [0, 30, 60], [0, 60, 120]]");
  const std::string code = Evaluations(3).compiled(products);
  // Each kernel computes for itself where the row of a point begins.
  CHECK(code.find("(SEGOFF s0 i) 3)") != std::string::npos);
  CHECK_FALSE(std::regex_search(
      code, std::regex(R"(y\d = MAP n\d \( i => \(\* INT \(SEGOFF s\d i\) 3\) \))")));
}

TEST_CASE("failures in functions that read elements tell of their calls", "[reads]") {
  Folder folder;
  const std::string functions =
      "function cell(m, i, j) = m[i][j];\n"
      "function column(m, j) = {row[j] : row in m};\n"
      "function beside(m, i, j) = cell(m, i, j + 1);\n";
  const auto message = [&](const std::string& expression, const char* level) {
    folder.write("p.nesl", functions + expression + ";\n");
    return run(nesl(std::string("run p.nesl ") + level), folder).err;
  };
  const auto check = [&](const std::string& expression, const std::vector<const char*>& parts) {
    const std::string found = message(expression, "-O3");
    INFO(found);
    for (const char* const part : parts) CHECK(found.find(part) != std::string::npos);
    CHECK(message(expression, "-O0") == found);
  };
  check("{{beside([[1, 2], [3, 4]], i, j) : j in [0:2]} : i in [0:2]}",
        {"p.nesl:1:26", "in `cell`", "index 2, length 2", "p.nesl:3:28: note: called from `beside`",
         "p.nesl:4:3: note: called from the top level"});
  check("let m = dist([1, 2], 50) in {sum(column(m, j)) : j in [0:3]}",
        {"p.nesl:2:26", "in `column`", "index 2, length 2",
         "p.nesl:4:34: note: called from the top level"});
}

TEST_CASE("arguments of functions that read elements are computed once", "[reads]") {
  Reads reads;
  reads.define("function first_of(m, j, unused) = m[0][j]");
  CHECK(reads.check("{first_of({{x + j : x in r} : r in m}, j, 1 / (j - 2)) : j in [0:2]; m in "
                    "[[[1, 2]], [[3, 4]]]}") == "[1, 5]");
  CHECK(reads.check("{first_of(m, j, 1 / (j - 1)) : j in [0:2]; m in [[[1, 2]], [[3, 4]]]}")
            .find("zero") != std::string::npos);
  reads.define("function twice_of(v, i) = v[i] + v[i]");
  CHECK(reads.check("sum({let (v, k) = ([1, 2, 4], i) in twice_of({x * rand(1) + x : x in v}, k) : "
                    "i in [0:3]})") == "14");
}

TEST_CASE("a variable that was computed of random numbers is as good as any other", "[reads]") {
  Evaluations evaluations(3);
  evaluations.define("n = 40 + rand(1)");
  evaluations.define("a = {{float(rem(i * j, 7) + rand(1)) : j in [0:n]} : i in [0:n]}");
  for (const char* const product :
       {"{{sum({a[i][k] * a[k][j] : k in [0:n]}) : j in [0:n]} : i in [0:n]}",
        "{{sum({x * y : x in r; y in {q[j] : q in a}}) : j in [0:n]} : r in a}"}) {
    const std::string code = evaluations.compiled(product);
    const auto reduction = code.find("REDUCE s");
    REQUIRE(reduction != std::string::npos);
    const std::string body = code.substr(reduction, code.find("SPEC", reduction) - reduction);
    INFO(body);
    // Both rows are read element by element, none with steps of a row.
    CHECK(body.find("(* INT") == std::string::npos);
    CHECK(body.find("(% i 40))]") != body.rfind("(% i 40))]"));
  }
}

}  // namespace
}  // namespace neslc::testing
