// Whether a kernel pays, and why operations are left as they are.
#pragma once

#include <string>
#include <vector>

#include "fcode-opt/fusion/graph.hpp"

namespace fcode {

/// Does a kernel of these nodes do better than their instructions one by one? It has to replace
/// more than one of them; generators that nobody needs as values count.
bool pays(const RegionGraph& graph, const std::vector<NodeIndex>& kernel);

/// A sentence for the report. `given_back`: its kernel did not pay.
std::string why_not(const RegionGraph& graph, NodeIndex node, bool given_back);

}  // namespace fcode
