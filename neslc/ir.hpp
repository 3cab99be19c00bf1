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

inline constexpr std::uint32_t kNoScope = ~std::uint32_t{0};

/// The text that code was made from: that of a NESL function, a lambda or a top-level expression. A
/// function that is put in the place of a call has a scope of its own for each such call.
struct Scope {
  std::string function;  // as in the text; empty: a top-level expression
  bool library = false;
  std::uint32_t source = 0;         // index into Module::sources
  vcode::Span call;                 // put in the place of this call...
  std::uint32_t caller = kNoScope;  // ...in this scope; kNoScope: a vector function of its own
};

/// Where in the program something comes from.
struct Place {
  vcode::Span span;
  std::uint32_t scope = 0;  // index into Module::scopes
};

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
    Fail,      // ends the run; `index` into Module::failures; in: what is written with it
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
  Place place;
};

struct Function {
  std::string name;
  std::vector<Var> parameters;  // bottom of the stack first
  Block body;
  std::vector<Variable> variables;
  Place place;
};

/// An end that the program gives itself.
struct Failure {
  std::string message;                // `RUNTIME ERROR: ` and text; empty: that of `error` is given
  std::vector<std::string> labels{};  // of the values that explain it
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
  std::vector<Scope> scopes;  // that of the entry function first
  std::vector<std::shared_ptr<const vcode::Source>> sources;
};

/// Does it do nothing but compute its results?
bool is_pure(const Instr& instr);

/// Removes what computes nothing that is used.
void remove_dead_code(Function& function);

}  // namespace neslc::ir
