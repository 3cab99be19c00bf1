#include "ir/verifier.hpp"

#include <utility>
#include <vector>

#include <fmt/core.h>

#include "vcode/kernel_verifier.hpp"

namespace ir {
namespace {

struct Fault {
  std::string text;
};

class FunctionCheck {
 public:
  FunctionCheck(const Module& module, const Function& function)
      : module_(module), function_(function), state_(function.values.size(), State::Unassigned) {}

  void run() {
    for (const ValueId parameter : function_.parameters) assign(parameter);
    block(function_.body);
    if (!function_.body.diverges) {
      need(function_.body.results.size() == function_.result_types.size(),
           "as many results as result types");
    }
  }

 private:
  enum class State : std::uint8_t { Unassigned, Seen, Hidden };

  void need(bool holds, std::string_view what) const {
    if (!holds) throw Fault{fmt::format("`{}`: needs {}", function_.name, what)};
  }

  void assign(ValueId value) {
    need(value < state_.size(), "values that exist");
    need(state_[value] == State::Unassigned, fmt::format("${} assigned once", value));
    state_[value] = State::Seen;
    assigned_.push_back(value);
  }

  void use(ValueId value) const {
    need(value < state_.size(), "values that exist");
    need(state_[value] == State::Seen, fmt::format("${} where it is seen", value));
  }

  void block(const Block& block) {
    const std::size_t mark = assigned_.size();
    bool ended = false;
    for (const Statement& at : block.statements) {
      need(!ended, "nothing behind a statement that ends the run");
      ended = statement(at);
    }
    need(ended == block.diverges, "blocks marked as diverging if they are");
    need(!ended || block.results.empty(), "no results of a diverging block");
    for (const ValueId result : block.results) use(result);
    for (std::size_t i = mark; i < assigned_.size(); ++i) state_[assigned_[i]] = State::Hidden;
    assigned_.resize(mark);
  }

  // Returns whether the run never gets behind it.
  bool statement(const Statement& statement) {
    for (const ValueId operand : statement.operands) use(operand);
    need((statement.kind == Statement::Kind::If) == (statement.then_block != nullptr) &&
             (statement.then_block != nullptr) == (statement.else_block != nullptr),
         "two arms of conditionals, and only of them");
    bool ends = false;
    switch (statement.kind) {
      case Statement::Kind::Op:
        operation(statement);
        break;
      case Statement::Kind::Const:
      case Statement::Kind::Given:
        need(statement.index < module_.constants.size(), "constants that exist");
        sizes(statement, 0, 1);
        break;
      case Statement::Kind::Call:
        ends = call(statement);
        break;
      case Statement::Kind::If:
        ends = conditional(statement);
        break;
      case Statement::Kind::Exit:
        sizes(statement, 0, 0);
        ends = true;
        break;
      case Statement::Kind::Run:
        need(statement.index < module_.kernels.size(), "kernels that exist");
        run(statement, module_.kernels[statement.index]);
        break;
    }
    for (const ValueId result : statement.results) assign(result);
    return ends;
  }

  void sizes(const Statement& statement, std::size_t operands, std::size_t results) const {
    need(statement.operands.size() == operands && statement.results.size() == results,
         "the right number of operands and results");
  }

  void run(const Statement& statement, const vcode::Kernel& kernel) const {
    sizes(statement, kernel.inputs.size(), kernel.outputs.size());
    for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
      const auto& found = function_.values[statement.operands[i]].type;
      need(!found || *found == vcode::parameter_type(kernel, kernel.inputs[i]),
           "operands of the types that the kernel takes");
    }
  }

  void operation(const Statement& statement) const {
    const vcode::OpInfo& info = vcode::info(statement.op);
    sizes(statement, info.operands.size(), info.results.size());
    for (std::size_t i = 0; i < info.operands.size(); ++i) {
      const auto wanted = vcode::operand_type(info.operands[i], statement.written);
      const auto& found = function_.values[statement.operands[i]].type;
      need(!wanted || !found || *wanted == *found,
           fmt::format("operand {} of {} of the right type", i, info.text));
    }
  }

  bool call(const Statement& statement) const {
    need(statement.index < module_.functions.size(), "functions that exist");
    const Function& callee = module_.functions[statement.index];
    sizes(statement, callee.parameters.size(),
          callee.body.diverges ? 0 : callee.result_types.size());
    return callee.body.diverges;
  }

  bool conditional(const Statement& statement) {
    need(statement.operands.size() == 1, "one condition");
    for (const Block* arm : {statement.then_block.get(), statement.else_block.get()}) {
      block(*arm);
      need(arm->diverges || arm->results.size() == statement.results.size(),
           "arms that give all results of their conditional");
    }
    const bool ends = statement.then_block->diverges && statement.else_block->diverges;
    need(!ends || statement.results.empty(), "no results of a conditional that ends the run");
    return ends;
  }

  const Module& module_;
  const Function& function_;
  std::vector<State> state_;
  std::vector<ValueId> assigned_;
};

}  // namespace

std::string find_fault(const Module& module) {
  try {
    if (module.entry >= module.functions.size()) return "there is no entry";
    const Function& entry = module.functions[module.entry];
    if (!entry.opaque && !entry.parameters.empty()) return "the entry takes parameters";
    for (const Function& function : module.functions) {
      if (!function.opaque) FunctionCheck(module, function).run();
    }
    for (const vcode::Kernel& kernel : module.kernels) {
      vcode::Diagnostics faults;
      if (vcode::verify_kernel(kernel, faults)) continue;
      return fmt::format("kernel {}: {}", kernel.name, faults.all().front().message);
    }
  } catch (const Fault& fault) {
    return fault.text;
  }
  return {};
}

}  // namespace ir
