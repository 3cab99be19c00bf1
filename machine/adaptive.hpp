// When to optimize a program whose run has not been told to be or not to be: a short run is over
// before the optimizer has read the program, a long one is worth waiting for it. So a program runs
// as it was written up to an amount of work, and if that is not enough, it is begun anew,
// optimized. What it has read and written by then stands in a record (effect_record.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "machine/effect_record.hpp"
#include "machine/machine.hpp"

namespace vinterp {

/// About what could be computed, as MachineOptions::most_work counts it, while the optimizer works
/// on a program of so many instructions, up to a limit: what takes longer than that is well advised
/// to wait for the optimizer, and what is given up after so much has lost no more than some
/// tenths of a second.
std::uint64_t work_of_optimizing(std::size_t instructions);
/// That limit, which tests make small: then programs are begun anew wherever they are.
inline std::uint64_t most_work_of_optimizing = 1 << 28;

/// Did the run end for lack of memory, which another form of the program may do with less of?
bool lacked_memory(const RunResult& run);

/// Is a limited run of a program as it was written to be given up, and the program to be begun anew
/// in another form? Not if memory was lacking in an effect: what it has read is lost.
bool gives_up(const RunResult& run, const EffectRecord& record);

}  // namespace vinterp
