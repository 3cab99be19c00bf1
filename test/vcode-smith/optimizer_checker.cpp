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

/// A message without the number and the place of a wrong index: kernels name themselves there, and
/// count within the vector where instructions count within a segment.
std::string without_place(const std::string& message) {
  const bool of_index = message.find(" is out of range in ") != std::string::npos;
  return of_index ? "an index is out of range" : message;
}

/// May an optimized program leave out this failure? What fails may be left out if nobody needs its
/// result: it only computes, and the run ends by EXIT without more output than there was before.
bool may_be_left_out(const MachineRun& expected, const MachineRun& found) {
  return expected.failure && found.exited && expected.failed &&
         vcode::info(*expected.failed).is_vector_op();
}
}  // namespace

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

std::vector<OptimizerChecker::Way> OptimizerChecker::ways(std::uint64_t number) const {
  using enum vinterp::KernelUse;
  const fcode::OptimizerOptions full = variant(level_, {});
  const fcode::OptimizerOptions& other = variants_[number % variants_.size()];
  const int threads = 1 + static_cast<int>(number % 3);
  if (!long_) {
    return {{full, Always, threads},
            {full, Never, threads},
            {other, Always, threads},
            {other, Never, 1}};
  }
  return {{variant(fcode::kLeastLevel, {}), Always, 2},
          {full, Always, 1},
          {full, Always, 2},
          {full, Never, 2},
          {other, Always, 2}};
}

std::string OptimizerChecker::check(const TestProgram& program, const cvl::Widths& widths,
                                    bool strict, std::uint64_t number) {
  const auto linked = reread(program.code);
  if (!linked) return "does not parse";
  RunSetup setup;
  setup.strict = strict;
  setup.input = program.input_text();
  setup.stack = long_ ? StackAs::Digest : StackAs::Text;
  const MachineRun expected = run_on_machine(*linked, backend(widths, 1), setup);
  if (expected.failure) ++failing_;
  std::string complaint;
  for (const Way& way : ways(number)) {
    const bool as_specs = way.kernels == vinterp::KernelUse::Never;
    const std::string name = fmt::format("{}{}, threads: {}", text_of(way.options),
                                         as_specs ? ", kernels as SPECs" : "", way.threads);
    std::optional<vcode::LinkedProgram> optimized;
    try {
      optimized = reread(fcode::optimize(program.code, way.options));
    } catch (const std::exception& error) {
      return fmt::format("{}: {}", name, error.what());
    }
    if (!optimized) return fmt::format("{}: the result does not parse", name);
    setup.kernels = way.kernels;
    cvl::Backend& cpu = backend(widths, way.threads);
    const MachineRun found = run_on_machine(*optimized, cpu, setup);
    // Long programs may fail anywhere, also in what they do not need, which is not run then.
    const bool not_needed = long_ && expected.failure && !found.failure;
    const std::string differs = difference(expected, found);
    if (!differs.empty() && !not_needed) {
      complaint = fmt::format("{}: {}", name, differs);
    } else if (cpu.heap().statistics().live_bytes != 0) {
      complaint = fmt::format("{}: vector memory is left over", name);
    }
    if (!complaint.empty()) break;
  }
  if (long_) backends_.clear();  // they keep the memory that they have had
  return complaint;
}

}  // namespace smith
