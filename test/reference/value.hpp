// Values of the reference evaluator: plain host vectors, nothing shared, nothing compact.
//
// The evaluator states the meaning of VCODE a second time so that the libraries and the machine can
// be checked against it. It includes nothing from cvl/ but the stream of RAND, which is a shared
// definition. INT elements are kept in 64 bits and FLOAT elements in doubles whatever the widths of
// the run; results are brought to the widths after each operation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "vcode/error_codes.hpp"
#include "vcode/types.hpp"

namespace reference {

using vcode::ErrorCode;
using vcode::Type;

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<double>;
using Bools = std::vector<std::uint8_t>;

/// A segment descriptor: the lengths and nothing else.
struct Segdes {
  std::vector<std::int64_t> lengths;

  std::int64_t count() const { return static_cast<std::int64_t>(lengths.size()); }
  std::int64_t total() const;
  /// First element of each segment.
  std::vector<std::int64_t> starts() const;
};

struct PairNode;
using Pair = std::shared_ptr<const PairNode>;

using Value = std::variant<Ints, Floats, Bools, Segdes, Pair>;

struct PairNode {
  Value first, second;
};

Type type_of(const Value& value);
/// Number of elements; of a descriptor the number of its segments. REQUIRES: not a pair.
std::int64_t length_of(const Value& value);

/// Widths of a run in bits.
struct Widths {
  int int_bits = 32;
  int float_bits = 64;

  std::int64_t wrap(std::uint64_t number) const;
  std::int64_t least_int() const;
  std::int64_t greatest_int() const;
  double round(double number) const;
};

/// A run-time failure. `position` is the first element (or segment) at fault, -1 where the failure
/// is not about one element.
struct Failure {
  ErrorCode code;
  std::int64_t position = -1;
};

/// A failure of a kernel: `position` is that in the space of the binding at fault.
struct KernelFailure : Failure {
  std::size_t binding = 0;             // index of it
  std::optional<std::int64_t> number;  // the index, bound, length or size at fault
};

/// One line of the classic output format, with its newline.
std::string format(const Value& value);

}  // namespace reference
