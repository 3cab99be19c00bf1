// What the skeleton of passes (pass.hpp) is given: how a launch goes, and what a pass does.
#pragma once

#include <cstdint>

#include "cvl-cuda/failure_sink.hpp"
#include "cvl-cuda/workspace.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// What a launch does of a pass.
enum class PassStage : std::int64_t {
  All,
  Count,    // only fold, and conclude
  Counted,  // all but conclude
};

/// What every pass is given first.
struct PassControl {
  std::int64_t length = 0;         // positions
  std::int64_t stretches = 0;      // at least one position each
  std::int64_t tiles_each = 0;     // of a stretch; the last one may have fewer
  std::int64_t other_blocks = 0;   // blocks of a tile of other places each
  std::int64_t target_blocks = 0;  // … of targets of scatters
  PassStage stage = PassStage::All;
  Workspace workspace;    // of passes with running values: for a chain; else a state per stretch
  std::uint64_t tag = 0;  // of the winners of scatters
  FailureSink failures;

  /// Reports the failure number `site` of the pass; `rank` orders it among those of the kernel.
  KERNEL_FN void fail(int rank, int site, std::int64_t position, std::int64_t value,
                      std::int64_t limit) const {
    FailureSink sink = failures;
    sink.sequence += static_cast<std::uint64_t>(rank);
    sink.report(position, value, site, limit);
  }
};

/// What a pass may have, and has not unless its text says so.
struct PassParts {
  static constexpr bool kSegmented = false, kGathers = false;
  static constexpr int kMovedBytes = 1;
  struct Loaded {};
  struct Stored {};
  struct Cursors {};
  struct Shared {};
  struct Gathered {};

  static KERNEL_FN bool dense() { return true; }
  template <class Loaded>
  static KERNEL_FN void load(std::int64_t, Loaded&) {}
  template <class Loaded>
  static KERNEL_FN void load_dense(std::int64_t, Loaded&) {}
  template <class Runs, class Loaded, int kCount>
  static KERNEL_FN void load_dense_run(const Runs&, std::int64_t, Loaded (&)[kCount]) {}
  template <class Runs, class Loaded, int kCount>
  static KERNEL_FN void turn_run(const Runs&, Loaded (&)[kCount]) {}
  template <class Stored>
  static KERNEL_FN void store(std::int64_t, const Stored&) {}
  template <class Runs, class Stored, int kCount>
  static KERNEL_FN void store_run(const Runs&, std::int64_t, const Stored (&)[kCount]) {}
  template <class Stored>
  static KERNEL_FN void store_late(std::int64_t, const Stored&) {}
  template <class Runs, class Stored, int kCount>
  static KERNEL_FN void store_late_run(const Runs&, std::int64_t, const Stored (&)[kCount]) {}
  template <class Cursors, class Shared>
  static KERNEL_FN void begin_run(std::int64_t, Cursors&, const Shared&) {}
  template <class Gathered, class State>
  static KERNEL_FN void move_selected(const Gathered&, const State&, const State&, int) {}
};

/// Of passes that fold nothing.
struct NoState {
  template <class Self, class Visit>
  static constexpr KERNEL_FN void each_scalar(Self&, const Visit&) {}
};
struct NoFold {
  static KERNEL_FN NoState neutral() { return {}; }
  static KERNEL_FN NoState combine(NoState, NoState) { return {}; }
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
