// What a trace or a profile sees of a run.
//
// The machine calls its observers from the thread that runs the program. A machine without
// observers runs a dispatch loop that contains no trace of them.
#pragma once

#include <cstdint>
#include <span>

#include "cvl/value.hpp"
#include "vcode/opcodes.hpp"
#include "vcode/program.hpp"

namespace vinterp {

/// One instruction that is about to run, or has just run.
struct Step {
  std::uint32_t instruction = 0;  // index into LinkedProgram::code
  std::uint32_t function = 0;     // index into LinkedProgram::functions
  const vcode::Instruction* code = nullptr;
  const vcode::OpInfo* op = nullptr;
  /// The whole stack, bottom first. Before an instruction its operands are the topmost
  /// `operand_count` values (fewer if the stack is too short: then the instruction will fail);
  /// after it its results are the topmost `result_count` values.
  std::span<const cvl::Value> stack;
  int operand_count = 0;
  int result_count = 0;
  /// Length of the longest operand or, afterwards, of the longest operand or result; and the bytes
  /// of all of them. Values in compact form count no bytes, and instructions that only move
  /// handles (stack, control, constants) count neither.
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  std::uint64_t depth = 0;  // of calls; 0 in the entry function
  bool ran_kernel = false;  // after RUN: the library ran the kernel; false: its SPEC is entered
};

class Observer {
 public:
  virtual ~Observer() = default;

  virtual void before(const Step& step) { static_cast<void>(step); }
  /// `seconds`: wall-clock time of the instruction, outstanding device work included. Not called
  /// for an instruction that fails, nor for the RET or EXIT that ends the run.
  virtual void after(const Step& step, double seconds) {
    static_cast<void>(step);
    static_cast<void>(seconds);
  }
  /// Called for the entry function too. `call` is the index of the CALL instruction; for the entry
  /// function it is the first instruction of that function.
  virtual void enter_function(std::uint32_t function, std::uint32_t call) {
    static_cast<void>(function);
    static_cast<void>(call);
  }
  /// Not called for functions that are still active when a run fails or exits.
  virtual void leave_function(std::uint32_t function) { static_cast<void>(function); }
  /// The function ends with a call of itself, which takes its place.
  virtual void call_again(std::uint32_t function, std::uint32_t call) {
    leave_function(function);
    enter_function(function, call);
  }
};

}  // namespace vinterp
