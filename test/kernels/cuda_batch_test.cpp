// Generated kernels on the emulated device: the host compiler has translated the text that a device
// would get.
#include "kernels/cuda_batch.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "kernels/kernel_check.hpp"
#include "property/backends.hpp"
#include "property/compare.hpp"
#include "property/convert.hpp"
#include "tuned.hpp"

namespace {

using kernel_test::Counts;

/// All of the batch, or fewer where a device is slow.
const int kKernels = [] {
  const char* asked = std::getenv("NESL_TEST_KERNELS");
  return asked == nullptr ? kernel_test::kBatchKernels
                          : std::min(std::atoi(asked), kernel_test::kBatchKernels);
}();

property::Library emulated_cuda() {
  for (const property::Library& library : property::backends_under_test()) {
    if (library.name == "cuda (emulated)") return library;
  }
  FAIL("there is no emulated device");
  return {};
}

TEST_CASE("generated kernels do what the reference evaluator does", "[kernels]") {
  const property::Library library = emulated_cuda();
  Counts counts;
  for (const property::BackendChoice& choice : library.choices) {
    for (int number = 0; number < kKernels; ++number) {
      INFO(choice.name << ", kernel " << number);
      const std::string text = kernel_test::batch_kernel(number);
      INFO(text);
      std::string messages;
      const auto program = kernel_test::parsed(text, messages);
      REQUIRE(program);
      const auto backend = choice.make(kernel_test::batch_widths(number));
      property::Random random(property::test_seed() + static_cast<std::uint64_t>(number));
      kernel_test::check_on_operands(*backend, program->kernels[0], random, counts);
      INFO((backend->notes().empty() ? "" : backend->notes()[0]));
      CHECK(counts.left == 0);
    }
  }
  CHECK(counts.ran > kKernels);
  if (kKernels == kernel_test::kBatchKernels) CHECK(counts.failed > 0);
  CHECK(counts.failed < counts.ran / 2);
}

/// Thousands of positions: several tiles, with long segments, runs of short ones, and more empty
/// ones in a row than a tile has positions. Or segments of one length, which need not be looked
/// for.
std::vector<std::int64_t> many_tiles(property::Random& random) {
  if (random.chance(0.2)) return std::vector<std::int64_t>(3000, random.between(1, 4));
  std::vector<std::int64_t> lengths;
  for (std::int64_t left = 9000; left > 0; left -= lengths.back()) {
    const std::int64_t most = random.chance(0.02) ? 3000 : 8;
    lengths.push_back(std::min(left, random.between(0, most)));
  }
  const auto somewhere =
      static_cast<std::ptrdiff_t>(random.between(0, static_cast<std::int64_t>(lengths.size()) - 1));
  lengths.insert(lengths.begin() + somewhere, 2500, 0);
  return lengths;
}

TEST_CASE("generated kernels do the same over many tiles", "[kernels][tiles]") {
  const property::Library library = emulated_cuda();
  const auto& costs = kernel_test::cost_cases();
  Counts counts;
  for (int number = 0; number < kKernels; ++number) {
    const auto at = static_cast<std::size_t>(number);
    const bool random_one = at >= costs.size();
    const std::string text =
        random_one ? kernel_test::batch_kernel(number) : kernel_test::cost_kernel(costs[at]);
    INFO("kernel " << number << '\n' << text);
    std::string messages;
    const auto program = kernel_test::parsed(text, messages);
    REQUIRE(program);
    const auto& choice = library.choices[at % library.choices.size()];
    const auto backend =
        choice.make(random_one ? kernel_test::batch_widths(number) : cvl::Widths{});
    property::Random random(property::test_seed() + at);
    kernel_test::check_on_lengths(*backend, program->kernels[0], many_tiles(random), random,
                                  counts);
  }
  CHECK(counts.left == 0);
  CHECK(counts.ran == kKernels);
  CHECK(counts.failed < counts.ran / 2);
}

/// What a backend makes of the operands.
std::vector<reference::Value> results_of(cvl::Backend& backend, const vcode::Kernel& kernel,
                                         const std::vector<reference::Value>& operands,
                                         property::Random& random) {
  std::vector<cvl::Value> values, results(kernel.outputs.size());
  for (const reference::Value& operand : operands) {
    values.push_back(property::to_library(backend, {operand}, random));
  }
  const auto prepared = backend.prepare(kernel);
  REQUIRE(prepared);
  REQUIRE(backend.run(*prepared, values.data(), results.data()));
  backend.synchronize();
  std::vector<reference::Value> found;
  for (const cvl::Value& result : results) found.push_back(property::from_library(backend, result));
  return found;
}

TEST_CASE("FLOAT sums of generated kernels have the same bits whatever order blocks run in",
          "[kernels]") {
  const std::size_t sums = 2;  // a SCAN, and one beside FILTER and REDUCE
  const property::Library library = emulated_cuda();
  std::size_t compared = 0;
  for (const kernel_test::CostCase& one : kernel_test::cost_cases()) {
    if (std::string(one.bindings).find("+ FLOAT") == std::string::npos) continue;
    const std::string text = kernel_test::cost_kernel(one);
    INFO(text);
    std::string messages;
    const auto program = kernel_test::parsed(text, messages);
    REQUIRE(program);
    property::Random random(property::test_seed());
    const auto operands =
        kernel_test::random_operands(random, many_tiles(random), reference::Widths{32, 64});
    std::vector<std::vector<reference::Value>> results;
    for (const property::BackendChoice& choice : library.choices) {
      const auto backend = choice.make(cvl::Widths{});
      for (int repeat = 0; repeat < 3; ++repeat) {
        results.push_back(results_of(*backend, program->kernels[0], operands, random));
      }
    }
    for (const auto& each : results) {
      for (std::size_t k = 0; k < each.size(); ++k) {
        CHECK(property::identical(each[k], results[0][k]));
      }
    }
    ++compared;
  }
  CHECK(compared >= sums);
}

TEST_CASE("what runs of generated kernels cost", "[kernels]") {
  const tuned::Scope usual("usual");  // of what users get
  const property::Library library = emulated_cuda();
  for (const kernel_test::CostCase& one : kernel_test::cost_cases()) {
    const std::string text = kernel_test::cost_kernel(one);
    INFO(text);
    std::string messages;
    const auto program = kernel_test::parsed(text, messages);
    INFO(messages);
    REQUIRE(program);
    const vcode::Kernel& kernel = program->kernels[0];
    const auto backend = library.choices[0].make(cvl::Widths{});
    property::Random random(property::test_seed());
    const auto operands = kernel_test::random_operands(random, {1000, 0, 3, 4000, 1},
                                                       property::widths_of(backend->widths()));
    std::vector<cvl::Value> values, results(kernel.outputs.size());
    for (const reference::Value& operand : operands) {
      values.push_back(property::to_library(*backend, {operand}, random));
    }
    backend->synchronize();
    const auto prepared = backend->prepare(kernel);
    REQUIRE(prepared);
    const cvl::DeviceCounters before = backend->counters();
    REQUIRE(backend->run(*prepared, values.data(), results.data()));
    const cvl::DeviceCounters after = backend->counters();
    // Selections move to smaller blocks when much was dropped.
    const std::uint64_t moved = one.waits > 0 && one.launches == 1 ? 1 : 0;
    CHECK(after.launches - before.launches >= one.launches);
    CHECK(after.launches - before.launches <= one.launches + moved);
    CHECK(after.waits - before.waits == one.waits);
    backend->synchronize();
    Counts counts;
    kernel_test::check_on_operands(*backend, kernel, random, counts);
    CHECK(counts.left == 0);
  }
}

}  // namespace
