// What a run costs in the terms of the language's cost model (reference, section 5), measured from
// the vector operations that it executes, and so the same on every backend and number of threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/observer.hpp"
#include "neslc/evaluation/space.hpp"
#include "vcode/program.hpp"

namespace neslc {

struct Cost {
  /// The sum, over the vector operations, of the elements that each works on: the length of its
  /// longest operand or result, at least 1. A gather or extraction counts what it fetches, not
  /// where from.
  std::uint64_t work = 0;
  /// The longest chain of vector operations of which each needs a result of the one before, or runs
  /// only because of it.
  std::uint64_t depth = 0;
  std::uint64_t operations = 0;  // vector operations
  std::int64_t longest = 0;      // elements of the longest vector
  Space space;                   // only of programs with streams

  /// The cost of a run that follows another one.
  void add(const Cost& next);
};

/// `work 120, depth 8, vector operations 10, longest vector 12`, and with streams `, space 30,
/// parallel space 120`.
std::string cost_text(const Cost& cost);

/// Measures the cost of a run.
class CostMeter final : public vinterp::Observer {
 public:
  /// `program` must outlive the meter.
  explicit CostMeter(const vcode::LinkedProgram& program) : program_(program) {}

  void before(const vinterp::Step& step) override;
  void after(const vinterp::Step& step, double seconds) override;

  const Cost& cost() const { return cost_; }

 private:
  /// A conditional that runs: what comes behind it does not depend on its condition.
  struct Conditional {
    std::uint64_t calls;   // depth of calls
    std::uint32_t end;     // the instruction behind it
    std::uint64_t before;  // `condition_` outside of it
  };

  std::uint32_t end_of(std::uint32_t instruction) const;
  std::uint64_t take(std::size_t count);
  void count(const vinterp::Step& step, std::uint64_t depth);

  const vcode::LinkedProgram& program_;
  Cost cost_;
  std::vector<std::uint64_t> depths_;  // of the values on the stack
  std::uint64_t condition_ = 0;        // depth of the conditions that led here
  std::vector<Conditional> conditionals_;
};

}  // namespace neslc
