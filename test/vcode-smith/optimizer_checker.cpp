#include "vcode-smith/optimizer_checker.hpp"

#include <exception>
#include <optional>

#include <fmt/core.h>

#include "cvl-cpu/cpu_backend.hpp"
#include "fcode-opt/pass_table.hpp"
#include "vcode-smith/machine_runner.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"
#include "vcode/printer.hpp"

namespace smith {
namespace {

/// The program after its way through its own text, so that the text is checked too; nothing if that
/// is wrong.
std::optional<vcode::LinkedProgram> reread(const vcode::Program& program) {
  vcode::Diagnostics diagnostics;
  auto parsed = vcode::parse(std::make_shared<const vcode::Source>("smith", vcode::print(program)),
                             diagnostics);
  if (!parsed) return std::nullopt;
  return vcode::link(std::move(*parsed), diagnostics);
}

std::string text_of(const fcode::OptimizerOptions& options) {
  std::string name = fmt::format("-O{}", options.level);
  for (const std::string& pass : options.disabled) name += fmt::format(" --disable={}", pass);
  return name;
}

fcode::OptimizerOptions variant(int level, std::vector<std::string> disabled) {
  fcode::OptimizerOptions options;
  options.level = level;
  options.disabled = std::move(disabled);
  options.check = true;
  return options;
}

/// A message without the place of a wrong index: kernels name themselves there, and count within
/// the vector where instructions count within a segment.
std::string without_place(const std::string& message) {
  return message.substr(0, message.find(" is out of range in "));
}

/// May an optimized program leave out this failure? What fails may be left out if nobody needs its
/// result: it only computes, and the run ends by EXIT without more output than there was before.
bool may_be_left_out(const MachineRun& expected, const MachineRun& found) {
  return expected.failure && found.exited && expected.failed &&
         vcode::info(*expected.failed).is_vector_op();
}

std::string difference(const MachineRun& expected, const MachineRun& found) {
  const bool left_out = may_be_left_out(expected, found);
  const bool same_failure = expected.failure == found.failure &&
                            without_place(expected.message) == without_place(found.message);
  if (!same_failure && !left_out) {
    return fmt::format("ends with {} ({}), expected {} ({})", name_of(found.failure), found.message,
                       name_of(expected.failure), expected.message);
  }
  if (expected.exited != found.exited && !left_out) return "one of the runs ends by EXIT";
  return difference_in_output(expected.output, expected.error, found);
}

}  // namespace

std::vector<fcode::OptimizerOptions> optimizer_variants(int highest) {
  std::vector<fcode::OptimizerOptions> variants;
  for (int level = fcode::kLeastLevel + 1; level < highest; ++level) {
    variants.push_back(variant(level, {}));
  }
  for (const fcode::Pass& pass : fcode::pass_table()) {
    variants.push_back(variant(highest, {std::string(pass.name)}));
  }
  return variants;
}

cvl::Backend& OptimizerChecker::backend(const cvl::Widths& widths) {
  for (const Kept& kept : backends_) {
    if (kept.widths == widths) return *kept.backend;
  }
  cvl::cpu::CpuOptions options;
  options.widths = widths;
  options.threads = 1;
  backends_.push_back({widths, std::make_unique<cvl::cpu::CpuBackend>(options)});
  return *backends_.back().backend;
}

std::string OptimizerChecker::check(const vcode::Program& program, const cvl::Widths& widths,
                                    bool strict, std::uint64_t number) {
  const auto linked = reread(program);
  if (!linked) return "does not parse";
  cvl::Backend& cpu = backend(widths);
  const MachineRun expected = run_on_machine(*linked, cpu, strict);
  if (expected.failure) ++failing_;
  for (const auto& options : {variant(level_, {}), variants_[number % variants_.size()]}) {
    std::optional<vcode::LinkedProgram> optimized;
    try {
      optimized = reread(fcode::optimize(program, options));
    } catch (const std::exception& error) {
      return fmt::format("{}: {}", text_of(options), error.what());
    }
    if (!optimized) return fmt::format("{}: the result does not parse", text_of(options));
    for (const auto kernels : {vinterp::KernelUse::Always, vinterp::KernelUse::Never}) {
      const MachineRun found = run_on_machine(*optimized, cpu, strict, kernels);
      const std::string differs = difference(expected, found);
      if (differs.empty()) continue;
      const bool as_specs = kernels == vinterp::KernelUse::Never;
      return fmt::format("{}{}: {}", text_of(options), as_specs ? ", kernels as SPECs" : "",
                         differs);
    }
    if (cpu.heap().statistics().live_bytes != 0) {
      return fmt::format("{}: vector memory is left over", text_of(options));
    }
  }
  return {};
}

}  // namespace smith
