// Optimizes a program: the one entry for fcode-opt, `vinterp -O` and `nesl -O`.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fcode-opt/fusion/fuse.hpp"
#include "fcode-opt/ir.hpp"
#include "fcode-opt/memory_report.hpp"
#include "vcode/program.hpp"

namespace fcode {

inline constexpr int kLeastLevel = 0;
inline constexpr int kHighestLevel = 3;

struct OptimizerOptions {
  /// 0: nothing; 1: what makes the program smaller; 2: also inlining; 3: also kernels.
  int level = kHighestLevel;
  std::vector<std::string> disabled;  // names of passes that are left out
  std::string dump;                   // the pass whose result goes into the report; empty: none
  bool memory = false;                // fill in OptimizerReport::memory
  /// Asked again and again: true ends it, and optimize() throws Stopped. Empty: never.
  std::function<bool()> stop;
  /// Check the form after every pass; a fault is a std::logic_error. Debug builds always do.
  bool check = false;
};

/// Instructions of a program as it is written. IF counts once; FUNC, RET, ELSE and ENDIF do not.
struct ProgramSize {
  std::size_t functions = 0;
  std::size_t instructions = 0;
  std::size_t stack = 0;  // COPY, POP, CPOP
  std::size_t calls = 0;
  std::size_t conditionals = 0;
  std::size_t constants = 0;
  std::size_t vector_operations = 0;  // kernels not included
  std::size_t kernels = 0;            // RUN
};
ProgramSize measure(const vcode::Program& program);

struct OptimizerReport {
  struct PassRun {
    std::string_view pass;
    std::size_t vector_operations = 0;  // behind it
    bool changed = false;
  };
  ProgramSize before, after;
  std::vector<PassRun> runs;
  std::vector<Remark> remarks;  // what was left as it is, and why
  std::vector<Scope> scopes;    // that origins name
  FusionReport fusion;
  MemoryReport memory;  // if asked for
  std::string dump;     // the form behind the last run of the pass asked for
};

/// Runs the passes over a module. What the module means stays the same, as said below. `report` may
/// be null; its sizes are those of programs, and left alone.
void optimize(Module& module, const OptimizerOptions& options, OptimizerReport* report = nullptr);

/// The optimized program. Its results, output and failures are those of `program`, but for these:
/// an operation that fails is not run if nobody needs its result, and of several operations that
/// fail without output between them another one may be the first.
///
/// A program that has kernels already is returned as it is, with a remark; see expand(). The result
/// is the same for the same program and options. `report` may be null.
///
/// REQUIRES: the program links without errors (vcode/link.hpp).
vcode::Program optimize(const vcode::Program& program, const OptimizerOptions& options,
                        OptimizerReport* report = nullptr);

/// The program with every RUN replaced by the SPEC of its kernel: plain VCODE. Nothing if a kernel
/// has none; then `missing` is its name.
std::optional<vcode::Program> expand(const vcode::Program& program, std::string& missing);

}  // namespace fcode
