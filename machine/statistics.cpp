#include "machine/statistics.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "cvl/failure.hpp"
#include "cvl/kernel_plan.hpp"
#include "machine/report_text.hpp"

namespace vinterp {
namespace {

std::string line(std::string_view label, const std::string& value) {
  return fmt::format("{:<26}{}\n", label, value);
}

std::string with_share(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{} ({})", part,
                     format_share(static_cast<double>(part), static_cast<double>(whole)));
}

}  // namespace

Statistics::Statistics(const vcode::LinkedProgram& program) {
  for (const vcode::LinkedKernel& kernel : program.kernels) {
    const std::optional<cvl::KernelPlan> plan = cvl::plan_kernel(kernel.definition);
    passes_of_.push_back(plan ? plan->launches() : 0);  // without a plan the SPEC runs
  }
}

void Statistics::after(const Step& step, double seconds) {
  ++instructions_;
  if (!step.op->is_vector_op() && !step.ran_kernel) return;
  ++(step.ran_kernel ? kernel_runs_ : vector_operations_);
  if (step.ran_kernel) passes_ += passes_of_[step.code->a];
  elements_ += static_cast<std::uint64_t>(step.elements);
  longest_ = std::max(longest_, step.elements);
  bytes_ += static_cast<std::uint64_t>(step.bytes);
  vector_seconds_ += seconds;
}

std::string Statistics::report(const cvl::HeapStatistics& heap, const cvl::DeviceCounters& device,
                               double seconds) const {
  return line("instructions", std::to_string(instructions_)) +
         line("vector operations", std::to_string(vector_operations_)) +
         line("kernel runs", std::to_string(kernel_runs_)) +
         line("  passes", std::to_string(passes_)) + line("launches", std::to_string(launches())) +
         line("elements", std::to_string(elements_)) +
         line("longest vector", std::to_string(longest_)) +
         line("bytes moved", cvl::format_bytes(bytes_)) + heap_report(heap) +
         device_report(device) +
         line("time in vector operations", fmt::format("{} ({})", format_seconds(vector_seconds_),
                                                       format_share(vector_seconds_, seconds))) +
         line("time", format_seconds(seconds));
}

std::string heap_report(const cvl::HeapStatistics& heap) {
  return line("allocations", std::to_string(heap.allocations)) +
         line("  recycled", with_share(heap.recycled, heap.allocations)) +
         line("operands taken over", std::to_string(heap.takeovers)) +
         line("peak live memory", cvl::format_bytes(heap.peak_live_bytes)) +
         line("peak held memory", cvl::format_bytes(heap.peak_held_bytes));
}

std::string device_report(const cvl::DeviceCounters& device) {
  if (device.launches == 0 && device.uploads == 0 && device.downloads == 0) return {};
  return line("device launches", std::to_string(device.launches)) +
         line("waits for the device", std::to_string(device.waits)) +
         line("copies to the device",
              fmt::format("{} ({})", device.uploads, cvl::format_bytes(device.upload_bytes))) +
         line("copies from the device",
              fmt::format("{} ({})", device.downloads, cvl::format_bytes(device.download_bytes)));
}

}  // namespace vinterp
