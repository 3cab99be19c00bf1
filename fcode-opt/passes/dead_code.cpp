// Dead code across functions: values are marked from what can be observed backwards, through calls
// and conditionals; what stays unmarked goes, parameters and results included. Marking is
// optimistic, so that values which only feed each other around a recursion are dead.
#include <algorithm>
#include <utility>

#include "fcode-opt/passes/passes.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

using Flags = std::vector<bool>;

struct Place {
  std::uint32_t function;
  ValueId value;
};

class Liveness {
 public:
  explicit Liveness(Module& module) : module_(module), effects_(functions_with_effects(module)) {}

  void run() {
    prepare();
    while (!due_.empty() || !due_statements_.empty()) {
      if (!due_statements_.empty()) {
        const auto [function, statement] = due_statements_.back();
        due_statements_.pop_back();
        need(function, *statement);
        continue;
      }
      const Place place = due_.back();
      due_.pop_back();
      follow(place);
    }
  }

  bool live(std::uint32_t function, ValueId value) const { return live_[function][value]; }
  /// Of functions whose results are all handed to somebody that needs them whole.
  bool result_live(std::uint32_t function, std::size_t result) const {
    return live_results_[function][result];
  }
  bool needed(const Statement& statement, std::uint32_t function) const {
    if (has_effects(statement, effects_)) return true;
    return std::any_of(statement.results.begin(), statement.results.end(),
                       [&](ValueId result) { return live(function, result); });
  }

 private:
  struct Source {
    const Statement* statement = nullptr;  // null: a parameter
    std::uint32_t index = 0;               // which result or parameter
  };
  struct Call {
    std::uint32_t function;
    const Statement* statement;
  };

  void prepare() {
    const std::size_t count = module_.functions.size();
    live_.resize(count);
    live_results_.resize(count);
    sources_.resize(count);
    calls_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      Function& function = module_.functions[i];
      live_[i].resize(function.values.size());
      live_results_[i].resize(function.result_types.size());
      sources_[i].resize(function.values.size());
      for (std::uint32_t k = 0; k < function.parameters.size(); ++k) {
        sources_[i][function.parameters[k]] = {nullptr, k};
      }
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      for_each_statement(module_.functions[i].body, [&](const Statement& statement) {
        for (std::uint32_t k = 0; k < statement.results.size(); ++k) {
          sources_[i][statement.results[k]] = {&statement, k};
        }
        if (statement.kind == Statement::Kind::Call) {
          calls_[statement.index].push_back({i, &statement});
        }
      });
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const Function& function = module_.functions[i];
      if (function.opaque) {
        for (const ValueId parameter : function.parameters) mark(i, parameter);
      }
      if (function.opaque || i == module_.entry) {
        for (std::uint32_t k = 0; k < function.result_types.size(); ++k) mark_result(i, k);
      }
      for_each_statement(function.body, [&](const Statement& statement) {
        if (has_effects(statement, effects_)) need(i, statement);
      });
    }
  }

  void mark(std::uint32_t function, ValueId value) {
    if (live_[function][value]) return;
    live_[function][value] = true;
    due_.push_back({function, value});
  }

  void mark_result(std::uint32_t function, std::uint32_t result) {
    if (live_results_[function][result]) return;
    live_results_[function][result] = true;
    if (!module_.functions[function].opaque) {
      mark(function, module_.functions[function].body.results[result]);
    }
  }

  // The statement stays: what it takes whatever becomes of its results.
  void need(std::uint32_t function, const Statement& statement) {
    if (statement.kind == Statement::Kind::Call) {
      const Function& callee = module_.functions[statement.index];
      for (std::size_t k = 0; k < statement.operands.size(); ++k) {
        if (live_[statement.index][callee.parameters[k]]) mark(function, statement.operands[k]);
      }
      return;
    }
    for (const ValueId operand : statement.operands) mark(function, operand);
  }

  void follow(const Place& place) {
    const Source source = sources_[place.function][place.value];
    if (!source.statement) {
      for (const Call& call : calls_[place.function]) {
        if (needed(*call.statement, call.function)) {
          mark(call.function, call.statement->operands[source.index]);
        }
      }
      return;
    }
    const Statement& statement = *source.statement;
    due_statements_.push_back({place.function, &statement});
    if (statement.kind == Statement::Kind::Call) mark_result(statement.index, source.index);
    if (statement.kind == Statement::Kind::If) {
      for (const Block* arm : {statement.then_block.get(), statement.else_block.get()}) {
        if (!arm->diverges) mark(place.function, arm->results[source.index]);
      }
    }
  }

  Module& module_;
  std::vector<bool> effects_;
  std::vector<Flags> live_, live_results_;
  std::vector<std::vector<Source>> sources_;
  std::vector<std::vector<Call>> calls_;  // of each function
  std::vector<Place> due_;
  std::vector<std::pair<std::uint32_t, const Statement*>> due_statements_;
};

class Sweep {
 public:
  Sweep(Module& module, const Liveness& liveness) : module_(module), liveness_(liveness) {}

  bool run() {
    for (function_ = 0; function_ < module_.functions.size(); ++function_) {
      if (!module_.functions[function_].opaque) block(module_.functions[function_].body);
    }
    for (function_ = 0; function_ < module_.functions.size(); ++function_) signature();
    if (!changed_) return false;
    for (Function& function : module_.functions) {
      if (!function.opaque) number_values(function);
    }
    return true;
  }

 private:
  template <typename List, typename Keep>
  void filter(List& list, Keep keep) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!keep(i)) continue;
      if (kept != i) list[kept] = std::move(list[i]);
      ++kept;
    }
    changed_ |= kept != list.size();
    list.resize(kept);
  }

  void block(Block& block) {
    filter(block.statements,
           [&](std::size_t i) { return liveness_.needed(block.statements[i], function_); });
    for (Statement& statement : block.statements) {
      if (statement.kind == Statement::Kind::If) conditional(statement);
      if (statement.kind == Statement::Kind::Call) call(statement);
    }
  }

  void conditional(Statement& statement) {
    const ValueList results = statement.results;
    const auto keep = [&](std::size_t i) { return liveness_.live(function_, results[i]); };
    for (Block* arm : {statement.then_block.get(), statement.else_block.get()}) {
      block(*arm);
      filter(arm->results, keep);
    }
    filter(statement.results, keep);
  }

  void call(Statement& statement) {
    const Function& callee = module_.functions[statement.index];
    filter(statement.operands,
           [&](std::size_t i) { return liveness_.live(statement.index, callee.parameters[i]); });
    filter(statement.results,
           [&](std::size_t i) { return liveness_.result_live(statement.index, i); });
  }

  void signature() {
    Function& function = module_.functions[function_];
    if (function.opaque) return;
    const ValueList parameters = function.parameters;
    filter(function.parameters,
           [&](std::size_t i) { return liveness_.live(function_, parameters[i]); });
    const auto keep = [&](std::size_t i) { return liveness_.result_live(function_, i); };
    filter(function.body.results, keep);
    filter(function.result_types, keep);
  }

  Module& module_;
  const Liveness& liveness_;
  std::uint32_t function_ = 0;
  bool changed_ = false;
};

}  // namespace

bool remove_dead(Module& module) {
  Liveness liveness(module);
  liveness.run();
  return Sweep(module, liveness).run();
}

}  // namespace fcode
