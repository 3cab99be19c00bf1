// The contract of a vector library: what the machine may ask of the CPU or of a GPU.
//
// A Backend holds vectors in its own memory and runs the vector operations of the table on them.
// It never sees program text. All calls come from one thread. Failures are thrown as cvl::Failure,
// and then no operand that anybody else holds has changed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cvl/heap.hpp"
#include "cvl/value.hpp"
#include "vcode/kernel.hpp"
#include "vcode/opcodes.hpp"

namespace cvl {

/// A kernel definition made ready by the backend that runs it (plan, generated code, buffers).
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
};

/// What a run asked of a device.
struct DeviceCounters {
  std::uint64_t launches = 0;   // kernels
  std::uint64_t waits = 0;      // times the host waited for the device
  std::uint64_t uploads = 0;    // copies from host to device
  std::uint64_t downloads = 0;  // copies from device to host
  std::uint64_t upload_bytes = 0;
  std::uint64_t download_bytes = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;
  /// One line for --version and reports: device, instruction set, threads.
  virtual std::string description() const = 0;
  virtual Widths widths() const = 0;
  virtual Heap& heap() = 0;
  /// How many threads of the host may work at once, for this library and for who uses it.
  virtual int threads() const { return 1; }
  /// Calls body(part) for 0 <= part < parts, each once, on threads of this library where it has
  /// some: for work of its user. A body must not call this library; what one throws, the caller
  /// gets.
  virtual void for_parts(int parts, const std::function<void(int)>& body) {
    for (int part = 0; part < parts; ++part) body(part);
  }

  /// Runs one vector operation (OpInfo::is_vector_op). `operands` are deepest first and have passed
  /// check_operands; what lies in them afterwards is unspecified but valid, because a result may
  /// take over the storage of an operand that nobody else holds. `results` receives as many values
  /// as the table says and must not overlap `operands`.
  virtual void execute(vcode::Op op, Type type, Value* operands, Value* results) = 0;

  /// Tells which kernels prepare() may be asked for from now on, in the order of their program.
  /// They must outlive the next call.
  virtual void expect(std::vector<const vcode::Kernel*> /*kernels*/) {}
  /// Makes a kernel ready to run; nullptr when this library leaves it to the VCODE that the kernel
  /// replaces (its SPEC). `kernel` must outlive the result. Throws Failure, as execute() does.
  virtual std::unique_ptr<PreparedKernel> prepare(const vcode::Kernel& /*kernel*/) {
    return nullptr;
  }
  /// A kernel pays when it is run on more than so many elements, or has been on several times as
  /// many in all: before, to prepare() it takes longer than its runs save.
  virtual std::int64_t kernels_pay_after() const { return 0; }
  /// Do kernels give FLOAT sums the bits that the operations do which they replace?
  virtual bool kernels_keep_bits() const { return false; }
  /// Runs a kernel that this library has prepared. Operands (deepest first) have the types of its
  /// IN; lengths are checked here. Ownership and failures as for execute(). May return false,
  /// before anything has changed, to leave this run to the SPEC.
  virtual bool run(PreparedKernel& /*kernel*/, Value* /*operands*/, Value* /*results*/) {
    return false;
  }

  /// A vector from host elements of the run's widths (BOOL: bytes 0 or 1).
  virtual Vector upload(Type type, const void* elements, std::int64_t length) = 0;
  /// An INT vector of the codes, 0 to 255, of characters.
  virtual Vector upload_characters(std::string_view characters);
  /// Memory of the host for elements or characters that become a vector without being copied once
  /// more. Counts against the limit; throws Failure (OutOfMemory).
  virtual Ref<Buffer> room_for_upload(std::size_t bytes) { return heap().allocate(bytes); }
  /// upload() of the first `length` elements in such memory, which the vector may keep.
  virtual Vector adopt(Type type, Ref<Buffer> elements, std::int64_t length);
  /// The same for upload_characters().
  virtual Vector adopt_characters(Ref<Buffer> characters, std::int64_t length);
  /// Writes elements [begin, begin+count) of a vector, in the run's widths, to host memory.
  /// Waits until they are known. REQUIRES: the range lies inside the vector.
  virtual void download(const Vector& vector, std::int64_t begin, std::int64_t count,
                        void* elements) = 0;

  /// One line for each kernel so far that this library does not run as such, with the reason.
  virtual std::vector<std::string> notes() const { return {}; }

  /// Restarts RAND (SRAND).
  virtual void seed(std::uint64_t seed) = 0;
  /// Waits for all outstanding work and reports what failed in it.
  virtual void synchronize() = 0;

  /// Work that was given to a device so far; all zero for libraries without one.
  virtual DeviceCounters counters() const { return {}; }

  /// The instruction that the caller is running, set before execute() and the transfers. A library
  /// that works behind the caller's back puts it into the Failures that it reports later.
  std::uint32_t origin = 0;

  /// Asked now and then, on any thread, by operations that may take long on few elements. When it
  /// says true, they end soon, with results that fit their types and otherwise mean nothing, and
  /// the caller is to end as well. Null: nobody asks for that.
  bool (*stop)() = nullptr;
};

/// One element as host number; of a scalar the only one. REQUIRES: type and length fit.
std::int64_t read_int(Backend& backend, const Vector& vector, std::int64_t at = 0);
bool read_bool(Backend& backend, const Vector& scalar);

/// A descriptor from an INT vector of lengths (operation MAKE_SEGDES), and the inverse.
Segdes make_segdes(Backend& backend, Vector lengths);
Vector segdes_lengths(Backend& backend, const Segdes& segdes);

}  // namespace cvl
