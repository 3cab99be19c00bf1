// What the kernels of CUB cost, counted as scripts/kernel-costs counts ours, for the same
// operations on the same number of elements: those baselines of gpu-report that are folds and
// selections.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <random>

#include <fmt/format.h>

#include "bench/gpu-report/baselines.hpp"
#include "cuda/ptx/cub/runtime.hpp"

namespace {

using gpu_report::Baseline;
using ptx_machine::Cost;

constexpr std::int64_t kElements = 1 << 16;

/// Starts of segments of random lengths.
std::vector<std::int64_t> starts(int low, int high) {
  std::mt19937 random(1);
  std::vector<std::int64_t> result{0};
  while (result.back() < kElements) {
    const auto length = static_cast<std::int64_t>(random() % (high - low + 1)) + low;
    result.push_back(std::min(kElements, result.back() + length));
  }
  return result;
}

/// A call that only asks for scratch memory costs nothing; the second one is counted.
void print_row(const char* family, Baseline which, const std::vector<const void*>& arrays,
               const std::vector<std::int64_t>& offsets) {
  const gpu_report::BaselineCall call{which, kElements, arrays, offsets, nullptr};
  gpu_report::Run run = gpu_report::fold_baseline(call);
  if (!run) run = gpu_report::order_baseline(call);
  const auto kernels = cub_costs::costs_of(run);
  Cost all, main;
  for (const cub_costs::KernelCost& kernel : kernels) {
    all += kernel.cost;
    if (kernel.cost.instructions > main.instructions) main = kernel.cost;
  }
  const auto n = static_cast<double>(kElements);
  const double bytes = static_cast<double>(all.load_bytes + all.store_bytes);
  fmt::print(
      "| {} | {:.1f} | {:.1f} | {:.0f} | {:.1f} | {} | {:.1f} |\n", family, bytes / n,
      static_cast<double>(all.instructions) / n,
      static_cast<double>(main.barriers) / static_cast<double>(main.blocks),
      static_cast<double>(main.loads) / static_cast<double>(std::max<std::uint64_t>(main.waits, 1)),
      main.most_loads, 32.0 * static_cast<double>(all.load_sectors + all.store_sectors) / bytes);
  std::fflush(stdout);
}

void print_table() {
  const auto ints = gpu_report::device_array<int>(kElements);
  const auto floats = gpu_report::device_array<double>(kElements);
  const auto flags = gpu_report::device_array<std::uint8_t>(kElements);
  std::mt19937 random(1);
  for (std::int64_t k = 0; k < kElements; ++k) {
    ints.get()[k] = static_cast<int>(1 + 7 * k);
    floats.get()[k] = static_cast<double>(random() % 100);
    flags.get()[k] = static_cast<std::uint8_t>(random() % 2);
  }
  const auto short_segments = starts(0, 31), long_segments = starts(2000, 9000);
  fmt::print(
      "| family | bytes | instructions | barriers | loads in flight | most | sectors |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n");
  print_row("scan INT", Baseline::Scan, {ints.get()}, short_segments);
  print_row("scan FLOAT", Baseline::ScanFloat, {floats.get()}, short_segments);
  print_row("reduce INT", Baseline::Reduce, {ints.get()}, short_segments);
  print_row("reduce FLOAT", Baseline::ReduceFloat, {floats.get()}, short_segments);
  print_row("segmented reduce INT", Baseline::SegmentedReduce, {ints.get()}, short_segments);
  print_row("segmented reduce FLOAT", Baseline::FusedSegmentedReduce, {floats.get()},
            short_segments);
  print_row("segmented reduce FLOAT, long", Baseline::FusedSegmentedReduce, {floats.get()},
            long_segments);
  print_row("pack INT", Baseline::Select, {ints.get(), flags.get()}, short_segments);
  print_row("pack FLOAT", Baseline::SelectFloat, {floats.get(), flags.get()}, short_segments);
  print_row("fused reduce FLOAT", Baseline::FusedReduce, {floats.get()}, short_segments);
  print_row("fused scan FLOAT", Baseline::FusedScan, {floats.get()}, short_segments);
  print_row("fused filter FLOAT", Baseline::FusedFilter, {floats.get()}, short_segments);
}

}  // namespace

int main() {
  try {
    print_table();
  } catch (const std::exception& error) {
    fmt::print(stderr, "cub-costs: {}\n", error.what());
    return 1;
  }
}
