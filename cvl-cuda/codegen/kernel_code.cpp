#include "cvl-cuda/codegen/kernel_code.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "cvl-cuda/codegen/pass_writer.hpp"

namespace cvl::cuda::codegen {
namespace {

constexpr const char* kInclude = "#include \"cvl-cuda/kernels/generated.hpp\"\n";

/// The kernel in a namespace of its own, with functions whose names begin with `prefix`.
std::string unit_of(const KernelCode& code, const Widths& widths, const std::string& space,
                    const std::string& prefix) {
  std::string entries;
  for (std::size_t k = 0; k < code.passes.size(); ++k) {
    entries += fmt::format("GENERATED_PASS(Pass{0}, {1}pass{0})\n", k, prefix);
  }
  return fmt::format(
      "\nnamespace cvl::cuda::CVL_CUDA_TARGET{0} {{\n{1}\n{2}\n{3}"
      "}}  // namespace cvl::cuda::CVL_CUDA_TARGET{0}\n",
      space, width_aliases(widths), code.text(), entries);
}

/// Lines as comments. A backslash at the end of a line would go on with the next one.
std::string comment(std::string text) {
  std::replace(text.begin(), text.end(), '\\', '/');
  std::string result = "\n";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) result += fmt::format("// {}\n", line);
  return result;
}

}  // namespace

std::string KernelCode::text() const {
  std::string text;
  for (const PassCode& pass : passes) text += pass.text;
  return text;
}

std::optional<KernelPlan> plan_for_device(const vcode::Kernel& kernel) {
  return plan_kernel(kernel, {.reduces_scanned = false});
}

Generated generate(const KernelPlan& plan) {
  Generated result;
  if (plan.has_serial_loops()) {
    result.reason = "ITERATE has stacks or writes, so that its states are run one after the other";
    return result;
  }
  const FaultSites sites(plan);
  KernelCode code;
  code.sites = sites.sites();
  code.site_pass = sites.passes();
  code.ranks = sites.ranks();
  for (std::uint32_t k = 0; k < plan.passes.size(); ++k) {
    PassWriter writer(plan, k, sites);
    if (writer.states() > kMostStates) {
      result.reason =
          fmt::format("pass {} folds {} values, and at most {} fit the shared memory of a block", k,
                      writer.states(), kMostStates);
      return result;
    }
    code.passes.push_back(writer.write());
  }
  result.code = std::move(code);
  return result;
}

std::string width_aliases(const Widths& widths) {
  return fmt::format("using Int = std::int{}_t;\nusing Float = {};\nusing Bool = ops::Bool;\n",
                     widths.int_bytes * 8, widths.float_bytes == 8 ? "double" : "float");
}

std::string device_source(const KernelCode& code, const Widths& widths) {
  return kInclude + unit_of(code, widths, "", "");
}

std::string readable_source(const std::vector<vcode::Kernel>& kernels, const Widths& widths) {
  std::string text = kInclude;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    text += comment(fmt::format("Kernel `{}`", kernels[k].name));
    const std::optional<KernelPlan> plan = plan_for_device(kernels[k]);
    const Generated generated = plan ? generate(*plan) : Generated{std::nullopt, kNoPlan};
    if (generated.code) {
      text +=
          comment(describe(*plan)) + unit_of(*generated.code, widths, fmt::format("::kernel{}", k),
                                             fmt::format("kernel{}_", k));
    } else {
      text += comment(fmt::format("is run as the VCODE that it replaces: {}", generated.reason));
    }
  }
  return text;
}

}  // namespace cvl::cuda::codegen
