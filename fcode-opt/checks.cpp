#include "fcode-opt/checks.hpp"

#include <utility>

#include "ir/tools.hpp"

namespace fcode {

using vcode::Binding;
using vcode::ThunkNode;

std::uint32_t assertion_kernel(Module& module, const std::string& message) {
  for (std::uint32_t i = 0; i < module.kernels.size(); ++i) {
    const vcode::Kernel& kernel = module.kernels[i];
    if (kernel.outputs.empty() && kernel.bindings.size() == 1 &&
        kernel.bindings[0].kind == Binding::Kind::Assert && kernel.bindings[0].message == message) {
      return i;
    }
  }
  vcode::Kernel kernel;
  kernel.name = "check" + std::to_string(module.kernels.size());
  kernel.sizes.push_back({"n", std::nullopt});
  kernel.arrays.push_back({"ok", Type::Bool, 0});
  kernel.inputs.push_back({false, 0});
  Binding binding;
  binding.kind = Binding::Kind::Assert;
  binding.message = message;
  binding.exits = true;
  ThunkNode index, element;
  index.kind = ThunkNode::Kind::Index;
  element.kind = ThunkNode::Kind::Subscript;
  element.type = Type::Bool;
  binding.elements.nodes = {index, element};
  binding.elements.results = {1};
  kernel.bindings.push_back(std::move(binding));
  const std::uint32_t text = add_constant(module, text_constant(message));
  kernel.spec = {{Op::Copy, {}, 1, 0, {}},       {Op::Length, Type::Bool, 0, 0, {}},
                 {Op::MakeSegdes, {}, 0, 0, {}}, {Op::AndReduce, Type::Bool, 0, 0, {}},
                 {Op::If, {}, 0, 0, {}},         {Op::Else, {}, 0, 0, {}},
                 {Op::Const, {}, text, 0, {}},   {Op::Write, Type::Char, 0, 0, {}},
                 {Op::Exit, {}, 0, 0, {}},       {Op::EndIf, {}, 0, 0, {}}};
  kernel.has_spec = true;
  module.kernels.push_back(std::move(kernel));
  return static_cast<std::uint32_t>(module.kernels.size() - 1);
}

bool is_assertion(const Module& module, const Statement& statement) {
  if (statement.kind != Statement::Kind::Run || !statement.results.empty()) return false;
  const vcode::Kernel& kernel = module.kernels[statement.index];
  return kernel.inputs.size() == 1 && kernel.bindings.size() == 1 &&
         kernel.bindings[0].kind == Binding::Kind::Assert &&
         kernel.bindings[0].elements.nodes.size() == 2;
}

Statement check_statement(Module& module, Function& function, ValueId ok,
                          const std::string& message, const Origin& origin) {
  Statement check;
  check.kind = Statement::Kind::If;
  check.operands = {ok};
  check.origin = origin;
  check.then_block = std::make_unique<Block>();
  check.else_block = std::make_unique<Block>();
  Block& failing = *check.else_block;
  failing.statements.push_back(
      make_const(module, function, add_constant(module, text_constant(message)), origin));
  const ValueId value = failing.statements.back().results[0];
  failing.statements.push_back(make_op(function, Op::Write, Type::Char, {value}, origin));
  Statement exit;
  exit.kind = Statement::Kind::Exit;
  exit.origin = origin;
  failing.statements.push_back(std::move(exit));
  failing.diverges = true;
  return check;
}

}  // namespace fcode
