// Preparing kernels, taking operands, handing out results.

#include "cvl-cuda/kernel_operation.hpp"

#include <algorithm>
#include <utility>

#include "cvl/failure.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

/// A launch cannot be ended before it ends by itself.
constexpr std::int64_t kMostRounds = 10'000'000;

}  // namespace

CudaKernel::CudaKernel(CudaBackend& cuda, KernelPlan plan, codegen::KernelCode code)
    : cuda_(cuda),
      plan_(std::move(plan)),
      kernel_(*plan_.kernel),
      code_(std::move(code)),
      kernel_sites_(
          std::make_shared<KernelSites>(KernelSites{kernel_, code_.sites, code_.site_pass})),
      arrays_(kernel_.arrays.size()),
      segdes_(kernel_.segdes.size()),
      sizes_(kernel_.sizes.size()),
      lengths_(kernel_.segdes.size()) {
  // Sizes that are computed may be large however small the operands are.
  std::vector<bool> computed(kernel_.sizes.size());
  for (const vcode::Binding& binding : kernel_.bindings) {
    if (binding.kind == vcode::Binding::Kind::Size) {
      computed[plan_.canonical_size[binding.size]] = true;
    } else if (binding.kind == vcode::Binding::Kind::Segments) {
      computed[plan_.canonical_size[kernel_.segdes[binding.segdes[0]].total]] = true;
    }
  }
  for (SizeId k = 0; k < kernel_.sizes.size(); ++k) {
    const auto& literal = kernel_.sizes[k].literal;
    bounded_ &= !computed[k] && (!literal || cuda_.is_small(*literal));
    longest_literal_ = std::max(longest_literal_, literal.value_or(0));
  }
  std::vector<bool> kept(kernel_.arrays.size());
  for (const vcode::KernelParameter& output : kernel_.outputs) {
    if (!output.segdes) kept[output.id] = true;
  }
  dying_.resize(plan_.passes.size());
  for (ArrayId array = 0; array < kept.size(); ++array) {
    if (!kept[array] && plan_.last_read[array] != kNone) {
      dying_[plan_.last_read[array]].push_back(array);
    }
  }
}

/// Lets go of everything that a run held, however it ends.
struct CudaKernel::Cleanup {
  CudaKernel& kernel;
  ~Cleanup() {
    for (Vector& array : kernel.arrays_) array = Vector();
    for (Segdes& segdes : kernel.segdes_) segdes = Segdes();
    for (Vector& lengths : kernel.lengths_) lengths = Vector();
    kernel.counts_.reset();
    kernel.run_.reset();
  }
};

bool CudaKernel::run(Value* operands, Value* results) {
  const std::int64_t work = std::max(longest_of(operands, kernel_.inputs.size()), longest_literal_);
  if ((bounded_ && cuda_.all_small_on_host(operands, kernel_.inputs.size())) ||
      !cuda_.has_device(work)) {
    if (!on_host_) on_host_ = cuda_.prepare_on_host(kernel_);
    cuda_.run_on_host(*on_host_, operands, kernel_.inputs.size(), results);
    cuda_.count_host_work(std::max(work, longest_of(results, kernel_.outputs.size())));
    return true;
  }
  const auto goes_on_for_long = [](const PlanLoop& loop) { return loop.rounds > kMostRounds; };
  if (std::any_of(plan_.loops.begin(), plan_.loops.end(), goes_on_for_long) || !load())
    return false;
  const Cleanup cleanup{*this};
  try {
    random_ = cuda_.random();
    take_operands(operands);
    run_ = std::make_shared<KernelRun>();
    run_->sites = kernel_sites_;
    run_->lengths.resize(plan_.passes.size());
    known_since_ = kNever;
    for (std::size_t p = 0; p < plan_.passes.size(); ++p) {
      run_pass(p);
      for (const ArrayId array : dying_[p]) arrays_[array] = Vector();
    }
  } catch (const Failure&) {
    cuda_.wait();  // what the device has met comes first
    throw;
  }
  cuda_.random().drawn = stream_at(plan_.draws.size());
  hand_out(results);
  return true;
}

/// Compiles the kernel when it first needs the device.
bool CudaKernel::load() {
  if (loaded_) return module_ != nullptr;
  loaded_ = true;
  std::string why;
  for (const codegen::PassCode& pass : code_.passes) {
    if (parameter_bytes(pass) > static_cast<std::size_t>(tuning.parameter_bytes)) {
      cuda_.note_kernel(kernel_.name, "a pass has more operands than parameters can hold");
      return false;
    }
  }
  module_ =
      load_kernel_module(cuda_.device(), cuda_.compiler(), {kernel_, code_}, cuda_.widths(), why);
  if (!module_) cuda_.note_kernel(kernel_.name, why);
  return module_ != nullptr;
}

void CudaKernel::bind_size(SizeId id, std::int64_t value, const std::string& of) {
  std::int64_t& size = sizes_[plan_.canonical_size[id]];
  if (size == kUnbound) size = value;
  if (size != value) throw size_mismatch(kernel_, id, of, value, size);
}

void CudaKernel::take_operands(Value* operands) {
  for (std::size_t k = 0; k < kernel_.sizes.size(); ++k) {
    sizes_[k] = kernel_.sizes[k].literal.value_or(kUnbound);
  }
  for (std::size_t k = 0; k < kernel_.inputs.size(); ++k) {
    const vcode::KernelParameter& input = kernel_.inputs[k];
    if (input.segdes) {
      const vcode::KernelSegdes& segdes = kernel_.segdes[input.id];
      bind_size(segdes.count, operands[k].segdes().count, segdes.name);
      bind_size(segdes.total, operands[k].segdes().total, segdes.name);
    } else {
      const vcode::KernelArray& array = kernel_.arrays[input.id];
      bind_size(array.length, operands[k].vector().length, array.name);
    }
  }
  for (std::size_t k = 0; k < kernel_.inputs.size(); ++k) {
    const vcode::KernelParameter& input = kernel_.inputs[k];
    if (input.segdes) {
      segdes_[input.id] = std::move(operands[k].segdes());
    } else {
      arrays_[input.id] = std::move(operands[k].vector());
    }
  }
}

void CudaKernel::hand_out(Value* results) {
  for (std::size_t k = 0; k < kernel_.outputs.size(); ++k) {
    const vcode::KernelParameter& output = kernel_.outputs[k];
    if (output.segdes) {
      results[k] = segdes_[output.id];
    } else {
      results[k] = arrays_[output.id];
    }
  }
}

// ---- what the backend does with kernels ----

std::unique_ptr<PreparedKernel> CudaBackend::prepare(const vcode::Kernel& kernel) {
  std::optional<KernelPlan> plan = codegen::plan_for_device(kernel);
  if (!plan) {
    note_kernel(kernel.name, codegen::kNoPlan);
    return nullptr;
  }
  codegen::Generated generated = codegen::generate(*plan);
  if (!generated.code) {
    note_kernel(kernel.name, generated.reason);
    return nullptr;
  }
  return std::make_unique<CudaKernel>(*this, std::move(*plan), std::move(*generated.code));
}

bool CudaBackend::run(PreparedKernel& kernel, Value* operands, Value* results) {
  kept_.clear();
  const bool done = static_cast<CudaKernel&>(kernel).run(operands, results);
  kept_.clear();
  return done;
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
