// Fetches from vectors joined one behind the other: SELECT(t < n, a[t], b[t - n]), also with more
// of them inside, with a number that is added to t, and with what is the same everywhere in place
// of an element. Where t counts up within each segment, each segment is a run of one of the vectors
// (see kernel_runs.hpp), and neither the choice nor the indices are computed per element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cvl-cpu/kernel_runs.hpp"
#include "cvl-cpu/kernel_state.hpp"
#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl/heap.hpp"
#include "cvl/kernel_plan.hpp"

namespace cvl::cpu {

/// A node of that form.
struct JoinedRead {
  /// What is the same everywhere and added to t, or taken from it.
  struct Shift {
    NodeId number;
    bool minus;
  };
  /// Reads its array at t and all shifts, or is the same everywhere, where t < end and where no one
  /// before it does.
  struct Part {
    NodeId read = kNone;  // a gather, or what is the same
    bool fills = false;   // the latter
    std::vector<Shift> shifts;
    NodeId end = kNone;  // kNone: the last part
  };
  NodeId index = kNone;  // t
  std::vector<Part> parts;

  bool has_fills() const;
};
std::optional<JoinedRead> find_joined_read(const PlanPass& pass, NodeId node);

/// The same with the operands of one run.
struct BoundJoin {
  const JoinedRead* form = nullptr;
  std::vector<JoinedVector> vectors;
  /// Is it the same everywhere? Then as many elements as a run may have lie at its start.
  std::vector<bool> fills;
  /// Of each, if its elements lie in a value or are the same: copies. Moves may read so much behind
  /// them.
  std::vector<std::vector<std::byte>> copies;
  bool narrow = false;      // all of the vectors are
  int shift = 0;            // elements take 2^shift bytes
  std::int64_t length = 0;  // of all together

  /// Where an element of a part is.
  std::uintptr_t place(std::size_t part, std::int64_t position) const {
    const std::uintptr_t start = vectors[part].start;
    return fills[part] ? start : start + (static_cast<std::uintptr_t>(position) << shift);
  }
};

/// The runs of a block, by their addresses: run k ends before element ends[k] of the block.
struct PlacedRuns {
  std::int64_t count = 0;
  const std::int64_t* ends = nullptr;
  std::uintptr_t places[kSegmentBlock];  // no run is empty
  std::int64_t cut[kSegmentBlock];       // the ends, if runs had to be cut
};
/// Finds runs of joined vectors in these, cut where they pass from one to the next. `runs` outlives
/// what is found.
void place_runs(CpuBackend& cpu, const BoundJoin& join, const RunTable& runs, PlacedRuns& placed);
/// Where an element is. REQUIRES: 0 <= position < join.length
const std::byte* place_of(const BoundJoin& join, std::int64_t position);

}  // namespace cvl::cpu
