// The skeleton of passes of fused kernels and its chain of prefixes, by passes that are written by
// hand: small tiles, so that thousands of them are quickly done.
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cuda/emulated_device.hpp"
#include "cvl-cuda/kernels/pass.hpp"
#include "cvl-cuda/launch.hpp"

namespace cvl::cuda::emulated {
namespace {

/// More tiles than two levels of the chain hold.
constexpr std::int64_t kManyTiles = 2100;
constexpr int kThreads = 64;

const EmulationOptions kOrders[] = {{BlockOrder::Ascending, 1},
                                    {BlockOrder::Descending, 1},
                                    {BlockOrder::Shuffled, 1},
                                    {BlockOrder::Descending, 3},
                                    {BlockOrder::Shuffled, 4}};

/// Makes a device that runs blocks in some order.
struct OrderedDevice {
  explicit OrderedDevice(const EmulationOptions& order) : before(emulation_options()) {
    emulation_options() = order;
  }
  ~OrderedDevice() { emulation_options() = before; }
  EmulationOptions before;
};

/// Scratch memory, full of what an earlier call left there.
struct Scratch {
  Scratch(std::int64_t slots, std::size_t state_bytes)
      : words(static_cast<std::size_t>(slots *
                                       words_of_state(static_cast<std::int64_t>(state_bytes))),
              std::uint64_t{epoch << 2 | 1} << 32 | 0x5A),
        values(static_cast<std::size_t>(slots) * state_bytes, std::byte{0x5A}) {}
  Workspace next() {
    Workspace workspace;
    workspace.words = {words.data(), static_cast<std::int64_t>(words.size())};
    workspace.values = values.data();
    workspace.counters = counters;
    workspace.epoch = ++epoch;
    return workspace;
  }
  std::uint32_t epoch = 7;
  std::vector<std::uint64_t> words;
  std::vector<std::byte> values;
  std::uint32_t counters[kWorkspaceCounters] = {};
};

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
struct AddFloats {
  using State = float;
  static float neutral() { return 0; }
  static float combine(float a, float b) { return a + b; }
};

/// Tile k gets the prefix of totals[k].
template <class SomeFold>
struct ChainKernel {
  using State = typename SomeFold::State;
  static constexpr int kThreads = emulated::kThreads;
  struct Shared {
    ScanShared<State, kThreads> scan;
    State total, prefix;
    std::int64_t tile;
  };
  Workspace workspace;
  Array<const State> totals;
  Array<State> prefixes;
  std::int64_t tiles;

  template <class Block>
  void operator()(Block& block, Shared& shared) const {
    block.each([&](int thread) {
      if (thread != 0) return;
      shared.tile = atomic_arrive(workspace.counters, 1);
      shared.total = totals[shared.tile];
    });
    OrderedChain<State>(workspace, tiles)
        .template prefix<SomeFold>(block, shared.tile, shared.total, shared.scan, shared.prefix);
    block.each([&](int thread) {
      if (thread == 0) prefixes[shared.tile] = shared.prefix;
    });
  }
};

template <class SomeFold>
std::vector<typename SomeFold::State> prefixes_of(
    const std::vector<typename SomeFold::State>& totals, const EmulationOptions& options) {
  using State = typename SomeFold::State;
  const auto tiles = static_cast<std::int64_t>(totals.size());
  const OrderedDevice order(options);
  Scratch scratch(OrderedChain<State>::slots(tiles), sizeof(State));
  std::vector<State> prefixes(totals.size());
  Device device(0);
  launch(device, tiles,
         ChainKernel<SomeFold>{
             scratch.next(), {totals.data(), tiles}, {prefixes.data(), tiles}, tiles});
  device.wait();
  return prefixes;
}

TEST_CASE("a chain gives every tile what lies before it, in order") {
  constexpr std::int64_t kGroup = OrderedChain<Affine>::kWidth, kSpan = kGroup * kGroup;
  static_assert(kManyTiles > 2 * kSpan);
  for (const std::int64_t tiles :
       {std::int64_t{1}, kGroup - 1, kGroup, kGroup + 1, kSpan - 1, kSpan, kSpan + 1, kManyTiles}) {
    std::vector<Affine> totals, expected;
    Affine before = Compose::neutral();
    for (std::int64_t k = 0; k < tiles; ++k) {
      const auto odd = static_cast<std::uint64_t>(2 * k + 3);
      totals.push_back({odd * 0x9E3779B97F4A7C15u, odd});
      expected.push_back(before);
      before = Compose::combine(before, totals.back());
    }
    for (const EmulationOptions& options : kOrders) {
      INFO(tiles << " tiles on " << options.threads << " threads");
      CHECK(prefixes_of<Compose>(totals, options) == expected);
    }
  }
}

TEST_CASE("a chain adds FLOAT in an order that does not depend on timing") {
  std::vector<float> totals;
  for (std::int64_t k = 0; k < kManyTiles; ++k) {
    totals.push_back(1.0f / static_cast<float>(k % 97 + 1));
  }
  const std::vector<float> first = prefixes_of<AddFloats>(totals, kOrders[0]);
  for (const EmulationOptions& options : kOrders) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      const std::vector<float> again = prefixes_of<AddFloats>(totals, options);
      bool same = true;
      for (std::size_t k = 0; k < first.size(); ++k) {
        same &= std::bit_cast<std::uint32_t>(first[k]) == std::bit_cast<std::uint32_t>(again[k]);
      }
      CHECK(same);
    }
  }
}

/// The compositions before every position, and how often each function was called for it.
struct ScanPass : PassParts {
  static constexpr int kThreads = emulated::kThreads, kRun = 2;
  static constexpr bool kFolds = true, kRunning = true, kCounted = true;
  static constexpr bool kOthers = false, kTargets = false;
  using State = Affine;
  using Fold = Compose;
  struct Cursors {
    std::int64_t last = -1;
  };
  struct Loaded {
    Affine own;
  };
  struct Stored {
    Affine before;
  };
  struct Kept {
    Affine own;
  };
  static bool dense() { return false; }

  PassControl control;
  Array<Affine> before;
  Array<Affine> total;
  Array<std::atomic<int>> evaluated, finished, counted;
  std::atomic<int>* jumps;

  static Affine value(std::int64_t i) {
    return {static_cast<std::uint64_t>(2 * i + 1) * 0x9E3779B97F4A7C15u,
            static_cast<std::uint64_t>(i)};
  }
  /// A cursor is fresh, or was at the position before; or, at the begin of a run, at this one.
  void move(Cursors& at, std::int64_t i) const {
    if (at.last != -1 && at.last != i - 1 && at.last != i) ++*jumps;
    at.last = i;
  }
  void begin_run(std::int64_t i, Cursors& at, const Shared&) const { move(at, i); }
  void load(std::int64_t i, Loaded& loaded) const { loaded.own = value(i); }
  void evaluate(std::int64_t i, Cursors& at, const Shared&, const Loaded& loaded, Stored&,
                State& state, Kept& kept) const {
    move(at, i);
    ++evaluated[i];
    kept.own = loaded.own;
    state = Fold::combine(state, kept.own);
  }
  void finish(std::int64_t i, Cursors& at, const Shared&, Gathered&, Stored& stored, const State&,
              State& state, const Kept& kept) const {
    move(at, i);
    ++finished[i];
    stored.before = state;
    state = Fold::combine(state, kept.own);
  }
  void store_late(std::int64_t i, const Stored& stored) const { before[i] = stored.before; }
  template <class Runs, int kCount>
  void store_late_run(const Runs&, std::int64_t i, const Stored (&stored)[kCount]) const {
    for (int k = 0; k < kCount; ++k) before[i + k] = stored[k].before;
  }
  void count(std::int64_t i, Cursors& at, const Shared&, State& state) const {
    move(at, i);
    ++counted[i];
    state = Fold::combine(state, value(i));
  }
  void conclude(const State& state) const { total[0] = state; }
};

struct PassRun {
  explicit PassRun(std::int64_t positions)
      : length(positions),
        before(static_cast<std::size_t>(positions)),
        evaluated(before.size()),
        finished(before.size()),
        counted(before.size()) {}

  void launch_stage(Device& device, Scratch& scratch, std::int64_t tiles, PassStage stage) {
    ScanPass pass;
    pass.control.length = length;
    pass.control.stretches = tiles;
    pass.control.tiles_each = 1;
    pass.control.stage = stage;
    pass.control.workspace = scratch.next();
    pass.before = {before.data(), length};
    pass.total = {&total, 1};
    pass.evaluated = {evaluated.data(), length};
    pass.finished = {finished.data(), length};
    pass.counted = {counted.data(), length};
    pass.jumps = &jumps;
    launch(device, tiles, PassKernel<ScanPass>{pass});
    device.wait();
  }

  std::int64_t length;
  std::vector<Affine> before;
  Affine total{};
  std::vector<std::atomic<int>> evaluated, finished, counted;
  std::atomic<int> jumps{0};
};

bool all_are(const std::vector<std::atomic<int>>& calls, int times) {
  for (const std::atomic<int>& each : calls) {
    if (each != times) return false;
  }
  return true;
}

TEST_CASE("a pass with running values evaluates every position once") {
  constexpr std::int64_t kTile = PassKernel<ScanPass>::kTile;
  for (const std::int64_t length :
       {std::int64_t{1}, kTile - 1, kTile + 1, 40 * kTile, (kManyTiles - 1) * kTile + 3}) {
    const std::int64_t tiles = blocks_for(length, kTile);
    for (const EmulationOptions& options : kOrders) {
      const OrderedDevice order(options);
      INFO(length << " positions on " << options.threads << " threads");
      Device device(0);
      Scratch scratch(OrderedChain<Affine>::slots(tiles), sizeof(Affine));
      PassRun run(length);
      run.launch_stage(device, scratch, tiles, PassStage::All);
      CHECK(all_are(run.evaluated, 1));
      CHECK(all_are(run.finished, 1));
      CHECK(all_are(run.counted, 0));
      CHECK(run.jumps == 0);
      Affine expected = Compose::neutral();
      bool right = true;
      for (std::int64_t i = 0; i < length; ++i) {
        right &= run.before[static_cast<std::size_t>(i)] == expected;
        expected = Compose::combine(expected, ScanPass::value(i));
      }
      CHECK(right);
      CHECK(run.total == expected);

      // The same in two launches.
      PassRun staged(length);
      staged.launch_stage(device, scratch, tiles, PassStage::Count);
      CHECK(staged.total == expected);
      CHECK(all_are(staged.counted, 1));
      CHECK(all_are(staged.evaluated, 0));
      staged.total = {};
      staged.launch_stage(device, scratch, tiles, PassStage::Counted);
      CHECK(staged.total == Affine{});
      CHECK(all_are(staged.evaluated, 1));
      CHECK(staged.before == run.before);
      CHECK(scratch.counters[0] == 0);
      CHECK(scratch.counters[1] == 0);
    }
  }
}

}  // namespace
}  // namespace cvl::cuda::emulated
