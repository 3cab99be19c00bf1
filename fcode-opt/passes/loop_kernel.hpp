// The kernel that runs all rounds of a loop (LoopBody): ITERATE, with what it takes and gives.
#pragma once

#include <cstdint>

#include "fcode-opt/ir.hpp"
#include "fcode-opt/passes/loop_body.hpp"
#include "vcode/kernel.hpp"

namespace fcode {

/// It takes what a call of the function for many instances does, with a descriptor of them behind
/// the `own` ones, then the constants of the body, the limit of rounds if they are counted, and for
/// each list where it begins in its vectors, and how long it is. It gives those results that are
/// scalars; the last state, if the function needs it; the same of the lists; the rounds that have
/// been counted; whether a list has no room, and whether one may have none in the next round, where
/// the body tells that; and whether there is a state that has not come to its end, if it tells
/// that. `origin`: of its SPEC, which says that none has.
vcode::Kernel loop_kernel(Module& module, const LoopBody& body, const SerialFunction& serial,
                          std::int64_t most_iterations, const Origin& origin);

/// Is a parameter among what the last state is made of?
bool is_in_state(const LoopBody& body, std::uint32_t parameter);

}  // namespace fcode
