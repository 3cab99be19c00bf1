// From the run of a compiled program to what the user is told, in terms of the NESL text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine/line_profile.hpp"
#include "neslc/evaluation/cost.hpp"
#include "neslc/evaluation/execution.hpp"
#include "neslc/flatten/stack_code.hpp"
#include "neslc/front/static_error.hpp"
#include "vcode/diagnostics.hpp"

namespace neslc {

struct Evaluation {
  enum class Status : std::uint8_t {
    Done,
    Rejected,     // found by the compiler: `error`
    Stopped,      // RUNTIME ERROR or ERROR of the program: `message` is the whole line
    Failed,       // by the machine: `diagnostic`
    Interrupted,  // by `signal`
  };
  Status status = Status::Done;
  std::vector<cvl::Value> values;  // Done: the components of the result
  std::optional<StaticError> error;
  std::string message;
  std::optional<vcode::Diagnostic> diagnostic;  // Stopped (the place) and Failed
  std::shared_ptr<const vcode::Source> source;  // of the diagnostic's spans
  std::optional<Cost> cost;                     // if it was measured, of a failed run too
  int signal = 0;                               // Interrupted; SIGALRM: the time limit
  double seconds = 0;                           // of the run
  double compile_seconds = 0;
};

/// A form that was compiled: what runs, and what its instructions mean.
struct Compiled {
  FlatProgram flat;
  StackCode code;                      // as it was written
  std::optional<StackCode> optimized;  // runs instead, if there is one
  double seconds = 0;                  // that this took

  const StackCode& main() const { return optimized ? *optimized : code; }
};

/// `program` is `compiled.main()`, linked. `profile`, which may be null, gets what was counted.
Evaluation conclude(const Compiled& compiled, const vcode::LinkedProgram& program,
                    Executions executions, vinterp::LineProfile* profile);

}  // namespace neslc
