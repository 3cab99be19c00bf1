// From a checked form to a VCODE program: the worklist of function versions (reference 10.6).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/builder.hpp"
#include "neslc/flatten/computed_variables.hpp"
#include "neslc/flatten/effects.hpp"
#include "neslc/flatten/expanded_calls.hpp"
#include "neslc/front/free_variables.hpp"
#include "neslc/front/session.hpp"
#include "neslc/front/static_error.hpp"

namespace neslc {

/// One compiled version of a function or lambda.
struct Version {
  const Definition* definition = nullptr;  // one of these two
  const Lambda* lambda = nullptr;
  std::vector<TypePtr> instantiation;
  TypePtr argument_type = nullptr;
  TypePtr result_type = nullptr;
  TypePtr captured_type = nullptr;  // lambda: its function type, which tells what it captures
  bool lifted = false;
  /// Not lifted: are no calls made together (flatten_joint_calls)? So optimizers make machine code
  /// of functions that hand on parts of sequences, or sequences with other elements, which are
  /// copied otherwise.
  bool apart = false;
  using Passed = ir::SerialFunction::Parameter::Kind;
  std::vector<Passed> passed;  // lifted: how, of each part of the argument
  bool fetches() const {
    return std::find(passed.begin(), passed.end(), Passed::Fetched) != passed.end();
  }

  auto operator<=>(const Version&) const = default;

  const Pattern& parameter() const {
    return lambda != nullptr ? *lambda->parameter : *definition->body->parameter;
  }
  const Expr& body() const {
    return lambda != nullptr ? *lambda->body : *definition->body->expression;
  }
};

/// A place of the program's text that a user has written.
struct WrittenPlace {
  vcode::Span span;
  std::shared_ptr<const vcode::Source> source;
  std::string function;

  bool operator==(const WrittenPlace& other) const {
    return span == other.span && source == other.source;
  }
};

/// Thrown when a program cannot be compiled after all: `no-body` and the like.
struct CompileError {
  Category category;
  std::string name;
  /// What to say, where the category does not say it, and the source of its spans.
  std::optional<vcode::Diagnostic> diagnostic{};
  std::shared_ptr<const vcode::Source> source{};
  /// It would do if the elements of the stream that is made there were kept.
  std::optional<WrittenPlace> made_at{};
};

/// What is said of a function while it runs (`set trace`, `set profile`).
struct ObservedFunction {
  int trace = 0;         // 1 calls, 2 with arguments and results, 3 with bindings, 4 all
  bool profile = false;  // the time of each binding
};
using ObservedFunctions = std::map<const Definition*, ObservedFunction>;

/// How many elements of a stream are computed at a time, unless something else is asked for: their
/// vectors stay in a cache, and what a piece costs by itself does not show.
inline constexpr std::int64_t kPieceLength = 262144;

/// What the names of functions begin with that compute streams, piece by piece.
inline constexpr std::string_view kStreamFunction = "STREAM_";

struct CompileOptions {
  bool argument_checks = true;
  const ObservedFunctions* observed = nullptr;  // must outlive the compilation
  int int_bytes = 4;                            // for max_int and min_int
  std::int64_t piece_length = kPieceLength;     // of streams, in elements
  /// Is the program going to be optimized? Then both arms of longer conditionals are computed for
  /// all elements, which costs little in a kernel, and keeps it whole.
  bool for_optimizer = false;
  std::vector<WrittenPlace> collected{};  // streams made there are kept in memory
  bool in_pieces = false;  // an apply-to-each over a sequence is computed as over a stream
};

/// A flattened program, which runs once it is lowered.
struct FlatProgram {
  ir::Module module;
  bool has_streams = false;  // is anything of it computed in pieces?
  /// Of each constant, the component of the top-level values that it stands for, or -1.
  std::vector<std::int64_t> components;
};

/// Where the program is given the values of top-level variables.
class TopLevelValues {
 public:
  virtual ~TopLevelValues() = default;
  /// The number of the first component of the variable's value, or -1 if it has none.
  virtual std::int64_t first_component(const Definition& variable) = 0;
};

class Compiler {
 public:
  Compiler(Session& session, TopLevelValues& values, CompileOptions options);

  /// The program that evaluates the expression of a checked form.
  FlatProgram compile(const Body& body);

  // ---- For the flattener

  Session& session() { return session_; }
  TypeTable& types() { return session_.types(); }
  const CompileOptions& options() const { return options_; }
  /// How a function is observed; null: not at all.
  const ObservedFunction* observed(const Definition* definition) const;
  /// The number of the first component of a variable's value, which the run gives or the program
  /// computes once; -1: the expression that defines it is evaluated in its place.
  std::int64_t first_component(const Definition& variable);
  TopLevelValues& values_of_run() { return values_; }
  ComputedVariables& computed_variables() { return computed_; }
  FreeVariables& free_variables() { return free_variables_; }
  IndexedVariables& indexed_variables() { return indexed_variables_; }
  Effects& effects() { return effects_; }
  ExpandedCalls& expanded_calls() { return expanded_calls_; }
  ir::Module& module() { return module_; }
  ir::ConstantPool& pool() { return pool_; }
  /// The function of a version, whose code is made later.
  std::uint32_t function(const Version& version);
  /// A function of a traversal of streams: `set_function` gives its code.
  std::uint32_t new_stream_function();
  void set_function(std::uint32_t index, ir::Function function);
  /// For a place inside the library, the call.
  WrittenPlace written(ir::Origin origin) const;
  /// Of code that is put in the place of a call: that call. False: it is not.
  bool go_to_caller(ir::Origin& origin) const;
  /// Is the code put in the place of the call?
  bool inline_call(const Version& version);
  /// May the optimizer make a loop for each instance of the function?
  bool may_be_loop(const Version& version);
  /// Does the function call itself, perhaps by way of others?
  bool calls_itself(const Definition& definition) { return recursion_of(definition) != 0; }
  /// Do two functions, which may be one, call each other?
  bool call_each_other(const Definition& first, const Definition& second) {
    const int recursion = recursion_of(first);
    return recursion != 0 && recursion == recursion_of(second);
  }
  /// Does a call of it lead to another one outside of all conditionals? Then only a lack of
  /// instances ends the recursion.
  bool recurs_unconditionally(const Definition& definition);
  /// A new scope for the code of a version, put in the place of a call at `call`.
  std::uint32_t add_scope(const Version& version, const ir::Origin& call);
  /// The same for a vector function of its own.
  std::uint32_t add_scope(const Version& version);
  /// For the expression of a variable.
  std::uint32_t add_scope(const Definition& variable, const ir::Origin& use);

 private:
  int expanded_size(const Definition& definition);
  int recursion_of(const Definition& definition);
  std::optional<std::vector<ir::SerialFunction::Parameter>> serial_parameters(
      const Version& version);
  std::optional<ir::SerialFunction> serial_function(const Version& version, std::uint32_t index,
                                                    bool apart);

  Session& session_;
  TopLevelValues& values_;
  ComputedVariables computed_;
  CompileOptions options_;
  FreeVariables free_variables_;
  IndexedVariables indexed_variables_;
  Effects effects_{*this};
  ExpandedCalls expanded_calls_{*this};
  bool has_streams_ = false;
  ir::Module module_;
  ir::ConstantPool pool_;
  std::map<Version, std::uint32_t> functions_;
  std::vector<std::pair<Version, std::uint32_t>> worklist_;
  std::unordered_map<const Definition*, int> sizes_;
  /// The same number for functions that call each other; 0 for one that does not call itself.
  std::unordered_map<const Definition*, int> recursions_;
  int number_of_recursions_ = 0;
};

}  // namespace neslc
