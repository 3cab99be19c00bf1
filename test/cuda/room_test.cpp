// A kernel is not launched where there is no room for what it writes.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "cvl-cuda/emulated_kernel_module.hpp"
#include "cvl-cuda/kernel_operation.hpp"
#include "cvl/failure.hpp"
#include "vcode/parser.hpp"

namespace cvl::cuda::emulated {
namespace {

using vcode::Type;

int launches = 0;

void count_launch(Device&, std::int64_t, const std::vector<std::byte>&) {
  ++launches;
}

/// `n` elements go to places below `m`, over `old`.
constexpr const char* kOverDefaults =
    "FCODE 3\n"
    "KERNEL move\n"
    "IN v : VEC INT n, at : VEC INT n, old : VEC INT m\n"
    "OUT y : VEC INT m\n"
    "DO y = SCATTER n ( i => v[i] ) ( i => at[i] ) INTO m ( j => old[j] )\n"
    "END\n"
    "FUNC MAIN RET\n";

/// The same over zeros.
constexpr const char* kOverZeros =
    "FCODE 3\n"
    "KERNEL move\n"
    "IN v : VEC INT n, at : VEC INT n, old : VEC INT m\n"
    "OUT y : VEC INT m\n"
    "DO y = SCATTER n ( i => v[i] ) ( i => at[i] ) INTO m\n"
    "END\n"
    "FUNC MAIN RET\n";

/// Calls use(backend, plan, code) with a kernel whose passes only count that they are launched.
template <class Use>
void with_kernel(const std::string& text, const Use& use) {
  vcode::Diagnostics diagnostics;
  const auto program =
      vcode::parse(std::make_shared<vcode::Source>("kernel.fcode", text), diagnostics);
  REQUIRE(program);
  CudaOptions options;
  options.host_elements = 0;
  CudaBackend backend(options);
  std::optional<KernelPlan> plan = codegen::plan_for_device(program->kernels[0]);
  REQUIRE(plan);
  const codegen::Generated generated = codegen::generate(*plan);
  REQUIRE(generated.code);
  const EmulatedKernel known(codegen::width_aliases(backend.widths()) + generated.code->text(),
                             std::vector<LaunchPass>(generated.code->passes.size(), count_launch));
  launches = 0;
  use(backend, *plan, *generated.code);
}

/// Runs a kernel for n = 200 and m = 100 after `change` of its plan.
template <class Change>
void run_changed(const char* text, const Change& change) {
  with_kernel(text, [&](CudaBackend& backend, KernelPlan& plan, const codegen::KernelCode& code) {
    bool changed = false;
    for (PlanPass& pass : plan.passes) {
      for (PlanSink& sink : pass.sinks) {
        if (sink.kind != PlanSink::Kind::Scatter) continue;
        change(plan, sink);
        changed = true;
      }
    }
    REQUIRE(changed);
    CudaKernel kernel(backend, std::move(plan), code);
    const std::vector<std::int32_t> elements(200);
    Value operands[] = {backend.upload(Type::Int, elements.data(), 200),
                        backend.upload(Type::Int, elements.data(), 200),
                        backend.upload(Type::Int, elements.data(), 100)};
    Value result;
    const bool ran = kernel.run(operands, &result);  // not in a macro, which would catch failures
    REQUIRE(ran);
  });
}

/// The message of the failure that running the changed kernel ends with.
template <class Change>
std::string refusal(const char* text, const Change& change) {
  try {
    run_changed(text, change);
  } catch (const Failure& failure) {
    CHECK(failure.code() == vcode::ErrorCode::Internal);
    return failure.message();
  }
  return {};
}

TEST_CASE("passes whose results have room are launched") {
  run_changed(kOverZeros, [](const KernelPlan&, PlanSink&) {});
  CHECK(launches == 1);
  run_changed(kOverDefaults, [](const KernelPlan&, PlanSink&) {});
  CHECK(launches == 2);
}

TEST_CASE("a loop that could keep the device for minutes is not launched") {
  for (const bool long_loop : {false, true}) {
    const std::string text =
        "FCODE 3\n"
        "KERNEL down\n"
        "IN v : VEC INT n\n"
        "OUT y : VEC INT n\n"
        "DO y = ITERATE n ( i => v[i] ) WHILE ( x => (> INT x 0) ) DO ( x => (- INT x 1) ) "
        "ROUNDS " +
        std::string(long_loop ? "10000001" : "10000000") +
        "\nEND\n"
        "FUNC MAIN RET\n";
    with_kernel(text, [&](CudaBackend& backend, KernelPlan& plan, const codegen::KernelCode& code) {
      CudaKernel kernel(backend, std::move(plan), code);
      const std::vector<std::int32_t> elements(200);
      Value operand = backend.upload(Type::Int, elements.data(), 200), result;
      CHECK(kernel.run(&operand, &result) == !long_loop);
      CHECK((launches == 0) == long_loop);
    });
  }
}

TEST_CASE("a pass whose result has no memory is not launched") {
  CHECK(refusal(kOverZeros, [](const KernelPlan&, PlanSink& sink) { sink.zeroed = false; }) ==
        "kernel `move` was about to write 100 elements where there is room for 0");
  CHECK(launches == 0);
}

TEST_CASE("a pass whose result is too short is not launched") {
  CHECK(refusal(kOverDefaults, [](const KernelPlan& plan, PlanSink& sink) {
          sink.into_length = plan.kernel->arrays[plan.kernel->inputs[0].id].length;
        }) == "kernel `move` was about to write 200 elements where there is room for 100");
  CHECK(launches == 1);
}

}  // namespace
}  // namespace cvl::cuda::emulated
