// The vector library for CPUs: threads, SIMD kernels chosen at start-up.
//
// Each family of operations has its own file with a `run_...` function (operations.hpp); those
// functions prepare operands and results and divide the work, the loops themselves are in kernels/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cvl-cpu/isa.hpp"
#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/scheduler.hpp"
#include "cvl-cpu/tuning.hpp"
#include "cvl/backend.hpp"
#include "cvl/host_memory.hpp"
#include "cvl/random.hpp"

namespace cvl::cpu {

struct CpuOptions {
  Widths widths;
  int threads = 0;                              // 0: one per processor
  std::size_t memory_limit = Heap::kUnlimited;  // bytes
  std::uint64_t seed = kDefaultSeed;
  bool native = true;      // machine code for kernels that run long
  std::optional<Isa> isa;  // for tests; default: the best usable one
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const CpuOptions& options);

  std::string_view name() const override { return "cpu"; }
  std::string description() const override;
  Widths widths() const override { return widths_; }
  Heap& heap() override { return heap_; }
  int threads() const override { return scheduler_.threads(); }
  void for_parts(int parts, const std::function<void(int)>& body) override;
  void execute(vcode::Op op, Type type, Value* operands, Value* results) override;
  std::unique_ptr<PreparedKernel> prepare(const vcode::Kernel& kernel) override;
  bool kernels_keep_bits() const override { return true; }
  std::int64_t kernels_pay_after() const override;
  bool run(PreparedKernel& kernel, Value* operands, Value* results) override;
  Vector upload(Type type, const void* elements, std::int64_t length) override;
  Vector upload_characters(std::string_view characters) override;
  Vector adopt(Type type, Ref<Buffer> elements, std::int64_t length) override;
  Vector adopt_characters(Ref<Buffer> characters, std::int64_t length) override;
  void download(const Vector& vector, std::int64_t begin, std::int64_t count,
                void* elements) override;
  void seed(std::uint64_t seed) override { random_ = seeded(seed); }
  void synchronize() override {}

  // What the operations of this library use.
  const Kernels& kernels() const { return kernels_; }
  Isa isa() const { return isa_; }
  bool makes_native_code() const { return native_; }
  /// Does it run ITERATE with stacks or writes? By steps alone that takes longer than the calls of
  /// a SPEC.
  bool runs_serial_loops() const;
  Scheduler& scheduler() { return scheduler_; }
  RandomState& random() { return random_; }
  std::size_t element_bytes(Type type) const { return widths_.element_bytes(type); }

  /// Are results of this size written around the cache, because they would not stay in it?
  bool streams(std::int64_t bytes) const {
    return bytes >= tuning.least_streamed_bytes && would_stream(bytes);
  }

  /// A vector with undefined elements: Inline when it fits, else Dense.
  Vector new_vector(Type type, std::int64_t length);
  /// The same, over the buffer of `dying` if that is a Dense vector that nobody else holds and
  /// whose buffer is large enough. `dying` keeps its elements until the result is written, and may
  /// still be read by the operation that writes it.
  Vector new_vector_over(Type type, std::int64_t length, Vector& dying);
  /// Is a vector of INTs that fit a byte each, of this length, Narrow?
  /// What a value can hold in place, in bytes, never is.
  static bool keeps_narrow(std::int64_t length) {
    return length >= tuning.narrow_length && !Vector::fits_inline(length, 1);
  }
  /// A Narrow vector with undefined elements. REQUIRES: keeps_narrow(length)
  Vector new_narrow(std::int64_t length);
  /// Bytes of memory that an element of a vector that is plain or Narrow takes.
  std::int64_t stored_bytes(const Vector& vector) const {
    return vector.form == Form::Narrow ? 1 : static_cast<std::int64_t>(element_bytes(vector.type));
  }
  /// Writes the elements out: the result is Inline or Dense. Free for vectors that already are.
  Vector materialized(const Vector& vector);

 private:
  bool would_stream(std::int64_t bytes) const;

  Widths widths_;
  HostMemory memory_;
  Heap heap_;
  Isa isa_;
  bool native_;
  const Kernels& kernels_;
  Scheduler scheduler_;
  RandomState random_;
};

/// Address of the elements of an Inline or Dense vector, or of the bytes of a Narrow one.
template <class T>
const T* elements(const Vector& vector) {
  return reinterpret_cast<const T*>(vector.is_buffered() ? vector.buffer->data : vector.payload);
}
template <class T>
T* mutable_elements(Vector& vector) {
  return reinterpret_cast<T*>(vector.is_buffered() ? vector.buffer->data : vector.payload);
}

}  // namespace cvl::cpu
