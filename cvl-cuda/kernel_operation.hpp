// Fused kernels on the device: a launch for each pass.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cvl-cuda/codegen/kernel_code.hpp"
#include "cvl-cuda/cuda_backend.hpp"
#include "cvl-cuda/kernel_module.hpp"
#include "cvl-cuda/kernels/pass.hpp"
#include "cvl/kernel_plan.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// A kernel with everything that its runs have in common, and what a run holds. Runs are one after
/// the other.
class CudaKernel final : public PreparedKernel {
 public:
  CudaKernel(CudaBackend& cuda, KernelPlan plan, codegen::KernelCode code);

  /// As Backend::run.
  bool run(Value* operands, Value* results);

 private:
  static constexpr std::int64_t kUnbound = -1;
  struct Cleanup;

  // kernel_operation.cpp
  bool load();
  void take_operands(Value* operands);
  void hand_out(Value* results);
  std::int64_t size(SizeId id) const { return sizes_[plan_.canonical_size[id]]; }
  /// The place in the stream of the first number of a draw; of the number of draws: behind all.
  std::uint64_t stream_at(std::size_t draw) const {
    return random_.drawn + plan_.drawn_before(draw, [&](SizeId id) { return size(id); });
  }
  void bind_size(SizeId id, std::int64_t value, const std::string& of);

  // kernel_pass_operation.cpp
  static std::size_t parameter_bytes(const codegen::PassCode& code);
  void run_pass(std::size_t number);
  void run_empty(const PlanPass& pass);
  void check_pass(const PlanPass& pass, std::int64_t length) const;
  PassControl control_of(std::size_t number, std::int64_t length);
  void make_targets(const PlanPass& pass, const codegen::PassCode& code, std::int64_t length);
  void make_selected(const PlanPass& pass, const std::vector<std::int64_t>& kept);
  void check_room(const PlanPass& pass, const codegen::PassCode& code, std::int64_t length,
                  const std::vector<std::int64_t>& kept) const;
  void check_room(const Vector& target, std::int64_t elements) const;
  std::int64_t target_length(const PlanSink& sink, std::int64_t length) const;
  std::vector<std::byte> member_parameters(std::size_t number, std::int64_t length);
  static std::vector<std::byte> parameters(const PassControl& control,
                                           const std::vector<std::byte>& members);
  void launch_pass(std::size_t number, std::int64_t length);
  void launch(std::size_t number, std::int64_t blocks, PassControl& control, std::int64_t length);
  FailureSink failures();
  std::vector<std::int64_t> read_counts(const codegen::PassCode& code);
  void finish_sinks(const PlanPass& pass, const std::vector<std::int64_t>& counts);
  Vector lengths_of(const PlanPass& pass, const PlanSink& sink);
  void finish_selection(const PlanSink& sink, const std::int64_t* kept);
  void finish_segments(const PlanPass& pass, const PlanSink& sink);

  // kernel_once.cpp
  bool is_host_work(const PlanPass& pass) const;
  void run_on_host(const PlanPass& pass);

  CudaBackend& cuda_;
  KernelPlan plan_;
  const vcode::Kernel& kernel_;
  codegen::KernelCode code_;
  std::shared_ptr<const KernelSites> kernel_sites_;
  std::unique_ptr<KernelModule> module_;
  std::unique_ptr<PreparedKernel> on_host_;
  bool bounded_ = true;               // is every index space as small as the operands are?
  std::int64_t longest_literal_ = 0;  // size that the kernel spells out
  bool loaded_ = false;
  std::vector<std::vector<ArrayId>> dying_;  // per pass: arrays that nobody reads after it

  // Of a run.
  std::vector<Vector> arrays_;
  std::vector<Segdes> segdes_;
  std::vector<std::int64_t> sizes_;  // by canonical id
  RandomState random_{};             // when the run began
  std::vector<Vector> lengths_;      // by descriptor: of its segments, which a pass makes
  std::shared_ptr<KernelRun> run_;   // what failures of it are reported by
  FailureSink failures_;
  static constexpr std::int64_t kNever = -1;
  std::int64_t known_since_ = kNever;  // the wait since which the backend knows the run
  Ref<Buffer> counts_;
  std::uint64_t* winners_ = nullptr;
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
