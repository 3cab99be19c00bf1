// The steps that measure the device. Each writes its section as it goes on.
#pragma once

#include "bench/gpu-report/meter.hpp"
#include "bench/gpu-report/section.hpp"

namespace gpu_report {

/// How long vectors are, as powers of two.
struct Lengths {
  int smallest = 16, largest = 28;
  int segmented = 26;
};

void describe_device(Meter& meter, const Lengths& lengths, Section& section);
/// Operations of the library, and passes of fused kernels.
void measure_flat(Meter& meter, const Lengths& lengths, Section& section);
void measure_fused(Meter& meter, const Lengths& lengths, Section& section);
/// By distribution of lengths of segments.
void measure_segmented(Meter& meter, const Lengths& lengths, Section& section);
/// The CPU library beside this one, and from which length on the device is faster.
void measure_crossing(Meter& meter, const Lengths& lengths, Section& section);

}  // namespace gpu_report
