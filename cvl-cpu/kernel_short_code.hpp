// What is computed for all elements of a short pass, by one call of machine code.
//
// The code reads operands where they lie, looks for what must not be, and writes whole vectors. For
// operands that lie in another way there is other code.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cvl-cpu/kernel_state.hpp"
#include "cvl-cpu/native_code.hpp"

namespace cvl::cpu {

/// Nodes of a pass whose values are wanted.
struct ShortResults {
  /// A vector of values, or of whether they are that number.
  struct Column {
    NodeId node = kNone;
    std::optional<std::int64_t> equals;
  };
  /// Is a BOOL T anywhere, or, if `all`, everywhere?
  struct Flag {
    NodeId node = kNone;
    bool all = false;
  };
  std::vector<Column> columns;
  std::vector<Flag> flags;
  std::vector<NodeId> asserted;  // BOOLs that must be T everywhere
  std::vector<NodeId> lengths;   // INTs that must be lengths
};

class ShortCode {
 public:
  ShortCode(KernelState& state, const PlanPass& pass, ShortResults wanted)
      : state_(state), pass_(pass), wanted_(std::move(wanted)) {}

  /// Is there code for this processor, and is it wanted? If not, nothing else here is to be used.
  static bool can_be_made(const CpuBackend& cpu);
  /// Can it compute a node from others, or read it?
  static bool can_compute(const CpuBackend& cpu, const PlanNode& node);
  /// Can such values be a column?
  static bool can_store(const CpuBackend& cpu, Type type);

  /// Computes what is wanted of n elements. `known` has the values of nodes that are computed
  /// elsewhere. False when that is to be done in another way: operands are long, and lie in a way
  /// that no code is made for, or something fails. REQUIRES: 0 < n <= tuning.short_pass
  bool run(std::int64_t n, const std::vector<Vector>& known);

  // Of the last run.
  Vector& column(std::size_t k) { return made_.front()->columns[k].elements; }
  bool flag(std::size_t k) const {
    const bool any = made_.front()->cells[made_.front()->flags[k]] != 0;
    return any != wanted_.flags[k].all;  // of all it is asked whether any is F
  }
  /// Lets go of columns that nobody has taken.
  void release();

 private:
  /// Where elements are read from that begin at `place`.
  struct Read {
    enum class Source : std::uint8_t {
      Array,  // from element `index` on, which must be there, or from the first one
      NarrowArray,
      Known,    // a node
      Numbers,  // of the segments that positions lie in
      Offsets,  // of positions in their segments
      Lengths,  // of the segments of a descriptor that is not uniform
      Starts,   // likewise
    };
    Source source = Source::Array;
    std::uint32_t id = 0;  // of the array, the node, or the descriptor
    std::uint32_t place = 0;
    std::optional<std::int64_t> index = {};
    std::vector<std::byte> room = {};  // for INTs that are made for the run
  };
  /// A number that is put down for the code.
  struct Number {
    enum class Source : std::uint8_t {
      ArrayLength,
      Size,
      SegmentCount,
      SegmentLength,  // of a uniform descriptor
    };
    Source source = Source::Size;
    std::uint32_t id = 0;  // of the array, the size, or the descriptor
    std::uint32_t cell = 0;
  };
  struct Column {
    Vector elements;
    std::uint32_t place = 0;
    bool chooses = false;         // between elements …
    std::vector<ArrayId> chosen;  // … of these vectors, and literals that fit bytes
  };
  /// The code for operands that lie in one way, and where it finds what it needs.
  struct Made {
    std::unique_ptr<NativeCode> code;
    std::vector<std::uintptr_t> row;  // of NativePieces
    std::vector<std::int64_t> cells;  // numbers and flags that the row points to
    std::vector<Read> reads;
    std::vector<Number> numbers;
    std::vector<Column> columns;
    std::vector<std::uint32_t> flags;     // their cells
    std::optional<std::uint32_t> failed;  // the cell that says whether a check fails
  };
  /// What became of an operand.
  enum class Found : std::uint8_t { Here, Nowhere, ForOtherCode };
  class Maker;

  Found find_code(std::int64_t n, const std::vector<Vector>& known);
  Found find_operands(Made& made, std::int64_t n, const std::vector<Vector>& known);
  Found find(Made& made, Read& read, std::int64_t n, const std::vector<Vector>& known);
  Found find_array(Made& made, const Read& read);
  Found find_starts(Made& made, Read& read);
  bool put(Made& made, const Number& number) const;
  void make_columns(Made& made, std::int64_t n);
  void make_ints(Made& made, Read& read, std::int64_t n);
  template <class I>
  void put_ints(Read& read, std::int64_t n) const;

  KernelState& state_;
  const PlanPass& pass_;
  ShortResults wanted_;
  std::vector<std::unique_ptr<Made>> made_;  // the one that ran last comes first
  bool hopeless_ = false;                    // the system does not let programs make code
};

}  // namespace cvl::cpu
