// What is measured, on whatever device: gpu-report on a real one, its rehearsal on one of the
// tests.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cvl/backend.hpp"

namespace gpu_report {

/// Primitives of the vendor's libraries, called directly on plain arrays: of 32-bit integers, or of
/// doubles where the name says Float or Fused. All are CUB's but for Random, which is cuRAND's
/// Philox.
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
  Gather,
  GatherInOrder,
  Scatter,
  FusedMap,
  // folds
  Reduce,
  ReduceFloat,
  Scan,
  ScanFloat,
  SegmentedReduce,
  FusedReduce,
  FusedScan,
  FusedSegmentedReduce,
  // order and choice
  Select,
  SelectFloat,
  Sort,
  SortFloat,
  FusedFilter,
};

/// A piece of work, and what it works on.
struct Work {
  std::function<void()> run;  // empty: there is none
  std::vector<cvl::Value> operands;
};

class Meter {
 public:
  virtual ~Meter() = default;

  virtual cvl::Backend& backend() = 0;
  /// A further library on the same device, whose vectors are all on the device.
  virtual std::unique_ptr<cvl::Backend> all_on_device() = 0;
  virtual std::string device() const = 0;
  /// Device time from before the first to after the last piece of work that `work` hands over.
  virtual double seconds(const std::function<void()>& work) = 0;
  /// A call of a primitive on these operands of ours, of `length` elements (and, for the segmented
  /// ones, with segments that begin at `offsets`); nothing if there is none here, or no memory for
  /// it. Nothing else is at work on the device when this returns.
  virtual std::function<void()> baseline(Baseline which, std::int64_t length,
                                         const std::vector<cvl::Value>& operands,
                                         const std::vector<std::int64_t>& offsets) = 0;
};

/// The meter of the device. Throws cvl::Failure (NoBackend). Defined by the program.
std::unique_ptr<Meter> make_meter();
/// Why there is no such device; empty when there is one. Defined by the program.
std::string no_device();

/// Median of a few repetitions, fewer for long ones.
double measure(Meter& meter, const std::function<void()>& work);

}  // namespace gpu_report
