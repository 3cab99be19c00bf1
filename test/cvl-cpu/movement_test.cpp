// Descriptors and the operations that move data: golden values, equal indices, storage reuse,
// failure positions, tile borders, all instruction sets and several thread counts.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl-cpu/segments.hpp"
#include "cvl/failure.hpp"
#include "tuned.hpp"

namespace {

using cvl::Failure;
using cvl::Form;
using cvl::Segdes;
using cvl::Type;
using cvl::Value;
using cvl::Vector;
using cvl::cpu::CpuBackend;
using vcode::ErrorCode;
using vcode::Op;

using Ints = std::vector<std::int32_t>;
using Floats = std::vector<double>;
using Bools = std::vector<std::uint8_t>;

class Library {
 public:
  explicit Library(cvl::cpu::CpuOptions options = {}) : cpu_(options) {}

  CpuBackend& cpu() { return cpu_; }
  Value ints(const Ints& v) { return upload(Type::Int, v); }
  Value floats(const Floats& v) { return upload(Type::Float, v); }
  Value bools(const Bools& v) { return upload(Type::Bool, v); }
  Value segdes(const Ints& lengths) {
    return cvl::make_segdes(cpu_, upload(Type::Int, lengths).vector());
  }
  static Value single(std::int64_t length) { return Segdes::single(length); }

  std::vector<Value> run(Op op, Type type, std::vector<Value> operands) {
    std::vector<Value> results(2);
    cpu_.execute(op, type, operands.data(), results.data());
    return results;
  }
  Value first(Op op, Type type, std::vector<Value> operands) {
    return run(op, type, std::move(operands))[0];
  }
  /// The failure that an operation ends with.
  Failure failure(Op op, Type type, std::vector<Value> operands) {
    try {
      run(op, type, std::move(operands));
    } catch (const Failure& failure) {
      return failure;
    }
    FAIL("the operation did not fail");
    throw;
  }

  template <class T>
  std::vector<T> read(const Value& value) {
    std::vector<T> elements(static_cast<std::size_t>(value.vector().length));
    cpu_.download(value.vector(), 0, value.vector().length, elements.data());
    return elements;
  }
  Ints read_ints(const Value& value) { return read<std::int32_t>(value); }
  Ints read_lengths(const Value& value) {
    return read_ints(cvl::segdes_lengths(cpu_, value.segdes()));
  }

 private:
  template <class T>
  Value upload(Type type, const std::vector<T>& v) {
    return cpu_.upload(type, v.data(), static_cast<std::int64_t>(v.size()));
  }
  CpuBackend cpu_;
};

/// Calls body(library) for every instruction set and 1 to 4 threads.
template <class Body>
void for_configurations(const Body& body) {
  for (const cvl::cpu::Isa isa : cvl::cpu::usable_isas()) {
    for (int threads = 1; threads <= 4; ++threads) {
      cvl::cpu::CpuOptions options;
      options.threads = threads;
      options.isa = isa;
      Library library(options);
      INFO(library.cpu().description());
      body(library);
    }
  }
}

/// Pseudo-random numbers below a bound, the same in every run.
class Numbers {
 public:
  std::int32_t below(std::int64_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int32_t>((state_ >> 33) % static_cast<std::uint64_t>(bound));
  }

 private:
  std::uint64_t state_ = 42;
};

Ints short_segments(std::int64_t total, Numbers& numbers) {
  Ints lengths;
  while (total > 0) {
    lengths.push_back(std::min<std::int32_t>(numbers.below(11), static_cast<std::int32_t>(total)));
    total -= lengths.back();
  }
  return lengths;
}

const Ints kLengths = {2, 0, 3, 1};
const Ints kInts = {5, -2, 4, 4, -1, 7};
const Bools kFlags = {1, 0, 1, 1, 0, 1};
// More than one tile of every operation, and no multiple of anything.
constexpr std::int64_t kMany = 150'001;

}  // namespace

TEST_CASE("golden values of segmented operations") {
  for_configurations([](Library& lib) {
    const Value s = lib.segdes(kLengths);
    const Value z = lib.ints(kInts);
    const Value f = lib.bools(kFlags);
    const auto ints = [&](Op op, std::vector<Value> operands) {
      return lib.read_ints(lib.first(op, Type::Int, std::move(operands)));
    };
    CHECK(ints(Op::Distribute, {lib.ints({10, 20, 30, 40}), s}) == Ints{10, 10, 30, 30, 30, 40});
    CHECK(ints(Op::Index, {lib.ints({0, 5, 1, 9}), lib.ints({1, 1, -2, 3}), s}) ==
          Ints{0, 1, 1, -1, -3, 9});
    CHECK(ints(Op::Permute, {z, lib.ints({1, 0, 2, 0, 1, 0}), s}) == Ints{-2, 5, 4, -1, 4, 7});
    const Value fetched = lib.segdes({3, 0, 2, 1});
    const Value back = lib.ints({0, 1, 0, 2, 2, 0});
    CHECK(ints(Op::BPermute, {z, back, s, fetched}) == Ints{5, -2, 5, -1, -1, 7});
    CHECK(ints(Op::BFPermute, {z, back, lib.bools({1, 0, 1, 1, 0, 1}), s, fetched}) ==
          Ints{5, 0, 5, -1, 0, 7});
    CHECK(ints(Op::FPermute, {z, lib.ints({0, 99, 1, 0, -7, 0}), f, s, lib.segdes({1, 0, 2, 1})}) ==
          Ints{5, 4, 4, 7});
    const Value into = lib.segdes({3, 1, 3, 2});
    const Value blank = lib.ints({100, 101, 102, 103, 104, 105, 106, 107, 108});
    const Value send = lib.ints({2, 0, 1, 1, 0, 1});
    CHECK(ints(Op::DPermute, {z, send, blank, s, into}) ==
          Ints{-2, 101, 5, 103, -1, 4, 106, 107, 7});
    CHECK(ints(Op::DFPermute, {z, send, f, blank, s, into}) ==
          Ints{100, 101, 5, 103, 104, 4, 106, 107, 7});
    const Value full = lib.segdes({2, 1, 2, 1});
    const Value at = lib.ints({1, 0, 1, 0});
    CHECK(ints(Op::Extract, {z, at, full}) == Ints{-2, 4, -1, 7});
    CHECK(ints(Op::Replace, {z, at, lib.ints({-10, -20, -30, -40}), full}) ==
          Ints{5, -10, -20, 4, -30, -40});
    const std::vector<Value> packed = lib.run(Op::Pack, Type::Int, {z, f, s});
    CHECK(lib.read_ints(packed[0]) == Ints{5, 4, 4, 7});
    CHECK(lib.read_lengths(packed[1]) == Ints{1, 0, 2, 1});
  });
}

TEST_CASE("golden values of ranks") {
  for_configurations([](Library& lib) {
    const auto ranks = [&](Op op, const Ints& keys, const Value& s) {
      return lib.read_ints(lib.first(op, Type::Int, {lib.ints(keys), s}));
    };
    const Ints keys = {3, 1, 2, 2, 2, 0};
    CHECK(ranks(Op::RankUp, keys, lib.segdes(kLengths)) == Ints{1, 0, 0, 1, 2, 0});
    CHECK(ranks(Op::RankDown, keys, lib.segdes(kLengths)) == Ints{0, 1, 0, 1, 2, 0});
    CHECK(ranks(Op::RankUp, keys, lib.single(6)) == Ints{5, 1, 2, 3, 4, 0});
    CHECK(ranks(Op::RankDown, keys, lib.single(6)) == Ints{0, 4, 1, 2, 3, 5});
    const Ints more = {3, 1, 2, 1, -5, 3, 0};
    CHECK(ranks(Op::RankUp, more, lib.segdes({3, 0, 4})) == Ints{2, 0, 1, 2, 0, 3, 1});
    CHECK(ranks(Op::RankDown, more, lib.segdes({3, 0, 4})) == Ints{0, 2, 1, 1, 3, 0, 2});
    const Value floats = lib.floats({3, -1, 2, -5, 0, -0.0, 1, 1e300, -1e-300, 0.5});
    CHECK(lib.read_ints(lib.first(Op::RankUp, Type::Float, {floats, lib.single(10)})) ==
          Ints{8, 1, 7, 0, 4, 3, 6, 9, 2, 5});
  });
}

TEST_CASE("descriptors keep their lengths and notice equal ones") {
  Library lib;
  Value lengths = lib.ints({1, 2, 3, 4, 5, 6});
  const cvl::Buffer* storage = lengths.vector().buffer.get();
  const Value s = lib.first(Op::MakeSegdes, Type::Int, {std::move(lengths)});
  CHECK_FALSE(s.segdes().uniform);
  CHECK(s.segdes().total == 21);
  CHECK(lib.first(Op::Lengths, Type::Int, {s}).vector().buffer.get() == storage);

  const Value uniform = lib.segdes({3, 3, 3, 3, 3});
  CHECK(uniform.segdes().uniform);
  CHECK_FALSE(uniform.segdes().tables);
  CHECK(uniform.segdes().total == 15);
  CHECK(lib.read_lengths(uniform) == Ints{3, 3, 3, 3, 3});

  CHECK(lib.segdes({}).segdes().count == 0);
  const auto live = lib.cpu().heap().statistics().live_bytes;
  const Value one = lib.segdes({0});
  CHECK(one.segdes().count == 1);
  CHECK(lib.cpu().heap().statistics().live_bytes == live);
}

TEST_CASE("descriptors over more elements than memory are legal") {
  cvl::cpu::CpuOptions options;
  options.widths.int_bytes = 8;
  Library lib(options);
  const std::int64_t huge[] = {std::int64_t{1} << 62, 5, 7};
  const Value s = cvl::make_segdes(lib.cpu(), lib.cpu().upload(Type::Int, huge, 3));
  CHECK(s.segdes().total == (std::int64_t{1} << 62) + 12);
  const Value per = lib.cpu().upload(Type::Int, huge, 3);
  CHECK(lib.failure(Op::Distribute, Type::Int, {per, s}).code() == ErrorCode::OutOfMemory);
  const Value one = Segdes::single(std::int64_t{1} << 62);
  const Value spread =
      lib.first(Op::Distribute, Type::Int, {cvl::make_int(lib.cpu().widths(), 7), one});
  CHECK(spread.vector().form == Form::Constant);

  const std::int64_t too_many[] = {INT64_MAX, 1};
  CHECK(lib.failure(Op::MakeSegdes, Type::Int, {lib.cpu().upload(Type::Int, too_many, 2)}).code() ==
        ErrorCode::CountOverflow);
}

TEST_CASE("negative lengths are reported with the first position") {
  for_configurations([](Library& lib) {
    const Failure failure =
        lib.failure(Op::MakeSegdes, Type::Int, {lib.ints({1, 2, -3, 4, -5, 6})});
    CHECK(failure.code() == ErrorCode::NegativeLength);
    CHECK(failure.message().find("-3") != std::string::npos);
    CHECK(failure.notes().at(0).find("element 2 ") != std::string::npos);
    CHECK(lib.failure(Op::MakeSegdes, Type::Int, {lib.ints({-1})}).code() ==
          ErrorCode::NegativeLength);
  });
}

TEST_CASE("a length that does not fit INT is reported") {
  Library lib;
  Vector vector;
  vector.form = Form::Constant;
  vector.length = std::int64_t{1} << 31;
  CHECK(lib.failure(Op::Length, Type::Int, {vector}).code() == ErrorCode::CountOverflow);
  CHECK(lib.failure(Op::Lengths, Type::Int, {Segdes::single(vector.length)}).code() ==
        ErrorCode::CountOverflow);
}

TEST_CASE("starts of segments and the search for an element's segment") {
  Numbers numbers;
  for_configurations([&](Library& lib) {
    const Ints lengths = short_segments(kMany * 6, numbers);
    const Value s = lib.segdes(lengths);
    const cvl::cpu::Segments segments(lib.cpu(), s.segdes());
    std::vector<std::int64_t> starts = {0};
    for (const std::int32_t length : lengths) starts.push_back(starts.back() + length);
    bool right = true;
    for (std::size_t k = 0; k <= lengths.size(); ++k) {
      right &= segments.start(static_cast<std::int64_t>(k)) == starts[k];
      if (k < lengths.size()) {
        right &= segments.length(static_cast<std::int64_t>(k)) == lengths[k];
      }
    }
    CHECK(right);
    std::int64_t segment = 0;
    for (std::int64_t i = 0; i < starts.back(); ++i) {
      while (starts[static_cast<std::size_t>(segment) + 1] <= i) ++segment;
      const cvl::cpu::Segments::Place place = segments.place_of(i);
      right &= place.segment == segment &&
               place.start == starts[static_cast<std::size_t>(segment)] &&
               place.end == starts[static_cast<std::size_t>(segment) + 1];
    }
    CHECK(right);
    CHECK(segments.first_from(starts.back()) == segment + 1);
  });
  const std::int64_t starts[] = {0, 2, 2, 5, 6};
  const std::int64_t expected[] = {0, 0, 2, 2, 2, 3};
  for (std::int64_t i = 0; i < 6; ++i) {
    CHECK(cvl::cpu::segment_containing(starts, 4, i) == expected[i]);
  }
}

TEST_CASE("results that need no memory have none") {
  Library lib;
  const Value over = lib.single(1'000'000);
  CHECK(lib.first(Op::Distribute, Type::Int, {lib.ints({7}), over}).vector().form ==
        Form::Constant);
  const Value range = lib.first(Op::Index, Type::Int, {lib.ints({3}), lib.ints({-2}), over});
  CHECK(range.vector().form == Form::Progression);
  CHECK(lib.first(Op::RankUp, Type::Int, {range, over}).vector().length == 1'000'000);

  // A permutation through 0, 1, 2 ... is the vector itself.
  const Value iota = lib.first(Op::Index, Type::Int, {lib.ints({0}), lib.ints({1}), lib.single(6)});
  const Value z = lib.ints(kInts);
  for (const Op op : {Op::Permute, Op::BPermute}) {
    std::vector<Value> operands = {z, iota, lib.single(6)};
    if (op == Op::BPermute) operands.push_back(lib.single(6));
    CHECK(lib.first(op, Type::Int, operands).vector().buffer.get() == z.vector().buffer.get());
  }
}

TEST_CASE("INDEX wraps around") {
  Library lib;
  const Value s = lib.segdes({3, 4});
  CHECK(lib.read_ints(lib.first(Op::Index, Type::Int,
                                {lib.ints({INT32_MAX, INT32_MIN}), lib.ints({1, -1}), s})) ==
        Ints{INT32_MAX, INT32_MIN, INT32_MIN + 1, INT32_MIN, INT32_MAX, INT32_MAX - 1,
             INT32_MAX - 2});
}

TEST_CASE("the highest source position wins among equal indices") {
  Numbers numbers;
  Ints source(kMany), index(kMany), expected(kMany);
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<std::int32_t>(i) + 1;
    index[i] = numbers.below(kMany / 3);
    expected[static_cast<std::size_t>(index[i])] = source[i];
  }
  for_configurations([&](Library& lib) {
    const Value s = lib.single(kMany);
    const std::vector<Value> operands = {lib.ints(source), lib.ints(index), s};
    CHECK(lib.read_ints(lib.first(Op::Permute, Type::Int, operands)) == expected);
    const Value zero = lib.ints(Ints(kMany));
    CHECK(lib.read_ints(lib.first(Op::DPermute, Type::Int,
                                  {operands[0], operands[1], zero, s, s})) == expected);
  });
}

TEST_CASE("defaults are overwritten only when nobody else holds them") {
  Library lib;
  const Value s = lib.single(6);
  const Value index = lib.ints({0, 0, 0, 0, 0, 0});
  const Value held = lib.ints({1, 2, 3, 4, 5, 6});
  CHECK(lib.read_ints(lib.first(Op::DPermute, Type::Int, {lib.ints(kInts), index, held, s, s})) ==
        Ints{7, 2, 3, 4, 5, 6});
  CHECK(lib.read_ints(held) == Ints{1, 2, 3, 4, 5, 6});
  CHECK(
      lib.read_ints(lib.first(Op::Replace, Type::Int, {held, lib.ints({5}), lib.ints({-1}), s})) ==
      Ints{1, 2, 3, 4, 5, -1});
  CHECK(lib.read_ints(held) == Ints{1, 2, 3, 4, 5, 6});
  // The same vector as source and default.
  CHECK(lib.read_ints(
            lib.first(Op::DPermute, Type::Int, {held, lib.ints({5, 4, 3, 2, 1, 0}), held, s, s})) ==
        Ints{6, 5, 4, 3, 2, 1});

  std::vector<Value> operands = {lib.ints(kInts), index, lib.ints({1, 2, 3, 4, 5, 6}), s, s};
  const cvl::Buffer* storage = operands[2].vector().buffer.get();
  Value result;
  lib.cpu().execute(Op::DPermute, Type::Int, operands.data(), &result);
  CHECK(result.vector().buffer.get() == storage);
}

TEST_CASE("wrong indices are reported with the first position, its segment and its length") {
  for_configurations([](Library& lib) {
    const Ints lengths(30'000, 5);
    Ints more = lengths;
    more.front() = 4;
    more.back() = 6;
    Ints index(kMany - 1);
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<std::int32_t>(i % 4);
    index[120'007] = -3;
    index[140'000] = 5;
    const Value source = lib.ints(Ints(kMany - 1));
    for (const Value& s : {lib.segdes(lengths), lib.segdes(more)}) {
      for (const Op op : {Op::Permute, Op::BPermute}) {
        std::vector<Value> operands = {source, lib.ints(index), s};
        if (op == Op::BPermute) operands.push_back(s);
        const Failure failure = lib.failure(op, Type::Int, operands);
        CHECK(failure.code() == ErrorCode::IndexOutOfRange);
        CHECK(failure.message().find("-3") != std::string::npos);
        CHECK(failure.notes().at(0).find("element 120007 ") != std::string::npos);
        CHECK(failure.notes().at(0).find("segment 24001, which has 5 ") != std::string::npos);
      }
    }
    const Value three = lib.segdes({2, 0, 1});
    const Failure failure =
        lib.failure(Op::Extract, Type::Int, {lib.ints({1, 2, 3}), lib.ints({0, 0, 0}), three});
    CHECK(failure.notes().at(0).find("segment 1, which has 0 ") != std::string::npos);
    CHECK(lib.failure(Op::Replace, Type::Int,
                      {lib.ints({1}), lib.ints({1}), lib.ints({0}), lib.single(1)})
              .code() == ErrorCode::IndexOutOfRange);
    // An empty destination segment between the parts that threads take.
    Ints from(kMany);
    from[75'000] = 1;
    const Value own = lib.segdes({75'000, 1, 75'000});
    const Value into = lib.segdes({75'000, 0, 75'000});
    CHECK(
        lib.failure(Op::FPermute, Type::Int,
                    {lib.ints(from), lib.ints(Ints(kMany)), lib.bools(Bools(kMany, 1)), own, into})
            .notes()
            .at(0)
            .find("element 75000 ") != std::string::npos);
  });
}

TEST_CASE("a failed operation changes nothing that others hold") {
  Library lib;
  const Value held = lib.ints({1, 2, 3, 4, 5, 6});
  const Value s = lib.single(6);
  lib.failure(Op::DPermute, Type::Int, {lib.ints(kInts), lib.ints({0, 1, 2, 3, 4, 6}), held, s, s});
  CHECK(lib.read_ints(held) == Ints{1, 2, 3, 4, 5, 6});
}

TEST_CASE("segments across the borders of blocks and tiles") {
  Numbers numbers;
  std::vector<Ints> cases;
  cases.push_back(short_segments(kMany, numbers));
  cases.push_back({16'383, 2, 0, 0, 16'384, 1, 100'000, 17'231});
  cases.push_back(Ints(kMany / 2, 1));
  cases.back().push_back(kMany - kMany / 2);
  cases.push_back(Ints(1'000, 0));
  cases.back().push_back(kMany);
  cases.back().resize(3'000, 0);
  for (const Ints& lengths : cases) {
    Ints values, steps, reversed, distributed, indices, packed_lengths, ranks;
    Ints source(kMany), sent(kMany);
    Bools flags;
    std::size_t position = 0;
    for (std::int32_t& element : source) element = numbers.below(1 << 30);
    for (std::size_t k = 0; k < lengths.size(); ++k) {
      values.push_back(numbers.below(1'000));
      steps.push_back(numbers.below(10) - 5);
      packed_lengths.push_back(0);
      const std::int32_t length = lengths[k];
      for (std::int32_t i = 0; i < length; ++i, ++position) {
        distributed.push_back(values[k]);
        indices.push_back(values[k] + i * steps[k]);
        reversed.push_back(length - 1 - i);
        flags.push_back(static_cast<std::uint8_t>(numbers.below(2)));
        packed_lengths.back() += flags.back();
        sent[position - static_cast<std::size_t>(i) + static_cast<std::size_t>(reversed.back())] =
            source[position];
      }
    }
    Ints packed;
    for (std::size_t i = 0; i < source.size(); ++i) {
      if (flags[i] != 0) packed.push_back(source[i]);
    }
    for_configurations([&](Library& lib) {
      const Value s = lib.segdes(lengths);
      const auto ints = [&](Op op, std::vector<Value> operands) {
        return lib.read_ints(lib.first(op, Type::Int, std::move(operands)));
      };
      CHECK(ints(Op::Distribute, {lib.ints(values), s}) == distributed);
      CHECK(ints(Op::Index, {lib.ints(values), lib.ints(steps), s}) == indices);
      CHECK(ints(Op::Permute, {lib.ints(source), lib.ints(reversed), s}) == sent);
      CHECK(ints(Op::BPermute, {lib.ints(source), lib.ints(reversed), s, s}) == sent);
      const auto result = lib.run(Op::Pack, Type::Int, {lib.ints(source), lib.bools(flags), s});
      CHECK(lib.read_ints(result[0]) == packed);
      CHECK(lib.read_lengths(result[1]) == packed_lengths);
      // Sending elements to their ranks sorts each segment.
      for (const Op op : {Op::RankUp, Op::RankDown}) {
        const Value rank = lib.first(op, Type::Int, {lib.ints(source), s});
        const Ints sorted = ints(Op::Permute, {lib.ints(source), rank, s});
        Ints expected = source;
        auto at = expected.begin();
        for (const std::int32_t length : lengths) {
          if (op == Op::RankUp) {
            std::sort(at, at + length);
          } else {
            std::sort(at, at + length, std::greater<>());
          }
          at += length;
        }
        CHECK(sorted == expected);
        CHECK(ints(op == Op::RankUp ? Op::SortUp : Op::SortDown, {lib.ints(source), s}) ==
              expected);
      }
    });
  }
}

TEST_CASE("indices that follow each other, for a while") {
  // Slices from anywhere to anywhere, single steps off them, flags that interrupt them, and indices
  // that begin at 0 behind elements that go nowhere.
  Numbers numbers;
  constexpr std::int32_t kLength = 20'000;
  Ints source(kMany), base(kLength), index;
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::int32_t>(i) + 1;
  for (std::size_t i = 0; i < base.size(); ++i) base[i] = -1 - static_cast<std::int32_t>(i);
  Bools flags;
  while (index.size() < source.size()) {
    const std::int32_t length = 1 + numbers.below(300);
    const std::int32_t first = numbers.below(3) == 0 ? 0 : numbers.below(kLength - length);
    const std::int32_t odd = numbers.below(2 * length);
    for (std::int32_t i = -numbers.below(3); i < length && index.size() < source.size(); ++i) {
      index.push_back(std::max(first + i + (i == odd ? 1 : 0), 0));
      flags.push_back(i >= 0 && (numbers.below(3) != 0 || first % 2 == 0) ? 1 : 0);
    }
  }
  Ints sent = base, flagged = base, fetched, masked;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto at = static_cast<std::size_t>(index[i]);
    sent[at] = source[i];
    if (flags[i] != 0) flagged[at] = source[i];
    fetched.push_back(base[at]);
    masked.push_back(flags[i] != 0 ? base[at] : 0);
  }
  for_configurations([&](Library& lib) {
    const Value from = lib.single(kMany);
    const Value to = lib.single(kLength);
    const auto ints = [&](Op op, std::vector<Value> operands) {
      return lib.read_ints(lib.first(op, Type::Int, std::move(operands)));
    };
    const Value s = lib.ints(source), i = lib.ints(index), f = lib.bools(flags), b = lib.ints(base);
    CHECK(ints(Op::DPermute, {s, i, b, from, to}) == sent);
    CHECK(ints(Op::DFPermute, {s, i, f, b, from, to}) == flagged);
    CHECK(ints(Op::BPermute, {b, i, to, from}) == fetched);
    CHECK(ints(Op::BFPermute, {b, i, f, to, from}) == masked);
  });
}

TEST_CASE("ranks of long vectors are stable") {
  Numbers numbers;
  Ints keys(kMany);
  // Few values far apart, a narrow range that can be counted, all numbers, multiples of a power of
  // two, and two fields with constant bits between them.
  const int style = GENERATE(range(0, 5));
  for (std::int32_t& key : keys) {
    const std::int32_t choices[] = {
        numbers.below(50) * 70'001 - 1'000'000, numbers.below(1000) + 2'147'482'000,
        static_cast<std::int32_t>(2654435769u * static_cast<std::uint32_t>(numbers.below(1 << 30))),
        numbers.below(2000) * 4096 - 3'000'000, numbers.below(5) * (1 << 28) + numbers.below(3)};
    key = choices[style];
  }
  CAPTURE(style);
  std::vector<std::int32_t> order(kMany);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  Ints expected(kMany);
  for (std::size_t i = 0; i < order.size(); ++i) {
    expected[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  }
  const Floats floats(keys.begin(), keys.end());
  for_configurations([&](Library& lib) {
    const Value s = lib.single(kMany);
    CHECK(lib.read_ints(lib.first(Op::RankUp, Type::Int, {lib.ints(keys), s})) == expected);
    CHECK(lib.read_ints(lib.first(Op::RankUp, Type::Float, {lib.floats(floats), s})) == expected);
  });
}

TEST_CASE("characters become their codes") {
  for (const std::int64_t size :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{4}, std::int64_t{5}, kMany}) {
    const auto length = static_cast<std::size_t>(size);
    std::string text(length, ' ');
    for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>(i * 7 + 200);
    for_configurations([&](Library& lib) {
      const Ints codes = lib.read_ints(lib.cpu().upload_characters(text));
      CHECK(std::equal(
          codes.begin(), codes.end(), text.begin(), text.end(),
          [](std::int32_t code, char c) { return code == static_cast<unsigned char>(c); }));
    });
  }
  cvl::cpu::CpuOptions wide;
  wide.widths.int_bytes = 8;
  CpuBackend cpu(wide);
  const Vector codes = cpu.upload_characters(std::string("a\0\xff", 3));
  std::int64_t numbers[3];
  cpu.download(codes, 0, 3, numbers);
  CHECK((numbers[0] == 'a' && numbers[1] == 0 && numbers[2] == 255));
}

TEST_CASE("long segments among others that are in order or have few keys") {
  Ints keys, ranks;
  for (std::int32_t i = 0; i < 100'000; ++i) keys.push_back(i / 3);
  for (std::int32_t i = 0; i < 100'000; ++i) ranks.push_back(i);
  for (const std::int32_t key : {5, 1, 3}) keys.push_back(key);
  for (const std::int32_t rank : {2, 0, 1}) ranks.push_back(rank);
  // Another with so few keys that they are counted: first the even positions, then the odd ones.
  for (std::int32_t i = 0; i < 100'000; ++i) keys.push_back(i % 2);
  for (std::int32_t i = 0; i < 100'000; ++i) ranks.push_back(i / 2 + i % 2 * 50'000);
  for_configurations([&](Library& lib) {
    const Value s = lib.segdes({100'000, 3, 100'000});
    CHECK(lib.read_ints(lib.first(Op::RankUp, Type::Int, {lib.ints(keys), s})) == ranks);
  });
}

TEST_CASE("packing keeps elements of every size in order") {
  // Around the cache, a block of elements is gathered before whole lines are written.
  const tuned::Scope scope(
      GENERATE(as<std::string>(), "usual", "least_streamed_bytes=0,streamed_bytes=0"));
  Numbers numbers;
  for (const std::int64_t n : {1, 7, 16, 63, 64, 65, 511, 513, 20'000}) {
    for (const int chance : {1, 2, 20}) {
      Bools flags, bools, packed_bools;
      Floats floats, packed_floats;
      for (std::int64_t i = 0; i < n; ++i) {
        flags.push_back(numbers.below(chance) == 0);
        bools.push_back(static_cast<std::uint8_t>(numbers.below(2)));
        floats.push_back(static_cast<double>(i) + 0.5);
        if (flags.back() == 0) continue;
        packed_bools.push_back(bools.back());
        packed_floats.push_back(floats.back());
      }
      for_configurations([&](Library& lib) {
        const Value s = lib.single(n);
        auto result = lib.run(Op::Pack, Type::Float, {lib.floats(floats), lib.bools(flags), s});
        CHECK(lib.read<double>(result[0]) == packed_floats);
        CHECK(result[1].segdes().total == static_cast<std::int64_t>(packed_floats.size()));
        result = lib.run(Op::Pack, Type::Bool, {lib.bools(bools), lib.bools(flags), s});
        CHECK(lib.read<std::uint8_t>(result[0]) == packed_bools);
      });
    }
  }
}
