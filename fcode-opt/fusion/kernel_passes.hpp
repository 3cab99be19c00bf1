// The passes that a kernel makes over memory, for any choice of what it computes.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fcode-opt/fusion/steps.hpp"

namespace fcode {

/// Works out the passes of one kernel after the other, for as many schedules of a region as are
/// looked at: memory for this is allocated once.
class KernelPasses {
 public:
  explicit KernelPasses(const RegionGraph& graph);
  /// Appends the passes of the kernel that consists of `members`: all that the schedule has in one
  /// slot, in program order. Vectors that no later pass reads may go after a pass; descriptors stay
  /// until the end of the kernel.
  void append(const Schedule& schedule, std::span<const NodeIndex> members,
              std::vector<Step>& steps);

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Pass {
    std::uint32_t domain = 0;
    bool once = false;
    std::vector<NodeIndex> nodes;
    std::vector<NodeIndex> fills;  // scatters whose defaults it stores
  };
  struct Progress {
    std::uint32_t pass = kNone;  // that computes the node; kNone: none so far
    std::uint32_t ready = 0;     // the first pass in which all that it reads is there
    bool kept = false;           // is a vector outside of its pass
  };

  bool inside(NodeIndex reader, const Read& read) const {
    return in_same_kernel(graph_, *schedule_, reader, read);
  }
  bool read_elsewhere(NodeIndex index) const;
  bool waits(NodeIndex index) const;
  bool joins(const Node& reader, const Read& read) const;
  void place(NodeIndex index);
  std::uint32_t pass_for(std::uint32_t domain, bool once, std::uint32_t earliest);
  void place_defaults(NodeIndex index);
  void add(NodeIndex index, std::uint32_t pass);
  void keep_what_others_made(NodeIndex index);
  void write_step(std::uint32_t number, Step& step) const;

  const RegionGraph& graph_;
  const Schedule* schedule_ = nullptr;
  std::vector<std::vector<NodeIndex>> readers_;  // by node
  std::vector<Progress> nodes_;
  std::vector<Pass> passes_;  // the first `count_` are those of the kernel
  std::uint32_t count_ = 0;
};

/// The passes and instructions of a schedule.
std::vector<Step> steps_of(const RegionGraph& graph, const Schedule& schedule);

}  // namespace fcode
