// Where the vertices of a graph are drawn: in layers from top to bottom, so that edges lead
// downward and cross rarely.
#pragma once

#include <cstddef>
#include <vector>

#include "neslc/command/svg.hpp"

namespace neslc::graph {

struct Vertex {
  double width = 0;
  double height = 0;
  bool source = false;  // stands directly above the first vertex that needs it
  At corner = {};       // found by lay_out()
};

struct Edge {
  std::size_t from = 0;
  std::size_t to = 0;
  /// Where it passes the layers between its ends, found by lay_out(): free places between vertices.
  std::vector<At> bends = {};
};

struct Size {
  double width = 0;
  double height = 0;
};

/// REQUIRES: at least one vertex; each edge leads to a later vertex, except from sources. Returns
/// the size of the whole.
Size lay_out(std::vector<Vertex>& vertices, std::vector<Edge>& edges);

}  // namespace neslc::graph
