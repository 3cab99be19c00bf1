#include <algorithm>
#include <utility>

#include "fcode-opt/passes/passes.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

// Conditionals inside each other after inlining: every walk over the form costs native stack.
constexpr std::size_t kDeepestInlined = 400;

class Inliner {
 public:
  Inliner(Module& module, const InlineLimits& limits) : module_(module), limits_(limits) {}

  bool run() {
    const auto groups = call_groups(module_);
    recursive_ = recursive_functions(module_, groups);
    count_calls();
    for (const auto& group : groups) {
      for (const std::uint32_t function : group) {
        into_ = function;
        if (!module_.functions[function].opaque) expand();
        sizes_[function] = vector_operations(module_.functions[function].body);
        depths_[function] = nesting(module_.functions[function].body);
      }
    }
    return changed_;
  }

 private:
  void count_calls() {
    const std::size_t count = module_.functions.size();
    calls_.resize(count);
    sizes_.resize(count);
    depths_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      total_ += vector_operations(module_.functions[i].body);
      for_each_statement(module_.functions[i].body, [&](const Statement& statement) {
        if (statement.kind == Statement::Kind::Call) ++calls_[statement.index];
      });
    }
    // The entry is called from outside, too.
    ++calls_[module_.entry];
  }

  void expand() {
    Function& function = module_.functions[into_];
    Renaming names(function.values.size());
    names_ = &names;
    block(function.body, 0);
    names.apply(function.body);
    if (function.body.diverges) function.result_types.clear();
  }

  void block(Block& block, std::size_t depth) {
    std::vector<Statement> written;
    written.reserve(block.statements.size());
    for (Statement& statement : block.statements) {
      if (statement.kind == Statement::Kind::If) {
        this->block(*statement.then_block, depth + 1);
        this->block(*statement.else_block, depth + 1);
      }
      if (statement.kind == Statement::Kind::Call && wanted(statement.index, depth)) {
        splice(statement, written);
      } else {
        written.push_back(std::move(statement));
      }
    }
    block.statements = std::move(written);
  }

  bool wanted(std::uint32_t callee, std::size_t depth) const {
    const Function& function = module_.functions[callee];
    if (recursive_[callee] || function.opaque || function.fallback) return false;
    if (depth + depths_[callee] > kDeepestInlined) return false;
    return calls_[callee] == 1 || sizes_[callee] <= limits_.small ||
           total_ + sizes_[callee] <= limits_.largest;
  }

  void splice(const Statement& call, std::vector<Statement>& written) {
    const Function& callee = module_.functions[call.index];
    Function& function = module_.functions[into_];
    std::vector<ValueId> names(callee.values.size(), kNoValue);
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      names[callee.parameters[i]] = call.operands[i];
    }
    Block copy = clone_block(callee.body, callee, function, names);
    for (Statement& statement : copy.statements) written.push_back(std::move(statement));
    for (std::size_t i = 0; i < call.results.size(); ++i) {
      names_->set(call.results[i], copy.results[i]);
    }
    if (calls_[call.index] > 1) total_ += sizes_[call.index];
    --calls_[call.index];
    // Calls in a body that is still needed have been copied.
    if (calls_[call.index] > 0) {
      for_each_statement(callee.body, [&](const Statement& statement) {
        if (statement.kind == Statement::Kind::Call) ++calls_[statement.index];
      });
    }
    changed_ = true;
  }

  Module& module_;
  const InlineLimits& limits_;
  std::vector<bool> recursive_;
  std::vector<std::size_t> calls_, sizes_, depths_;  // of each function
  std::size_t total_ = 0;                            // vector operations of the program
  std::uint32_t into_ = 0;
  Renaming* names_ = nullptr;
  bool changed_ = false;
};

}  // namespace

bool inline_calls(Module& module, const InlineLimits& limits) {
  return Inliner(module, limits).run();
}

}  // namespace fcode
