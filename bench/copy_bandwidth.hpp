// What the memory of this machine can do: the yardstick of all other figures.
#pragma once

#include <cstddef>
#include <vector>

#include "cvl-cpu/cpu_backend.hpp"

namespace bench {

/// A parallel copy between two blocks that no cache holds, by the faster of plain and
/// cache-bypassing stores. It can be run next to what is measured, because the speed of a machine
/// that others use as well changes from second to second; and it leaves nothing else in the cache.
class CopyYardstick {
 public:
  CopyYardstick(cvl::cpu::CpuBackend& cpu, std::size_t bytes);

  /// Copies once; the time it took in seconds.
  double seconds() { return seconds(streamed_); }
  /// Bytes read plus bytes written by a copy.
  double traffic() const { return 2.0 * static_cast<double>(bytes_); }

 private:
  double seconds(bool streamed);

  cvl::cpu::CpuBackend& cpu_;
  std::size_t bytes_;
  cvl::Ref<cvl::Buffer> from_, to_;
  bool streamed_ = false;
};

/// The middle one of some times.
double median(std::vector<double> times);

}  // namespace bench
