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
  /// Makes the operands, and what runs the operation on them.
  std::function<Work(cvl::Backend&, std::int64_t length)> prepare;
};

const std::vector<Case>& flat_cases();
/// Passes of fused kernels over vectors without segments.
const std::vector<Case>& fused_cases();

/// How the elements are spread over segments.
enum class Spread { Uniform, PowerLaw, OneGiant };
std::string_view spread_name(Spread spread);

/// About n / mean_length segments over exactly n elements, empty ones included.
std::vector<std::int64_t> segment_lengths(Spread spread, std::int64_t n, std::int64_t mean_length);

/// A descriptor of these lengths.
cvl::Segdes make_segments(cvl::Backend& backend, const std::vector<std::int64_t>& lengths);
/// An operation on the operands.
Work make_work(cvl::Backend& backend, vcode::Op op, vcode::Type type,
               std::vector<cvl::Value> operands);
/// A kernel of fused.fcode on the operands. Throws cvl::Failure when the library does not run it.
Work make_kernel_work(cvl::Backend& backend, const std::string& kernel,
                      std::vector<cvl::Value> operands);
/// Random numbers from 0 up to 99.
cvl::Vector random_ints(cvl::Backend& backend, std::int64_t length);
cvl::Vector random_floats(cvl::Backend& backend, std::int64_t length);

}  // namespace gpu_report
