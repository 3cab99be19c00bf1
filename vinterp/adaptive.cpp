#include "vinterp/adaptive.hpp"

#include <algorithm>

#include "vcode/opcodes.hpp"

namespace vinterp {

std::uint64_t work_of_optimizing(std::size_t instructions) {
  // The optimizer takes some 20 microseconds per instruction, an element of an operation less than
  // a nanosecond.
  constexpr std::uint64_t kWorkPerInstruction = 25'000;
  constexpr std::uint64_t kMost = 1 << 28;
  return std::min(kWorkPerInstruction * instructions, kMost);
}

bool has_effects(const vcode::LinkedProgram& program) {
  return std::any_of(program.code.begin(), program.code.end(), [](const auto& instruction) {
    const bool io = vcode::info(instruction.op).family == vcode::Family::Io;
    return io && instruction.op != vcode::Op::Write;
  });
}

bool lacked_memory(const RunResult& run) {
  return run.outcome == Outcome::Failed && (run.failure->code == vcode::ErrorCode::OutOfMemory ||
                                            run.failure->code == vcode::ErrorCode::CallDepth);
}

}  // namespace vinterp
