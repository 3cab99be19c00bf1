// What is measured, on whatever device: gpu-report on a real one, its test on the emulated one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cvl/backend.hpp"

namespace gpu_report {

/// Primitives of the vendor's library, called directly on plain arrays of 32-bit integers.
enum class Baseline { None, Copy, Reduce, Scan, Select, Sort, Transform, SegmentedReduce };

class Meter {
 public:
  virtual ~Meter() = default;

  virtual cvl::Backend& backend() = 0;
  virtual std::string device() const = 0;
  /// Device time from before the first to after the last piece of work that `work` hands over.
  virtual double seconds(const std::function<void()>& work) = 0;
  /// A call of a primitive on fresh data of `length` elements (of INT; offsets for the segmented
  /// one); empty if there is none here or no memory for it.
  virtual std::function<void()> baseline(Baseline which, std::int64_t length,
                                         const std::vector<std::int64_t>& offsets) = 0;
};

/// The meter of the real device. Throws cvl::Failure (NoBackend).
std::unique_ptr<Meter> make_device_meter();

/// Median of a few repetitions, fewer for long ones.
double measure(Meter& meter, const std::function<void()>& work);

}  // namespace gpu_report
