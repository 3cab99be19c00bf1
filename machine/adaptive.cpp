#include "machine/adaptive.hpp"

#include <algorithm>
#include <utility>

namespace vinterp {

WorkLimit limit_as_written(std::size_t instructions, const cvl::Backend& backend,
                           std::function<bool()> optimized_is_ready) {
  // The optimizer takes some 20 microseconds per instruction, an element of an operation less than
  // a nanosecond. A run that waits for it does as much work before, so that what is given up has
  // taken no longer than what is waited for. A run that goes on has little to lose.
  constexpr std::uint64_t kBeforeWaiting = 25'000, kBeforeGoingOn = 1'000;
  const bool waits = !backend.kernels_keep_bits() || always_waits_for_optimizer;
  WorkLimit limit;
  limit.most_work = std::min((waits ? kBeforeWaiting : kBeforeGoingOn) * instructions,
                             most_work_before_optimizing);
  if (!waits) limit.enough = std::move(optimized_is_ready);
  return limit;
}

bool lacked_memory(const RunResult& run) {
  return run.outcome == Outcome::Failed && (run.failure->code == vcode::ErrorCode::OutOfMemory ||
                                            run.failure->code == vcode::ErrorCode::CallDepth);
}

bool gives_up(const RunResult& run, const EffectRecord& record) {
  return run.outcome == Outcome::OutOfWork || (lacked_memory(run) && !record.last_failed());
}

}  // namespace vinterp
