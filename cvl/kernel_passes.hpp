// Passes of a kernel plan, from drafts that bindings are added to up to what can be run.
#pragma once

#include <map>
#include <vector>

#include "cvl/kernel_graph.hpp"
#include "cvl/kernel_plan.hpp"

namespace cvl {

/// A pass that bindings are still added to.
struct PassDraft {
  /// The kernel and `canonical` must outlive the draft; `size` is canonical.
  PassDraft(const vcode::Kernel& kernel, const std::vector<SizeId>& canonical, bool is_once,
            SizeId size)
      : once(is_once), length(size), graph(kernel, canonical, is_once, size) {}

  bool once;
  SizeId length;
  GraphBuilder graph;
  std::map<ArrayId, NodeId> arrays;  // made by this pass, at the own position
  std::map<SizeId, NodeId> sizes;    // bound by this pass
  std::vector<PlanSink> sinks;
};

/// The pass without the nodes that nothing depends on, its sinks in order of binding. Takes the
/// sinks of the draft, which is of no use afterwards.
PlanPass finish_pass(PassDraft& draft);

/// Fills in `scattered`, `last_read`, and `over` of each Store. REQUIRES: the plan has its kernel,
/// loops and all passes.
void find_lifetimes(KernelPlan& plan);

}  // namespace cvl
