// A complete little stack machine over the reference evaluator: runs a linked program one
// instruction at a time with deep copies everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/evaluator.hpp"
#include "vcode/program.hpp"

namespace reference {

struct MachineOptions {
  Widths widths;
  bool strict = false;                     // -c
  std::uint64_t max_steps = 10'000'000;    // instructions; more count as a failure to end
  std::int64_t max_elements = 50'000'000;  // of one value
};

/// What a run did. `output` is what FWRITE sent to STDOUT, followed by the final stack; `error`
/// what WRITE and FWRITE sent to STDERR.
struct Outcome {
  bool finished = false;             // false: max_steps or max_elements was reached
  std::optional<ErrorCode> failure;  // nothing for a normal end or EXIT
  std::uint32_t failed_at = 0;       // instruction of the failure
  std::vector<Value> stack;          // of a normal end
  std::string output, error;
};

/// Runs a program. Streams other than STDOUT, STDERR and NULL_STREAM count as not open.
Outcome run(const vcode::LinkedProgram& program, const MachineOptions& options);

}  // namespace reference
