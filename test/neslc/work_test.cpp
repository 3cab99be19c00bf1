// The work of compiled programs is that of the language's cost model (reference, section 5), but
// for indices: they do not copy the sequence.
#include <cmath>
#include <string>

#include <catch2/catch.hpp>

#include "cli/backends.hpp"
#include "neslc/evaluation/evaluator.hpp"
#include "neslc/flatten/definitions_text.hpp"
#include "neslc/front/library_text.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

/// What the last form of a program costs, streams being computed in pieces of that length.
Cost cost_of(const std::string& program, std::int64_t piece_length = kPieceLength) {
  vinterp::Options machine;
  machine.backend = "cpu";
  machine.threads = 1;
  const auto backend = vinterp::make_backend(machine);
  Session session{std::string(library_text()) + std::string(definitions_text()),
                  open_definitions_text()};
  Evaluator evaluator(session, *backend);
  evaluator.options.cost = true;
  evaluator.options.piece_length = piece_length;
  Cost cost;
  for (ParsedForm& parsed : parse_program(make_source(program)).forms) {
    Checked checked = session.check(parsed.form);
    REQUIRE(checked);
    if (!checked.form->body || checked.form->kind == CheckedForm::Kind::Function) {
      session.commit(std::move(*checked.form));
      continue;
    }
    Evaluation evaluation = evaluator.evaluate(*checked.form);
    REQUIRE(evaluation.status == Evaluation::Status::Done);
    cost = evaluation.cost.value();
    evaluator.bind(std::move(*checked.form), std::move(evaluation.values));
  }
  return cost;
}

double work_of(const std::string& program) {
  return static_cast<double>(cost_of(program).work);
}

std::string with_size(const std::string& program, int size) {
  std::string result = program;
  for (std::size_t at; (at = result.find('$')) != std::string::npos;) {
    result.replace(at, 1, std::to_string(size));
  }
  return result;
}

/// The exponent of the growth of the work between two sizes.
double growth(const std::string& program, int small, int large) {
  const double ratio = work_of(with_size(program, large)) / work_of(with_size(program, small));
  return std::log(ratio) / std::log(static_cast<double>(large) / small);
}

TEST_CASE("the space of streams is that of a piece, their parallel space that of all pieces") {
  // A sum, a scan that two sums share, and nests whose elements are a piece's.
  for (const char* program :
       {"sum({x * x : x in iota(4096)})",
        "let s = plus_scan({x * 3 : x in iota(4096)}) in (sum(s), sum({x : x in s | evenp(x)}))",
        "sum({sum({i * j : j in iota(rem(i, 8))}) : i in iota(4096)})"}) {
    INFO(program);
    const Space whole = cost_of(program, 4096).space;
    CHECK(whole.used > 4096);
    CHECK(whole.parallel == whole.used);
    std::uint64_t longer = whole.used;
    for (const std::int64_t length : {512, 64, 8, 1}) {
      const Space space = cost_of(program, length).space;
      CHECK(space.used < longer);
      longer = space.used;
      CHECK(space.parallel >= whole.used);
      CHECK(space.parallel < whole.used + 100 * 4096 / static_cast<std::uint64_t>(length));
    }
    CHECK(longer < 100);
  }
  CHECK(cost_of("sum([0:4096])").space.used == 0);
}

TEST_CASE("an index inside an apply-to-each does not copy the sequence") {
  const std::string values = "v = reverse([0:100000]);\n";
  CHECK(work_of(values + "{v[i] : i in [0:100]};") < 2000);
  CHECK(work_of(values + "function at(s, is) = {s[i] : i in is};\nat(v, [0:100]);") < 2000);
  CHECK(work_of(values + "{#v + i : i in [0:100]};") < 2000);
  CHECK(work_of(values + "{sum(v -> [i, i + 1]) : i in [0:100]};") < 5000);
}

TEST_CASE("equal values are found in linear work, whatever the values are") {
  const std::string sequences[] = {"{@(i * 791) : i in [0:$]}",
                                   "{float(i) * 1.0e-9 : i in [0:$]}",
                                   "{float(i) * 1.0e12 : i in [0:$]}",
                                   "{1.0 + float(i) * 1.0e-9 : i in [0:$]}",
                                   "{(i / 100, mod(i, 100)) : i in [0:$]}",
                                   "{[i, -i, 100 * i] : i in [0:$]}",
                                   "{(float(i), [i, i]) : i in [0:$]}",
                                   "{i * 65536 : i in [0:$]}"};
  for (const std::string& sequence : sequences) {
    INFO(sequence);
    CHECK(growth("#name(" + sequence + ");", 1000, 20000) < 1.2);
  }
}

TEST_CASE("filling lines takes n log n work") {
  CHECK(growth("#justify_text(flatten({@i ++ \" \" : i in [0:$]}), 60);", 1000, 20000) < 1.3);
}

TEST_CASE("nor does it in a recursive function, or behind a conditional") {
  const std::string search = R"(
function search(s, x, low, high) =
  if low == high then low
  else let m = (low + high) / 2
       in if s[m] < x then search(s, x, m + 1, high) else search(s, x, low, m);
v = [0:100000];
{search(v, 997 * x, 0, #v) : x in [0:100]};)";
  CHECK(work_of(search) < 100000);
  CHECK(work_of("v = reverse([0:100000]);\n{if i > 3 then v[i] / i else v[0] : i in [0:100]};") <
        5000);
}

TEST_CASE("the work of nests and recursion grows as the cost model says") {
  CHECK(growth("{sum({i : i in index(k)}) : k in index($)};", 300, 1200) == Approx(2).margin(0.1));
  CHECK(growth("function down(n) = if n == 0 then 0 else down(n - 1);\n{down(k) : k in index($)};",
               100, 400) == Approx(2).margin(0.15));
  // n log n
  const std::string sort = R"(
function qsort(s) =
  if #s < 2 then s
  else let p = s[#s / 2];
           r = {qsort(v) : v in [{x in s | x < p}, {x in s | x > p}]}
       in r[0] ++ {x in s | x == p} ++ r[1];
qsort({rem(i * 7919, 100003) : i in index($)});)";
  CHECK(growth(sort, 1000, 16000) < 1.3);
}

TEST_CASE("what is the same for all instances is computed once") {
  const std::string functions = R"(
function largest(v, i, m) = if i == #v then m else largest(v, i + 1, max(m, v[i]));
function norm(v) = let m = largest(v, 0, 0) in sum({x * x : x in {max(y, m) : y in v}}) + median(v);
function scaled(v) = {x / norm(v) : x in v};
function rows(n) = {{i + j : i in index(50)} : j in index(n / 50)};
)";
  for (const char* program :
       {"scaled(index($));", "{scaled(r) : r in rows($)};", "{x - sum({y * y : y in v}) : x in v};",
        "{if x > 3 then x + sum({y * y : y in v}) else #sort(v) : x in v};",
        "{x + #{v[i] * v[i] : i in index(#v)} : x in v};", "{x + #transpose([v, v]) : x in v};",
        "{x + reduce(((a, b) => rem(a * b, 7)), 1, v) : x in v};",
        "let g = ((a, b) => rem(a * b, 7)) in {x + reduce(g, 1, v) : x in v};"}) {
    INFO(program);
    CHECK(growth(functions + "v = index($);\n" + program, 300, 4800) < 1.15);
  }
}

TEST_CASE("calls that need nothing of each other take the steps of one") {
  const std::string tree = "function tree(n) = if n < 2 then n else tree(n - 1) + tree(n - 2);\n";
  const auto operations = [&](int n) {
    return static_cast<double>(cost_of(tree + "tree(" + std::to_string(n) + ");").operations);
  };
  CHECK(operations(24) < 4 * operations(8));
  const std::string power =
      "function power(x, n) = if n == 0 then 1.0 else if evenp(n) then let h = power(x, n / 2) in "
      "h * h else x * power(x, n - 1);\n";
  CHECK(cost_of(power + "{power(1.5, n) : n in [0:5000]};").operations < 3000);
  // Long vectors are not put together: what is there at once is that of a path.
  CHECK(cost_of(tree + "tree(27);").longest < 200'000);
}

TEST_CASE("a function that reads elements of a sequence does not copy it") {
  const std::string functions = R"(
function below(v, x, lo, hi) =
  if lo == hi then [lo]
  else let m = (lo + hi) / 2 in
    if v[m] < x then below(v, x, m + 1, hi) else below(v, x, lo, m);
function depth(v, lo, hi) =
  if hi - lo < 2 then 0 else let m = (lo + hi) / 2 in
    1 + max(depth(v, lo, m + min(0, v[lo])), depth(v, m, hi));
)";
  for (const char* program :
       {"{sum({sum(below(v, x, 0, #v)) : x in v}) : v in [index($), index($)]};",
        "{depth(v, 0, #v) : v in [index($), index($)]};", "depth(index($), 0, $);"}) {
    INFO(program);
    CHECK(growth(functions + program, 200, 3200) < 1.25);
  }
}

TEST_CASE("sorting and combining by functions has the work of the best algorithms") {
  const std::string values = "let s = {rem(i * 7919, 100003) : i in index($)} in ";
  const std::string sort = values + "sort_with(((a, b) => a < b), s);";
  CHECK(growth(sort, 4000, 64000) < 1.25);
  CHECK(cost_of(with_size(sort, 64000)).operations < 8000);
  CHECK(growth(values + "sorted({@i : i in s});", 2000, 32000) < 1.15);
  const std::string reduce = values + "reduce(((a, b) => rem(a * b, 7)), 1, s);";
  CHECK(growth(reduce, 4000, 64000) < 1.05);
  CHECK(cost_of(with_size(reduce, 64000)).operations < 1000);
  CHECK(cost_of(with_size(values + "reduce(((a, b) => a + b), 0, s);", 64000)).operations < 20);
  CHECK(cost_of(with_size(values + "scan(max, 0, s);", 64000)).operations < 20);
}

TEST_CASE("a selection has linear work and few steps") {
  const std::string selection =
      "let n = $ in kth_smallest({rem(i * 7919, 100003) : i in index(n)}, n / 3);";
  CHECK(growth(selection, 20000, 160000) < 1.15);
  CHECK(cost_of(with_size(selection, 80000)).operations < 400);
  // Whatever is known of their order: sorted, falling, in waves, and many equal ones.
  for (const char* element : {"i", "-i", "rem(i, 4096)", "rem(i, 150)", "i * i", "rem(i, 3)"}) {
    for (const int length : {4800, 32768, 81920, 100000}) {
      INFO(element << " " << length);
      const std::string median = "median({" + std::string(element) + " : i in index($)});";
      CHECK(work_of(with_size(median, length)) < 20 * length);
    }
  }
}

}  // namespace
}  // namespace neslc::testing
