// When to optimize a program whose run has not been told to be or not to be: a short run is over
// before the optimizer has read the program, a long one is worth waiting for it. So a program runs
// as it was written. After an amount of work the optimizer begins, in another thread (Ahead), and
// if the run has not ended when the optimized program is there, it is begun anew, optimized. What
// it has read and written by then stands in a record (effect_record.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "machine/effect_record.hpp"
#include "machine/machine.hpp"

namespace vinterp {

/// How long a program runs as it was written: MachineOptions::most_work and enough.
struct WorkLimit {
  std::uint64_t most_work = MachineOptions::kUnlimitedWork;
  std::function<bool()> enough{};
};

/// That of a program of so many instructions. `optimized_is_ready` begins to optimize it when it is
/// first called, and tells whether that is done.
///
/// Where kernels round sums in another way than operations do, the run is given up after an amount
/// of work and waits for the optimizer: else the result would depend on which of them was faster.
WorkLimit limit_as_written(std::size_t instructions, const cvl::Backend& backend,
                           std::function<bool()> optimized_is_ready);
/// An upper limit of the work before the optimizer begins, which tests make small: then programs
/// are begun anew wherever they are.
inline std::uint64_t most_work_before_optimizing = 1 << 28;
/// For tests, which then know when a run is given up: does it wait for the optimizer on every
/// backend?
inline bool always_waits_for_optimizer = false;

/// Did the run end for lack of memory, which another form of the program may do with less of?
bool lacked_memory(const RunResult& run);

/// Is a limited run of a program as it was written to be given up, and the program to be begun anew
/// in another form? Not if memory was lacking in an effect: what it has read is lost.
bool gives_up(const RunResult& run, const EffectRecord& record);

}  // namespace vinterp
