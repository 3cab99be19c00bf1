// The functions that run the kernel of a loop (loop_kernel.hpp), and what is done when it ends.
#pragma once

#include <cstdint>
#include <vector>

#include "fcode-opt/ir.hpp"
#include "fcode-opt/passes/loop_body.hpp"

namespace fcode {

/// What they call: the kernel, the function that goes on where that does not, if the loop has lists
/// the function that runs it on vectors which may be longer, and if it is for short sequences the
/// one that does for these.
struct LoopCalls {
  std::uint32_t kernel = 0, rest = 0, in_room = 0, for_short_ones = 0;
};

/// A function in the place of `function`, with the same parameters and results. `most_rounds`: the
/// limit of the kernel's, if it counts them.
Function loop_function(Module& module, const Function& function, const SerialFunction& serial,
                       const LoopBody& body, const LoopCalls& calls, std::int64_t most_rounds);

/// The same for a loop with lists: gives them room, and calls the function `in_room`, which is what
/// loop_function() makes. The parameters of that are those of `function`, where the lists are
/// vectors with their descriptors, and behind them for each list where it begins in these, and how
/// long it is.
Function give_room(Module& module, const Function& function, const SerialFunction& serial,
                   const LoopBody& body, const LoopCalls& calls);

/// Calls `for_short_ones`, or `rest` where one of these parameters is long.
Function choose_by_length(Module& module, const Function& function, const SerialFunction& serial,
                          const LoopBody& body, const LoopCalls& calls,
                          const std::vector<std::uint32_t>& parameters);

}  // namespace fcode
