// A VCODE program as data.
//
// Parsing gives a Program: functions in source order with their own instruction lists, names kept
// as text. Linking (link.hpp) resolves calls and conditionals into a LinkedProgram, one flat
// instruction array that the verifier reads and the machine runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vcode/instruction.hpp"
#include "vcode/kernel.hpp"
#include "vcode/source.hpp"

namespace vcode {

/// The version of FCODE that is read and written.
inline constexpr int kFcodeVersion = 3;

/// The directives at the head of an FCODE file.
struct FcodeHeader {
  std::optional<int> int_width;    // 32 or 64; nothing: ANY
  std::optional<int> float_width;  // likewise
  bool operator==(const FcodeHeader&) const = default;
};

struct Function {
  std::string name;
  Span name_span;
  bool has_signature = false;  // "I types O types" was written
  std::vector<Type> declared_in, declared_out;
  std::vector<Instruction> code;  // ends with Op::Return
};

struct Program {
  std::shared_ptr<const Source> source;
  std::vector<Function> functions;
  std::vector<Constant> constants;
  std::vector<std::string> names;    // of called functions and of kernels that are run
  std::optional<FcodeHeader> fcode;  // the file is FCODE; without it there are no kernels
  std::vector<Kernel> kernels;
};

/// Do both consist of the same functions, instructions, constants and kernels? Places do not count.
bool same_program(const Program& a, const Program& b);

struct LinkedFunction {
  std::string name;
  Span name_span;
  std::uint32_t begin = 0;  // first instruction in LinkedProgram::code
  std::uint32_t end = 0;    // one past its Op::Return
  bool is_spec = false;     // the SPEC of a kernel: no CALL names it
};

/// A kernel and the function that its SPEC has become.
struct LinkedKernel {
  Kernel definition;                  // without the instructions of its SPEC
  std::optional<std::uint32_t> spec;  // index into LinkedProgram::functions
};

/// Calls resolved, conditionals turned into jumps. ENDIF is kept as a no-operation.
struct LinkedProgram {
  std::shared_ptr<const Source> source;
  std::vector<Instruction> code;
  std::vector<LinkedFunction> functions;  // of equal names only the last one is kept
  std::vector<LinkedKernel> kernels;
  std::vector<Constant> constants;
  std::optional<FcodeHeader> fcode;
  std::uint32_t entry = 0;  // index into functions

  /// The function that instruction `index` belongs to.
  const LinkedFunction& function_at(std::uint32_t index) const;
};

}  // namespace vcode
