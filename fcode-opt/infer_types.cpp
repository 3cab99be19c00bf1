// Types of values that are only moved around follow from those of the values that they come from.
#include "fcode-opt/ir_tools.hpp"

namespace fcode {
namespace {

class Inference {
 public:
  explicit Inference(Module& module) : module_(module) {}

  void run() {
    // Each round settles at least one type of a parameter or a result, or is the last one.
    do {
      changed_ = false;
      arguments_.assign(module_.functions.size(), {});
      for (function_ = 0; function_ < module_.functions.size(); ++function_) {
        block(module_.functions[function_].body);
        results();
      }
      parameters();
    } while (changed_);
  }

 private:
  struct Argument {
    std::optional<Type> type;
    bool seen = false, mixed = false;
  };

  Function& function() { return module_.functions[function_]; }
  std::optional<Type>& type(ValueId value) { return function().values[value].type; }

  void learn(std::optional<Type>& known, const std::optional<Type>& now) {
    if (known || !now) return;
    known = now;
    changed_ = true;
  }

  void block(Block& block) {
    for (Statement& statement : block.statements) {
      if (statement.kind == Statement::Kind::If) conditional(statement);
      if (statement.kind == Statement::Kind::Call) call(statement);
    }
  }

  void conditional(Statement& statement) {
    block(*statement.then_block);
    block(*statement.else_block);
    for (std::size_t i = 0; i < statement.results.size(); ++i) {
      const auto arm = [&](const Block& from) {
        return from.diverges ? std::nullopt : type(from.results[i]);
      };
      const std::optional<Type> first = arm(*statement.then_block);
      const std::optional<Type> second = arm(*statement.else_block);
      if (statement.then_block->diverges) {
        learn(type(statement.results[i]), second);
      } else if (statement.else_block->diverges || first == second) {
        learn(type(statement.results[i]), first);
      }
    }
  }

  void call(Statement& statement) {
    const Function& callee = module_.functions[statement.index];
    for (std::size_t i = 0; i < statement.results.size(); ++i) {
      learn(type(statement.results[i]), callee.result_types[i]);
    }
    std::vector<Argument>& arguments = arguments_[statement.index];
    arguments.resize(statement.operands.size());
    for (std::size_t i = 0; i < statement.operands.size(); ++i) {
      const std::optional<Type> found = type(statement.operands[i]);
      if (arguments[i].seen && arguments[i].type != found) arguments[i].mixed = true;
      arguments[i].seen = true;
      arguments[i].type = found;
    }
  }

  void results() {
    if (function().opaque || function().body.diverges) return;
    for (std::size_t i = 0; i < function().result_types.size(); ++i) {
      learn(function().result_types[i], type(function().body.results[i]));
    }
  }

  void parameters() {
    for (std::size_t i = 0; i < module_.functions.size(); ++i) {
      Function& callee = module_.functions[i];
      if (callee.opaque) continue;
      for (std::size_t k = 0; k < arguments_[i].size(); ++k) {
        const Argument& argument = arguments_[i][k];
        if (!argument.mixed) learn(callee.values[callee.parameters[k]].type, argument.type);
      }
    }
  }

  Module& module_;
  std::size_t function_ = 0;
  bool changed_ = false;
  std::vector<std::vector<Argument>> arguments_;  // of each function, over all its calls
};

}  // namespace

void infer_types(Module& module) {
  Inference(module).run();
}

}  // namespace fcode
