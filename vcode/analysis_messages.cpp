// What the verifier's walk tells about the faults that it finds.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "vcode/function_analysis.hpp"
#include "vcode/printer.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {

void FunctionAnalysis::fail(ErrorCode code, std::string message, std::vector<Note> notes) {
  state_.kind = Kind::Unknown;
  result_.failed = true;
  if (diagnostics_ == nullptr) return;
  diagnostics_->add({.severity = Severity::Error,
                     .code = code,
                     .message = std::move(message),
                     .span = instruction_->span,
                     .function = shortened(context_.program.functions[function_].name),
                     .notes = std::move(notes),
                     .hint = {}});
}

std::string FunctionAnalysis::operation_text() const {
  return fmt::format("`{}`", print(*instruction_, context_.program));
}

std::string FunctionAnalysis::found_text(TermId term) const {
  TypeTerms::Numbering numbers;
  return type_text(terms_.describe(term, numbers));
}

// The topmost entries, the top last.
std::string FunctionAnalysis::stack_text(NodeId top, std::int64_t count) {
  constexpr std::int64_t kShown = 8;
  std::vector<TermId> types;
  for (std::int64_t i = 0; i < std::min(count, kShown); ++i, top = stacks_.below(top)) {
    types.push_back(stacks_.top(top).type);
  }
  std::string text = count > kShown ? fmt::format("({} more)", count - kShown) : "";
  TypeTerms::Numbering numbers;
  for (auto type = types.rbegin(); type != types.rend(); ++type) {
    if (!text.empty()) text += ' ';
    text += type_text(terms_.describe(*type, numbers));
  }
  return text.empty() ? "nothing" : fmt::format("`{}`", text);
}

Note FunctionAnalysis::stack_note(NodeId top) {
  const std::int64_t known = stacks_.level(top) + used_;
  return {fmt::format("the stack here, top last: {}", stack_text(top, known)), {}};
}

void FunctionAnalysis::report_shapes(const State& first, const State& second,
                                     const Conditional& conditional) {
  result_.failed = true;
  if (diagnostics_ == nullptr) return;
  const auto shape = [&](const State& state, std::string_view arm) {
    return Note{fmt::format("after {} the stack is, top last: {}", arm,
                            stack_text(state.top, stacks_.level(state.top) + used_)),
                {}};
  };
  const Instruction* const here =
      std::exchange(instruction_, &context_.program.code[conditional.at]);
  fail(ErrorCode::BranchShape, "the branches of this conditional leave different stacks",
       {shape(first, "the branch for T"),
        shape(second, conditional.in_else ? "the branch for F" : "F, where nothing is done,"),
        {"the branches meet here", here->span}});
  instruction_ = here;
}

}  // namespace vcode
