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
  std::vector<Ints> input = {};            // what READ INT finds on standard input
};

/// What a run did. `output` is what FWRITE sent to STDOUT, followed by the final stack; `error`
/// what WRITE and FWRITE sent to STDERR.
struct Outcome {
  bool finished = false;             // false: a limit was reached, or other input was wanted
  bool exited = false;               // by EXIT: there is no final stack
  std::optional<ErrorCode> failure;  // nothing for a normal end or EXIT
  std::uint32_t failed_at = 0;       // instruction of the failure
  std::string output, error;
};

/// Where a run begins: a function, the stack that it finds, the state of RAND, and how much of the
/// input has been read.
struct Activation {
  std::uint32_t function = 0;  // index into LinkedProgram::functions
  std::vector<Value> stack;
  Random random;
  std::size_t next_input = 0;
};

/// Runs a program from its entry function. Of input, READ INT is known as long as there is some.
/// Files and processes are outside the reference: a program that uses them does not finish.
Outcome run(const vcode::LinkedProgram& program, const MachineOptions& options);

/// Runs one function; after a normal end `activation` holds the state that it leaves.
Outcome run(const vcode::LinkedProgram& program, const MachineOptions& options,
            Activation& activation);

}  // namespace reference
