// When to optimize a program whose run has not been told to be or not to be: a short run is over
// before the optimizer has read the program, a long one is worth waiting for it. So a program runs
// as it was written up to an amount of work, and if that is not enough, it is begun anew,
// optimized.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vcode/program.hpp"
#include "vinterp/machine.hpp"

namespace vinterp {

/// About what could be computed, as MachineOptions::most_work counts it, while the optimizer works
/// on a program of so many instructions, up to a limit: what takes longer than that is well advised
/// to wait for the optimizer, and what is given up after so much has lost no more than some
/// tenths of a second.
std::uint64_t work_of_optimizing(std::size_t instructions);

/// Does the program do anything but compute, and say why it stops? If not, nobody can tell whether
/// it has been begun anew.
bool has_effects(const vcode::LinkedProgram& program);

/// Did the run end for lack of memory, which another form of the program may do with less of?
bool lacked_memory(const RunResult& run);

}  // namespace vinterp
