// Runs linked programs on the machine inside the test process and catches what they write.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cvl/backend.hpp"
#include "vcode/error_codes.hpp"
#include "vcode/opcodes.hpp"
#include "vcode/program.hpp"
#include "vinterp/observer.hpp"
#include "vinterp/warm_up.hpp"

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

/// Runs the program with the random numbers of a fresh start. Input is empty; files and processes
/// are refused. `observers` see the run.
MachineRun run_on_machine(const vcode::LinkedProgram& program, cvl::Backend& backend, bool strict,
                          vinterp::KernelUse kernels = vinterp::KernelUse::Always,
                          const std::vector<vinterp::Observer*>& observers = {});

}  // namespace smith
