// What blocks tell each other: chained scans, chains in order, tickets, arrivals, winners of
// permutations, the record of failures. Small blocks, a thread of the host for each thread.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cuda/failure_sink.hpp"
#include "cvl-cuda/kernels.hpp"
#include "cvl-cuda/kernels/ordered_chain.hpp"
#include "cvl-cuda/launch.hpp"

namespace cvl::cuda::threads {
namespace {

constexpr Widths kWidths{8, 8};
constexpr int kThreads = shape::kThreads;

/// Scratch memory of a call, full of what one before left there.
class Scratch {
 public:
  Scratch(std::int64_t words, std::int64_t value_bytes)
      : words_(static_cast<std::size_t>(words), std::uint64_t{kEpoch << 2 | 1} << 32 | 0x5A),
        values_(static_cast<std::size_t>(value_bytes), std::byte{0x5A}) {}

  Workspace next() {
    Workspace workspace;
    workspace.words = {words_.data(), static_cast<std::int64_t>(words_.size())};
    workspace.values = values_.data();
    workspace.counters = counters_;
    workspace.epoch = ++epoch_;
    return workspace;
  }
  bool counters_are_zero() const { return counters_[0] == 0 && counters_[1] == 0; }

 private:
  static constexpr std::uint32_t kEpoch = 7;
  std::uint32_t epoch_ = kEpoch;
  std::vector<std::uint64_t> words_;
  std::vector<std::byte> values_;
  std::uint32_t counters_[kWorkspaceCounters] = {};
};

template <class T>
RawSource source(const std::vector<T>& elements) {
  RawSource result;
  result.data = elements.data();
  result.length = static_cast<std::int64_t>(elements.size());
  return result;
}

Segments one_segment(std::int64_t n) {
  Segments result;
  result.uniform = true;
  result.count = 1;
  result.total = n;
  result.uniform_length = n;
  return result;
}

std::vector<std::int64_t> numbers(std::int64_t n) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) result[static_cast<std::size_t>(k)] = k * 7919 % 101 - 50;
  return result;
}

/// Segments of 0, 1, 2, ... 9, 0, ... elements, `n` in all: their starts.
std::vector<std::int64_t> starts_of(std::int64_t n) {
  std::vector<std::int64_t> starts{0};
  for (std::int64_t k = 0; starts.back() < n; ++k) {
    starts.push_back(std::min(n, starts.back() + k % 10));
  }
  return starts;
}
Segments segments(const std::vector<std::int64_t>& starts) {
  Segments result;
  result.uniform = false;
  result.count = static_cast<std::int64_t>(starts.size()) - 1;
  result.total = starts.back();
  result.offsets = {starts.data(), static_cast<std::int64_t>(starts.size())};
  return result;
}

FoldCall fold(Op op, Type type, const RawSource& operand, const Segments& segments, void* out) {
  return {op, type, kWidths, operand, segments, out};
}

TEST_CASE("scans: tiles look back, and in order where sums round") {
  Device device(0);
  const std::int64_t n = 2000;
  const std::vector<std::int64_t> ints = numbers(n);
  const std::vector<double> floats(ints.begin(), ints.end());
  const std::vector<std::int64_t> starts = starts_of(n);
  for (const bool segmented : {false, true}) {
    const Segments shape = segmented ? segments(starts) : one_segment(n);
    const std::int64_t tiles = fold_tiles(n, segmented ? shape.count : 0);
    Scratch scratch(scan_words(tiles), 0);
    std::vector<std::int64_t> expected(ints.size());
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
      const auto begin = ints.begin() + starts[s], end = ints.begin() + starts[s + 1];
      if (segmented) std::exclusive_scan(begin, end, expected.begin() + starts[s], std::int64_t{0});
    }
    if (!segmented)
      std::exclusive_scan(ints.begin(), ints.end(), expected.begin(), std::int64_t{0});
    for (int round = 0; round < 2; ++round) {
      std::vector<std::int64_t> sums(ints.size());
      launch_scan(device, fold(Op::AddScan, Type::Int, source(ints), shape, sums.data()),
                  scratch.next());
      CHECK(sums == expected);
      std::vector<double> float_sums(ints.size());
      launch_scan(device, fold(Op::AddScan, Type::Float, source(floats), shape, float_sums.data()),
                  scratch.next());
      CHECK(float_sums == std::vector<double>(expected.begin(), expected.end()));
    }
    CHECK(scratch.counters_are_zero());
  }
}

TEST_CASE("reductions: the last block sees what all have written") {
  Device device(0);
  const std::int64_t n = 20000;
  const std::vector<std::int64_t> ints = numbers(n);
  const std::vector<std::int64_t> starts = starts_of(1500);
  const FoldCall flat = fold(Op::AddReduce, Type::Int, source(ints), one_segment(n), nullptr);
  const FoldCall cut = fold(Op::AddReduce, Type::Int, source(ints), segments(starts), nullptr);
  Scratch scratch(0, std::max(reduce_bytes(flat), reduce_bytes(cut)));
  for (int round = 0; round < 3; ++round) {
    FoldCall call = flat;
    std::int64_t sum = 0;
    call.out = &sum;
    launch_reduce(device, call, scratch.next());
    CHECK(sum == std::accumulate(ints.begin(), ints.end(), std::int64_t{0}));
    call = cut;
    std::vector<std::int64_t> sums(starts.size() - 1), expected;
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
      expected.push_back(
          std::accumulate(ints.begin() + starts[s], ints.begin() + starts[s + 1], std::int64_t{0}));
    }
    call.out = sums.data();
    launch_reduce(device, call, scratch.next());
    CHECK(sums == expected);
  }
  CHECK(scratch.counters_are_zero());
}

TEST_CASE("packs and starts of segments") {
  Device device(0);
  const std::int64_t n = 1500;
  const std::vector<std::int64_t> ints = numbers(n);
  std::vector<std::uint8_t> flags(ints.size());
  std::vector<std::int64_t> expected;
  for (std::size_t k = 0; k < ints.size(); ++k) {
    flags[k] = ints[k] % 3 == 0;
    if (flags[k] != 0) expected.push_back(ints[k]);
  }
  Scratch scratch(scan_words(fold_tiles(n, 0)), 0);
  std::vector<std::int64_t> packed(ints.size());
  std::int64_t kept = -1;
  launch_pack(device,
              {8, source(ints), source(flags), one_segment(n), packed.data(), n, nullptr, &kept},
              scratch.next());
  packed.resize(static_cast<std::size_t>(kept));
  CHECK(packed == expected);

  std::vector<std::int64_t> lengths(ints.size()), offsets(ints.size() + 1);
  for (std::size_t k = 0; k < lengths.size(); ++k) lengths[k] = ints[k] + 50;
  std::vector<std::int64_t> starts(1, 0);
  for (const std::int64_t length : lengths) starts.push_back(starts.back() + length);
  std::int64_t total = -1;
  launch_offsets(device, {kWidths, source(lengths), n, offsets.data(), &total, {}}, scratch.next());
  CHECK(offsets == starts);
  CHECK(total == starts.back());
  CHECK(scratch.counters_are_zero());
}

TEST_CASE("permutations: targets see their winners") {
  Device device(0);
  const std::int64_t n = 600;
  const std::vector<std::int64_t> ints = numbers(n);
  std::vector<std::int64_t> index(ints.size());
  std::vector<std::int64_t> expected(ints.size(), -7);
  for (std::size_t k = 0; k < index.size(); ++k) {
    index[k] = static_cast<std::int64_t>(k * k % index.size());
    expected[static_cast<std::size_t>(index[k])] = ints[k];
  }
  Scratch scratch(0, 0);
  std::vector<std::uint64_t> winners(ints.size());
  for (std::uint64_t tag = 1; tag <= 3; ++tag) {
    std::vector<std::int64_t> out(ints.size());
    SendCall call;
    call.element_bytes = 8;
    call.widths = kWidths;
    call.values = source(ints);
    call.index = source(index);
    call.from = call.to = one_segment(n);
    call.out = out.data();
    call.fallback = {SourceKind::Constant, nullptr, n, {std::bit_cast<std::uint64_t>(-7LL)}};
    call.winners = winners.data();
    call.tag = tag;
    call.counters = scratch.next().counters;
    launch_send(device, call);
    CHECK(out == expected);
  }
  CHECK(scratch.counters_are_zero());
}

// ---- parts by themselves ----

/// The maps x -> a x + b: their composition is associative and not commutative.
struct Affine {
  std::uint64_t a, b;
  bool operator==(const Affine&) const = default;
};
struct Compose {
  using State = Affine;
  static Affine neutral() { return {1, 0}; }
  static Affine combine(const Affine& f, const Affine& g) { return {f.a * g.a, f.b * g.a + g.b}; }
};
Affine nth(std::int64_t tile) {
  return {static_cast<std::uint64_t>(2 * tile + 3), static_cast<std::uint64_t>(tile * tile + 1)};
}

/// Tile k gets the combination of nth(0) ... nth(k - 1).
struct OrderedKernel {
  static constexpr int kThreads = threads::kThreads;
  struct Shared {
    ScanShared<Affine, kThreads> scan;
    Affine total, prefix;
    std::int64_t tile;
  };
  OrderedChain<Affine> chain;
  Array<Affine> prefixes;

  template <class Block>
  void operator()(Block& block, Shared& shared) const {
    const std::int64_t tile = chain.take_tile(block, shared);
    block.each([&](int thread) {
      if (thread == 0) shared.total = nth(tile);
    });
    chain.prefix<Compose>(block, tile, shared.total, shared.scan, shared.prefix);
    block.each([&](int thread) {
      if (thread == 0) prefixes[tile] = shared.prefix;
    });
  }
};

TEST_CASE("a chain in order, through groups and spans") {
  Device device(0);
  const std::int64_t tiles = 2 * shape::kLookBackWindow * shape::kLookBackWindow + 5;
  const std::int64_t slots = OrderedChain<Affine>::slots(tiles);
  Scratch scratch(slots * words_of_state(sizeof(Affine)), 0);
  std::vector<Affine> expected{Compose::neutral()};
  for (std::int64_t k = 0; k + 1 < tiles; ++k) {
    expected.push_back(Compose::combine(expected.back(), nth(k)));
  }
  for (int round = 0; round < 3; ++round) {
    std::vector<Affine> prefixes(static_cast<std::size_t>(tiles));
    launch(device, tiles, OrderedKernel{{scratch.next(), tiles}, {prefixes.data(), tiles}});
    CHECK(prefixes == expected);
  }
}

/// Each block takes a number and leaves a mark under it.
struct TicketKernel {
  static constexpr int kThreads = threads::kThreads;
  struct Shared {
    std::int64_t number;
  };
  std::uint32_t* counter;
  std::int64_t blocks;
  Array<std::int64_t> marks;

  template <class Block>
  void operator()(Block& block, Shared& shared) const {
    block.each([&](int thread) {
      if (thread == 0) shared.number = take_number(counter, blocks);
    });
    block.each([&](int thread) { marks[shared.number * kThreads + thread] += thread + 1; });
  }
};

TEST_CASE("tickets: each number once, and again in the next launch") {
  Device device(0);
  const std::int64_t blocks = 40;
  std::uint32_t counter = 0;
  std::vector<std::int64_t> marks(static_cast<std::size_t>(blocks * kThreads));
  for (int round = 1; round <= 4; ++round) {
    launch(device, blocks, TicketKernel{&counter, blocks, {marks.data(), blocks * kThreads}});
    CHECK(counter == 0);
    for (std::size_t k = 0; k < marks.size(); ++k) {
      if (marks[k] != round * (static_cast<std::int64_t>(k) % kThreads + 1)) FAIL("mark " << k);
    }
  }
}

/// Every thread reports, the block with the highest number first.
struct FailingKernel {
  static constexpr int kThreads = threads::kThreads;
  struct Shared {};
  FailureSink failures;
  std::int64_t blocks;

  template <class Block>
  void operator()(Block& block, Shared&) const {
    block.each([&](int thread) {
      const std::int64_t position = (blocks - 1 - block.index()) * kThreads + thread;
      failures.report(position, position * 3, position * 5, position * 7);
    });
  }
};

TEST_CASE("failures: of all that are reported at once, the first is told whole") {
  Device device(0);
  for (int round = 0; round < 4; ++round) {
    FailureGate gate{kNoFailure, 0, 0};
    auto record = std::make_unique<FailureRecord>();
    record->key = kNoFailure;
    const std::uint64_t sequence = 9;
    const std::int64_t blocks = 12;
    launch(device, blocks, FailingKernel{{&gate, record.get(), sequence + 1}, blocks});
    launch(device, blocks, FailingKernel{{&gate, record.get(), sequence}, blocks});
    launch(device, blocks, FailingKernel{{&gate, record.get(), sequence + 2}, blocks});
    CHECK(record->key == sequence << kPositionBits);
    CHECK(record->value == 0);
    CHECK(record->segment == 0);
    CHECK(record->segment_length == 0);
    CHECK(gate.lock == 0);
  }
}

// ---- what is found when an order is missing ----

/// Threads count under a lock; or block 0 writes, and the others read when they are told.
enum class Mistake { Publication, Arrival, Lock };
template <Mistake kMistake>
struct MistakenKernel {
  static constexpr int kThreads = threads::kThreads;
  struct Shared {};
  std::uint32_t* word;
  std::int64_t* value;

  template <class Block>
  void operator()(Block& block, Shared&) const {
    std::atomic_ref<std::uint32_t> shared(*word);
    block.each([&](int thread) {
      if (kMistake == Mistake::Lock) {
        while (shared.exchange(1, std::memory_order_relaxed) != 0) pause();
        ++*value;
        shared.store(0, std::memory_order_relaxed);
      } else if (thread != 0) {
        return;
      } else if (block.index() == 0) {
        *value = 5;
        if (kMistake == Mistake::Publication) shared.store(1, std::memory_order_relaxed);
        if (kMistake == Mistake::Arrival) shared.fetch_add(1, std::memory_order_relaxed);
      } else {
        while (shared.load(std::memory_order_acquire) == 0) pause();
        if (*value != 5) pause();
      }
    });
  }
};
/// Often, because one thread may happen to run several blocks.
template <Mistake kMistake>
void make_mistake() {
  Device device(0);
  for (int round = 0; round < 20; ++round) {
    std::uint32_t word = 0;
    std::int64_t value = 0;
    launch(device, 3, MistakenKernel<kMistake>{&word, &value});
  }
}

TEST_CASE("a publication without release", "[.publication]") {
  make_mistake<Mistake::Publication>();
}
TEST_CASE("an arrival without release", "[.arrival]") {
  make_mistake<Mistake::Arrival>();
}
TEST_CASE("a lock without acquire", "[.lock]") {
  make_mistake<Mistake::Lock>();
}

}  // namespace
}  // namespace cvl::cuda::threads
