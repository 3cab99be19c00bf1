// The intermediate form between flattening and stack code: named vectors, structured conditionals.
//
// A function computes variables, each assigned once; a variable is one entry of the VCODE stack.
// Which variables have the same length is known by *length ids*: two equal ids mean equal lengths
// at run time (the contrary is not implied), so that one descriptor serves all of them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "vcode/program.hpp"

namespace neslc::ir {

using Var = std::uint32_t;
inline constexpr Var kNoVar = ~Var{0};

using LengthId = std::uint32_t;
/// The length 1, that of scalars outside of every apply-to-each.
inline constexpr LengthId kOne = 0;

struct Instr;
struct Function;

struct Variable {
  vcode::Type type = vcode::Type::Int;
  LengthId length = kOne;             // number of elements; of a descriptor, of segments
  LengthId total = kOne;              // descriptors: number of elements described
  const Instr* definition = nullptr;  // null for parameters
};

struct Block {
  std::vector<std::unique_ptr<Instr>> code;
  std::vector<Var> results;
};

struct Instr {
  enum class Kind : std::uint8_t {
    Op,        // one VCODE operation
    Constant,  // `index` into Module::constants
    Call,      // `callee`
    If,        // in: a BOOL scalar; out: the results of the block that runs
    Fail,      // ends the run; `index` into Module::failures; in: the text of `error`, or nothing
  };
  Kind kind = Kind::Op;
  vcode::Op op{};
  vcode::Type type = vcode::Type::Int;
  std::uint32_t index = 0;
  const Function* callee = nullptr;
  std::vector<Var> in;
  std::vector<Var> out;
  Block then_block;
  Block else_block;
  vcode::Span span;
  std::uint32_t source = 0;  // index into Module::sources
};

struct Function {
  std::string name;
  std::vector<Var> parameters;  // bottom of the stack first
  Block body;
  std::vector<Variable> variables;
  vcode::Span span;
  std::uint32_t source = 0;
};

/// A place where the program ends itself.
struct Failure {
  std::string message;  // `RUNTIME ERROR: ` and text; empty: the text is on the stack (`error`)
  vcode::Span span;
  std::uint32_t source = 0;
};

/// A whole program. A constant with `value` >= 0 is not in the text: it stands for component
/// `value` of the top-level values that the run is given.
struct Module {
  struct Constant {
    vcode::Constant literal;
    std::int64_t value = -1;
  };
  std::deque<Function> functions;  // the entry function first
  std::vector<Constant> constants;
  std::vector<Failure> failures;
  std::vector<std::shared_ptr<const vcode::Source>> sources;
};

/// Does it do nothing but compute its results?
bool is_pure(const Instr& instr);

/// Removes what computes nothing that is used.
void remove_dead_code(Function& function);

}  // namespace neslc::ir
