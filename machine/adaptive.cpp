#include "machine/adaptive.hpp"

#include <algorithm>

namespace vinterp {

std::uint64_t work_of_optimizing(std::size_t instructions) {
  // The optimizer takes some 20 microseconds per instruction, an element of an operation less than
  // a nanosecond.
  constexpr std::uint64_t kWorkPerInstruction = 25'000;
  return std::min(kWorkPerInstruction * instructions, most_work_of_optimizing);
}

bool lacked_memory(const RunResult& run) {
  return run.outcome == Outcome::Failed && (run.failure->code == vcode::ErrorCode::OutOfMemory ||
                                            run.failure->code == vcode::ErrorCode::CallDepth);
}

bool gives_up(const RunResult& run, const EffectRecord& record) {
  return run.outcome == Outcome::OutOfWork || (lacked_memory(run) && !record.last_failed());
}

}  // namespace vinterp
