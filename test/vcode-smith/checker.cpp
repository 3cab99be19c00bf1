#include "vcode-smith/checker.hpp"

#include <fmt/core.h>

#include "cvl-cpu/cpu_backend.hpp"
#include "property/backends.hpp"
#include "reference/machine.hpp"
#include "vcode-smith/machine_runner.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"
#include "vcode/printer.hpp"
#include "vcode/verifier.hpp"

namespace smith {
namespace {

std::string first_error(const vcode::Diagnostics& diagnostics) {
  for (const vcode::Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity == vcode::Severity::Error) return diagnostic.message;
  }
  return {};
}

/// What the machine did that the reference did not.
std::string difference(const reference::Outcome& expected, const MachineRun& found) {
  if (expected.failure != found.failure) {
    return fmt::format("ends with {} ({}), expected {}", name_of(found.failure), found.message,
                       name_of(expected.failure));
  }
  if (expected.exited != found.exited) return "one of the runs ends by EXIT";
  return difference_in_output(expected.output, expected.error, found);
}

}  // namespace

Configuration cpu_configuration(int threads) {
  return {fmt::format("{} threads", threads),
          [threads](const cvl::Widths& widths) {
            cvl::cpu::CpuOptions options;
            options.widths = widths;
            options.threads = threads;
            return std::make_unique<cvl::cpu::CpuBackend>(options);
          },
          false};
}

std::vector<Configuration> cuda_configurations() {
  std::vector<Configuration> configurations;
  for (const property::Library& library : property::backends_under_test()) {
    if (library.name.rfind("cuda", 0) != 0) continue;
    for (const property::BackendChoice& choice : library.choices) {
      configurations.push_back({choice.name, choice.make, true});
    }
  }
  return configurations;
}

Checker::Checker(std::vector<Configuration> configurations)
    : configurations_(std::move(configurations)) {}

cvl::Backend& Checker::backend(const cvl::Widths& widths, std::size_t which) {
  for (const Kept& kept : backends_) {
    if (kept.widths == widths && kept.which == which) return *kept.backend;
  }
  backends_.push_back({widths, which, configurations_[which].make(widths)});
  return *backends_.back().backend;
}

std::string Checker::check(const TestProgram& program, const cvl::Widths& widths, bool strict) {
  vcode::Diagnostics diagnostics;
  const auto source = std::make_shared<const vcode::Source>("smith", vcode::print(program.code));
  auto parsed = vcode::parse(source, diagnostics);
  if (!parsed) return "does not parse: " + first_error(diagnostics);
  const auto linked = vcode::link(std::move(*parsed), diagnostics);
  if (!linked) return "does not link: " + first_error(diagnostics);
  vcode::verify(*linked, diagnostics);
  if (diagnostics.has_errors()) return "is refused by the verifier: " + first_error(diagnostics);

  reference::MachineOptions options;
  options.widths = {widths.int_bytes * 8, widths.float_bytes * 8};
  options.strict = strict;
  options.input = program.input;
  RunSetup setup;
  setup.strict = strict;
  setup.input = program.input_text();
  const reference::Outcome expected = reference::run(*linked, options);
  if (!expected.finished) return "does not end on the reference";
  if (expected.failure) ++failing_;
  for (std::size_t which = 0; which < configurations_.size(); ++which) {
    const Configuration& configuration = configurations_[which];
    cvl::Backend& library = backend(widths, which);
    const MachineRun found = run_on_machine(*linked, library, setup);
    const std::string differs = difference(expected, found);
    if (!differs.empty()) return fmt::format("{}: {}", configuration.name, differs);
    const std::size_t left = library.heap().statistics().live_bytes;
    if (left != 0 && !configuration.keeps_memory) {
      return fmt::format("{}: {} bytes of vector memory are left over", configuration.name, left);
    }
  }
  return {};
}

}  // namespace smith
