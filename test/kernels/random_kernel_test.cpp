// Random kernels: their text survives printing, and the CPU library does what the reference
// evaluator does, for all widths and for segments of all kinds. The emulated CUDA library runs the
// kernels that were compiled with the tests (cuda_batch_test.cpp), and leaves these to their SPECs
// but for those that it may run on the host.
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "cvl-cpu/cpu_backend.hpp"
#include "kernels/kernel_check.hpp"
#include "kernels/kernel_text.hpp"
#include "property/backends.hpp"
#include "vcode/printer.hpp"

namespace {

using kernel_test::Counts;
using kernel_test::parsed;
using property::Random;

void check_kernel(cvl::Backend& backend, Random& random, Counts& counts) {
  const auto* cpu = dynamic_cast<const cvl::cpu::CpuBackend*>(&backend);
  const bool serial_loops = cpu != nullptr && cpu->runs_serial_loops();
  const std::string text = kernel_test::random_kernel(random, serial_loops);
  INFO(text);
  std::string messages;
  const auto program = parsed(text, messages);
  INFO(messages);
  REQUIRE(program);
  const std::string printed = vcode::print(*program);
  const auto again = parsed(printed, messages);
  INFO(printed << messages);
  REQUIRE(again);
  REQUIRE(vcode::same_program(*program, *again));
  REQUIRE(vcode::print(*again) == printed);
  kernel_test::check_on_operands(backend, program->kernels[0], random, counts);
}

void check_kernels(const property::Library& library, int kernels, std::uint64_t seed,
                   Counts& counts) {
  for (const property::BackendChoice& choice : library.choices) {
    for (const cvl::Widths widths : {cvl::Widths{4, 8}, cvl::Widths{8, 8}, cvl::Widths{4, 4}}) {
      const auto backend = choice.make(widths);
      Random random(seed);
      for (int k = 0; k < kernels; ++k) {
        INFO(choice.name << ", seed " << seed << ", kernel " << k);
        check_kernel(*backend, random, counts);
      }
    }
  }
}

TEST_CASE("random kernels", "[kernels]") {
  const auto kernels =
      static_cast<int>(std::max<std::int64_t>(100, 400 / property::shrink_factor()));
  for (const property::Library& library : property::backends_under_test()) {
    Counts counts;
    check_kernels(library, kernels, property::test_seed(), counts);
    CAPTURE(library.name);
    if (library.name == "cuda (emulated)") {
      // Short ones may be the same as some that were compiled.
      CHECK(counts.ran < kernels);
      CHECK(counts.left > kernels);
      continue;
    }
    // A library that runs few of them, as one does that leaves all but the shortest to another, may
    // not have met one that fails.
    for (std::uint64_t more = 1; counts.failed == 0 && more <= 20; ++more) {
      check_kernels(library, kernels, property::test_seed() + more, counts);
    }
    CHECK((counts.left > 0) == (library.name == "cuda (emulated), small on host"));
    CHECK(counts.ran > kernels);
    CHECK(counts.failed > 0);
    CHECK(counts.failed < counts.ran / 2);
  }
}

}  // namespace
