// The order in which the nodes of a pass are evaluated, block by block, and where their values lie.
//
// Made once per kernel; what depends on the operands of a run is in kernel_pass.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cvl/kernel_plan.hpp"

namespace cvl::cpu {

/// Is the node, if it is applied, a division of INTs, which fails for the divisor 0?
bool divides_ints(const PlanNode& node);

/// Is the node read off a walk over the segments that a block of elements lies in? Those come first
/// in a program, because one walk serves all of them.
bool is_walked(const PlanPass& pass, NodeId node);

/// A gather by the number of the own segment, of which every `divisor` in turn read one element, or
/// the length or start of one segment: as where several parts of each instance read something of
/// the instance.
struct SharedRead {
  SegdesId segdes = kNone;
  std::int64_t divisor = 1;
};
std::optional<SharedRead> shared_read(const PlanPass& pass, NodeId node);

/// The descriptor whose segments are walked. REQUIRES: is_walked().
SegdesId walked_segdes(const PlanPass& pass, NodeId node);

/// What must be evaluated for some of the sinks of a pass. The values of the roots are kept to the
/// end of a block. Scans are leaves: their results lie in memory.
struct KernelProgram {
  std::vector<NodeId> roots;
  std::vector<NodeId> run_roots;    // the same but for indices that runs may take the place of
  std::vector<NodeId> order;        // of all nodes that the roots depend on
  std::vector<std::uint32_t> slot;  // per node of the pass: where a block of values lies, or kNone
  std::uint32_t slots = 0;
};

/// The programs of a pass.
struct PassPrograms {
  KernelProgram main;      // arguments of scans, and sinks that need no scan
  KernelProgram epilogue;  // sinks that depend on scans
  KernelProgram selected;  // the values of Filter and Split, when their places are known
};
/// `by_runs` says for which scatters runs may take the place of the index.
PassPrograms make_programs(const PlanPass& pass,
                           const std::function<bool(const PlanSink&)>& by_runs);

/// A class number that is chosen by conditions: the first one that holds says which.
struct ClassDecision {
  NodeId condition = kNone;  // kNone: always
  std::int64_t number = 0;
};
/// The decisions that make up the class number of a Split, the last without a condition; nothing if
/// it is computed in another way.
std::vector<ClassDecision> class_decisions(const PlanPass& pass, const PlanSink& split);

/// Does a sink take values from the epilogue?
bool is_after_scan(const PlanPass& pass, const PlanSink& sink);

}  // namespace cvl::cpu
