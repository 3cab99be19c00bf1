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

std::string difference(const MachineRun& expected, const MachineRun& found) {
  // What fails may be left out if the run then ends by EXIT, so that nobody needs its result.
  const bool not_needed = expected.failure && found.exited;
  if (expected.failure != found.failure && !not_needed) {
    return fmt::format("ends with {} ({}), expected {} ({})", name_of(found.failure), found.message,
                       name_of(expected.failure), expected.message);
  }
  if (expected.exited != found.exited && !not_needed) return "one of the runs ends by EXIT";
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

cvl::Backend& OptimizerChecker::backend(const cvl::Widths& widths, int threads) {
  for (const Kept& kept : backends_) {
    if (kept.widths == widths && kept.threads == threads) return *kept.backend;
  }
  cvl::cpu::CpuOptions options;
  options.widths = widths;
  options.threads = threads;
  backends_.push_back({widths, threads, std::make_unique<cvl::cpu::CpuBackend>(options)});
  return *backends_.back().backend;
}

std::string OptimizerChecker::check(const vcode::Program& program, const cvl::Widths& widths,
                                    bool strict, std::uint64_t number) {
  const auto linked = reread(program);
  if (!linked) return "does not parse";
  cvl::Backend& cpu = backend(widths, 1 + static_cast<int>(number % 3));
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
