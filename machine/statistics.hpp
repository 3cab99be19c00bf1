// The numbers of a run as a whole (--stats).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cvl/backend.hpp"
#include "cvl/heap.hpp"
#include "machine/observer.hpp"
#include "vcode/program.hpp"

namespace vinterp {

/// Counts what runs. Launches are vector operations and the passes of kernels over index spaces:
/// what a device has to launch at least.
class Statistics final : public Observer {
 public:
  /// REQUIRES: no kernel is unread.
  explicit Statistics(const vcode::LinkedProgram& program);

  void after(const Step& step, double seconds) override;

  std::uint64_t launches() const { return vector_operations_ + passes_; }
  /// Of the operands and results of what was launched.
  std::uint64_t bytes() const { return bytes_; }

  /// Several aligned lines: instructions, vector operations, kernels, elements, memory, device work
  /// if there was any, time. `seconds`: wall-clock time of the run.
  std::string report(const cvl::HeapStatistics& heap, const cvl::DeviceCounters& device,
                     double seconds) const;

 private:
  std::vector<std::uint64_t> passes_of_;  // by kernel
  std::uint64_t instructions_ = 0;
  std::uint64_t vector_operations_ = 0;
  std::uint64_t kernel_runs_ = 0;
  std::uint64_t passes_ = 0;
  std::uint64_t elements_ = 0;
  std::int64_t longest_ = 0;
  std::uint64_t bytes_ = 0;
  double vector_seconds_ = 0;
};

/// The lines about memory, which the profile shows too.
std::string heap_report(const cvl::HeapStatistics& heap);

/// The lines about work given to a device; empty if there was none.
std::string device_report(const cvl::DeviceCounters& device);

}  // namespace vinterp
