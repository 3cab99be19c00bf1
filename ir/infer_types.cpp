// Types of values that are only moved around follow from those of the values that they come from.
#include "ir/tools.hpp"

namespace ir {
namespace {

/// The values that can get to a place: none that was met so far, those of one type, or any.
struct Flow {
  enum class Of : std::uint8_t { Nothing, OneType, Anything };
  Of of = Of::Nothing;
  Type type = Type::Int;  // OneType

  static Flow from(const std::optional<Type>& type) {
    return type ? Flow{Of::OneType, *type} : Flow{Of::Anything};
  }
  /// Lets the values of another place in. Were they not in yet?
  bool take(const Flow& other) {
    if (of == Of::Anything || other.of == Of::Nothing) return false;
    if (of == Of::Nothing) {
      *this = other;
      return true;
    }
    if (other.of == Of::OneType && other.type == type) return false;
    of = Of::Anything;
    return true;
  }
  void tell(std::optional<Type>& type_of_place) const {
    if (!type_of_place && of == Of::OneType) type_of_place = type;
  }
};

/// Finds the least flows that agree with all statements: a parameter that recursion only passes on
/// has the type with which others call the function.
class Inference {
 public:
  explicit Inference(Module& module)
      : module_(module), values_(module.functions.size()), results_(module.functions.size()) {}

  void run() {
    for (function_ = 0; function_ < module_.functions.size(); ++function_) start();
    do {
      changed_ = false;
      for (function_ = 0; function_ < module_.functions.size(); ++function_) {
        block(function().body);
        give(function().body, results_[function_]);
      }
    } while (changed_);
    for (std::size_t i = 0; i < module_.functions.size(); ++i) settle(i);
  }

 private:
  Function& function() { return module_.functions[function_]; }
  Flow& flow(ValueId value) { return values_[function_][value]; }

  // What does not come from another place is of the type that it is known to be, or of any.
  void start() {
    std::vector<Flow>& flows = values_[function_];
    for (const ValueInfo& value : function().values) {
      flows.push_back(value.type ? Flow::from(value.type) : Flow{});
    }
    for (const std::optional<Type>& type : function().result_types) {
      const bool open = !type && !function().opaque;
      results_[function_].push_back(open ? Flow{} : Flow::from(type));
    }
    for_each_statement(function().body, [&](const Statement& statement) {
      if (statement.kind == Statement::Kind::If || statement.kind == Statement::Kind::Call) return;
      for (const ValueId result : statement.results) {
        flows[result] = Flow::from(function().values[result].type);
      }
    });
    if (function_ != module_.entry) return;
    for (const ValueId parameter : function().parameters) {
      flows[parameter] = Flow::from(function().values[parameter].type);
    }
  }

  // Known types stay what they are.
  void take(const std::optional<Type>& known, Flow& place, const Flow& from) {
    if (!known) changed_ |= place.take(from);
  }

  void block(Block& block) {
    for (Statement& statement : block.statements) {
      if (statement.kind == Statement::Kind::If) conditional(statement);
      if (statement.kind == Statement::Kind::Call) call(statement);
    }
  }

  void conditional(Statement& statement) {
    for (Block* arm : {statement.then_block.get(), statement.else_block.get()}) {
      block(*arm);
      if (arm->diverges) continue;
      for (std::size_t i = 0; i < statement.results.size(); ++i) {
        const ValueId result = statement.results[i];
        take(function().values[result].type, flow(result), flow(arm->results[i]));
      }
    }
  }

  void call(Statement& statement) {
    const Function& callee = module_.functions[statement.index];
    for (std::size_t i = 0; i < statement.results.size(); ++i) {
      const ValueId result = statement.results[i];
      take(function().values[result].type, flow(result), results_[statement.index][i]);
    }
    if (callee.opaque) return;
    for (std::size_t i = 0; i < statement.operands.size(); ++i) {
      const ValueId parameter = callee.parameters[i];
      take(callee.values[parameter].type, values_[statement.index][parameter],
           flow(statement.operands[i]));
    }
  }

  void give(const Block& body, std::vector<Flow>& results) {
    if (function().opaque || body.diverges) return;
    for (std::size_t i = 0; i < results.size(); ++i) {
      take(function().result_types[i], results[i], flow(body.results[i]));
    }
  }

  void settle(std::size_t index) {
    Function& function = module_.functions[index];
    for (std::size_t i = 0; i < function.values.size(); ++i) {
      values_[index][i].tell(function.values[i].type);
    }
    for (std::size_t i = 0; i < function.result_types.size(); ++i) {
      results_[index][i].tell(function.result_types[i]);
    }
  }

  Module& module_;
  std::size_t function_ = 0;
  bool changed_ = false;
  std::vector<std::vector<Flow>> values_;   // of each function
  std::vector<std::vector<Flow>> results_;  // of each function
};

}  // namespace

void infer_types(Module& module) {
  Inference(module).run();
}

}  // namespace ir
