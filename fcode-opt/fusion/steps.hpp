// What a region reads and makes, step by step, while it runs.
//
// A kernel runs pass by pass. Which passes these are is what cvl::plan_kernel() will decide; here
// it is worked out for any schedule, from the graph, so that what a schedule moves and holds can be
// known without writing its kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fcode-opt/fusion/legality.hpp"

namespace fcode {

/// A pass of a kernel, or an instruction. Results come into being while all that is read is still
/// there.
struct Step {
  struct Operand {
    ValueId value = 0;
    bool moved = false;  // its elements are fetched, not its length or a few of them
    bool over = false;   // a result may be written over it
  };
  std::vector<Operand> reads;    // no value twice
  std::vector<NodeIndex> makes;  // what has results outside of the step
  Slot slot = 0;
  bool kernel = false;
  bool once = false;         // a pass without an index
  bool in_order = false;     // a pass of which no two parts can be run at once
  std::uint32_t domain = 0;  // of a pass
};

/// Sorts what a step reads, and makes one of several entries for the same value.
void unite(std::vector<Step::Operand>& reads);

/// The statement of a node by itself.
Step instruction(const RegionGraph& graph, NodeIndex index, Slot slot);

/// Of every node, in slot 0.
std::vector<Step> instructions_of(const RegionGraph& graph);

}  // namespace fcode
