#include "vcode/printer.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include "ir/text.hpp"
#include "ir/text_kernels.hpp"

namespace ir {
namespace {

class Printer {
 public:
  explicit Printer(const Module& module) : module_(module) {}

  std::string run() {
    line(0, fmt::format("ENTRY {}", module_.functions[module_.entry].name));
    for (const Function& function : module_.functions) {
      text_ += '\n';
      function_ = &function;
      if (function.opaque) {
        opaque();
      } else {
        transparent();
      }
    }
    text_ += print_kernels(module_);
    return std::move(text_);
  }

 private:
  void line(std::size_t indent, std::string_view text) {
    text_.append(2 * indent, ' ');
    text_ += text;
    text_ += '\n';
  }

  std::string origin(const Origin& origin) const {
    if (origin.scope >= module_.scopes.size()) return "";
    return fmt::format(" @{}:{}:{}:{}", module_.scopes[origin.scope].function, origin.span.line,
                       origin.span.column, origin.span.length);
  }

  static std::string type_text(const std::optional<Type>& type) {
    return type ? std::string(vcode::type_name(*type)) : "?";
  }

  std::string assigned(ValueId value) const {
    const std::optional<Type>& type = function_->values[value].type;
    return type ? fmt::format("${}:{}", value, vcode::type_name(*type)) : fmt::format("${}", value);
  }

  std::string results_text() const {
    if (function_->body.diverges) return "NEVER";
    std::string text = "(";
    for (const auto& type : function_->result_types) text += ' ' + type_text(type);
    return text + " )";
  }

  void transparent() {
    std::string head = fmt::format("FUNCTION: {} (", function_->name);
    for (const ValueId parameter : function_->parameters) head += ' ' + assigned(parameter);
    line(0, fmt::format("{} ) -> {} {{", head, results_text()));
    block(function_->body, 1);
    line(0, "}");
  }

  void opaque() {
    std::string head = fmt::format("OPAQUE: {} (", function_->name);
    for (const ValueId parameter : function_->parameters) {
      head += ' ' + type_text(function_->values[parameter].type);
    }
    line(0, fmt::format("{} ) -> {}", head, results_text()));
    vcode::Program program;
    program.constants = module_.constants;
    for (const Function& function : module_.functions) program.names.push_back(function.name);
    program.functions.resize(1);
    program.functions[0].name = function_->name;
    program.functions[0].code = function_->code;
    text_ += vcode::print(program);
  }

  void block(const Block& block, std::size_t indent) {
    for (const Statement& at : block.statements) statement(at, indent);
    if (!block.diverges) line(indent, "YIELD" + values(block.results));
  }

  static std::string values(const ValueList& list) {
    std::string text;
    for (const ValueId value : list) text += fmt::format(" ${}", value);
    return text;
  }

  void statement(const Statement& statement, std::size_t indent) {
    std::string text;
    for (const ValueId result : statement.results) text += assigned(result) + ' ';
    if (!statement.results.empty()) text += "= ";
    text += operation(statement) + values(statement.operands) + origin(statement.origin);
    if (statement.kind != Statement::Kind::If) {
      line(indent, text);
      return;
    }
    line(indent, text + " {");
    block(*statement.then_block, indent + 1);
    line(indent, "} ELSE {");
    block(*statement.else_block, indent + 1);
    line(indent, "}");
  }

  std::string operation(const Statement& statement) const {
    switch (statement.kind) {
      case Statement::Kind::Const:
        return constant(module_.constants[statement.index]);
      case Statement::Kind::Given:
        return "GIVEN" + constant(module_.constants[statement.index]).substr(kConst.size());
      case Statement::Kind::Call:
        return fmt::format("CALL {}", module_.functions[statement.index].name);
      case Statement::Kind::Run:
        return fmt::format("RUN {}", module_.kernels[statement.index].name);
      case Statement::Kind::If:
        return "IF";
      case Statement::Kind::Exit:
        return "EXIT";
      case Statement::Kind::Op:
        break;
    }
    const vcode::OpInfo& info = vcode::info(statement.op);
    if (!info.takes_type()) return std::string(info.text);
    return fmt::format("{} {}", info.text, vcode::type_name(statement.written));
  }

  static constexpr std::string_view kConst = "CONST";

  // As in VCODE: the line of a program that has nothing else.
  static std::string constant(const vcode::Constant& constant) {
    vcode::Program program;
    program.constants.push_back(constant);
    program.functions.resize(1);
    program.functions[0].name = "C";
    program.functions[0].code = {{Op::Const, {}, 0, 0, {}}, {Op::Return, {}, 0, 0, {}}};
    const std::string text = vcode::print(program);
    const std::size_t begin = text.find('\n') + 3;
    return text.substr(begin, text.rfind("\nRET") - begin);
  }

  const Module& module_;
  const Function* function_ = nullptr;
  std::string text_;
};

}  // namespace

std::string print(const Module& module) {
  return Printer(module).run();
}

}  // namespace ir
