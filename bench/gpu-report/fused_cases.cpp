// Passes of fused kernels.
#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

#include "bench/gpu-report/cases.hpp"
#include "bench/gpu-report/fused_text.hpp"
#include "cvl/failure.hpp"
#include "vcode/parser.hpp"

namespace gpu_report {
namespace {

using cvl::Value;

const vcode::Kernel& kernel_of(const std::string& name) {
  static const std::optional<vcode::Program> program = [] {
    vcode::Diagnostics diagnostics;
    return vcode::parse(std::make_shared<vcode::Source>("fused.fcode", kFusedText), diagnostics);
  }();
  if (!program) throw std::logic_error("fused.fcode cannot be read");
  const auto found = std::find_if(program->kernels.begin(), program->kernels.end(),
                                  [&](const vcode::Kernel& one) { return one.name == name; });
  if (found == program->kernels.end()) throw std::logic_error("fused.fcode has no " + name);
  return *found;
}

Case fused_case(const std::string& kernel, double bytes, Baseline baseline, int vectors) {
  return {"Passes of fused kernels", kernel, bytes, baseline,
          [=](cvl::Backend& backend, std::int64_t length) {
            std::vector<Value> operands;
            for (int k = 0; k < vectors; ++k) operands.emplace_back(random_floats(backend, length));
            return make_kernel_work(backend, kernel, std::move(operands));
          }};
}

}  // namespace

Work make_kernel_work(cvl::Backend& backend, const std::string& kernel,
                      std::vector<Value> operands) {
  const vcode::Kernel& definition = kernel_of(kernel);
  const std::shared_ptr<cvl::PreparedKernel> prepared = backend.prepare(definition);
  const auto left = [&backend, kernel] {
    const std::vector<std::string> notes = backend.notes();
    throw cvl::Failure(vcode::ErrorCode::NoBackend,
                       notes.empty() ? kernel + " is not run as a kernel" : notes.back());
  };
  if (!prepared) left();
  return {[&backend, prepared, operands, left, count = definition.outputs.size()] {
            std::vector<Value> copies = operands, results(count);
            if (!backend.run(*prepared, copies.data(), results.data())) left();
          },
          operands};
}

const std::vector<Case>& fused_cases() {
  static const std::vector<Case> cases = {
      fused_case("map", 24, Baseline::FusedMap, 2),
      fused_case("reduce", 8, Baseline::FusedReduce, 1),
      fused_case("scan", 16, Baseline::FusedScan, 1),
      fused_case("filter", 12, Baseline::FusedFilter, 1),
  };
  return cases;
}

}  // namespace gpu_report
