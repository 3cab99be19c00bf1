// The verifier's walk through one function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vcode/abstract_stack.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/effects.hpp"
#include "vcode/program.hpp"
#include "vcode/type_terms.hpp"

namespace vcode {

/// What the analyses of all functions of a program share.
struct AnalysisContext {
  const LinkedProgram& program;
  std::vector<FunctionEffect> effects;   // what is known so far of each function
  std::vector<std::uint32_t> component;  // functions that call each other share a number
  std::int64_t budget;                   // stack entries that may still be looked at
};

/// Runs a function over type terms instead of values. One object serves many functions.
///
/// Three kinds of knowledge end badly, and differently: an instruction that must fail ends the walk
/// with an error; a callee of unknown effect, a doubtful type and an exhausted budget end it
/// without one, the rest being left to the checks at run time; and code behind EXIT is not walked
/// at all.
class FunctionAnalysis {
 public:
  explicit FunctionAnalysis(AnalysisContext& context) : context_(context), stacks_(terms_) {}

  struct Result {
    FunctionEffect effect;
    bool guarded = false;                // some of its instructions can only be checked at run time
    bool failed = false;                 // one of its instructions must fail
    std::vector<std::uint32_t> callees;  // of calls that can be reached
  };

  /// `diagnostics`: where errors go, or null. `starts_empty`: there is no caller's stack below.
  Result run(std::uint32_t function, Diagnostics* diagnostics, bool starts_empty);

 private:
  enum class Kind : std::uint8_t { Live, Dead, Unknown };

  struct State {
    Kind kind = Kind::Live;
    bool recursive = false;  // has passed a call of the function's own component
    NodeId top = 0;
    std::int64_t certain = 0;  // caller's entries that every way to here has used
  };

  struct Conditional {
    std::uint32_t at;  // the IF
    State other;       // before ELSE: start of the second arm; after it: end of the first
    std::size_t trail;
    bool in_else = false;
    std::vector<TypeTerms::Fact> facts;  // of the first arm
  };

  static constexpr TermId kUnbound = 0xFFFFFFFF;

  void step(std::uint32_t index);
  void control(std::uint32_t index);
  void begin_conditional(std::uint32_t index);
  void begin_else();
  void end_conditional();
  void join_facts(const Conditional& conditional);
  State merge(const State& first, const State& second, const Conditional& conditional);
  void call(std::uint32_t callee);
  bool pass_arguments(std::uint32_t callee);
  bool bind(TermId argument, const ValueType& input);
  TermId instantiate(const ValueType& type);
  void move_block();
  void pair();
  void unpair();
  void constant();
  void apply_row();
  void run_kernel();
  bool narrow_operand(char letter, std::size_t position, TermId operand);
  bool narrow_operand(TypeSet wanted, std::string_view expected, std::size_t position,
                      TermId operand);

  bool need(std::int64_t count);
  bool charge(std::int64_t count);
  Entry pop();
  void push(Entry entry) { state_.top = stacks_.push(state_.top, entry); }
  void push_known(Type type) { push({TypeTerms::known(type)}); }
  void give_up();
  void note_outcome(TypeTerms::Outcome outcome);
  FunctionEffect effect();

  void fail(ErrorCode code, std::string message, std::vector<Note> notes = {});
  std::string operation_text() const;
  std::string found_text(TermId term) const;
  Note stack_note(NodeId top);
  std::string stack_text(NodeId top, std::int64_t count);
  void report_shapes(const State& first, const State& second, const Conditional& conditional);

  AnalysisContext& context_;
  TypeTerms terms_;
  AbstractStacks stacks_;
  Diagnostics* diagnostics_ = nullptr;
  bool starts_empty_ = false;
  std::uint32_t function_ = 0;
  const Instruction* instruction_ = nullptr;
  NodeId stack_before_ = 0;  // of the instruction, for messages
  State state_;
  std::int64_t used_ = 0;  // caller's entries that some way has used
  bool doubtful_ = false;
  std::vector<Conditional> conditionals_;
  std::vector<Entry> scratch_;
  std::vector<TermId> bindings_;  // of the running call: terms of the variables of the effect
  Result result_;
};

}  // namespace vcode
