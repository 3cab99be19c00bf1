#include "neslc/evaluation/job_message.hpp"

namespace neslc {
namespace {

// Each function names the items of a structure once, for both directions. `Structure` is const
// where it is written.

template <class Message, class... Items>
void pass(Message& message, Items&... items) {
  if constexpr (std::is_same_v<Message, MessageWriter>) {
    (message.put(items), ...);
  } else {
    (message.get(items), ...);
  }
}

template <class Message, class Structure>
void pass_machine(Message& message, Structure& machine) {
  pass(message, machine.backend, machine.device, machine.threads, machine.widths, machine.memory,
       machine.time_limit);
}

template <class Message, class Structure>
void pass_options(Message& message, Structure& options) {
  pass(message, options.seed, options.cost, options.profile, options.sandbox, options.recorded,
       options.max_depth);
}

template <class Message, class Structure>
void pass_execution(Message& message, Structure& execution) {
  auto& run = execution.run;
  pass(message, run.outcome, run.failure, run.signal, run.seconds, run.at, run.calls);
  pass(message, execution.values, execution.message, execution.cost, execution.profile);
}

}  // namespace

void write_request(int fd, const JobRequest& request, cvl::Backend& backend) {
  MessageWriter message(fd, backend);
  pass_machine(message, request.machine);
  pass_options(message, request.options);
  message.put(request.programs.size());
  for (const JobProgram& program : request.programs) {
    pass(message, program.text, program.constants);
  }
  message.put(request.values);
  message.flush();
}

JobRequest read_request(MessageReader& message) {
  JobRequest request;
  pass_machine(message, request.machine);
  pass_options(message, request.options);
  std::size_t programs = 0;
  message.get(programs);
  for (std::size_t i = 0; i < programs; ++i) {
    JobProgram& program = request.programs.emplace_back();
    pass(message, program.text, program.constants);
  }
  return request;
}

void write_result(int fd, const Executions& result, cvl::Backend& backend) {
  MessageWriter message(fd, backend);
  pass_execution(message, result.first);
  message.put(result.as_written.has_value());
  if (result.as_written) pass_execution(message, *result.as_written);
  message.flush();
}

Executions read_result(MessageReader& message) {
  Executions result;
  pass_execution(message, result.first);
  bool explained = false;
  message.get(explained);
  if (explained) pass_execution(message, result.as_written.emplace());
  return result;
}

}  // namespace neslc
