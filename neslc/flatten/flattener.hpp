// Flattening: one NESL function, at given types, to one vector function (reference, section 10).
//
// A function has a serial version, and lifted versions that run k instances at once. The arguments
// of a lifted version that are the same for all instances stay serial: `uniform` says which. So a
// sequence that is only indexed by the instances is never copied to them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "neslc/flatten/both_arms.hpp"
#include "neslc/flatten/compiler.hpp"
#include "neslc/flatten/vectors.hpp"
#include "neslc/front/session.hpp"
#include "neslc/front/typed.hpp"

namespace neslc {

/// What an apply-to-each says whose sequences are not of the same length.
inline constexpr const char* kEachMessage = "Length mismatch in an apply-to-each.";
inline constexpr const char* kRangeMessage =
    "In [s:e:l], e must be >= to s, and l must be positive.";

/// What a loop reads, fetched before it (flatten_reads.cpp).
struct FetchedRead {
  const ApplyToEach* loop;
  const Expr* element;   // in the body of the loop
  Value elements;        // fetched, in rows that the loop goes through …
  ir::LengthId count{};  // … how many …
  Value starts;          // … and where each row begins; those of an inner loop are a sequence
};

/// An element of a sequence of sequences.
struct RowOf {
  Value sequence;  // where it was made
  Value number;    // INT: which of its elements
};

/// The variables and types of a body that is being flattened.
struct Frame {
  std::vector<TypePtr> instantiation;
  std::unordered_map<const Local*, Value> locals;
  std::uint32_t scope = 0;                 // of the spans of its expressions
  const Definition* definition = nullptr;  // of the function that is the body of
  const ObservedFunction* observed = nullptr;
  /// Expressions that have been evaluated for both arms of a conditional, or fetched before a loop.
  KnownExpressions known;
  std::vector<FetchedRead> reads;      // of loops to come
  std::vector<const Local*> counters;  // variables of loops that count
};

class Streams;
struct ElementIndex;

class Flattener {
 public:
  explicit Flattener(Compiler& compiler);
  ~Flattener();

  // One of these, once:
  /// The code of a version: parameters, body, results.
  ir::Function flatten_version(const Version& version, std::string name);
  /// Has it put sequences together, so as to make one call of several?
  bool copies_for_calls() const { return copies_for_calls_; }
  /// The code of a top-level expression.
  ir::Function flatten_expression(const Body& body);

  // ---- For the primitives

  Compiler& compiler() { return compiler_; }
  ir::Builder& builder() { return b_; }
  vcode::Type type_of(const Value& vector) { return b_.variable(vector.var).type; }
  /// Where the sequence was copied from, if it is a row that a loop has copied; else null.
  const RowOf* row_of(const Value& sequence) const;
  Vectors& vectors() { return v_; }
  Context* serial() { return &serial_; }

  /// What a primitive knows of its call.
  struct CallSite {
    const Definition* definition;
    const std::vector<TypePtr>* types;  // instantiation of its scheme
    TypePtr argument_type;
    TypePtr result_type;
    Context* context;
  };

  /// The value in a deeper context.
  Value bring(const Value& value, Context* context);
  ir::ValueId bring_scalar(const Value& value, Context* context) {
    return bring(value, context).var;
  }
  /// The deeper one of the contexts of two values or `context`s.
  static Context* deeper(Context* a, Context* b) { return a->encloses(b) ? b : a; }
  /// The descriptor of one segment over the instances of a context.
  ir::ValueId instances(Context* context);
  /// For each instance of `outer`, how many of `inner` lie in it: the descriptor that distributes
  /// from one to the other. REQUIRES: `outer` encloses `inner`, and is another one.
  ir::ValueId between(Context* outer, Context* inner);
  Context* for_each(Context* parent, ir::ValueId descriptor, const Value& elements);

  /// A scalar that explains a failure.
  struct Detail {
    std::string label;
    Value value;
  };
  using Details = std::vector<Detail>;
  /// Ends the run with `RUNTIME ERROR: message` if any flag is set where the value is wanted, and
  /// shows the details of the first instance where that is so. They are in contexts that enclose
  /// `context`.
  void check(const Value& violations, Context* context, const std::string& message,
             const Details& details);
  /// The same where the flag is known to be set for some instance if and only if `scalar_flag` is;
  /// `violations` makes the flags, after the failure.
  void check(ir::ValueId scalar_flag, const std::function<Value()>& violations, Context* context,
             const std::string& message, const Details& details);
  /// The same where two sequences are not of the same length, in contexts that enclose `context`.
  void check_lengths(const Value& first, const Value& other, Context* context,
                     const std::string& message);
  /// The same of the lengths themselves.
  void check_equal_lengths(const Value& first, const Value& other, Context* context,
                           const std::string& message);
  /// The same for all sequences, which are in the context; from here on they are known to be as
  /// long as the first one.
  void equate_lengths(const std::vector<Value>& sequences, Context* context,
                      const std::string& message);
  /// The same if an index, one for each instance of `each`, is not in 0 ... limit-1. The limit is
  /// that of a context that encloses `each`.
  void check_range(ir::ValueId index, Context* each, const Value& limit,
                   const std::string& message);

  /// A conditional on values; the arms may use any value in the given context. `free` are the
  /// values that the arms use, which are packed for the instances of each arm.
  struct Arm {
    std::function<Value(Context*, std::vector<Value>)> code;
    std::vector<Value> free;
    /// Has it parts that are the same for all instances and can fail? They are evaluated only if
    /// some instance takes the arm.
    bool constant_parts = false;
  };
  Value conditional(const Value& condition, Context* context, const Arm& then_arm,
                    const Arm& else_arm);
  /// Is code made for an arm that is computed where it is not taken, too? There checks do not keep
  /// what they look at out of what comes behind them.
  bool goes_on_unwanted() const { return wanted_.has_value(); }
  /// Is something that may fail for instances of `context` to be made in `home`, which is the same
  /// for several of them? for_instances() makes it there, and what fails fails for those instances
  /// of `home` inside of which there are any of `context`.
  bool is_made_once(Context* home, Context* context) const;
  void for_instances(Context* home, Context* context, const std::function<void()>& make);
  /// The vector, of `total` elements, or one null value if it has none.
  Value some_elements(const Value& elements, ir::ValueId total);
  /// then-value where the condition holds, else the other; both are there.
  Value select(const Value& condition, Context* context, const Value& then_value,
               const Value& else_value);

  Value call(TypePtr function_type, const Value& function, const Value& argument, Context* context);
  /// A library function by its name.
  Value call_library(const std::string& name, const std::vector<TypePtr>& types,
                     const Value& argument, Context* context);
  Value string_constant(const std::string& text);
  /// The elements of a sequence in a context of their own.
  Value map(const Value& sequence, Context* context,
            const std::function<Value(const Value&, Context*)>& body);

  TypeTable& types() { return compiler_.types(); }

  // ---- For streams

  Streams& streams() { return *streams_; }
  /// An apply-to-each over sequences. `reads` are what it, and those in its body, are to find
  /// fetched.
  Value each_of(const ApplyToEach& node, const std::vector<Value>& sequences,
                const std::vector<FetchedRead>& reads, Frame& frame, Context* context);

  // ---- For reads that are fetched before a loop

  /// A generator that counts, `variable in [a:b]`, or that goes through the rows of a variable.
  struct ReadingLoop {
    const Local* variable;
    const Expr* range;
  };

 private:
  std::vector<ir::Builder::Written> first_details(const Value& violations, Context* context,
                                                  const Details& details);
  /// The value of an expression in a context that encloses `context`, or in that.
  Value expression(const Expr& expr, Frame& frame, Context* context);
  Value evaluated(const Expr& expr, Frame& frame, Context* context);
  Value global(const Expr& expr, const GlobalRef& reference);
  Value call_expression(const Expr& expr, Frame& frame, Context* context);
  bool is_nested_element(const Expr& expr) const;
  Value nested_element(const Expr& expr, Frame& frame, Context* context);
  std::vector<ElementIndex> indices_of(const Expr& element, Frame& frame, Context* context);
  const Expr* first_operand(const Expr& expr) const;
  Value call_with_first(const Expr& expr, Value first, Frame& frame, Context* context);
  /// The operands of the `++` that the expression consists of, from left to right.
  void append_parts(const Expr& expr, Frame& frame, Context* context, std::vector<Value>& parts);
  Value call_definition(const Definition& definition, const std::vector<TypePtr>& types,
                        TypePtr function_type, const Value& argument, Context* context);
  ir::ValueId numbers_in(Context* home, Context* context);
  void append_indexed(const Pattern& pattern, const Value& value, const Expr& code,
                      std::vector<bool>& result);
  Value call_code(const Version& version, const Value& captured, const Value& argument,
                  Context* context);
  Value inlined_with_streams(const Version& called, const Value& captured, const Value& argument,
                             Context* context);
  Value inlined(const Version& version, std::uint32_t scope, const Value& captured,
                const Value& argument, Context* context);
  Value if_expression(const Expr& expr, const If& node, Frame& frame, Context* context);
  /// The same with the value of its condition.
  Value if_condition(const Expr& expr, const If& node, const Value& condition, Frame& frame,
                     Context* context);
  Value let_expression(const Let& node, Frame& frame, Context* context);
  /// The code of a function or form as it is flattened.
  const Expr& code_of(const Expr& written) { return compiler_.expanded_calls().of(written); }
  ir::Origin origin_of(const Expr& expr, const Frame& frame);
  std::uint32_t scope_of(const InlinedCall* call, const Frame& frame);
  /// The value of what is evaluated from its start to its end, as bodies are and arms: calls in it
  /// of one function that calls itself are made together.
  Value joined(const Expr& expr, Frame& frame, Context* context);
  bool may_be_joint(const Expr& expr, const Frame& frame);
  std::vector<const Expr*> recursive_calls(const std::vector<const Expr*>& code,
                                           const Frame& frame);
  /// Do variables and results of the calls that an expression needs have their values?
  bool is_ready(const Expr& expr, const std::vector<const Expr*>& calls, const Frame& frame);
  bool make_joint_calls(const std::vector<const Expr*>& calls, Frame& frame, Context* context);
  bool is_made_sequence(const Value& value) const;
  struct JointCall;
  std::vector<Value> results_of(const Expr& call, std::vector<Value> arguments, Frame& frame,
                                Context* context);
  std::vector<Value> separately(const JointCall& joint);
  std::vector<Value> jointly(const JointCall& joint);
  std::optional<ir::ValueId> are_few(const std::vector<Value>& values, Context* context);
  Value apply_to_each(const Expr& expr, const ApplyToEach& node, Frame& frame, Context* context);
  void remember_rows(const Value& sequence, const Value& copied, Context* each);
  bool may_need_pieces(const ApplyToEach& node, const Frame& frame);
  /// The same, computed in pieces, so that what the body makes for all elements is not there at
  /// once.
  Value each_in_pieces(const Expr& expr, const ApplyToEach& node, std::vector<Value> generators,
                       Frame& frame);
  /// A result of the whole program: streams become sequences.
  ir::ValueList compute_variables(const Body& body);
  static Value named_in(const Pattern& pattern, const Frame& frame, const std::string& name);
  Value collected(Value value, TypePtr type);
  /// The contrary, for the values of variables.
  Value as_streams(const Value& value, TypePtr type);
  Value filtered(const Value& body, const Value& sieve, ir::ValueId descriptor, Context* each,
                 Context* context);
  Value literal_sequence(const Expr& expr, const SequenceLiteral& node, Frame& frame,
                         Context* context);
  Value built_sequence(const std::vector<Value>& elements);
  Value timed(const Time& node, Frame& frame, Context* context);
  void bind(const Pattern& pattern, const Value& value, Frame& frame);
  /// The free variables of an expression.
  std::vector<const Local*> known_variables(const Expr& expr, const Frame& frame);

  // `set trace` and `set profile`
  Value observed_call(const Version& version, Frame& frame, Context* context);
  Value observed_binding(const Binding& binding, Frame& frame, Context* context);
  Value timed_for_profile(const Expr& expr, Frame& frame, Context* context);
  void print_text(const std::string& text);
  void print_value(const std::string& name, TypePtr type, const Value& value, Context* context);
  void print_variables(const Pattern& pattern, Frame& frame, Context* context);

  Value serial_conditional(ir::ValueId condition, Context* context, const Arm& then_arm,
                           const Arm& else_arm, bool guarded);
  /// The value of `code`, or, when the context has no instances, an empty one.
  Value unless_empty(Context* context, const std::function<Value()>& code);
  Value lifted_conditional(ir::ValueId flags, Context* context, const Arm& then_arm,
                           const Arm& else_arm);
  struct BranchResult;
  BranchResult branch(ir::ValueId flags, ir::ValueId none, ir::ValueId all, Context* context,
                      const Arm& arm);
  Value merged(const BranchResult& then_result, const BranchResult& else_result, Context* context);
  Value step_into(const Value& value, Context* context);

  /// A check in an arm that is computed where it is not taken, too. Nothing in the arms relies on
  /// it, so that it comes behind both of them, and kernels need not wait for it.
  struct LateCheck {
    Value flags;
    Context* context;
    std::string message;
    Details details;
    ir::Origin origin;
  };
  struct LateChecks {
    const ir::Block* block;  // in which the arms are computed
    std::vector<LateCheck> checks;
    /// What some_elements() has given for which vectors.
    std::vector<std::pair<ir::ValueList, Value>> some_elements;
  };
  Value both_arms(const If& node, const Value& condition, bool may_fail, Frame& frame,
                  Context* context);
  Value both_computed(const If& node, const Value& condition, bool may_fail, Frame& frame,
                      Context* context);
  void check_now(const LateCheck& check);
  /// What is made where it is not wanted, too, with the checks behind it.
  Value with_late_checks(const std::function<Value()>& make);
  /// An arm of the condition: what may fail is wanted where it is taken.
  Value in_arm(const Value& condition, bool taken, bool may_fail,
               const std::function<Value()>& make);
  /// A conditional of at most that size between rows of the same length, element by element;
  /// nothing where it is another one.
  struct Row;
  std::optional<Value> row_conditional(const Expr& expr, const If& node, const Value& condition,
                                       int most, Frame& frame, Context* context);
  Value row_or_sequence(const If& node, const Value& condition, bool whole_where,
                        const Value& sequence, const Local* row, Frame& frame, Context* context);
  Value chosen_row(const If& node, const Value& condition, bool may_fail, const Local* local,
                   Frame& frame, Context* context);
  Value row_choice(const If& node, const Value& condition, bool may_fail, const Row& row,
                   Frame& frame, Context* context);
  Value row_arm(const Expr& expr, bool may_fail, const Row& row, Frame& frame, Context* context);
  Value row_elements(const Expr& sequence, const Row& row, const Frame& frame);
  void check_counts_up(const Value& end, Context* context);
  Value wanted_if(const Value& condition, bool taken);
  Value where_wanted(const Value& flags, Context* context);
  bool has_constant_parts(const Expr& expr);
  /// The expression as an arm of a conditional in `context`. `expr` and `frame` must outlive it.
  Arm arm_of(const Expr& expr, Frame& frame, Context* context);
  /// The same for a part of it, or more, that `code` evaluates and that needs these variables.
  using ArmCode = std::function<Value(Frame&, Context*)>;
  Arm arm_with(const Expr& expr, const std::vector<const Local*>& variables, Frame& frame,
               Context* context, ArmCode code);
  /// Calls in several arms of a conditional that have been made as one, so that their values are
  /// known; and whether those are the value of the conditional.
  struct MadeForArms {
    std::vector<const Expr*> calls;
    bool is_value = false;
  };
  MadeForArms call_for_arms(const If& node, const Value& condition, Frame& frame, Context* context);
  struct ArmCalls;
  std::vector<const Expr*> own_calls(const Expr& expr, const Frame& frame);
  void add_arm(const Expr& expr, const Frame& frame, ArmCalls& arms);
  Value chosen_of(const If& node, const Value& condition, const ArmCalls& arms, Frame& frame,
                  Context* context);
  Value chosen_parts(const Expr& expr, const ArmCalls& arms, Frame& frame, Context* context);
  void append_variables(const Expr& expr, const ArmCalls& arms,
                        std::vector<const Local*>& variables);
  bool is_computed_by_instance(const Expr& expr);
  bool is_checked_scalar(const Expr& expr, const Frame& frame);
  /// Where an expression is to be computed that is the same for several instances of `context`;
  /// `context` itself for all others.
  Context* home_of(const Expr& expr, const Frame& frame, Context* context);
  /// The deepest context of the variables; null if one is a stream, or not known here.
  Context* home_of_variables(const std::vector<const Local*>& variables, const Frame& frame);
  /// Inside of which instances of `home` are there instances of `context`?
  Value is_any(Context* home, Context* context);
  Value computed_once(const Expr& expr, Frame& frame, Context* home, Context* context);
  /// Reads of the loop, and of those in its body, that are the same for several instances of
  /// `context`.
  std::vector<FetchedRead> fetched_reads(const Expr& expr, const ApplyToEach& node, Frame& frame,
                                         Context* context);
  void add_reads(const Expr& expr, const ApplyToEach& node, const std::vector<ReadingLoop>& own,
                 Frame& frame, Context* context, std::vector<FetchedRead>& result);
  std::optional<FetchedRead> fetched_before(const Expr& expr, const Expr& element,
                                            const std::vector<ReadingLoop>& loops, Frame& frame,
                                            Context* context);
  Value fetched(const Expr& element, const std::vector<ReadingLoop>& loops, std::size_t k,
                const Value& wanted, Frame& frame, Context* context);
  Value range_if(const Expr& range, const Value& wanted, Frame& frame, Context* context);
  /// Makes what a loop has found fetched known in its body, `each`.
  void bind_read(const FetchedRead& read, const ApplyToEach& node, Frame& frame, Context* each);
  bool differ(const Expr& element, const Expr& sequence, const Context* context,
              const Frame& frame);
  bool counts_an_index(const Expr& element, const Local* local, const Frame& frame);
  TypePtr substituted(TypePtr type, const Frame& frame) {
    return types().substitute(type, frame.instantiation);
  }

  Compiler& compiler_;
  ir::Builder b_;
  Vectors v_;
  Context serial_;
  std::deque<Context> contexts_;
  std::unique_ptr<Streams> streams_;
  std::map<ir::ValueList, RowOf> rows_;  // by the variables of the copies
  /// Of code that has been put in the place of calls, by the scope of the code they stand in.
  std::map<std::pair<const InlinedCall*, std::uint32_t>, std::uint32_t> inlined_scopes_;
  /// In an arm that is computed where it is not taken, too, in which functions take the place of
  /// their calls; and where its value is wanted, if something can fail.
  bool in_both_arms_ = false;
  bool apart_ = false;  // see Version
  bool copies_for_calls_ = false;
  std::optional<Value> wanted_;
  LateChecks* late_checks_ = nullptr;
  int stream_calls_ = 0;  // calls with streams that are being put in their places
};

}  // namespace neslc
