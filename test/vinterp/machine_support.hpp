// Runs program text on the machine with the CPU library, for tests.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/loader.hpp"
#include "cvl-cpu/cpu_backend.hpp"
#include "machine/constants.hpp"
#include "machine/format.hpp"
#include "machine/io_ops.hpp"
#include "machine/machine.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/parser.hpp"

namespace vinterp_test {

struct Ran {
  std::optional<vinterp::Outcome> outcome;  // nothing: the program could not be loaded
  std::string stack;                        // lines of the final stack
  std::string messages;                     // rendered diagnostics
  std::string written;                      // by WRITE
};

struct RunOptions {
  vinterp::MachineOptions machine = {};
  cvl::Widths widths = {};
  std::size_t memory = cvl::Heap::kUnlimited;
  std::vector<vinterp::Observer*> observers = {};
  std::uint64_t fail_allocation = 0;  // number of the allocation that fails; 0: none
  vinterp::LoadOptions load = {};
};

/// The program is not verified: the machine has to find out everything itself.
inline Ran run_program(const std::string& text, const RunOptions& options = {}) {
  Ran ran;
  vcode::Diagnostics diagnostics;
  const auto source = std::make_shared<const vcode::Source>("test.vcode", text);
  const auto program = vinterp::load_program(source, diagnostics, options.load);
  cvl::cpu::CpuOptions cpu;
  cpu.widths = options.widths;
  cpu.threads = 1;
  cpu.memory_limit = options.memory;
  cvl::cpu::CpuBackend backend(cpu);
  std::vector<cvl::Value> constants;
  if (program) constants = vinterp::load_constants(*program, backend, diagnostics);
  ran.messages = vcode::render(diagnostics, source.get(), {});
  if (!program || diagnostics.has_errors()) return ran;

  vinterp::IoOptions streams;
  streams.messages = &ran.written;
  vinterp::IoOperations io(backend, streams);
  vinterp::Machine machine(*program, std::move(constants), backend, io, options.machine);
  for (vinterp::Observer* observer : options.observers) machine.observe(*observer);
  backend.heap().fail_at(options.fail_allocation);
  const vinterp::RunResult result = machine.run();
  backend.heap().fail_at(0);
  ran.outcome = result.outcome;
  if (result.failure) ran.messages += vcode::render(*result.failure, source.get(), {});
  if (result.outcome != vinterp::Outcome::Returned) return ran;
  for (const cvl::Value& value : machine.stack()) {
    vinterp::write_value(backend, value, [&](std::string_view piece) {
      ran.stack += piece;
      return true;
    });
  }
  return ran;
}

/// The final stack after the body of a function, as one line: "( 1 ) ( T F )".
inline std::string final_stack(const std::string& body, const RunOptions& options = {}) {
  const Ran ran = run_program("FUNC MAIN\n" + body + "\nRET\n", options);
  if (ran.outcome != vinterp::Outcome::Returned) return ran.messages;
  std::string line = ran.stack;
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  if (!line.empty()) line.pop_back();
  return line;
}

}  // namespace vinterp_test
