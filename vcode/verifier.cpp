#include "vcode/verifier.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "vcode/call_graph.hpp"
#include "vcode/function_analysis.hpp"
#include "vcode/spec_check.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {
namespace {

// Stack entries that may be looked at: generous for any sensible program, and a bound for those
// that shuffle a huge stack again and again.
constexpr std::int64_t kBaseBudget = std::int64_t{1} << 22;
constexpr std::int64_t kBudgetPerInstruction = 64;
constexpr std::int64_t kLargestBudget = std::int64_t{1} << 28;  // a few GB of memory

// Walks through a function of a recursive group before its effect counts as not inferable. Two
// are enough where each function has a way that ends without recursion.
constexpr int kMostWalks = 8;

std::int64_t budget_for(const LinkedProgram& program) {
  const auto size = static_cast<std::int64_t>(program.code.size());
  return std::min(kBaseBudget + kBudgetPerInstruction * size, kLargestBudget);
}

class Verifier {
 public:
  Verifier(const LinkedProgram& program, Diagnostics& diagnostics)
      : program_(program),
        diagnostics_(diagnostics),
        graph_(program),
        context_{program, std::vector<FunctionEffect>(program.functions.size()), graph_.group_of,
                 budget_for(program)},
        analysis_(context_) {}

  Verification run(const VerifyOptions& options);

 private:
  void infer_group(const std::vector<std::uint32_t>& group);
  void report();
  void walk(std::uint32_t function);
  void report_specs();
  void warn(std::uint32_t function);

  const LinkedProgram& program_;
  Diagnostics& diagnostics_;
  CallGraph graph_;
  AnalysisContext context_;
  FunctionAnalysis analysis_;
  std::vector<std::uint32_t> position_;  // of each function in its group
  std::vector<std::vector<std::uint32_t>>
      callees_;               // of each function, in ways that can be reached
  std::vector<bool> failed_;  // functions with something to report
  Verification result_;
};

Verification Verifier::run(const VerifyOptions& options) {
  result_.guarded.assign(program_.functions.size(), false);
  result_.reachable.assign(program_.functions.size(), false);
  position_.resize(program_.functions.size());
  callees_.resize(program_.functions.size());
  failed_.resize(program_.functions.size());
  for (const auto& group : graph_.groups) infer_group(group);
  const std::size_t errors_before = diagnostics_.error_count();
  report();
  if (options.warn_guarded && diagnostics_.error_count() == errors_before) {
    for (std::uint32_t i = 0; i < program_.functions.size(); ++i) {
      if (result_.guarded[i] && result_.reachable[i]) warn(i);
    }
  }
  result_.effects = std::move(context_.effects);
  result_.work = budget_for(program_) - context_.budget;
  return std::move(result_);
}

// Least fixed point: recursive calls are first taken not to return at all, so that the ways which
// end without them give a first effect; the functions are walked again until nothing changes.
void Verifier::infer_group(const std::vector<std::uint32_t>& group) {
  for (std::uint32_t function : group) context_.effects[function].never_returns = true;
  for (std::uint32_t i = 0; i < group.size(); ++i) position_[group[i]] = i;
  std::vector<std::vector<std::uint32_t>> callers(group.size());
  std::set<std::uint32_t> due;  // positions in the group, callees mostly first
  std::vector<int> walks(group.size());
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    due.insert(due.end(), i);
    for (std::uint32_t callee : graph_.callees[group[i]]) {
      if (graph_.group_of[callee] == graph_.group_of[group[i]]) {
        callers[position_[callee]].push_back(i);
      }
    }
  }
  while (!due.empty()) {
    const std::uint32_t at = *due.begin();
    due.erase(due.begin());
    const std::uint32_t function = group[at];
    auto found = analysis_.run(function, nullptr, false);
    if (++walks[at] > kMostWalks) {
      found.effect = {};
      found.effect.complete = false;
    }
    result_.guarded[function] = found.guarded || !found.effect.complete;
    callees_[function] = std::move(found.callees);
    failed_[function] = found.failed;
    if (found.effect == context_.effects[function]) continue;
    context_.effects[function] = std::move(found.effect);
    due.insert(callers[at].begin(), callers[at].end());
  }
}

// Visits what a run can reach, from the entry on, and reports.
void Verifier::report() {
  walk(program_.entry);
  report_specs();
}

void Verifier::walk(std::uint32_t root) {
  std::vector<std::uint32_t> due{root};
  result_.reachable[root] = true;
  while (!due.empty()) {
    const std::uint32_t function = due.back();
    due.pop_back();
    // The last walk through a function knew the final effects of its callees: another one is for
    // what it did not report, and for the entry, below which the stack is empty.
    if (const bool entry = function == program_.entry; entry || failed_[function]) {
      auto found = analysis_.run(function, &diagnostics_, entry);
      if (found.guarded) result_.guarded[function] = true;
      callees_[function] = std::move(found.callees);
    }
    for (std::uint32_t callee : callees_[function]) {
      if (result_.reachable[callee]) continue;
      result_.reachable[callee] = true;
      due.push_back(callee);
    }
  }
}

// SPECs are checked whether their kernels are run or not.
void Verifier::report_specs() {
  for (const LinkedKernel& kernel : program_.kernels) {
    if (!kernel.spec) continue;
    const std::size_t errors_before = diagnostics_.error_count();
    walk(*kernel.spec);
    if (diagnostics_.error_count() != errors_before) continue;
    check_spec(kernel, context_.effects[*kernel.spec], diagnostics_);
  }
}

void Verifier::warn(std::uint32_t function) {
  const LinkedFunction& place = program_.functions[function];
  diagnostics_.add({.severity = Severity::Warning,
                    .code = ErrorCode::BranchShapeWarning,
                    .message = fmt::format("the effect of `{}` on the stack cannot be inferred, it "
                                           "is checked while running",
                                           shortened(place.name)),
                    .span = place.name_span,
                    .function = {},
                    .notes = {},
                    .hint = {}});
}

}  // namespace

Verification verify(const LinkedProgram& program, Diagnostics& diagnostics,
                    const VerifyOptions& options) {
  return Verifier(program, diagnostics).run(options);
}

std::string print(const Verification& verification, const LinkedProgram& program) {
  std::string text;
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    if (program.functions[i].is_spec) continue;  // its effect is that of the kernel
    text += effect_text(program.functions[i].name, verification.effects[i]);
    if (verification.guarded[i]) text += "  checked while running";
    text += '\n';
  }
  for (const LinkedKernel& kernel : program.kernels) text += kernel_effect_text(kernel) + '\n';
  return text;
}

}  // namespace vcode
