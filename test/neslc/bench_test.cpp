// `nesl bench`: what is measured, what growth is found, what is shown. No test looks at times.
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cli/options.hpp"
#include "contains.hpp"
#include "neslc/bench/fit.hpp"
#include "neslc/bench/plan.hpp"
#include "neslc/bench/plot.hpp"
#include "neslc/bench/report.hpp"
#include "occurrences.hpp"
#include "process.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

using ::testing::contains;
using ::testing::occurrences;
using Sizes = std::vector<std::int64_t>;

std::string bench(const std::string& arguments) {
  return std::string("'") + NESL_PROGRAM + "' bench " + arguments + " --backend cpu";
}

/// Those with values of `at` at 2, 4, 8 ... 2^12.
template <class Function>
std::vector<bench::Measured> measured(const Function& at) {
  std::vector<bench::Measured> points;
  for (double n = 2; n <= 4096; n *= 2) points.push_back({n, at(n)});
  return points;
}

TEST_CASE("bench: the values of n") {
  CHECK(bench::parse_sizes("1e3..1e5", 1) == Sizes{1000, 10000, 100000});
  CHECK(bench::parse_sizes("1e3..1e5", 2) == Sizes{1000, 3162, 10000, 31623, 100000});
  CHECK(bench::parse_sizes("1..20", 1) == Sizes{1, 10, 20});
  CHECK(bench::parse_sizes("7..7", 3) == Sizes{7});
  // Sizes that are rounded to the same number are taken once.
  CHECK(bench::parse_sizes("1..4", 10) == Sizes{1, 2, 3, 4});
  CHECK(bench::parse_sizes("50,10,2e1,10", 2) == Sizes{10, 20, 50});
  for (const char* wrong : {"", "0", "-3", "1.5", "x", "3..", "..3", "5..2", "1,,2", "1,", "1e16",
                            "nan", "1e3..1e5..1e7", " 1"}) {
    INFO(wrong);
    CHECK_THROWS_AS(bench::parse_sizes(wrong, 2), vinterp::UsageError);
  }
  CHECK_THROWS_AS(bench::parse_sizes("1..1e15", 1'000), vinterp::UsageError);
  CHECK_THROWS_AS(bench::parse_sizes("1..2", 1'000'000'000'000), vinterp::UsageError);
  CHECK(bench::parse_threads("4,1,4") == std::vector{4, 1});
  for (const char* wrong : {"", "0", "1,", "two"}) {
    INFO(wrong);
    CHECK_THROWS_AS(bench::parse_threads(wrong), vinterp::UsageError);
  }
}

TEST_CASE("bench: every growth is found in its own values, with factor and constant") {
  for (const bench::Growth& growth : bench::growths()) {
    INFO(growth.name);
    const auto fits = bench::fit(measured([&](double n) { return 7 + 3 * growth.at(n); }));
    REQUIRE(fits);
    CHECK(fits->chosen.growth->name == growth.name);
    CHECK(fits->chosen.deviation < 1e-6);
    CHECK(std::abs(fits->chosen.at(100) - (7 + 3 * growth.at(100))) < 1e-6 * growth.at(100) + 1e-6);
    if (growth.name == "constant") continue;  // all others are the same without their factor
    REQUIRE(fits->next);
    CHECK(fits->next->growth->name != growth.name);
    CHECK(fits->next->deviation > 0.002);
  }
}

TEST_CASE("bench: growths in measurements that are not exact") {
  // Off by 5 % to both sides in turn.
  double sign = 1;
  const auto disturbed = bench::fit(measured([&](double n) {
    sign = -sign;
    return (1 + 0.05 * sign) * 20 * n * std::log2(n);
  }));
  REQUIRE(disturbed);
  CHECK(disturbed->chosen.growth->name == "n log2 n");
  CHECK(disturbed->chosen.deviation > 0.04);
  CHECK(disturbed->chosen.deviation < 0.06);
  // None of them: said so.
  const auto exponential = bench::fit(measured([](double n) { return std::pow(1.1, n); }));
  REQUIRE(exponential);
  CHECK(exponential->chosen.deviation > bench::kPoorFit);
  // All zero, all equal.
  for (const double value : {0.0, 5.0}) {
    const auto constant = bench::fit(measured([&](double) { return value; }));
    REQUIRE(constant);
    CHECK(constant->chosen.growth->name == "constant");
    CHECK(std::abs(constant->chosen.at(100) - value) < 1e-9);
    CHECK(constant->chosen.deviation < 1e-9);
    CHECK_FALSE(constant->next);
  }
  // Never negative, even for values that fall.
  const auto falling = bench::fit(measured([](double n) { return 1000 / n; }));
  REQUIRE(falling);
  CHECK(falling->chosen.factor >= 0);
  CHECK(falling->chosen.constant >= 0);
  CHECK_FALSE(bench::fit(std::vector<bench::Measured>{{1, 1}, {2, 2}, {3, 3}}));
}

bench::Measurements example() {
  bench::Measurements measurements;
  measurements.plan.expression = "f(n) < \"&\"";
  measurements.plan.threads = {1, 2};
  measurements.program = "g.nesl";
  measurements.machine = "cpu";
  for (const std::int64_t n : {10, 100, 1000, 10000}) {
    bench::Point point;
    point.n = n;
    const auto size = static_cast<std::uint64_t>(n);
    point.cost = Cost{2 * size, 5, 3, n, {}};
    const double seconds = static_cast<double>(n) / 1024;
    point.timings = {{1, {4 * seconds, 6 * seconds, 7 * seconds}}, {2, {2 * seconds, 3 * seconds}}};
    measurements.points.push_back(point);
  }
  bench::Point failed;
  failed.n = 100000;
  failed.failure = "out of memory";
  measurements.points.push_back(failed);
  return measurements;
}

TEST_CASE("bench: the table, the growth and the files of measurements") {
  const bench::Measurements measurements = example();
  CHECK(bench::table_rows(measurements.points[1]) ==
        "         100            200        5       1  390.62 ms  585.94 ms      3\n"
        "                                           2  195.31 ms  244.14 ms      2     2.00\n");
  CHECK(bench::table_rows(measurements.points[4]) ==
        "      100000              -        - failed: out of memory\n");
  const std::string growth = bench::growth_text(measurements);
  CHECK(contains(growth, "work               n              off by 0.0 %    2 * n;"));
  CHECK(contains(growth, "depth              constant       off by 0.0 %    5\n"));
  CHECK(contains(growth, "time, 1 thread     n              off by 0.0 %    3.91 ms * n;"));
  const std::vector<std::string> lines = lines_of(bench::csv(measurements));
  REQUIRE(lines.size() == 10);
  CHECK(lines[0] == "n,threads,work,depth,operations,longest,minimum,median,runs,failed");
  CHECK(lines[1] == "10,1,20,5,3,10,0.0390625,0.05859375,3,no");
  CHECK(lines[9] == "100000,,,,,,,,,yes");
  const std::string json = bench::json(measurements);
  CHECK(contains(json, R"("expression":"f(n) < \"&\"")"));
  CHECK(contains(json, R"({"n":10,"cost":{"work":20,"depth":5,"operations":3,"longest":10},)"));
  CHECK(contains(json, R"({"n":100000,"cost":null,"times":[],"failure":"out of memory"}])"));
  CHECK(contains(json, R"("growth":{"work":{"growth":"n","factor":2,)"));
}

TEST_CASE("bench: the plot has a mark for every value, a legend and escaped texts") {
  const std::string svg = bench::plot(example());
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(contains(svg, "f(n) &lt; &quot;&amp;&quot;"));
  for (const char* text : {">work: n<", ">depth: constant<", ">1 thread: n<", ">2 threads<", ">n<",
                           ">10³<", ">100 ms<", ">Speed-up over 1 thread<"}) {
    INFO(text);
    CHECK(contains(svg, text));
  }
  // Circles: four of the work and four of the time on one thread, and one in each legend.
  CHECK(occurrences(svg, "<circle") == 10);
  CHECK(occurrences(svg, "stroke-dasharray") == 4);
  bench::Measurements nothing;
  nothing.plan.threads = {1};
  CHECK(occurrences(bench::plot(nothing), "nothing was measured") == 2);
}

TEST_CASE("bench: a program is measured for each n and number of threads") {
  const Folder folder;
  folder.write("g.nesl", "function total(s) = sum({x * x : x in s});\n");
  const Output output =
      run(bench("g.nesl 'total(v)' --setup='v = [0:n]' --n=1e1..1e4 --per-decade=1 "
                "--threads=1,2 --repetitions=2 --data=f.csv --plot=f.svg"),
          folder);
  CHECK(output.status == 0);
  CHECK(output.err.empty());
  CHECK(contains(output.out, "work               n  "));
  CHECK(contains(output.out, "depth              constant  "));
  const std::vector<std::string> lines = lines_of(read_file(folder.path() / "f.csv"));
  REQUIRE(lines.size() == 9);
  // The work of the product and of the sum. What makes `v` is not measured.
  CHECK(lines[1].starts_with("10,1,20,2,2,10,"));
  CHECK(lines[2].starts_with("10,2,20,2,2,10,"));
  CHECK(lines[8].starts_with("10000,2,20000,2,2,10000,"));
  CHECK(lines[8].ends_with(",2,no"));
  CHECK(contains(read_file(folder.path() / "f.svg"), "total(v)"));
}

TEST_CASE("bench: a size that fails does not end the measurement") {
  const Output wrong = run(bench("-e '[1, 2, 3][n rem 10]' --n=1,12,5,21 --repetitions=1"));
  const Output output = run(bench("-e '[1, 2, 3][rem(n, 10)]' --n=1,12,5,21 --repetitions=1"));
  CHECK(wrong.status == 1);
  CHECK(wrong.out.empty());
  CHECK(output.status == 3);
  CHECK(contains(output.out, "           5              -        - failed: this index is"));
  CHECK(contains(output.out, "\n          12 "));
  CHECK(contains(output.out, "\n          21 "));
  CHECK(contains(output.err, "note: index 5, length 3"));
  const Output full =
      run(bench("-e 'sum(s)' --setup='s = {i : i in [0:n] | i > 3}' --n=1e2,1e7 "
                "--repetitions=1 --memory=1M"));
  CHECK(full.status == 4);
  CHECK(contains(full.out, "         100 "));
  CHECK(contains(full.out, "    10000000              -        - failed: "));
}

TEST_CASE("bench: the time limit and an interruption leave what was measured") {
  const Folder folder;
  folder.write("g.nesl",
               "function long(k) = if k == 0 then 1 else long(k - 1) + long(k - 1);\n"
               "function g(n) = if n == 1 then 7 else long(60);\n");
  const std::string measured = bench("g.nesl 'g(n)' --n=1,2 --repetitions=1 --data=g.csv");
  const Output limited = run(measured + " --timeout=0.5", folder);
  CHECK(limited.status == 4);
  CHECK(contains(limited.err, "the time limit of 0.5 seconds was reached"));
  // Ctrl-C as soon as the first size is shown.
  const Output interrupted = run(measured +
                                     " > out & measuring=$!\n"
                                     "until grep -qs '^ *1 ' out; do sleep 0.05; done\n"
                                     "kill -INT $measuring; wait $measuring",
                                 folder);
  CHECK(interrupted.status == 130);
  CHECK(interrupted.err == "Interrupted.\n");
  const std::string table = read_file(folder.path() / "out");
  CHECK(contains(table, "\n           1 "));
  CHECK(contains(table, "\nwork               not fitted"));
  CHECK(lines_of(read_file(folder.path() / "g.csv")).size() == 2);
}

TEST_CASE("bench: what is missing on the command line is named") {
  CHECK(contains(run(bench("g.nesl --n=1..10")).err, "needs an expression in `n`"));
  CHECK(contains(run(bench("-e 'n'")).err, "needs the values of `n`"));
  CHECK(contains(run(bench("-e 'n' --n=10..1")).err, "the smaller number comes first"));
  CHECK(contains(run(bench("-e 'a = n' --n=3")).err, "bench measures one expression"));
  CHECK(contains(run(bench("-e '1; 2' --n=3")).err, "bench measures one expression"));
  CHECK(contains(run(bench("-e 'n' --n=3 --repetitions=1 --plot=no/such.svg")).err,
                 "cannot write `no/such.svg`"));
  CHECK(contains(run(std::string("'") + NESL_PROGRAM + "' -e '1' --threads=1,2").err,
                 "several numbers of threads are for `nesl bench`"));
}

}  // namespace
}  // namespace neslc::testing
