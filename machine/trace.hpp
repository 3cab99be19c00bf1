// The run of a program as text: instructions with their operands, and the classic debug switches.
#pragma once

#include <cstdint>
#include <string>

#include "cvl/backend.hpp"
#include "machine/format.hpp"
#include "machine/observer.hpp"
#include "vcode/program.hpp"

namespace vinterp {

struct TraceOptions {
  bool instructions = false;  // line, function, stack depth, instruction, shortened operands
  bool command = false;       // -d command: the instruction
  bool stack = false;         // -d stack: length and type of everything on the stack
  bool values = false;        // -d values: the same and the values in full
  std::int64_t values_per_vector = 8;   // shown of each operand
  std::uint64_t max_lines = 1'000'000;  // after so many lines the trace ends, and says so
};

/// Writes what the options ask for before each instruction, so that an instruction that fails is
/// seen as well. Not thread safe.
class Trace final : public Observer {
 public:
  /// The references must outlive the trace. A sink that refuses text ends the trace.
  Trace(cvl::Backend& backend, const vcode::LinkedProgram& program, const TraceOptions& options,
        TextSink sink);

  /// Throws Failure when values cannot be fetched from a device.
  void before(const Step& step) override;

 private:
  std::string instruction_line(const Step& step);
  void put_stack(const Step& step);
  void put_values(const Step& step);
  /// One line was or is to be written: false when the trace has ended.
  bool count_line();
  void put_line(const std::string& line);

  cvl::Backend& backend_;
  const vcode::LinkedProgram& program_;
  TraceOptions options_;
  TextSink sink_;
  std::uint64_t lines_ = 0;
  bool ended_ = false;
};

}  // namespace vinterp
