#include "vinterp/observers.hpp"

#include <cerrno>
#include <string_view>
#include <unistd.h>

#include <fmt/core.h>

#include "cvl/failure.hpp"
#include "machine/byte_buffer.hpp"
#include "machine/line_profile.hpp"
#include "machine/profile_rows.hpp"
#include "machine/report_text.hpp"
#include "machine/streams.hpp"
#include "vcode/diagnostics.hpp"

namespace vinterp {
namespace {

FileDescriptor create_file(const std::string& name) {
  FileDescriptor file = open_file(name, FileMode::Write);
  if (!file) {
    throw cvl::Failure(
        vcode::ErrorCode::OutputFailed,
        fmt::format("cannot write `{}`: {}", vcode::escaped(name), system_message(errno)));
  }
  return file;
}

TextSink sink_for(int fd) {
  return [fd](std::string_view text) { return write_fully(fd, text) == 0; };
}

bool is_traced(const Options& options) {
  return options.trace || options.show_commands || options.show_stack || options.show_values;
}

}  // namespace

bool Observers::wanted(const Options& options) {
  return is_traced(options) || options.profile || options.profile_rows || options.stats ||
         options.list_program;
}

Observers::Observers(const Options& options, const vcode::LinkedProgram& program,
                     cvl::Backend& backend)
    : program_(program), backend_(backend), show_profile_(options.profile.has_value()) {
  const TraceOptions traced{.instructions = options.trace.has_value(),
                            .command = options.show_commands,
                            .stack = options.show_stack,
                            .values = options.show_values,
                            .values_per_vector = options.trace_values,
                            .max_lines = options.trace_lines};
  if (options.trace && !options.trace->empty()) trace_file_ = create_file(*options.trace);
  if (is_traced(options)) {
    trace_.emplace(backend, program, traced,
                   sink_for(trace_file_ ? trace_file_.get() : STDERR_FILENO));
  }
  if (options.profile || options.profile_rows) profile_.emplace(program);
  if (options.profile && !options.profile->empty()) {
    chrome_file_ = create_file(*options.profile);
    chrome_trace_.emplace(program, backend.heap());
  }
  if (options.profile_rows) {
    rows_file_ = create_file(*options.profile_rows);
    rows_as_json_ = options.profile_rows->ends_with(".json");
  }
  if (options.stats) statistics_.emplace(program);
}

void Observers::attach(Machine& machine) {
  if (trace_) machine.observe(*trace_);
  if (profile_) machine.observe(*profile_);
  if (chrome_trace_) machine.observe(*chrome_trace_);
  if (statistics_) machine.observe(*statistics_);
}

void Observers::report_profile(double seconds) {
  const TextSink standard_error = sink_for(STDERR_FILENO);
  const auto& heap = backend_.heap().statistics();
  if (show_profile_ && has_origins(program_)) {
    LineProfile lines;
    lines.add(profile_->costs(), program_, origin_places(program_), seconds);
    standard_error(lines.report(heap, backend_.counters()));
  } else if (show_profile_) {
    standard_error(profile_->report(heap, backend_.counters(), seconds));
  }
  if (!rows_file_) return;
  const std::string rows =
      rows_as_json_ ? profile_json(*profile_, program_) : profile_csv(*profile_, program_);
  if (!sink_for(rows_file_.get())(rows)) {
    throw cvl::Failure(vcode::ErrorCode::OutputFailed, "cannot write the rows of the profile");
  }
}

void Observers::report(double seconds) {
  const TextSink standard_error = sink_for(STDERR_FILENO);
  const auto& heap = backend_.heap().statistics();
  if (profile_) report_profile(seconds);
  if (statistics_) {
    standard_error(statistics_->report(heap, backend_.counters(), seconds));
    for (const std::string& note : backend_.notes()) {
      standard_error(fmt::format("note: {}\n", vcode::escaped(note)));
    }
  }
  if (chrome_trace_ && !chrome_trace_->write(sink_for(chrome_file_.get()))) {
    throw cvl::Failure(vcode::ErrorCode::OutputFailed, "cannot write the trace of the profile");
  }
  if (chrome_trace_ && chrome_trace_->dropped() > 0) {
    standard_error(fmt::format("profile: the trace leaves out {} events of up to {}\n",
                               chrome_trace_->dropped(),
                               format_seconds(chrome_trace_->longest_dropped_seconds())));
  }
}

}  // namespace vinterp
