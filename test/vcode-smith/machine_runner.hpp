// Runs linked programs on the machine inside the test process and catches what they write.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cvl/backend.hpp"
#include "machine/observer.hpp"
#include "machine/warm_up.hpp"
#include "vcode/error_codes.hpp"
#include "vcode/opcodes.hpp"
#include "vcode/program.hpp"

namespace smith {

struct MachineRun {
  std::optional<vcode::ErrorCode> failure;
  std::string message;              // of the failure
  std::optional<vcode::Op> failed;  // the operation that failed, if one did
  bool exited = false;
  std::string output;  // standard output: FWRITE STDOUT, then the final stack
  std::string error;   // standard error: WRITE
};

/// The code of a failure, or `success`.
std::string name_of(const std::optional<vcode::ErrorCode>& failure);

/// What the run has written otherwise than expected; empty if nothing.
std::string difference_in_output(const std::string& output, const std::string& error,
                                 const MachineRun& found);

/// The length of a vector and a number that tells its elements from others; all NaN are one.
std::string digest_line(const cvl::Value& value, cvl::Backend& backend);

/// How run_on_machine() writes down the final stack.
enum class StackAs {
  Text,    // as a run does
  Digest,  // a line for each vector: what is left of a long one is a number that tells it from
           // others
};

struct RunSetup {
  bool strict = false;
  vinterp::KernelUse kernels = vinterp::KernelUse::Always;
  std::vector<vinterp::Observer*> observers = {};  // see the run
  std::string input = {};
  StackAs stack = StackAs::Text;
};

/// Runs the program with the random numbers of a fresh start. Files and processes are refused.
MachineRun run_on_machine(const vcode::LinkedProgram& program, cvl::Backend& backend,
                          const RunSetup& setup);

/// The same without input.
inline MachineRun run_on_machine(const vcode::LinkedProgram& program, cvl::Backend& backend,
                                 bool strict,
                                 vinterp::KernelUse kernels = vinterp::KernelUse::Always,
                                 const std::vector<vinterp::Observer*>& observers = {}) {
  return run_on_machine(program, backend,
                        {.strict = strict, .kernels = kernels, .observers = observers});
}

}  // namespace smith
