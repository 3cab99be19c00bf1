// Generated kernels on the emulated device: the host compiler has translated the text that a device
// would get.
#include "kernels/cuda_batch.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "kernels/kernel_check.hpp"
#include "property/backends.hpp"
#include "property/convert.hpp"

namespace {

using kernel_test::Counts;

TEST_CASE("generated kernels do what the reference evaluator does", "[kernels]") {
  for (const property::Library& library : property::backends_under_test()) {
    if (library.name != "cuda (emulated)") continue;
    Counts counts;
    for (const property::BackendChoice& choice : library.choices) {
      for (int number = 0; number < kernel_test::kBatchKernels; ++number) {
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
    CHECK(counts.ran > kernel_test::kBatchKernels);
    CHECK(counts.failed > 0);
    CHECK(counts.failed < counts.ran / 2);
  }
}

TEST_CASE("what runs of generated kernels cost", "[kernels]") {
  for (const property::Library& library : property::backends_under_test()) {
    if (library.name != "cuda (emulated)") continue;
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
}

}  // namespace
