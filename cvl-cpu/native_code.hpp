// Machine code for loops over elements: from a list of operations to a function.
//
// Every result has the bits that the kernels for single operations give. What has no instructions
// of its own (math functions, division of wide INT) cannot be part of a loop, but of rounds of few
// elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cvl-cpu/isa.hpp"
#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl/value.hpp"
#include "vcode/opcodes.hpp"

namespace cvl::cpu {

/// A straight-line computation that is done for each element. Vectors and single elements are named
/// by their places in a table of addresses.
struct NativeLoop {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Value {
    enum class Kind : std::uint8_t {
      Read,         // element of the vector at `place`
      Uniform,      // the one element at `place`
      Progression,  // start + position * stride, wrapped to INT
      Apply,        // `op` with written type `written` on args
      Gather,  // of rounds and pieces: element args[0], an INT, of the vector at `place`, which has
               // args[1] elements; 0 where the index is outside
      Bitwise,  // bits of INTs args[0], args[1], args[2] give that with the number they are in
                // `table`
      Rotate,   // the INT args[0] by args[1] bits to the left, a number modulo its width
    };
    Kind kind = Kind::Apply;
    Type type = Type::Int;     // of the value
    Type written = Type::Int;  // Apply
    vcode::Op op = vcode::Op::Add;
    std::uint32_t args[3] = {kNone, kNone, kNone};  // smaller than the value's own
    std::uint32_t guard = kNone;  // BOOL value; where it is F the operation does not fail
    bool backwards = false;  // Read, of pieces: each element lies before the one in front of it
    bool of_row = false;     // Read, of rows side by side: an element for each row
    bool once = false;       // of pieces: computed of what is Uniform, in front of the elements
    std::uint8_t table = 0;  // Bitwise
    bool bytes = false;      // Gather: the vector has a byte for each element, and seven more
    bool is_size = false;    // Uniform, INT: a number of elements, which is not negative
    std::uint32_t place = kNone;
    std::int64_t start = 0, stride = 0;
    ElementwiseKernel math = nullptr;    // Apply, in serial rounds: computes a math function
    std::optional<std::int64_t> number;  // Uniform, INT or BOOL: what it always is, if known

    /// Then it may fail, whether anybody reads the quotient or not.
    bool divides_ints() const {
      return kind == Kind::Apply && type == Type::Int &&
             (op == vcode::Op::Divide || op == vcode::Op::Modulo);
    }
  };
  struct Result {
    std::uint32_t value = 0;
    std::uint32_t place = 0;
  };

  std::vector<Value> values;
  /// Written behind all that is read of the same elements: a result may lie exactly over a vector
  /// with elements of its size.
  std::vector<Result> results;
};

/// The frames on a stack, each part of which takes so many bytes.
inline constexpr std::int64_t kFrameSlot = 8;
struct FrameStack {
  std::byte* base = nullptr;     // the first frame
  std::byte* top = nullptr;      // behind the last one
  std::byte* limit = nullptr;    // behind the room for frames
  std::int64_t rounds_left = 0;  // of those that were asked for
};

/// What rounds do with the stack of an element, if it has one: then they are serial, of one
/// element. They stop before a round that would put a frame on a stack that has no room for it.
struct StackChange {
  std::uint32_t push = 0, pop = 0;    // BOOL values: is a frame put on it, or else taken off?
  std::vector<std::uint32_t> pushed;  // the values that the frame consists of, …
  std::vector<std::uint32_t> popped;  // … and what its parts become: values that are Read
  std::uint32_t place = 0;            // of a FrameStack
};

/// What rounds write into a vector: `element` at `index`, where `flag` holds and the index is
/// inside. Such rounds are serial.
struct TableChange {
  std::uint32_t flag = 0, index = 0, element = 0, length = 0;  // values; the length is Uniform
  std::uint32_t place = 0;                                     // of the vector
};

/// A computation that is done for each element again and again, with what it has become, as long as
/// a condition holds.
struct NativeRounds {
  struct Change {
    std::uint32_t state = 0;  // a value that is Read, …
    std::uint32_t next = 0;   // … the value that it becomes where the condition holds, …
    std::uint32_t place = 0;  // … and where it is written in the end
  };

  NativeLoop body;               // without progressions and results
  std::uint32_t flag = 0;        // the BOOL value that is the condition
  std::uint32_t flag_place = 0;  // where it is written, T if it has held in all rounds
  std::vector<Change> changes;
  /// Values that are the same for all elements in each round, such as a number of rounds. They are
  /// computed once. Either the condition is one of them, or none is.
  std::vector<bool> shared;
  /// Is there one element, or few, so that they are computed one after the other? Nothing is shared
  /// then, and no value is Bitwise or Rotate.
  bool serial = false;
  /// Of those: is each round written once, without a jump for what it need not compute? It is
  /// slower then, and made in a fraction of the time.
  bool plain = false;

  std::optional<StackChange> stack;
  /// In this order, behind all that the round reads.
  std::vector<TableChange> writes;
};

/// What is computed for the elements of pieces of segments: totals of numbers, whether any BOOL is
/// T, and results. Each piece has a row of addresses, in front of which is the number of its
/// elements; places are those in the row, from 1 on.
///
/// Or else kRowsTogether pieces of equal length are taken side by side, rows of which vectors hold
/// the first elements of all, then the second ones, and so on. Each is folded from the first to the
/// last; the totals of all go to the place of a fold. There are no results of elements.
struct NativePieces {
  /// Progressions count from the element at `place`, side by side by one. For results:
  /// has_native_result().
  NativeLoop body;
  struct Fold {
    vcode::Op op = vcode::Op::AddReduce;  // has_native_fold()
    NativeLoop::Result result;
  };
  std::vector<Fold> folds;  // all equally wide, unless side by side
  std::vector<NativeLoop::Result> disjunctions;
  std::uint32_t words = 1;  // of a row of addresses
  bool side_by_side = false;
};

/// Can an operation be part of a loop on such processors?
bool has_native_form(Isa isa, Widths widths, vcode::Op op, Type written);
/// Can operations be part of rounds of few elements? Then all can, math functions as calls.
bool has_serial_form(Isa isa);
/// Can such numbers be folded by this reduction?
bool has_native_fold(Isa isa, Widths widths, vcode::Op op, Type type);

/// Can such elements be results of pieces?
bool has_native_result(Isa isa, Type type);
/// Can they be read backwards?
bool has_native_backwards(Isa isa, Type type);

/// The function for a loop. Threads may run it at the same time.
class NativeCode {
 public:
  /// Null where the system does not let programs make code.
  /// REQUIRES: has_native_form() for all operations.
  static std::unique_ptr<NativeCode> make(const NativeLoop& loop, Isa isa, Widths widths);
  static std::unique_ptr<NativeCode> make(const NativeRounds& rounds, Isa isa, Widths widths);
  static std::unique_ptr<NativeCode> make(const NativePieces& pieces, Isa isa, Widths widths);
  ~NativeCode();
  NativeCode(const NativeCode&) = delete;
  NativeCode& operator=(const NativeCode&) = delete;

  /// Elements are computed in groups of so many, a power of two up to 64.
  std::int64_t group() const { return group_; }
  /// Of a loop: how many of n elements run() can compute. Those behind the last whole group are
  /// computed with some of that group once more, unless a result lies over what is read.
  std::int64_t reach(const std::byte* const* at, std::int64_t n) const;
  /// Of a loop: computes n elements, of positions from `begin` on. `at` is the table of addresses:
  /// of element `begin` of each vector, and of single elements. Only these elements are read and
  /// written. True when an operation failed; then the results are undefined. REQUIRES: n is
  /// positive, and reach() of itself.
  bool run(const std::byte* const* at, std::int64_t begin, std::int64_t n) const {
    const std::int64_t whole = n & -group_;
    if (function_(at, begin, whole, 0) != 0) return true;
    return whole != n && function_(at, begin, n, n - group_) != 0;
  }
  /// Of rounds: computes so many rounds of n elements, less of those that end before. True when an
  /// operation failed; then the results are undefined. Vectors have room for a multiple of group()
  /// elements; what is written behind the n elements is undefined.
  /// REQUIRES: n and `rounds` are positive; results do not lie over what is read.
  bool run_rounds(const std::byte* const* at, std::int64_t rounds, std::int64_t n) const {
    return function_(at, rounds, n, 0) != 0;
  }
  /// Of pieces: computes so many, each with the next row. The total of each fold goes to its place,
  /// as if all elements of the piece had been accumulated by ReduceKernels; to that of a
  /// disjunction goes T if there is one, else it stays what it was. True when an operation failed;
  /// then the results are undefined. So many bytes behind the elements of a piece as a register has
  /// may be read; only these elements are written, but of BOOLs with AVX2 up to seven more.
  /// REQUIRES: there is a piece, and none is empty.
  bool run_pieces(const std::uintptr_t* rows, std::int64_t pieces) const {
    return function_(reinterpret_cast<const std::byte* const*>(rows), pieces, 0, 0) != 0;
  }

 private:
  using Function = int (*)(const std::byte* const* at, std::int64_t, std::int64_t end,
                           std::int64_t from);
  NativeCode(void* memory, std::size_t bytes, std::int64_t group);

  [[maybe_unused]] void* memory_;
  [[maybe_unused]] std::size_t bytes_;
  std::int64_t group_;
  Function function_;
  std::vector<std::uint32_t> read_, written_;  // places of a loop
};

}  // namespace cvl::cpu
