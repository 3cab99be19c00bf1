// What is measured, on whatever device: gpu-report on a real one, its test on the emulated one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cvl/backend.hpp"

namespace gpu_report {

/// Primitives of the vendor's libraries, called directly on plain arrays: of 32-bit integers, or of
/// doubles where the name says Float. All are CUB's but for Random, which is cuRAND's Philox.
enum class Baseline {
  None,
  Copy,
  // transformations
  Add,
  AddConstant,
  Less,
  Exp,
  AddFloat,
  Random,
  Gather,  // from places in random order
  GatherInOrder,
  Scatter,
  // folds
  Reduce,
  ReduceFloat,
  Scan,
  ScanFloat,
  SegmentedReduce,
  // order and choice
  Select,
  SelectFloat,
  Sort,
  SortFloat,
};

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
