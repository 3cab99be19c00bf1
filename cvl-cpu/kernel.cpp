// Kernels: preparing them and running their passes.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cvl-cpu/kernel_pass.hpp"
#include "cvl-cpu/kernel_short_pass.hpp"
#include "cvl-cpu/kernel_state.hpp"
#include "cvl/kernel_plan.hpp"

namespace cvl::cpu {
namespace {

/// A pass, bound once for each of some ways in which its operands lie. Many loops begin with
/// vectors that are one number everywhere, and those that a scalar chooses between take turns.
class PassBindings {
 public:
  PassBindings(KernelState& state, const PlanPass& pass)
      : state_(state), pass_(pass), short_(state, pass) {
    bindings_.reserve(kMost);
  }

  void run() {
    if (short_.run()) return;
    for (auto binding = bindings_.begin(); binding != bindings_.end(); ++binding) {
      if (!(*binding)->run_again()) continue;
      std::rotate(bindings_.begin(), binding, binding + 1);
      return;
    }
    if (bindings_.size() < kMost) {
      bindings_.push_back(std::make_unique<KernelPass>(state_, pass_));
    }
    std::rotate(bindings_.begin(), bindings_.end() - 1, bindings_.end());
    bindings_.front()->run();
  }

 private:
  static constexpr std::size_t kMost = 4;
  KernelState& state_;
  const PlanPass& pass_;
  ShortPass short_;
  std::vector<std::unique_ptr<KernelPass>> bindings_;  // the one that ran last comes first
};

/// A kernel with everything that its runs have in common. Runs are one after the other.
class CpuKernel final : public PreparedKernel {
 public:
  CpuKernel(CpuBackend& cpu, KernelPlan plan)
      : plan_(std::move(plan)), kernel_(*plan_.kernel), state_(cpu, plan_) {
    passes_.reserve(plan_.passes.size());
    for (const PlanPass& pass : plan_.passes) passes_.emplace_back(state_, pass);
    for (const vcode::KernelSize& size : kernel_.sizes) {
      first_sizes_.push_back(size.literal.value_or(KernelState::kUnbound));
    }
    for (std::size_t k = 0; k < kernel_.outputs.size(); ++k) {
      const auto is_same = [&](const vcode::KernelParameter& other) {
        return !other.segdes && other.id == kernel_.outputs[k].id;
      };
      moves_.push_back(std::none_of(kernel_.outputs.begin() + static_cast<std::ptrdiff_t>(k) + 1,
                                    kernel_.outputs.end(), is_same));
    }
    dying_.resize(plan_.passes.size());
    std::vector<bool> kept(kernel_.arrays.size());
    for (const vcode::KernelParameter& output : kernel_.outputs) {
      if (!output.segdes) kept[output.id] = true;
    }
    for (ArrayId array = 0; array < kept.size(); ++array) {
      if (!kept[array] && plan_.last_read[array] != kNone) {
        dying_[plan_.last_read[array]].push_back(array);
      }
    }
  }

  void run(Value* operands, Value* results) {
    const Cleanup cleanup{*this};
    take_operands(operands);
    try {
      run_passes();
    } catch (const Failure&) {
      // What goes wrong behind a failure is of no interest.
      if (!state_.faults.any()) throw;
    }
    if (state_.faults.any()) state_.faults.raise(kernel_);
    state_.cpu.random().drawn = state_.stream_at(plan_.draws.size());
    hand_out(results);
  }

 private:
  /// Lets go of everything that a run held, however it ends.
  struct Cleanup {
    CpuKernel& kernel;
    ~Cleanup() {
      KernelState& state = kernel.state_;
      for (Vector& array : state.arrays) array.buffer.reset();
      for (Segdes& segdes : state.segdes) segdes.tables.reset();
      state.faults.clear();
    }
  };

  void take_operands(Value* operands) {
    state_.random = state_.cpu.random();
    std::copy(first_sizes_.begin(), first_sizes_.end(), state_.sizes.begin());
    for (std::size_t k = 0; k < kernel_.inputs.size(); ++k) {
      const vcode::KernelParameter& input = kernel_.inputs[k];
      if (input.segdes) {
        const vcode::KernelSegdes& segdes = kernel_.segdes[input.id];
        state_.bind_size(segdes.count, operands[k].segdes().count, segdes.name);
        state_.bind_size(segdes.total, operands[k].segdes().total, segdes.name);
      } else {
        const vcode::KernelArray& array = kernel_.arrays[input.id];
        state_.bind_size(array.length, operands[k].vector().length, array.name);
      }
    }
    for (std::size_t k = 0; k < kernel_.inputs.size(); ++k) {
      const vcode::KernelParameter& input = kernel_.inputs[k];
      if (input.segdes) {
        state_.segdes[input.id] = std::move(operands[k].segdes());
      } else {
        state_.arrays[input.id] = std::move(operands[k].vector());
      }
    }
  }

  void run_passes() {
    std::size_t end = passes_.size();
    for (std::size_t p = 0; p < end; ++p) {
      passes_[p].run();
      for (const ArrayId array : dying_[p]) state_.arrays[array].buffer.reset();
      // After a failure the others go on, with whatever values, up to the last pass in which a
      // binding before the one that failed can fail.
      if (!state_.faults.any()) continue;
      while (end > p + 1 && plan_.passes[end - 1].first_fault >= state_.faults.binding()) --end;
    }
  }

  void hand_out(Value* results) {
    for (std::size_t k = 0; k < kernel_.outputs.size(); ++k) {
      const vcode::KernelParameter& output = kernel_.outputs[k];
      if (output.segdes) {
        results[k] = state_.segdes[output.id];
      } else if (moves_[k]) {
        results[k] = std::move(state_.arrays[output.id]);
      } else {
        results[k] = state_.arrays[output.id];
      }
    }
  }

  KernelPlan plan_;
  const vcode::Kernel& kernel_;
  KernelState state_;
  std::vector<PassBindings> passes_;
  std::vector<std::int64_t> first_sizes_;    // those that are literals
  std::vector<bool> moves_;                  // is a result the last one that is this array?
  std::vector<std::vector<ArrayId>> dying_;  // per pass: arrays that nobody reads after it
};

}  // namespace

std::unique_ptr<PreparedKernel> CpuBackend::prepare(const vcode::Kernel& kernel) {
  std::optional<KernelPlan> plan = plan_kernel(kernel, {.asserts_once = true});
  if (!plan) return nullptr;
  if (plan->has_serial_loops() && !runs_serial_loops()) return nullptr;
  return std::make_unique<CpuKernel>(*this, std::move(*plan));
}

std::int64_t CpuBackend::kernels_pay_after() const {
  return tuning.kernels_pay_after;
}

bool CpuBackend::run(PreparedKernel& kernel, Value* operands, Value* results) {
  static_cast<CpuKernel&>(kernel).run(operands, results);
  return true;
}

}  // namespace cvl::cpu
