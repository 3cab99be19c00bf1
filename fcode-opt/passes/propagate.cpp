// What is known across calls: parameters that are the same constant everywhere, results that are
// constants or a parameter handed through. Optimistic, so that it sees through recursion.
#include <algorithm>
#include <deque>
#include <utility>

#include "fcode-opt/passes/passes.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

/// A value in terms of the function that it is in.
struct Known {
  enum class Kind : std::uint8_t { Nothing, Constant, Parameter, Other };  // Nothing: not yet met
  Kind kind = Kind::Nothing;
  std::uint32_t index = 0;  // constant, or which parameter

  bool operator==(const Known&) const = default;
};

Known join(const Known& a, const Known& b) {
  if (a.kind == Known::Kind::Nothing) return b;
  if (b.kind == Known::Kind::Nothing || a == b) return a;
  return {Known::Kind::Other, 0};
}

class Propagation {
 public:
  explicit Propagation(Module& module)
      : module_(module),
        results_(module.functions.size()),
        parameters_(module.functions.size()),
        callers_(module.functions.size()),
        is_due_(module.functions.size()) {}

  bool run() {
    for (std::size_t i = 0; i < module_.functions.size(); ++i) {
      const Function& function = module_.functions[i];
      const Known start{function.opaque ? Known::Kind::Other : Known::Kind::Nothing, 0};
      results_[i].assign(function.result_types.size(), start);
      parameters_[i].assign(function.parameters.size(), start);
      for_each_statement(function.body, [&](const Statement& statement) {
        if (statement.kind == Statement::Kind::Call) callers_[statement.index].push_back(i);
      });
      look_at(i);
    }
    while (!due_.empty()) {
      function_ = due_.front();
      due_.pop_front();
      is_due_[function_] = false;
      visit();
    }
    for (function_ = 0; function_ < module_.functions.size(); ++function_) {
      if (!module_.functions[function_].opaque) apply();
    }
    return changed_;
  }

 private:
  Function& function() { return module_.functions[function_]; }

  // Once more: something that it is given, or that its callees give, has changed.
  void look_at(std::size_t function) {
    if (is_due_[function]) return;
    is_due_[function] = true;
    due_.push_back(function);
  }

  void visit() {
    known_.assign(function().values.size(), {});
    for (std::uint32_t k = 0; k < function().parameters.size(); ++k) {
      known_[function().parameters[k]] = {Known::Kind::Parameter, k};
    }
    block(function().body);
    bool changed = false;
    for (std::size_t k = 0; k < function().body.results.size(); ++k) {
      changed |= weaken(results_[function_][k], known_[function().body.results[k]]);
    }
    if (!changed) return;
    for (const std::size_t caller : callers_[function_]) look_at(caller);
  }

  // Has that changed what is known?
  static bool weaken(Known& known, const Known& now) {
    const Known joined = join(known, now);
    return joined != std::exchange(known, joined);
  }

  void block(const Block& block) {
    for (const Statement& statement : block.statements) {
      switch (statement.kind) {
        case Statement::Kind::Const:
          known_[statement.results[0]] = {Known::Kind::Constant, statement.index};
          break;
        case Statement::Kind::If:
          conditional(statement);
          break;
        case Statement::Kind::Call:
          call(statement);
          break;
        default:
          for (const ValueId result : statement.results) known_[result] = {Known::Kind::Other, 0};
      }
    }
  }

  void conditional(const Statement& statement) {
    this->block(*statement.then_block);
    this->block(*statement.else_block);
    for (std::size_t i = 0; i < statement.results.size(); ++i) {
      Known joined;
      for (const Block* arm : {statement.then_block.get(), statement.else_block.get()}) {
        if (!arm->diverges) joined = join(joined, known_[arm->results[i]]);
      }
      known_[statement.results[i]] = joined;
    }
  }

  void call(const Statement& statement) {
    bool changed = false;
    for (std::size_t k = 0; k < statement.operands.size(); ++k) {
      Known argument = known_[statement.operands[k]];
      // What a function hands on is what it was given.
      if (argument.kind == Known::Kind::Parameter)
        argument = parameters_[function_][argument.index];
      changed |= weaken(parameters_[statement.index][k], argument);
    }
    if (changed) look_at(statement.index);
    for (std::size_t k = 0; k < statement.results.size(); ++k) {
      Known result = results_[statement.index][k];
      if (result.kind == Known::Kind::Parameter) result = known_[statement.operands[result.index]];
      known_[statement.results[k]] = result;
    }
  }

  void apply() {
    uses_ = count_uses(function());
    Renaming names(function().values.size());
    std::vector<Statement> constants;
    for (std::size_t k = 0; k < function().parameters.size(); ++k) {
      const Known& known = parameters_[function_][k];
      const ValueId parameter = function().parameters[k];
      if (known.kind != Known::Kind::Constant || !is_used(parameter)) continue;
      constants.push_back(
          make_const(module_, function(), known.index, function().values[parameter].origin));
      names.set(parameter, constants.back().results[0]);
      changed_ = true;
    }
    calls(function().body, names);
    names.apply(function().body);
    auto& statements = function().body.statements;
    statements.insert(statements.begin(), std::make_move_iterator(constants.begin()),
                      std::make_move_iterator(constants.end()));
  }

  bool is_used(ValueId value) const { return value < uses_.size() && uses_[value] > 0; }

  // Results of calls that are known here get that name.
  void calls(Block& block, Renaming& names) {
    std::vector<Statement> written;
    written.reserve(block.statements.size());
    for (Statement& statement : block.statements) {
      if (statement.kind == Statement::Kind::If) {
        calls(*statement.then_block, names);
        calls(*statement.else_block, names);
      }
      const bool is_call = statement.kind == Statement::Kind::Call;
      written.push_back(std::move(statement));
      if (!is_call) continue;
      const Statement& call = written.back();
      const std::uint32_t callee = call.index;
      const ValueList operands = call.operands, results = call.results;
      const Origin origin = call.origin;
      for (std::size_t k = 0; k < results.size(); ++k) {
        const Known& known = results_[callee][k];
        if (!is_used(results[k])) continue;
        if (known.kind == Known::Kind::Parameter) {
          names.set(results[k], operands[known.index]);
          changed_ = true;
        } else if (known.kind == Known::Kind::Constant) {
          written.push_back(make_const(module_, function(), known.index, origin));
          names.set(results[k], written.back().results[0]);
          changed_ = true;
        }
      }
    }
    block.statements = std::move(written);
  }

  Module& module_;
  std::vector<std::vector<Known>> results_;        // in terms of the function's parameters
  std::vector<std::vector<Known>> parameters_;     // only constants are of interest
  std::vector<std::vector<std::size_t>> callers_;  // of each function
  std::deque<std::size_t> due_;                    // functions that are still to be looked at
  std::vector<bool> is_due_;
  std::size_t function_ = 0;
  std::vector<Known> known_;  // of the values of the function at hand
  std::vector<std::uint32_t> uses_;
  bool changed_ = false;
};

}  // namespace

bool propagate_calls(Module& module) {
  return Propagation(module).run();
}

}  // namespace fcode
