// Scans, reductions and random numbers of the CPU library: the same bits for any number of threads
// and any instruction set, right at the borders of tiles, chunks and blocks.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl/failure.hpp"
#include "sanitized.hpp"
#include "tuned.hpp"

namespace {

using cvl::Form;
using cvl::Segdes;
using cvl::Type;
using cvl::Value;
using cvl::Vector;
using cvl::cpu::CpuBackend;
using cvl::cpu::CpuOptions;
using cvl::cpu::Isa;
using vcode::Family;
using vcode::Op;

using Lengths = std::vector<std::int64_t>;

const std::int64_t kTile = cvl::cpu::tuning.fold_tile_bytes / 8;  // of 64-bit elements

CpuOptions options(Isa isa, int threads, cvl::Widths widths = {8, 8}) {
  CpuOptions result;
  result.isa = isa;
  result.threads = threads;
  result.widths = widths;
  return result;
}

std::int64_t sum(const Lengths& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

template <class T>
Vector upload(CpuBackend& cpu, Type type, const std::vector<T>& elements) {
  return cpu.upload(type, elements.data(), static_cast<std::int64_t>(elements.size()));
}

template <class T>
std::vector<T> download(CpuBackend& cpu, const Vector& vector) {
  std::vector<T> result(static_cast<std::size_t>(vector.length));
  cpu.download(vector, 0, vector.length, result.data());
  return result;
}

Segdes descriptor(CpuBackend& cpu, const Lengths& lengths) {
  if (cpu.widths().int_bytes == 8) return cvl::make_segdes(cpu, upload(cpu, Type::Int, lengths));
  return cvl::make_segdes(
      cpu, upload(cpu, Type::Int, std::vector<std::int32_t>(lengths.begin(), lengths.end())));
}

template <class T>
std::vector<T> run(CpuBackend& cpu, Op op, Type type, Vector data, const Lengths& lengths) {
  Value operands[2] = {Value(std::move(data)), Value(descriptor(cpu, lengths))};
  Value result;
  cpu.execute(op, type, operands, &result);
  return download<T>(cpu, result.vector());
}

template <class T>
std::vector<T> random_elements(std::int64_t n) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::vector<T> result(static_cast<std::size_t>(n));
  for (T& element : result) {
    if constexpr (std::is_floating_point_v<T>) {
      element = static_cast<T>(static_cast<double>(random() % 2'000'003) / 1'000'000.7);
    } else if constexpr (std::is_same_v<T, std::uint8_t>) {
      element = random() % 3 == 0;
    } else {
      element = static_cast<T>(random());
    }
  }
  return result;
}

Lengths random_lengths(std::int64_t count, std::int64_t below) {
  std::mt19937_64 random(static_cast<std::uint64_t>(count * below));
  Lengths result(static_cast<std::size_t>(count));
  for (auto& length : result) {
    length = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below));
  }
  return result;
}

/// Segmentations whose borders lie on, before and behind those of blocks, chunks and tiles.
std::vector<Lengths> shapes() {
  std::vector<Lengths> result = {{}, {0}, {0, 0, 0}};
  for (const std::int64_t n : {1, 7, 64, 65, 1023, 1025}) result.push_back({n});
  for (const std::int64_t n : {kTile - 1, kTile, kTile + 1, 3 * kTile, 5 * kTile + 17}) {
    result.push_back({n});
    result.push_back({0, n, 0, 0, 3, 0});
    result.push_back({1, 0, n - 1, kTile, 0});
  }
  result.push_back(Lengths(100'000, 1));
  result.push_back(Lengths(30'001, 3));
  result.push_back(Lengths(4'003, 31));
  result.push_back(Lengths(40, 4097));
  result.push_back(random_lengths(40'000, 11));
  result.push_back(random_lengths(600, 700));
  Lengths gaps(70'000, 0);  // almost all segments are empty
  gaps[30'000] = 2 * kTile;
  gaps[50'000] = 5;
  result.push_back(gaps);
  return result;
}

std::vector<Op> operations(Family family, Type type) {
  std::vector<Op> result;
  for (const vcode::OpInfo& info : vcode::all_ops()) {
    if (info.family == family && info.allows(type)) result.push_back(info.op);
  }
  return result;
}

/// Hashes of the results of all scans and reductions of all shapes.
template <class T>
std::vector<std::size_t> results_of(const CpuOptions& configuration, Type type) {
  // Whether results go around the cache must not be seen either.
  std::optional<tuned::Scope> streaming;
  if (configuration.threads > 2) {
    streaming.emplace(tuned::from_environment() + ",least_streamed_bytes=0,streamed_bytes=0");
  }
  CpuBackend cpu(configuration);
  std::vector<std::size_t> hashes;
  for (const Lengths& lengths : shapes()) {
    const std::vector<T> data = random_elements<T>(sum(lengths));
    for (const Family family : {Family::Scan, Family::Reduce}) {
      for (const Op op : operations(family, type)) {
        const auto result = run<T>(cpu, op, type, upload(cpu, type, data), lengths);
        hashes.push_back(std::hash<std::string_view>{}(
            {reinterpret_cast<const char*>(result.data()), result.size() * sizeof(T)}));
      }
    }
  }
  return hashes;
}

template <class T>
void check_same_everywhere(Type type, cvl::Widths widths) {
  const auto expected = results_of<T>(options(cvl::cpu::usable_isas().front(), 1, widths), type);
  const std::vector<int> numbers_of_threads =
      testing::kSanitized ? std::vector<int>{2, 4} : std::vector<int>{1, 2, 3, 4};
  for (const Isa isa : cvl::cpu::usable_isas()) {
    // One library at a time: the smallest number of threads would count for all.
    for (const int threads : numbers_of_threads) {
      INFO(cvl::cpu::isa_name(isa) << ", " << threads << " threads");
      CHECK((results_of<T>(options(isa, threads, widths), type) == expected));
    }
  }
}

/// What a scan or reduction with combiner `op` gives, by its definition.
template <class T, class Combine>
void check_by_definition(Op scan, Op reduce, Type type, T identity, const Combine& combine) {
  CpuBackend cpu(options(cvl::cpu::usable_isas().back(), 3));
  for (const Lengths& lengths : shapes()) {
    const std::vector<T> data = random_elements<T>(sum(lengths));
    std::vector<T> scanned, reduced;
    auto next = data.begin();
    for (const std::int64_t length : lengths) {
      T total = identity;
      for (std::int64_t i = 0; i < length; ++i) {
        scanned.push_back(total);
        total = combine(total, *next++);
      }
      reduced.push_back(total);
    }
    INFO(data.size() << " elements in " << lengths.size() << " segments");
    CHECK((run<T>(cpu, scan, type, upload(cpu, type, data), lengths) == scanned));
    CHECK((run<T>(cpu, reduce, type, upload(cpu, type, data), lengths) == reduced));
  }
}

Vector constant(Type type, double element, std::int64_t length) {
  Vector result;
  result.type = type;
  result.form = Form::Constant;
  result.length = length;
  if (type == Type::Int) {
    *result.inline_elements<std::int64_t>() = static_cast<std::int64_t>(element);
  } else if (type == Type::Float) {
    *result.inline_elements<double>() = element;
  } else {
    *result.inline_elements<std::uint8_t>() = element != 0;
  }
  return result;
}

Vector progression(std::int64_t start, std::int64_t step, std::int64_t length) {
  Vector result;
  result.form = Form::Progression;
  result.length = length;
  result.inline_elements<std::int64_t>()[0] = start;
  result.inline_elements<std::int64_t>()[1] = step;
  return result;
}

/// An operand in a compact form must give what its elements give.
void check_form(CpuBackend& cpu, Op op, Type type, const Vector& compact, const Lengths& lengths) {
  const Vector dense = cpu.materialized(compact);
  INFO(vcode::info(op).text << " of " << compact.length << " elements in " << lengths.size()
                            << " segments");
  if (type == Type::Bool) {
    CHECK((run<std::uint8_t>(cpu, op, type, compact, lengths) ==
           run<std::uint8_t>(cpu, op, type, dense, lengths)));
  } else {
    CHECK((run<std::uint64_t>(cpu, op, type, compact, lengths) ==
           run<std::uint64_t>(cpu, op, type, dense, lengths)));
  }
}

}  // namespace

TEST_CASE("scans and reductions have the same bits everywhere", "[scan][reduce]") {
  SECTION("double") {
    check_same_everywhere<double>(Type::Float, {8, 8});
  }
  SECTION("float") {
    check_same_everywhere<float>(Type::Float, {4, 4});
  }
  SECTION("int32") {
    check_same_everywhere<std::int32_t>(Type::Int, {4, 8});
  }
  SECTION("int64") {
    check_same_everywhere<std::int64_t>(Type::Int, {8, 8});
  }
  SECTION("bool") {
    check_same_everywhere<std::uint8_t>(Type::Bool, {4, 8});
  }
}

TEST_CASE("scans and reductions follow their definition", "[scan][reduce]") {
  using I = std::int64_t;
  check_by_definition<I>(Op::AddScan, Op::AddReduce, Type::Int, 0, [](I a, I b) {
    return static_cast<I>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  });
  check_by_definition<I>(Op::MaxScan, Op::MaxReduce, Type::Int, std::numeric_limits<I>::min(),
                         [](I a, I b) { return std::max(a, b); });
  check_by_definition<std::uint8_t>(Op::XorScan, Op::XorReduce, Type::Bool, 0,
                                    [](int a, int b) { return static_cast<std::uint8_t>(a ^ b); });
  check_by_definition<std::uint8_t>(Op::AndScan, Op::AndReduce, Type::Bool, 1,
                                    [](int a, int b) { return static_cast<std::uint8_t>(a & b); });
}

TEST_CASE("FLOAT maxima and minima take no identity from data", "[scan][reduce]") {
  const double identity = -double{1e36F};
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::int64_t n : {std::int64_t{3}, std::int64_t{100}, 3 * kTile + 5}) {
    CpuBackend cpu(options(cvl::cpu::usable_isas().back(), 2));
    std::vector<double> data(static_cast<std::size_t>(n), -2e37);
    auto scanned = run<double>(cpu, Op::MaxScan, Type::Float, upload(cpu, Type::Float, data), {n});
    CHECK(scanned.front() == identity);
    CHECK(std::all_of(scanned.begin() + 1, scanned.end(), [](double x) { return x == -2e37; }));
    CHECK(run<double>(cpu, Op::MaxReduce, Type::Float, upload(cpu, Type::Float, data),
                      {0, 1, 0, n - 1, 0}) ==
          std::vector<double>{identity, -2e37, identity, -2e37, identity});
    CHECK(run<double>(cpu, Op::MinReduce, Type::Float, constant(Type::Float, infinity, n), {n}) ==
          std::vector<double>{infinity});
    const auto middle = static_cast<std::size_t>(n / 2);
    data[middle] = std::nan("");
    scanned = run<double>(cpu, Op::MinScan, Type::Float, upload(cpu, Type::Float, data), {n});
    CHECK(scanned[middle] == (middle == 0 ? -identity : -2e37));
    CHECK(std::all_of(scanned.begin() + static_cast<std::ptrdiff_t>(middle) + 1, scanned.end(),
                      [](double x) { return std::isnan(x); }));
    const auto reduced =
        run<double>(cpu, Op::MaxReduce, Type::Float, upload(cpu, Type::Float, data), {n, 0});
    CHECK(std::isnan(reduced[0]));
    CHECK(reduced[1] == identity);
  }
}

namespace {

/// Rows of n elements, each from left to right.
template <class Combiner, class T>
std::vector<T> rows_of(const std::vector<T>& elements, std::int64_t n) {
  std::vector<T> totals;
  for (std::size_t begin = 0; begin < elements.size(); begin += static_cast<std::size_t>(n)) {
    T total = cvl::ops::fold_start<Combiner, T>();
    for (std::int64_t i = 0; i < n; ++i) {
      total = Combiner::apply(total, elements[begin + static_cast<std::size_t>(i)]);
    }
    totals.push_back(total);
  }
  return totals;
}

template <class T>
std::vector<T> rows_of(Op op, const std::vector<T>& elements, std::int64_t n) {
  if (op == Op::AddReduce) return rows_of<cvl::ops::Add>(elements, n);
  if (op == Op::MultiplyReduce) return rows_of<cvl::ops::Multiply>(elements, n);
  if (op == Op::MaxReduce) return rows_of<cvl::ops::Max>(elements, n);
  if (op == Op::MinReduce) return rows_of<cvl::ops::Min>(elements, n);
  if constexpr (std::is_integral_v<T>) {
    if (op == Op::AndReduce) return rows_of<cvl::ops::And>(elements, n);
    if (op == Op::OrReduce) return rows_of<cvl::ops::Or>(elements, n);
    if (op == Op::XorReduce) return rows_of<cvl::ops::Xor>(elements, n);
  }
  FAIL("no reduction");
  return {};
}

template <class T>
void check_rows(CpuBackend& cpu, Type type, const std::vector<T>& elements, std::int64_t n) {
  const Lengths lengths(elements.size() / static_cast<std::size_t>(n), n);
  for (const Op op : operations(Family::Reduce, type)) {
    INFO(vcode::info(op).text << ", length " << n);
    const auto found = run<T>(cpu, op, type, upload(cpu, type, elements), lengths);
    const std::vector<T> expected = rows_of(op, elements, n);
    REQUIRE(found.size() == expected.size());
    // Which NaN a sum of two is, is not said.
    const auto same = [](T a, T b) {
      return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
    };
    CHECK(std::equal(found.begin(), found.end(), expected.begin(), same));
  }
}

}  // namespace

TEST_CASE("short segments of equal length are combined from left to right", "[reduce]") {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double values[] = {0.0, -0.0, 1.0, -1.0, 1e36, kNaN, -kNaN, kInfinity, -kInfinity, 0.1};
  for (const Isa isa : cvl::cpu::usable_isas()) {
    INFO(cvl::cpu::isa_name(isa));
    CpuBackend cpu(options(isa, 3));
    for (const std::int64_t n : {1, 2, 3, 4, 7, 8, 9, 16, 31, 32, 33, 64, 100, 127}) {
      if (n > cvl::cpu::tuning.longest_row) continue;
      const std::int64_t length = (3 * kTile / n + 5) * n;
      std::mt19937_64 random(static_cast<std::uint64_t>(n));
      std::vector<double> few(static_cast<std::size_t>(length)), many(few.size());
      for (double& element : few) element = values[random() % std::size(values)];
      for (double& element : many) element = 1.0 / static_cast<double>(1 + random() % 1000);
      check_rows(cpu, Type::Float, few, n);
      check_rows(cpu, Type::Float, many, n);
      check_rows(cpu, Type::Int, random_elements<std::int64_t>(length), n);
    }
  }
}

TEST_CASE("compact operands give what their elements give", "[scan][reduce]") {
  CpuBackend cpu(options(cvl::cpu::usable_isas().back(), 2));
  for (const Lengths& lengths :
       {Lengths{5}, Lengths{100}, Lengths{3 * kTile + 9}, Lengths(10, 7), Lengths(10'000, 9),
        random_lengths(30'000, 9), Lengths(1000, 0), Lengths{0, 3, 0}}) {
    const std::int64_t n = sum(lengths);
    for (const Family family : {Family::Scan, Family::Reduce}) {
      for (const Type type : {Type::Int, Type::Float, Type::Bool}) {
        for (const Op op : operations(family, type)) {
          check_form(cpu, op, type, constant(type, 1.1, n), lengths);
          check_form(cpu, op, type, constant(type, -3, n), lengths);
          if (type == Type::Int) check_form(cpu, op, type, progression(7, -3, n), lengths);
        }
      }
    }
  }
}

TEST_CASE("a scan overwrites an operand only when nobody else holds it", "[scan]") {
  CpuBackend cpu(options(cvl::cpu::usable_isas().back(), 2));
  const std::int64_t n = 3 * kTile;
  const auto data = random_elements<double>(n);
  const Vector held = upload(cpu, Type::Float, data);
  const auto expected = run<double>(cpu, Op::AddScan, Type::Float, held, {n});
  CHECK((download<double>(cpu, held) == data));
  const auto takeovers = cpu.heap().statistics().takeovers;
  CHECK((run<double>(cpu, Op::AddScan, Type::Float, upload(cpu, Type::Float, data), {n}) ==
         expected));
  CHECK(cpu.heap().statistics().takeovers == takeovers + 1);
}

TEST_CASE("RAND draws one stream", "[random]") {
  const std::int64_t n = 200'000;
  const auto draw = [](CpuBackend& cpu, Vector bounds) {
    Value operand(std::move(bounds));
    Value result;
    cpu.execute(Op::Rand, Type::Int, &operand, &result);
    return download<std::int64_t>(cpu, result.vector());
  };
  std::vector<std::int64_t> expected;
  for (const Isa isa : cvl::cpu::usable_isas()) {
    for (const int threads : {1, 2, 4}) {
      CpuBackend cpu(options(isa, threads));
      auto numbers = draw(cpu, constant(Type::Int, 1000, 3));
      const auto rest = draw(cpu, upload(cpu, Type::Int, std::vector<std::int64_t>(n, 1000)));
      numbers.insert(numbers.end(), rest.begin(), rest.end());
      if (expected.empty()) expected = numbers;
      CHECK((numbers == expected));
    }
  }
  CHECK(*std::min_element(expected.begin(), expected.end()) == 0);
  CHECK(*std::max_element(expected.begin(), expected.end()) == 999);

  CpuBackend cpu(options(cvl::cpu::usable_isas().back(), 2));
  CHECK((draw(cpu, constant(Type::Int, 1000, n)) ==
         std::vector<std::int64_t>(expected.begin(), expected.begin() + n)));
}

/// The numbers that bounds below 1000, and the positions as bounds, have in the stream.
template <class I>
void check_stream(Isa isa, int threads) {
  constexpr std::int64_t kLength = 100'003;
  CpuBackend cpu(options(isa, threads, {static_cast<int>(sizeof(I)), 8}));
  std::vector<I> bounds, expected, expected_by_position;
  for (std::int64_t i = 0; i < kLength; ++i) {
    bounds.push_back(static_cast<I>(1 + i * 37 % 1000));
    if (sizeof(I) == 8 && i % 3 == 0) bounds.back() = static_cast<I>(bounds.back() * 0x7000000001);
    const auto drawn = [&](std::uint64_t counter, I bound) {
      return static_cast<I>(
          cvl::draw(cvl::seeded(5).key, counter, static_cast<std::uint64_t>(bound)));
    };
    const auto position = static_cast<std::uint64_t>(i);
    expected.push_back(drawn(position, bounds.back()));
    expected_by_position.push_back(drawn(position, static_cast<I>(i + 1)));
  }
  const auto draw = [&](Value operand) {
    cpu.seed(5);
    Value result;
    cpu.execute(Op::Rand, Type::Int, &operand, &result);
    return download<I>(cpu, result.vector());
  };
  const Value kept(upload(cpu, Type::Int, bounds));
  CHECK((draw(kept) == expected));
  CHECK((draw(upload(cpu, Type::Int, bounds)) == expected));  // in place
  Vector positions;
  positions.type = Type::Int;
  positions.length = kLength;
  positions.form = Form::Progression;
  positions.inline_elements<std::int64_t>()[0] = 1;
  positions.inline_elements<std::int64_t>()[1] = 1;
  CHECK((draw(positions) == expected_by_position));
}

TEST_CASE("RAND draws the stream for bounds in any form", "[random]") {
  for (const Isa isa : cvl::cpu::usable_isas()) {
    for (const int threads : {1, 4}) {
      check_stream<std::int32_t>(isa, threads);
      check_stream<std::int64_t>(isa, threads);
    }
  }
}

TEST_CASE("RAND names the first bad bound and draws nothing", "[random]") {
  CpuBackend cpu(options(cvl::cpu::usable_isas().back(), 2));
  std::vector<std::int64_t> bounds(200'000, 5);
  bounds[150'001] = 0;
  bounds[150'002] = -7;
  bounds[199'999] = -8;
  Value operand(upload(cpu, Type::Int, bounds));
  Value result;
  try {
    cpu.execute(Op::Rand, Type::Int, &operand, &result);
    FAIL("no failure");
  } catch (const cvl::Failure& failure) {
    CHECK(failure.code() == vcode::ErrorCode::RandRange);
    REQUIRE(failure.notes().size() == 1);
    CHECK(failure.notes()[0].find("element 150001 is 0") != std::string::npos);
  }
  CHECK(cpu.random().drawn == 0);
}
