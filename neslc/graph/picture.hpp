// A data flow as a picture: operations as boxes, vectors as rows of cells below them.
#pragma once

#include <cstddef>
#include <string>

#include "neslc/graph/data_flow.hpp"

namespace neslc::graph {

struct Caption {
  std::string expression;
  std::string result;  // `VALUE : TYPE`
};

struct Drawn {
  std::string svg;
  std::size_t operations = 0;  // that have a box
};

/// REQUIRES: the flow is complete and pruned, and its segments have been found.
Drawn picture(const DataFlow& flow, const Caption& caption);

/// "1 vector operation", "7 vector operations".
std::string operations_text(std::size_t count);

}  // namespace neslc::graph
