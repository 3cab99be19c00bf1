#include "machine/trace.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "vcode/printer.hpp"

namespace vinterp {
namespace {

/// How many elements, or segments, a value has; a pair counts as one.
std::int64_t length_of(const cvl::Value& value) {
  if (value.is_vector()) return value.vector().length;
  return value.type() == cvl::Type::Segdes ? value.segdes().count : 1;
}

}  // namespace

Trace::Trace(cvl::Backend& backend, const vcode::LinkedProgram& program,
             const TraceOptions& options, TextSink sink)
    : backend_(backend), program_(program), options_(options), sink_(std::move(sink)) {
  if (options_.instructions) {
    sink_(fmt::format("{:>6} {:<24} {:>6}  {:<20} {}\n", "line", "function", "stack", "instruction",
                      "operands"));
  }
}

void Trace::before(const Step& step) {
  if (ended_) return;
  if (options_.command) put_line(vcode::print(*step.code, program_) + '\n');
  if (options_.stack || options_.values) put_stack(step);
  if (options_.values) put_values(step);
  if (options_.instructions) put_line(instruction_line(step));
}

std::string Trace::instruction_line(const Step& step) {
  std::string line = fmt::format("{:>6} {:<24} {:>6}  {:<20}", step.code->span.line,
                                 program_.functions[step.function].name, step.stack.size(),
                                 vcode::print(*step.code, program_));
  const auto count = std::min(static_cast<std::size_t>(step.operand_count), step.stack.size());
  for (const cvl::Value& operand : step.stack.last(count)) {
    line += ' ';
    line += shortened(backend_, operand, options_.values_per_vector);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  line += '\n';
  return line;
}

void Trace::put_stack(const Step& step) {
  std::string line;
  for (const cvl::Value& value : step.stack) {
    line += fmt::format("{}({}) ", length_of(value), display_name(value.type()));
  }
  put_line(line + '\n');
}

void Trace::put_values(const Step& step) {
  for (const cvl::Value& value : step.stack) {
    if (!count_line()) return;
    ended_ = !write_value(backend_, value, sink_);
  }
}

void Trace::put_line(const std::string& line) {
  if (count_line()) ended_ = !sink_(line);
}

bool Trace::count_line() {
  if (ended_) return false;
  if (lines_ < options_.max_lines) {
    ++lines_;
    return true;
  }
  ended_ = true;
  sink_(fmt::format("vinterp: the trace ends here, after {} lines\n", lines_));
  return false;
}

}  // namespace vinterp
