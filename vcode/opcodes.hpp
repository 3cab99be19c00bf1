// The operation table as data. See opcodes.def for the meaning of the columns.
//
// Thread safety: everything here is immutable after static initialisation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "vcode/types.hpp"

namespace vcode {

enum class Op : std::uint8_t {
#define ELEMENTWISE(id, ...) id,
#define SCAN(id, ...) id,
#define REDUCE(id, ...) id,
#define COMBINE(id, ...) id,
#define VECTOR(id, ...) id,
#define OTHER(id, ...) id,
#include "vcode/opcodes.def"
};

inline constexpr std::size_t kOpCount = 0
#define ELEMENTWISE(...) +1
#define SCAN(...) +1
#define REDUCE(...) +1
#define COMBINE(...) +1
#define VECTOR(...) +1
#define OTHER(...) +1
#include "vcode/opcodes.def"
    ;

enum class Family : std::uint8_t {
  Elementwise,
  Scan,
  Reduce,
  Combine,
  Random,
  Rank,
  Sort,
  Permute,
  Extract,
  Replace,
  Distribute,
  Index,
  Pack,
  Length,
  MakeSegdes,
  Lengths,
  Stack,
  Pair,
  Control,
  Kernel,
  Constant,
  Timer,
  Seed,
  Io,
};

/// What is written after the operation's word.
enum class Argument : std::uint8_t {
  None,
  Number,
  Logic,
  Data,
  Value,
  IntOnly,   // nothing, or one type out of a set
  Counts,    // two integers: count and start
  Name,      // the name of a function or of a kernel
  Constant,  // a type and its elements
};

/// One side of a length rule: the length of an operand, or the data length that it describes.
struct LengthTerm {
  std::uint8_t operand;  // counted from the deepest
  bool described;        // true: the sum of the segment lengths of a descriptor
};

/// A length rule `left = right` of the checks column.
struct LengthRule {
  LengthTerm left, right;
};

inline constexpr int kMaxOperands = 6;
inline constexpr int kMaxResults = 5;
inline constexpr int kMaxLengthRules = 5;

struct OpInfo {
  Op op;
  std::string_view text;  // spelling in a program
  Family family;
  Argument argument;
  std::string_view operands;  // deepest first; see opcodes.def
  std::string_view results;
  std::string_view checks;
  std::string_view length;
  std::string_view combiner;  // name of the folding functor, of operations that fold
  std::string_view doc;

  /// Vector operations are run by a vector library; the machine runs all others itself.
  constexpr bool is_vector_op() const { return family <= Family::Lengths; }
  /// True when one of INT, BOOL, ... must follow the word.
  constexpr bool takes_type() const {
    return argument >= Argument::Number && argument <= Argument::IntOnly;
  }
  /// May `type` be written after this operation's word?
  bool allows(Type type) const;
};

/// All operations in the order of the table; index with static_cast<size_t>(op).
std::span<const OpInfo> all_ops();
const OpInfo& info(Op op);

/// The operation of that spelling, if there is one.
std::optional<Op> find_op(std::string_view text);

/// The checks column of an operation, parsed once.
std::span<const LengthRule> length_rules(Op op);

/// The length column, parsed once: whose length the first result has. Nothing for operations
/// without results, for LENGTH, whose result is a scalar, and where the length depends on the data.
std::optional<LengthTerm> result_length(Op op);

/// The reduction that folds as a SCAN or a COMBINE does. REQUIRES: one of these.
Op reduction_of(Op op);
/// The scan that folds as a REDUCE does. REQUIRES: one of these.
Op scan_of(Op reduction);

/// The type that a letter of `in` or `out` stands for when `written` follows the word; nothing for
/// the letters ? and *.
std::optional<Type> operand_type(char letter, Type written);

}  // namespace vcode
