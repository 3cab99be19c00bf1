#include "cvl-cuda/codegen/kernel_compiler.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <utility>

namespace cvl::cuda::codegen {
namespace {

/// Calls visit(k) for all k below `count`, on up to so many threads.
void for_each(std::size_t count, std::size_t threads,
              const std::function<void(std::size_t)>& visit) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t k = next++; k < count; k = next++) visit(k);
  };
  std::vector<std::future<void>> others;
  for (std::size_t k = 1; k < std::min(count, threads); ++k) others.push_back(std::async(work));
  work();
  for (std::future<void>& other : others) other.get();
}

}  // namespace

KernelCompiler::KernelCompiler(const Widths& widths, int threads, KernelFolders folders)
    : widths_(widths),
      threads_(static_cast<std::size_t>(std::max(threads, 1))),
      folders_(std::move(folders)) {}

void KernelCompiler::expect(std::vector<const vcode::Kernel*> kernels) {
  expected_.clear();
  for (const vcode::Kernel* kernel : kernels) expected_.push_back({kernel, false, std::nullopt});
}

std::optional<CompiledKernel> KernelCompiler::take(const GeneratedKernel& generated, int capability,
                                                   std::string& why) {
  const auto own = std::find_if(expected_.begin(), expected_.end(), [&](const Expected& expected) {
    return expected.kernel == &generated.kernel;
  });
  Outcome outcome;
  if (own != expected_.end() && own->outcome) {
    outcome = *std::exchange(own->outcome, std::nullopt);
  } else if (auto found = find_kernel(generated.code, widths_, capability, folders_)) {
    outcome.kernel = std::move(found);
  } else {
    const auto next = own == expected_.end() ? own : own + 1;
    outcome = compile_with_next(generated, static_cast<std::size_t>(next - expected_.begin()),
                                capability);
  }
  if (own != expected_.end()) own->compiled = true;
  why = std::move(outcome.why);
  return std::move(outcome.kernel);
}

/// The outcome of a kernel; those from `next` on of the expected ones are kept with these.
KernelCompiler::Outcome KernelCompiler::compile_with_next(const GeneratedKernel& generated,
                                                          std::size_t next, int capability) {
  std::vector<Expected*> others;
  for (std::size_t k = next; k < expected_.size() && others.size() + 1 < threads_; ++k) {
    if (!std::exchange(expected_[k].compiled, true)) others.push_back(&expected_[k]);
  }
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Outcome> outcomes(others.size() + 1);
  for_each(outcomes.size(), threads_, [&](std::size_t k) {
    if (k == 0) {
      outcomes[0] = compile(generated.code, capability);
    } else if (const auto plan = plan_for_device(*others[k - 1]->kernel)) {
      if (const auto code = generate(*plan).code) outcomes[k] = compile(*code, capability);
    }
  });
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (const Outcome& outcome : outcomes) {
    if (outcome.kernel && !outcome.kernel->found) ++compiled_;
  }
  for (std::size_t k = 0; k < others.size(); ++k) others[k]->outcome = std::move(outcomes[k + 1]);
  return std::move(outcomes[0]);
}

KernelCompiler::Outcome KernelCompiler::compile(const KernelCode& code, int capability) const {
  Outcome outcome;
  outcome.kernel = compile_kernel(code, widths_, capability, folders_, outcome.why);
  return outcome;
}

std::optional<std::size_t> ship_kernels(const std::vector<KernelCode>& kernels,
                                        const Widths& widths, int capability, int threads,
                                        const KernelCache& folder, std::string& why) {
  std::vector<std::string> reasons(kernels.size());
  for_each(kernels.size(), static_cast<std::size_t>(std::max(threads, 1)),
           [&](std::size_t k) { ship_kernel(kernels[k], widths, capability, folder, reasons[k]); });
  const auto failed = std::find_if(reasons.begin(), reasons.end(),
                                   [](const std::string& reason) { return !reason.empty(); });
  if (failed == reasons.end()) return std::nullopt;
  why = *failed;
  return static_cast<std::size_t>(failed - reasons.begin());
}

}  // namespace cvl::cuda::codegen
