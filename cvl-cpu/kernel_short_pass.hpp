// Passes over short vectors.
//
// Binding operands, opening sinks and running a block takes some tenths of a microsecond, in which
// machine code computes a thousand elements. Loops whose rounds compute with short vectors, and
// recursion over such, run the same kernels again and again. Here what a pass computes of each
// element is one call of machine code (kernel_short_code.hpp), which writes vectors; what is then
// done with those, but to store them, is done by the operations that the pass stands for. They also
// compute math functions and scans, and what depends on those is a stage of its own. When something
// fails the pass is run once more in the usual way, which finds out what.
#pragma once

#include <cstdint>
#include <vector>

#include "cvl-cpu/kernel_short_code.hpp"

namespace cvl::cpu {

class ShortPass {
 public:
  ShortPass(KernelState& state, const PlanPass& pass);

  /// False when the pass is to be run in the usual way: it is long, or empty, has run too seldom to
  /// make code for it, or something fails. Results that have been made are to be made again then.
  bool run();

 private:
  /// A node that an operation computes, of columns from the first one on.
  struct Operation {
    NodeId node = kNone;
    std::size_t column = 0;
  };
  /// A sink, with the first of its columns or its flag.
  struct Taken {
    const PlanSink* sink = nullptr;
    std::size_t column = 0, flag = 0;
    bool is_flag = false;
  };
  struct Stage {
    ShortCode code;
    std::vector<Operation> operations;
    std::vector<Taken> taken;
  };
  class Planner;

  static bool is_operation(const PlanNode& node);
  bool can_take(const PlanSink& sink) const;
  bool is_possible() const;
  bool run_stage(Stage& stage);
  void run_operation(Stage& stage, const Operation& operation);
  bool take(ShortCode& code, const Taken& taken);
  void select(ShortCode& code, const Taken& taken);
  bool scatter(ShortCode& code, const Taken& taken);
  Segdes segdes(SegdesId under) const;

  KernelState& state_;
  const PlanPass& pass_;
  bool possible_;
  std::int64_t runs_ = 0;      // so far, while there are no stages
  std::vector<Stage> stages_;  // one after the other
  std::vector<Vector> known_;  // per node: what operations have made of it in this run
  std::int64_t length_ = 0;    // of this run
};

}  // namespace cvl::cpu
