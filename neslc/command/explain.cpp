#include "neslc/command/explain.hpp"

#include <fmt/format.h>

#include "neslc/front/ast.hpp"
#include "neslc/front/free_variables.hpp"
#include "vcode/printer.hpp"

namespace neslc {
namespace {

constexpr std::size_t kTypeColumn = 48;
constexpr std::size_t kIndent = 2;

/// Writes the parts of an expression below it.
class Outline {
 public:
  explicit Outline(const vcode::Source& source) : source_(source) {}

  void write(const Expr& expr, std::size_t depth) {
    const bool callee =
        std::holds_alternative<GlobalRef>(expr.node) && expr.type->kind == TypeKind::Function;
    if (callee || std::holds_alternative<Pair>(expr.node)) {
      parts(expr, depth);
      return;
    }
    std::string line(depth * kIndent, ' ');
    if (depth > ast::kMaxDepth) {
      text += line + "...\n";
      return;
    }
    line += written(expr.span);
    line.append(line.size() < kTypeColumn ? kTypeColumn - line.size() : 1, ' ');
    text += line + ": " + scheme_text({{}, expr.type}) + "\n";
    parts(expr, depth + 1);
  }

  std::string text;

 private:
  std::string written(vcode::Span span) const { return vcode::escaped(source_.text(span)); }

  // Numbers in a sequence say nothing new, and a lambda is shown with the expression that makes it.
  void parts(const Expr& expr, std::size_t depth) {
    if (const auto* lambda = std::get_if<LambdaRef>(&expr.node)) {
      write(*lambda->lambda->body, depth);
      return;
    }
    const bool elements = std::holds_alternative<SequenceLiteral>(expr.node);
    for (const Expr* child : children_of(expr)) {
      const bool number = std::holds_alternative<IntLiteral>(child->node) ||
                          std::holds_alternative<FloatLiteral>(child->node);
      if (!(elements && number)) write(*child, depth);
    }
  }

  const vcode::Source& source_;
};

/// Writes flattened functions.
class FlatWriter {
 public:
  explicit FlatWriter(const ir::Module& module) : module_(module) {}

  void write(const ir::Function& function) {
    text += fmt::format("{}({})\n", function.name, names(function, function.parameters));
    write(function, function.body, 1);
    text += fmt::format("  -> {}\n", names(function, function.body.results));
  }

  std::string text;

 private:
  std::string name(const ir::Function& function, ir::ValueId value) const {
    switch (*function.values[value].type) {
      case vcode::Type::Int:
        return fmt::format("i{}", value);
      case vcode::Type::Float:
        return fmt::format("x{}", value);
      case vcode::Type::Bool:
        return fmt::format("b{}", value);
      default:
        return fmt::format("s{}", value);
    }
  }

  std::string names(const ir::Function& function, const ir::ValueList& values) const {
    std::string result;
    for (const ir::ValueId value : values) {
      result += (result.empty() ? "" : ", ") + name(function, value);
    }
    return result;
  }

  std::string operation(const ir::Function& function, const ir::Statement& statement) const {
    const std::string operands = names(function, statement.operands);
    switch (statement.kind) {
      case ir::Statement::Kind::Op: {
        const vcode::OpInfo& info = vcode::info(statement.op);
        const std::string type =
            info.takes_type() ? fmt::format(" {}", vcode::type_name(statement.written)) : "";
        return fmt::format("{}{}({})", info.text, type, operands);
      }
      case ir::Statement::Kind::Const: {
        vcode::LinkedProgram shown;
        shown.constants.push_back(module_.constants[statement.index]);
        return vcode::print({vcode::Op::Const, shown.constants[0].type, 0, 0, {}}, shown);
      }
      case ir::Statement::Kind::Given:
        return "value of a variable";
      case ir::Statement::Kind::Call:
        return fmt::format("{}({})", module_.functions[statement.index].name, operands);
      case ir::Statement::Kind::If:
        return fmt::format("if {}", operands);
      case ir::Statement::Kind::Exit:
        return "EXIT";
      case ir::Statement::Kind::Run:
        return fmt::format("RUN {}({})", module_.kernels[statement.index].name, operands);
    }
    return {};
  }

  void write(const ir::Function& function, const ir::Block& block, std::size_t depth) {
    const std::string indent(depth * kIndent, ' ');
    for (const ir::Statement& statement : block.statements) {
      text += indent;
      if (!statement.results.empty()) text += names(function, statement.results) + " = ";
      text += operation(function, statement) + "\n";
      if (statement.kind != ir::Statement::Kind::If) continue;
      write_arm(function, *statement.then_block, depth);
      const ir::Block& other = *statement.else_block;
      if (other.statements.empty() && other.results.empty()) continue;
      text += indent + "else\n";
      write_arm(function, other, depth);
    }
  }

  void write_arm(const ir::Function& function, const ir::Block& block, std::size_t depth) {
    const std::string indent((depth + 1) * kIndent, ' ');
    if (block.diverges) {
      text += indent + failure(block) + "\n";
      return;
    }
    write(function, block, depth + 1);
    if (!block.results.empty()) text += indent + "-> " + names(function, block.results) + "\n";
  }

  /// What is written before the run ends: the text that begins it says all.
  std::string failure(const ir::Block& block) const {
    for (const ir::Statement& statement : block.statements) {
      if (statement.kind != ir::Statement::Kind::Const) continue;
      const vcode::Constant& constant = module_.constants[statement.index];
      if (constant.form != vcode::ConstantForm::String) continue;
      const std::string message(constant.ints().begin(), constant.ints().end());
      const std::size_t begin = message.find_first_not_of('\n');
      const std::size_t end = message.find_last_not_of('\n');
      return "fail \"" + vcode::escaped(message.substr(begin, end + 1 - begin)) + '"';
    }
    return "fail";
  }

  const ir::Module& module_;
};

}  // namespace

std::string typed_text(const Body& body) {
  Outline outline(*body.source);
  outline.write(*body.expression, 1);
  return outline.text;
}

std::string flat_text(const ir::Module& module) {
  FlatWriter writer(module);
  for (const ir::Function& function : module.functions) writer.write(function);
  return writer.text;
}

}  // namespace neslc
