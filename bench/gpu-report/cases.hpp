// The operations that are measured, one or two of each family.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/gpu-report/meter.hpp"

namespace gpu_report {

struct Case {
  std::string_view group;  // cases of one group stand together and share a plot
  std::string name;
  double bytes_per_element;  // what must be read and written at least
  Baseline baseline;
  /// Makes the operands; the function that is returned runs the operation on them.
  std::function<std::function<void()>(cvl::Backend&, std::int64_t length)> prepare;
};

const std::vector<Case>& flat_cases();

/// How the elements are spread over segments.
enum class Spread { Uniform, PowerLaw, OneGiant };
std::string_view spread_name(Spread spread);

/// About n / mean_length segments over exactly n elements, empty ones included.
std::vector<std::int64_t> segment_lengths(Spread spread, std::int64_t n, std::int64_t mean_length);

/// A segmented sum or scan of INT over that descriptor.
std::function<void()> prepare_segmented(cvl::Backend& backend, vcode::Op op,
                                        const std::vector<std::int64_t>& lengths);

}  // namespace gpu_report
