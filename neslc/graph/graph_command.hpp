// `nesl graph` and `:graph`.
#pragma once

#include <cstddef>

#include "neslc/command/toplevel.hpp"
#include "neslc/graph/picture.hpp"

namespace neslc::graph {

/// A run with more operations than that is no picture.
inline constexpr std::size_t kMostDrawn = 120;

struct Graph {
  FormResult result;  // of the evaluation; without a value there is no picture
  Drawn drawn;
};

/// Evaluates an expression, as it is written, and draws its vector operations. Throws CommandError
/// if there are too many.
Graph draw(Toplevel& top, const CheckedForm& form);

}  // namespace neslc::graph
