// The vector operations of a run, and the vectors that go from one to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vcode/opcodes.hpp"

namespace neslc::graph {

/// In the place of a number: there is none.
inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// A vector, or a segment descriptor.
struct Datum {
  std::size_t producer = kNone;  // the operation; kNone: a constant
  bool descriptor = false;
  std::int64_t length = 0;            // elements; of a descriptor: segments
  std::int64_t total = 0;             // of a descriptor: elements of all segments
  std::vector<std::string> elements;  // as many as are shown; of a descriptor: the lengths
  std::size_t segments = kNone;       // the descriptor that divides it, as far as is known
  std::string text;                   // of a constant: what the program calls it
};

struct Operation {
  vcode::Op op{};
  std::vector<std::size_t> in, out;  // data
  std::string text;                  // the part of the program that it comes from
  std::size_t level = 0;  // apply-to-eaches around it, those of calling functions included
};

struct DataFlow {
  std::vector<Datum> data;
  std::vector<Operation> operations;  // in the order of the run
  std::vector<std::size_t> results;   // data
  bool complete = true;               // false: only the first operations are there

  /// Leaves out what no result depends on, such as checks and conditions.
  void prune();
  /// Finds out which descriptor divides which vector, from the rules that operands must follow.
  /// What is the same for all elements of an inner apply-to-each is computed outside of it: the
  /// level of such operations is lowered.
  void find_segments();

 private:
  void find_segments(bool single);
  void divide_results(bool single);
  void lower_levels();
};

}  // namespace neslc::graph
