// The vector library for GPUs.
//
// Where a vector lives can be told from its buffer:
//   host heap    vectors that the embedded CPU library made: nothing that is small ever needs the
//                device, as long as all operands are on the host
//   mapped heap  small results of the device, in host memory that the device can write. The host
//                may read them once the device has got there; until then they are "pending"
//   device heap  everything else
// Compact forms live nowhere and are given to kernels as they are.
//
// An operation runs on the host when everything about it is small and known there, else on the
// device. A device that the program can do without is opened when it is first wanted. The device
// works behind the host's back; the host waits only for values that it needs: a branch, output, and
// the lengths that PACK and MAKE_SEGDES find.
//
// Each family of operations has a function in operations.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl-cuda/codegen/kernel_compiler.hpp"
#include "cvl-cuda/device.hpp"
#include "cvl-cuda/kernel_run.hpp"
#include "cvl-cuda/kernels.hpp"
#include "cvl-cuda/make_backend.hpp"
#include "cvl-cuda/tuning.hpp"
#include "cvl/backend.hpp"
#include "cvl/failure.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const CudaOptions& options);
  ~CudaBackend() override;

  std::string_view name() const override { return "cuda"; }
  std::string description() const override;
  Widths widths() const override { return cpu_.widths(); }
  Heap& heap() override { return device_heap_; }
  int threads() const override { return cpu_.threads(); }
  void execute(vcode::Op op, Type type, Value* operands, Value* results) override;
  void expect(std::vector<const vcode::Kernel*> kernels) override {
    compiler_.expect(std::move(kernels));
  }
  std::unique_ptr<PreparedKernel> prepare(const vcode::Kernel& kernel) override;
  bool run(PreparedKernel& kernel, Value* operands, Value* results) override;
  std::vector<std::string> notes() const override;
  Vector upload(Type type, const void* elements, std::int64_t length) override;
  Ref<Buffer> room_for_upload(std::size_t bytes) override { return cpu_.room_for_upload(bytes); }
  void download(const Vector& vector, std::int64_t begin, std::int64_t count,
                void* elements) override;
  void seed(std::uint64_t seed) override { cpu_.seed(seed); }
  void synchronize() override;
  DeviceCounters counters() const override { return device_.counters(); }

  // ---- what the operations of this library use ----

  /// Is there a device to work on? One that the program can do without is opened when that pays:
  /// when what the host has done and the `work` to do, elements to visit, are enough. Where none
  /// can be opened, everything is small from then on.
  bool has_device(std::int64_t work);
  /// The host has visited so many elements.
  void count_host_work(std::int64_t work);
  Device& device() { return device_; }
  RandomState& random() { return cpu_.random(); }
  std::size_t element_bytes(Type type) const { return widths().element_bytes(type); }
  bool is_small(std::int64_t length) const { return length <= host_elements_; }

  /// Runs an operation with the CPU library. REQUIRES: all operands are known on the host.
  void run_on_host(vcode::Op op, Type type, Value* operands, Value* results);
  /// The same for a kernel that prepare_on_host() has made.
  void run_on_host(PreparedKernel& kernel, Value* operands, std::size_t count, Value* results);
  std::unique_ptr<PreparedKernel> prepare_on_host(const vcode::Kernel& kernel) {
    return cpu_.prepare(kernel);
  }
  /// Are the values all small and known on the host, so that the device is not worth asking?
  bool all_small_on_host(const Value* values, std::size_t count) const;
  codegen::KernelCompiler& compiler() { return compiler_; }
  /// Remembers why a kernel is not run as such.
  void note_kernel(const std::string& name, const std::string& reason);
  /// Are the elements in host memory or a compact form, and not pending?
  bool known_on_host(const Vector& vector) const;
  bool known_on_host(const Segdes& segdes) const;

  /// Has the vector memory that the device can reach?
  bool on_device(const Vector& vector) const {
    return vector.form == Form::Dense &&
           (vector.buffer->heap == &device_heap_ || is_mapped(vector));
  }

  /// The operand as kernels take it, which uploads it if need be. `positions`: how many the launch
  /// visits. Where they are many, what lies in mapped memory is copied to the device before.
  RawSource source(const Vector& vector, std::int64_t positions);
  /// The descriptor as kernels take it: starts of segments are made when first needed, then kept.
  Segments segments(const Segdes& segdes);

  /// A result that a kernel is about to write.
  Vector new_result(Type type, std::int64_t length);
  /// The same, over the buffer of `dying` if nobody else holds it and it fits.
  Vector new_result_over(Type type, std::int64_t length, Vector& dying);
  /// Memory of kernels. Buffers may be dropped as soon as their last kernel is launched: whatever
  /// takes over the memory comes later in the stream.
  Ref<Buffer> allocate(std::size_t bytes, Heap::Extent extent = Heap::Extent::Asked);
  /// Host-mapped memory that the next kernel writes.
  Ref<Buffer> allocate_mapped(std::size_t bytes);
  /// Keeps a buffer until the end of the operation.
  std::byte* keep(Ref<Buffer> buffer);

  /// Where the kernels of this operation report failures; `length` is for the message.
  FailureSink failures(vcode::Op op, std::int64_t length);
  /// The same for a run of a kernel, for failures of so many ranks.
  FailureSink failures(const std::shared_ptr<const KernelRun>& run, int ranks);
  /// How often the host has waited. A wait forgets what failures() was told before it.
  std::int64_t waits() const { return waits_; }
  /// Scratch with so many words that tiles publish, and so many bytes of values. Valid for the next
  /// launch alone.
  Workspace workspace(std::int64_t words, std::int64_t value_bytes);
  /// The counters of every workspace.
  std::uint32_t* counters() { return workspace_counters_->as<std::uint32_t>(); }
  /// An array of winners (see launch_send) of that length and a tag that was never used on it.
  std::uint64_t* winners(std::int64_t length, std::uint64_t& tag);
  /// Keeps that array until the end of the operation, as winners() does.
  void keep_winners() { keep(winners_); }

  /// Waits for the device. Throws the first failure that kernels reported.
  void wait();

  /// Descriptors whose lengths LENGTHS has handed out: MAKE_SEGDES of such a vector gives the
  /// descriptor back.
  void remember_lengths(const Segdes& segdes);
  const Segdes* find_by_lengths(const Vector& lengths) const;

  /// The last PACK: packs of further vectors under the same flags need not wait for the count.
  struct LastPack {
    Ref<Buffer> flags;
    Segdes segdes;
    Segdes result;
  };
  LastPack& last_pack() { return last_pack_; }
  /// The last PERMUTE, DPERMUTE ... whose winners are still in the array: further vectors that are
  /// sent under the same index need not claim again.
  struct LastSend {
    Ref<Buffer> index, flags;
    Segdes from, to;
    std::uint64_t* winners;
    std::uint64_t tag;
  };
  LastSend& last_send() { return last_send_; }
  /// The result of the last RANK: its elements are different in every segment and all there.
  struct LastRank {
    Ref<Buffer> ranks;
    Segdes segdes;
  };
  LastRank& last_rank() { return last_rank_; }

 private:
  void open_device();

  struct PendingOperation {
    vcode::Op op;
    std::uint32_t origin;
    std::int64_t length;
    std::shared_ptr<const KernelRun> run;  // if it is one
  };

  FailureSink next_failures(std::uint64_t ranks);
  static Failure failure_of_operation(const PendingOperation& operation,
                                      const FailureRecord& record, std::int64_t position);
  void bring_to_host(Value* values, std::size_t count);
  template <class Run>
  void on_host(const Run& run);
  bool is_mapped(const Vector& vector) const {
    return vector.form == Form::Dense && vector.buffer->heap == &mapped_heap_;
  }
  void mark_written(const Ref<Buffer>& buffer);
  std::byte* data_for(const Ref<Buffer>& buffer, std::size_t bytes, std::int64_t positions);
  bool drop_caches();
  std::vector<std::int64_t> host_ends(const Segdes& segdes);
  Array<const std::int64_t> device_offsets(const Segdes& segdes);
  void after_wait();
  Failure take_failure();

  Device device_;
  cpu::CpuBackend cpu_;
  bool opened_ = false, none_found_ = false;
  std::int64_t opened_host_elements_;  // host_elements_ when the device is open
  std::int64_t host_elements_;
  std::int64_t unopened_work_;  // of all threads of the host, before a device is opened
  std::int64_t host_work_ = 0;  // what of it has been done
  Heap device_heap_, mapped_heap_;

  // Mapped buffers that the device may still have to write.
  std::unordered_set<const Buffer*> pending_;
  /// A copy in device memory of a mapped buffer, for launches of many positions: what each of them
  /// reads over the bus would take longer than the copy.
  struct Replica {
    const Buffer* original = nullptr;
    std::size_t bytes = 0;
    Ref<Buffer> copy;
  };
  std::array<Replica, LargestTuning::replicas> replicas_;
  std::size_t next_replica_ = 0;
  // Operations since the last wait that may fail; their index is their number for kernels.
  std::vector<PendingOperation> pending_operations_;
  std::int64_t waits_ = 0;
  FailureSink failure_sink_;
  Ref<Buffer> failure_gate_, failure_record_;

  std::vector<Ref<Buffer>> kept_;  // until the end of the operation
  Ref<Buffer> workspace_words_, workspace_values_, workspace_counters_;
  std::uint32_t workspace_epoch_ = 0;
  Ref<Buffer> winners_;
  std::uint64_t winners_tag_ = 0;
  std::array<Segdes, LargestTuning::remembered_lengths> remembered_;
  std::size_t next_remembered_ = 0;
  LastPack last_pack_;
  LastSend last_send_{};
  LastRank last_rank_;
  codegen::KernelCompiler compiler_;
  std::vector<std::string> notes_;
};

/// Are these one and the same, which is more than that their segments are alike?
inline bool same_descriptor(const Segdes& a, const Segdes& b) {
  return a.count == b.count && a.total == b.total && a.uniform == b.uniform &&
         a.tables.get() == b.tables.get();
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
