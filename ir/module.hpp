// The optimizer's intermediate form: single assignment, structured control flow.
//
// A function is a block of statements; every value is assigned once. A conditional is a statement
// with two blocks and with results (its join), so that there are no phis: the blocks see every
// value of the enclosing blocks before them. The stack is gone: COPY, POP and CPOP leave no trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/few.hpp"
#include "vcode/kernel.hpp"
#include "vcode/opcodes.hpp"
#include "vcode/program.hpp"

namespace ir {

using ValueId = std::uint32_t;
/// A few values: what an operation takes, or gives.
using ValueList = Few<ValueId, vcode::kMaxOperands>;
using vcode::Op;
using vcode::Type;

using vcode::kNoScope;

/// The text that code was made from: that of a function, a lambda or a top-level expression. A
/// function that the front end puts in the place of a call has a scope of its own for each such
/// call.
struct Scope {
  std::string function{};  // as in the text; empty: a top-level expression
  bool library = false;
  std::shared_ptr<const vcode::Source> source{};
  vcode::Span call{};               // put in the place of this call...
  std::uint32_t caller = kNoScope;  // ...in this scope; kNoScope: a function of its own
};

/// Where something came from. All passes keep it.
struct Origin {
  vcode::Span span;
  std::uint32_t scope = kNoScope;  // index into Module::scopes: whose text the span is of

  bool operator==(const Origin&) const = default;
};

/// What is known of one value of a function.
struct ValueInfo {
  std::optional<Type> type;  // nothing: only moved around, so that any type fits
  Origin origin;
};

struct Block;

struct Statement {
  enum class Kind : std::uint8_t {
    Op,     // `op` on operands: vector operations, PAIR, UNPAIR, timers, SRAND, I/O
    Const,  // `index` into Module::constants; one result
    Given,  // the same, but what the constant holds is not known before the run
    Call,   // `index` into Module::functions
    If,     // operands[0] is the condition; then/else blocks
    Exit,   // ends the program; last statement of a diverging block
    Run,    // `index` into Module::kernels
  };
  Kind kind = Kind::Op;
  Op op{};
  Type written = Type::Int;
  std::uint32_t index = 0;
  bool effects = false;  // Run: the kernel is not pure (vcode::is_pure)
  ValueList operands;
  ValueList results;
  std::unique_ptr<Block> then_block, else_block;  // If: both are always there
  Origin origin;
};

/// Statements and the values that the block gives to its surroundings: to the function's caller, or
/// to the results of its conditional. A block that cannot reach its end (`diverges`) gives none.
struct Block {
  std::vector<Statement> statements;
  ValueList results;
  bool diverges = false;
};

/// A function that is for one instance what another one is for many. Its parameters are scalars, or
/// sequences of them: descriptors of one segment, and the vectors that they describe.
struct SerialFunction {
  struct Parameter {
    /// What the other function gets: the same for all instances; or a vector with an element for
    /// each of them, a descriptor with a segment; or, of some of its sequences, a descriptor with
    /// other segments, of which `own_segment` says the number.
    enum class Kind : std::uint8_t { Uniform, Each, Fetched };
    Kind kind = Kind::Each;
    std::optional<std::uint32_t> descriptor;  // of a vector: which parameter describes it
  };
  std::uint32_t function = 0;  // index into Module::functions
  std::vector<Parameter> parameters;
  /// The other function has the same parameters, but behind the first `own` of them `own_segment`,
  /// if anything is Fetched, and a descriptor of one segment over the instances. Its results are
  /// vectors with an element for each of them. Or it has a single instance as well: then all of
  /// its parameters are Uniform, and it may be this function itself.
  std::uint32_t own = 0;
  bool single = false;
  bool fetches() const {
    return std::any_of(parameters.begin(), parameters.end(), [](const Parameter& parameter) {
      return parameter.kind == Parameter::Kind::Fetched;
    });
  }
};

struct Function {
  std::string name;
  Origin origin;
  ValueList parameters;  // stack order, deepest first
  Block body;
  std::vector<std::optional<Type>> result_types;  // empty when the body diverges
  std::vector<ValueInfo> values;                  // indexed by ValueId

  /// Made by the front end, for optimizers that can do something with it before they change either
  /// of the two functions. Nothing else is kept for it.
  std::optional<SerialFunction> serial;

  /// Run where something else has given up, which is rare: it is neither put in the place of calls
  /// nor fused.
  bool fallback = false;

  /// A function that cannot be put into single assignment is carried along as it was: `code`, in
  /// which CALL names an index into Module::functions, CONST and RUN one into the module's tables.
  /// Its parameters and results are those that its callers see; its body is empty. Whatever it can
  /// call is opaque too, so that no optimized function has a caller that was not looked at.
  bool opaque = false;
  std::vector<vcode::Instruction> code;
};

/// What is known of the lengths of a value that the run gives.
struct GivenShape {
  std::int64_t length = 0;           // elements of a vector, segments of a descriptor
  std::int64_t described = 0;        // of a descriptor: elements of its segments
  std::optional<std::int64_t> each;  // of a descriptor: the length of all segments, if it is one
};

/// Something that was left as it is, and why.
struct Remark {
  std::string text;
  Origin origin;
};

struct Module {
  std::shared_ptr<const vcode::Source> source;
  std::vector<Scope> scopes;  // for origins
  std::vector<Function> functions;
  std::uint32_t entry = 0;
  std::vector<vcode::Constant> constants;
  std::vector<bool> given;  // of the first constants: does the run give another value?
  std::map<std::uint32_t, GivenShape> given_shapes;  // of such constants, as far as they are known
  std::vector<vcode::Kernel> kernels;
  std::vector<Remark> remarks;
};

}  // namespace ir
