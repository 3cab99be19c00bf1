// How many launches and waits each operation costs, on the emulated device, which runs the same
// host code as a real one, and on a real one. The bounds are those of docs/cuda.md.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "cuda/under_test.hpp"
#include "cvl-cuda/tuning.hpp"
#include "cvl/check.hpp"

namespace {

using cvl::Segdes;
using cvl::Value;
using cvl::Vector;
using vcode::Op;
using vcode::Type;

constexpr std::int64_t kLong = 50000;

class Fixture {
 public:
  Fixture() : backend_(make_under_test()) {}

  cvl::Backend& backend() { return *backend_; }

  Vector ints(std::int64_t length, std::int32_t modulus) {
    std::vector<std::int32_t> elements(static_cast<std::size_t>(length));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = static_cast<std::int32_t>(i * 7919 % static_cast<std::size_t>(modulus));
    }
    return backend_->upload(Type::Int, elements.data(), length);
  }
  Vector ones(std::int64_t length) {
    const std::vector<std::int32_t> elements(static_cast<std::size_t>(length), 1);
    return backend_->upload(Type::Int, elements.data(), length);
  }
  Vector floats(std::int64_t length) {
    std::vector<double> elements(static_cast<std::size_t>(length), 0.5);
    return backend_->upload(Type::Float, elements.data(), length);
  }
  Vector flags(std::int64_t length) {
    std::vector<std::uint8_t> elements(static_cast<std::size_t>(length));
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = i % 3 == 0;
    return backend_->upload(Type::Bool, elements.data(), length);
  }
  Vector iota(std::int64_t length) {
    std::vector<std::int32_t> elements(static_cast<std::size_t>(length));
    std::iota(elements.begin(), elements.end(), 0);
    return backend_->upload(Type::Int, elements.data(), length);
  }
  /// kLong elements in segments of 0, 1, 2, 3, 4, 0, ... elements; its tables are made.
  Segdes general() {
    std::vector<std::int32_t> lengths;
    for (std::int64_t left = kLong, k = 0; left > 0; ++k) {
      const auto length = static_cast<std::int32_t>(std::min<std::int64_t>(left, k % 5));
      lengths.push_back(length);
      left -= length;
    }
    return cvl::make_segdes(*backend_, backend_->upload(Type::Int, lengths.data(),
                                                        static_cast<std::int64_t>(lengths.size())));
  }

  struct Cost {
    std::uint64_t launches, waits, copies;
  };
  /// What one operation costs, and its results in `results`.
  Cost cost(Op op, Type type, std::vector<Value> operands) {
    cvl::check_operands(vcode::info(op), type, operands.data(), true);
    const cvl::DeviceCounters before = backend_->counters();
    backend_->execute(op, type, operands.data(), results);
    const cvl::DeviceCounters after = backend_->counters();
    return {after.launches - before.launches, after.waits - before.waits,
            after.uploads - before.uploads + after.downloads - before.downloads};
  }

 private:
  std::unique_ptr<cvl::Backend> backend_;

 public:
  Value results[vcode::kMaxResults];  // must go before the library
};

void check(const Fixture::Cost& cost, std::uint64_t launches, std::uint64_t waits) {
  CHECK(cost.launches == launches);
  CHECK(cost.waits == waits);
  CHECK(cost.copies == 0);
}

}  // namespace

TEST_CASE("elementwise operations take one launch") {
  Fixture f;
  const Vector a = f.ints(kLong, 1000);
  check(f.cost(Op::Add, Type::Int, {a, a}), 1, 0);
  check(f.cost(Op::Divide, Type::Int, {a, f.ones(kLong)}), 1, 0);
  check(f.cost(Op::Select, Type::Int, {f.flags(kLong), a, a}), 1, 0);
  check(f.cost(Op::Exp, Type::Int, {f.floats(kLong)}), 1, 0);
  check(f.cost(Op::Rand, Type::Int, {f.ones(kLong)}), 1, 0);
}

TEST_CASE("constants and index ranges cost nothing and are read as they are") {
  Fixture f;
  const Segdes single = Segdes::single(kLong);
  check(f.cost(Op::Distribute, Type::Int, {cvl::make_int({}, 3), single}), 0, 0);
  const Vector constant = f.results[0].vector();
  CHECK(constant.form == cvl::Form::Constant);
  check(f.cost(Op::Index, Type::Int, {cvl::make_int({}, 3), cvl::make_int({}, 2), single}), 0, 0);
  const Vector range = f.results[0].vector();
  CHECK(range.form == cvl::Form::Progression);
  check(f.cost(Op::Multiply, Type::Int, {range, constant}), 1, 0);
  check(f.cost(Op::AddReduce, Type::Int, {range, single}), 1, 0);
  check(f.cost(Op::Add, Type::Int, {constant, constant}), 0, 0);
}

TEST_CASE("scans take one launch") {
  Fixture f;
  const Vector a = f.ints(kLong, 1000);
  const Segdes single = Segdes::single(kLong);
  const Segdes general = f.general();
  check(f.cost(Op::AddScan, Type::Int, {a, single}), 1, 0);
  check(f.cost(Op::MaxScan, Type::Float, {f.floats(kLong), single}), 1, 0);
  check(f.cost(Op::AddScan, Type::Float, {f.floats(kLong), single}), 1, 0);
  check(f.cost(Op::AddScan, Type::Int, {a, general}), 1, 0);
  check(f.cost(Op::AddScan, Type::Float, {f.floats(kLong), general}), 1, 0);
}

TEST_CASE("reductions take one launch; their result waits until it is asked for") {
  Fixture f;
  const Vector a = f.ints(kLong, 1000);
  const Segdes general = f.general();
  check(f.cost(Op::AddReduce, Type::Float, {f.floats(kLong), general}), 1, 0);
  check(f.cost(Op::MaxReduce, Type::Int, {a, Segdes::single(kLong)}), 1, 0);
  const Value maximum = f.results[0];
  // Not yet known, so what depends on it stays on the device ...
  check(f.cost(Op::Add, Type::Int, {maximum, maximum}), 1, 0);
  // ... and once it is, goes on on the host.
  const cvl::DeviceCounters before = f.backend().counters();
  CHECK(cvl::read_int(f.backend(), maximum.vector()) == 999);
  CHECK(f.backend().counters().waits == before.waits + 1);
  CHECK(f.backend().counters().downloads == before.downloads);
  check(f.cost(Op::Add, Type::Int, {maximum, maximum}), 0, 0);
  CHECK(cvl::read_int(f.backend(), f.results[0].vector()) == 1998);
}

TEST_CASE("descriptors") {
  Fixture f;
  const Segdes general = f.general();
  check(f.cost(Op::Lengths, Type::Int, {general}), 0, 0);
  const Value lengths = f.results[0];
  // Lengths that came from a descriptor lead back to it; others cost a wait for the total.
  check(f.cost(Op::MakeSegdes, Type::Int, {lengths}), 0, 0);
  CHECK(f.results[0].segdes().tables.get() == general.tables.get());
  check(f.cost(Op::MakeSegdes, Type::Int, {f.ints(kLong, 10)}), 1, 1);
  check(f.cost(Op::Lengths, Type::Int, {Segdes::regular(kLong, 3)}), 0, 0);
  check(f.cost(Op::MakeSegdes, Type::Int, {f.results[0]}), 0, 0);
  check(f.cost(Op::Length, Type::Int, {f.ints(kLong, 10)}), 0, 0);
}

TEST_CASE("distribution over many segments takes one launch") {
  Fixture f;
  const Segdes general = f.general();
  const Vector values = f.ints(general.count, 100);
  check(f.cost(Op::Distribute, Type::Int, {values, general}), 1, 0);
  check(f.cost(Op::Index, Type::Int, {values, values, general}), 1, 0);
  check(f.cost(Op::Distribute, Type::Int, {f.ints(kLong / 2, 9), Segdes::regular(kLong / 2, 2)}), 1,
        0);
}

TEST_CASE("permutations take one launch") {
  Fixture f;
  const Segdes single = Segdes::single(kLong);
  const Vector a = f.ints(kLong, 1000);
  check(f.cost(Op::BPermute, Type::Int, {a, f.iota(kLong), single, single}), 1, 0);
  check(f.cost(Op::Permute, Type::Int, {a, f.iota(kLong), single}), 1, 0);
  check(f.cost(Op::DPermute, Type::Int, {a, f.iota(kLong), a, single, single}), 1, 0);
  check(f.cost(Op::FPermute, Type::Int, {a, f.iota(kLong), f.flags(kLong), single, single}), 1, 0);
  check(f.cost(Op::DFPermute, Type::Int, {a, f.iota(kLong), f.flags(kLong), a, single, single}), 1,
        0);
  const Segdes pairs = Segdes::regular(kLong / 2, 2);
  const Vector zero = f.ints(kLong / 2, 1);
  check(f.cost(Op::Extract, Type::Int, {a, zero, pairs}), 1, 0);
  // In place when nobody else has the vector, else into a copy that is made by the same launch.
  std::vector<Value> operands(4);
  operands[0] = f.ints(kLong, 5);
  operands[1] = operands[2] = zero;
  operands[3] = pairs;
  check(f.cost(Op::Replace, Type::Int, std::move(operands)), 1, 0);
  check(f.cost(Op::Replace, Type::Int, {a, zero, zero, pairs}), 1, 0);
}

TEST_CASE("what is sent along a known route goes where a new route would lead") {
  Fixture f;
  const Segdes single = Segdes::single(kLong);
  const Segdes half = Segdes::single(kLong / 2);
  const Vector defaults = f.ints(kLong / 2, 10);
  const auto result = [&] {
    const Vector& vector = f.results[0].vector();
    std::vector<std::int32_t> elements(static_cast<std::size_t>(vector.length));
    f.backend().download(vector, 0, vector.length, elements.data());
    return elements;
  };
  // Most targets are hit twice, some never.
  const auto index = [&] { return f.ints(kLong, kLong / 2 - 3); };
  const Vector known = index(), first = f.ints(kLong, 1000), second = f.ints(kLong, 77);
  check(f.cost(Op::DPermute, Type::Int, {first, known, defaults, single, half}), 1, 0);
  check(f.cost(Op::DPermute, Type::Int, {second, known, defaults, single, half}), 1, 0);
  const std::vector<std::int32_t> sent = result();
  f.cost(Op::DPermute, Type::Int, {second, index(), defaults, single, half});
  CHECK(sent == result());
  // Flags make it another route.
  f.cost(Op::DFPermute, Type::Int, {second, known, f.flags(kLong), defaults, single, half});
  CHECK(sent != result());

  // Ranks are a route without collisions, under the descriptor that they were made for.
  const Segdes general = f.general();
  f.cost(Op::RankUp, Type::Int, {first, general});
  const Vector ranks = f.results[0].vector();
  check(f.cost(Op::Permute, Type::Int, {second, ranks, general}), 1, 0);
  const std::vector<std::int32_t> sorted = result();
  std::vector<std::int32_t> copy(static_cast<std::size_t>(kLong));
  f.backend().download(ranks, 0, kLong, copy.data());
  const Vector ranks_copy = f.backend().upload(Type::Int, copy.data(), kLong);
  f.cost(Op::Permute, Type::Int, {second, ranks_copy, general});
  CHECK(sorted == result());
}

TEST_CASE("packs take one launch and wait once per set of flags") {
  Fixture f;
  const Segdes general = f.general();
  const Vector a = f.ints(kLong, 1000);
  const Vector flags = f.flags(kLong);
  // The second launch moves the result to a smaller block.
  check(f.cost(Op::Pack, Type::Int, {a, flags, general}), 2, 1);
  check(f.cost(Op::Pack, Type::Int, {a, flags, general}), 1, 0);
  check(f.cost(Op::Pack, Type::Float, {f.floats(kLong), flags, Segdes::single(kLong)}), 2, 1);
}

TEST_CASE("a few elements travel with the kernel") {
  Fixture f;
  const std::vector<std::int32_t> lengths = {7, 1, static_cast<std::int32_t>(kLong) - 11, 3};
  const Segdes four =
      cvl::make_segdes(f.backend(), f.backend().upload(Type::Int, lengths.data(), 4));
  const Vector values = f.ints(4, 100);
  check(f.cost(Op::Distribute, Type::Int, {values, four}), 1, 0);
  check(f.cost(Op::AddScan, Type::Int, {f.results[0], four}), 1, 0);
  check(f.cost(Op::Extract, Type::Int, {f.results[0], f.ints(4, 1), four}), 1, 0);
  // More than a few segments that the host knows: their starts are copied, once.
  const Segdes some = cvl::make_segdes(f.backend(), f.ints(100, 999));
  const Vector elements = f.ints(some.total, 10);
  const Fixture::Cost first = f.cost(Op::AddScan, Type::Int, {elements, some});
  CHECK(first.launches == 1);
  CHECK(first.copies == 1);
  check(f.cost(Op::AddScan, Type::Int, {elements, some}), 1, 0);
}

TEST_CASE("ranks of few elements take one launch") {
  Fixture f;
  const std::int64_t length = 1500;  // too many for the host
  check(f.cost(Op::RankUp, Type::Int, {f.ints(length, 1000), Segdes::single(length)}), 1, 0);
  check(f.cost(Op::RankDown, Type::Float, {f.floats(length), Segdes::regular(300, 5)}), 1, 0);
}

TEST_CASE("ranks take launches that do not depend on the segments") {
  Fixture f;
  const Vector a = f.ints(kLong, 1000);
  // Keys, sort, places; the sort counts as one here and as one per eight bits on a device.
  const Segdes general = f.general();
#if defined(CUDA_TEST_DEVICE)
  const auto sort = [](std::uint64_t bits) { return 2 + (bits + 7) / 8; };
#else
  const auto sort = [](std::uint64_t) { return std::uint64_t{1}; };
#endif
  const auto segment_bits =
      static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(general.count - 1)));
  check(f.cost(Op::RankUp, Type::Int, {a, Segdes::single(kLong)}), 2 + sort(32), 0);
  check(f.cost(Op::RankDown, Type::Int, {a, general}), 2 + sort(32 + segment_bits), 0);
  check(f.cost(Op::RankUp, Type::Float, {f.floats(kLong), general}),
        4 + sort(64) + sort(segment_bits), 0);
}

TEST_CASE("ranks of many INTs sort the bits in which keys differ") {
  Fixture f;
  const Vector a = f.ints(kLong, 1000);
  const auto usual = cvl::cuda::tuning.narrowed_keys;
  cvl::cuda::tuning.narrowed_keys = kLong;
  // Least, greatest, and a wait for them come first.
#if defined(CUDA_TEST_DEVICE)
  const std::uint64_t sort_of_10_bits = 2 + 2;
#else
  const std::uint64_t sort_of_10_bits = 1;
#endif
  const Fixture::Cost cost = f.cost(Op::RankUp, Type::Int, {a, Segdes::single(kLong)});
  cvl::cuda::tuning.narrowed_keys = usual;
  CHECK(cost.launches == 2 + 2 + sort_of_10_bits);
  CHECK(cost.waits == 1);
}

TEST_CASE("a small result is copied to device memory once, for all long launches that read it") {
  Fixture f;
  const Segdes segments = Segdes::regular(500, kLong / 500);
  f.cost(Op::AddReduce, Type::Int, {f.ints(kLong, 1000), segments});
  const Vector sums = f.results[0].vector();
  // Short launches read it where it is.
  check(f.cost(Op::Add, Type::Int, {sums, sums}), 1, 0);
  check(f.cost(Op::Distribute, Type::Int, {sums, Segdes::regular(500, 4)}), 1, 0);
  check(f.cost(Op::Distribute, Type::Int, {sums, segments}), 2, 0);
  check(f.cost(Op::Distribute, Type::Int, {sums, segments}), 1, 0);
  const Vector spread = f.results[0].vector();
  std::vector<std::int32_t> expected(500), last(1);
  f.backend().download(sums, 0, 500, expected.data());
  f.backend().download(spread, kLong - 1, 1, last.data());
  CHECK(last[0] == expected.back());
}

TEST_CASE("what is written over a small result is copied anew") {
  Fixture f;
  const Segdes segments = Segdes::regular(500, kLong / 500);
  f.cost(Op::AddReduce, Type::Int, {f.ones(kLong), segments});
  Vector sums = std::move(f.results[0].vector());
  f.results[0] = Value();
  check(f.cost(Op::Distribute, Type::Int, {sums, segments}), 2, 0);
  std::vector<Value> operands = {std::move(sums), f.ones(500)};
  f.backend().execute(Op::Add, Type::Int, operands.data(), f.results);  // in the same memory
  operands.clear();
  const Vector more = f.results[0].vector();
  check(f.cost(Op::Distribute, Type::Int, {more, segments}), 2, 0);
  std::int32_t last = 0;
  f.backend().download(f.results[0].vector(), kLong - 1, 1, &last);
  CHECK(last == kLong / 500 + 1);
}

TEST_CASE("small vectors never reach the device") {
  Fixture f;
  const Vector a = f.ints(100, 50);
  const Segdes parts = Segdes::regular(10, 10);
  check(f.cost(Op::Add, Type::Int, {a, a}), 0, 0);
  check(f.cost(Op::AddScan, Type::Int, {a, parts}), 0, 0);
  check(f.cost(Op::RankUp, Type::Int, {a, parts}), 0, 0);
  check(f.cost(Op::Pack, Type::Int, {a, f.flags(100), parts}), 0, 0);
}

TEST_CASE("a steady state takes no memory from the device", "[steady]") {
  Fixture f;
  const Vector a = f.ints(kLong, 1000);
  const Segdes general = f.general();
  const auto round = [&] {
    f.cost(Op::AddScan, Type::Int, {a, general});
    f.cost(Op::RankUp, Type::Int, {a, general});
    f.cost(Op::Permute, Type::Int, {a, f.iota(kLong), Segdes::single(kLong)});
    f.cost(Op::Pack, Type::Int, {a, f.flags(kLong), general});
    f.cost(Op::AddReduce, Type::Int, {a, general});
  };
  for (int k = 0; k < 5; ++k) round();
  const std::size_t held = f.backend().heap().statistics().held_bytes;
  for (int k = 0; k < 5; ++k) round();
  CHECK(f.backend().heap().statistics().held_bytes == held);
}
