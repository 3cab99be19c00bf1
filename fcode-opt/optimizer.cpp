#include "fcode-opt/optimizer.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "fcode-opt/pass_table.hpp"
#include "fcode-opt/stopping.hpp"
#include "ir/lift.hpp"
#include "ir/lower.hpp"
#include "ir/text.hpp"
#include "ir/tools.hpp"
#include "ir/verifier.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/link.hpp"

namespace fcode {
namespace {

// Each round that changes something is followed by another one; two or three are common.
constexpr int kMostRounds = 20;

#ifdef NDEBUG
constexpr bool kAlwaysCheck = false;
#else
constexpr bool kAlwaysCheck = true;
#endif

class Optimizer {
 public:
  Optimizer(Module& module, const OptimizerOptions& options, OptimizerReport& report)
      : module_(module),
        options_(options),
        report_(report),
        state_{report, {}},
        settled_(pass_table().size()) {}

  void run() {
    check("the start");
    const auto passes = pass_table();
    auto next = passes.begin();
    for (; !next->simplifies; ++next) run(*next);
    simplify(1);
    for (; next != passes.end(); ++next) {
      if (!next->simplifies && run(*next)) simplify(1);
    }
    simplify(kMostRounds);
    infer_types(module_);
  }

 private:
  // What a round leaves, the rounds behind other passes find.
  void simplify(int most_rounds) {
    bool changed = true;
    for (int round = 0; changed && round < most_rounds; ++round) {
      changed = false;
      for (const Pass& pass : pass_table()) {
        if (pass.simplifies) changed |= run(pass);
      }
    }
  }

  bool run(const Pass& pass) {
    const auto& disabled = options_.disabled;
    if (pass.level > options_.level) return false;
    end_if_asked();
    if (std::find(disabled.begin(), disabled.end(), pass.name) != disabled.end()) return false;
    std::optional<std::size_t>& settled =
        settled_[static_cast<std::size_t>(&pass - pass_table().data())];
    if (settled == changes_) return false;
    const bool changed = pass.run(module_, state_);
    changes_ += changed;
    if (!changed) settled = changes_;
    if (changed) operations_ = vector_operations(module_);
    check(pass.name);
    report_.runs.push_back({pass.name, operations_, changed});
    if (options_.dump == pass.name) report_.dump = print(module_);
    return changed;
  }

  void check(std::string_view behind) {
    if (!kAlwaysCheck && !options_.check) return;
    const std::string fault = find_fault(module_);
    if (!fault.empty()) throw std::logic_error(fmt::format("behind {}: {}", behind, fault));
  }

  Module& module_;
  const OptimizerOptions& options_;
  OptimizerReport& report_;
  PassState state_;
  std::size_t operations_ = vector_operations(module_);
  std::size_t changes_ = 0;                          // runs of passes that changed something
  std::vector<std::optional<std::size_t>> settled_;  // by pass: how many were behind it when it
                                                     // found nothing to change
};

}  // namespace

ProgramSize measure(const vcode::Program& program) {
  ProgramSize size;
  size.functions = program.functions.size();
  for (const vcode::Function& function : program.functions) {
    for (const vcode::Instruction& instruction : function.code) {
      const Op op = instruction.op;
      if (op == Op::Else || op == Op::EndIf || op == Op::Return) continue;
      const vcode::OpInfo& info = vcode::info(op);
      ++size.instructions;
      if (info.family == vcode::Family::Stack) ++size.stack;
      if (info.is_vector_op()) ++size.vector_operations;
      if (op == Op::Call) ++size.calls;
      if (op == Op::If) ++size.conditionals;
      if (op == Op::Const) ++size.constants;
      if (op == Op::Run) ++size.kernels;
    }
  }
  return size;
}

void optimize(Module& module, const OptimizerOptions& options, OptimizerReport* report) {
  OptimizerReport ignored;
  OptimizerReport& found = report ? *report : ignored;
  for (const Function& function : module.functions) {
    if (nesting(function.body) <= kDeepestNesting) continue;
    found.remarks.push_back(
        {fmt::format("`{}` has conditionals nested more than {} deep: all is left as it is",
                     function.name, kDeepestNesting),
         function.origin});
    return;
  }
  const Stopping stopping(options.stop);
  Optimizer(module, options, found).run();
  if (options.memory) found.memory = memory_report(module);
  if (report == nullptr) return;
  found.remarks.insert(found.remarks.end(), module.remarks.begin(), module.remarks.end());
  found.scopes = module.scopes;
}

vcode::Program optimize(const vcode::Program& program, const OptimizerOptions& options,
                        OptimizerReport* report) {
  OptimizerReport ignored;
  OptimizerReport& found = report ? *report : ignored;
  found.before = found.after = measure(program);
  if (options.level <= kLeastLevel) return program;
  if (!program.kernels.empty()) {
    found.remarks.push_back({"the program has kernels already and is left as it is", {}});
    return program;
  }
  vcode::Diagnostics diagnostics;
  const auto linked = vcode::link(program, diagnostics);
  if (!linked) throw std::invalid_argument("the program does not link");
  Module module = lift(*linked);
  optimize(module, options, report);
  vcode::Program result = lower(module).program;
  found.after = measure(result);
  return result;
}

}  // namespace fcode
