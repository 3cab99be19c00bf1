#include "neslc/explain.hpp"

#include <fmt/format.h>

#include "neslc/ast.hpp"
#include "neslc/free_variables.hpp"
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
  std::string written(vcode::Span span) const {
    const std::string_view line = source_.line(span.line);
    if (span.line == 0 || span.column > line.size() + 1) return {};
    std::string result(line.substr(span.column - 1, span.length));
    return vcode::escaped(result);
  }

  // Numbers in a sequence say nothing new, and a lambda is shown with the expression that makes it.
  void parts(const Expr& expr, std::size_t depth) {
    if (const auto* lambda = std::get_if<LambdaRef>(&expr.node)) {
      write(*lambda->lambda->body, depth);
      return;
    }
    const bool elements = std::holds_alternative<SequenceLiteral>(expr.node);
    for_each_child(expr, [&](const Expr& child) {
      const bool number = std::holds_alternative<IntLiteral>(child.node) ||
                          std::holds_alternative<FloatLiteral>(child.node);
      if (!(elements && number)) write(child, depth);
    });
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
  std::string name(const ir::Function& function, ir::Var var) const {
    const vcode::Type type = function.variables[var].type;
    const char letter = type == vcode::Type::Int     ? 'i'
                        : type == vcode::Type::Float ? 'x'
                        : type == vcode::Type::Bool  ? 'b'
                                                     : 's';
    return fmt::format("{}{}", letter, var);
  }

  std::string names(const ir::Function& function, const std::vector<ir::Var>& vars) const {
    std::string result;
    for (const ir::Var var : vars) result += (result.empty() ? "" : ", ") + name(function, var);
    return result;
  }

  std::string operation(const ir::Function& function, const ir::Instr& instr) const {
    switch (instr.kind) {
      case ir::Instr::Kind::Op: {
        const vcode::OpInfo& info = vcode::info(instr.op);
        const std::string type =
            info.takes_type() ? fmt::format(" {}", vcode::type_name(instr.type)) : "";
        return fmt::format("{}{}({})", info.text, type, names(function, instr.in));
      }
      case ir::Instr::Kind::Constant: {
        const ir::Module::Constant& constant = module_.constants[instr.index];
        if (constant.value >= 0) return "value of a variable";
        vcode::LinkedProgram shown;
        shown.constants.push_back(constant.literal);
        return vcode::print({vcode::Op::Const, constant.literal.type, 0, 0, {}}, shown);
      }
      case ir::Instr::Kind::Call:
        return fmt::format("{}({})", instr.callee->name, names(function, instr.in));
      case ir::Instr::Kind::Fail:
        return "fail \"" + vcode::escaped(module_.failures[instr.index].message) + "\"";
      case ir::Instr::Kind::If:
        return fmt::format("if {}", names(function, instr.in));
    }
    return {};
  }

  void write(const ir::Function& function, const ir::Block& block, std::size_t depth) {
    const std::string indent(depth * kIndent, ' ');
    for (const auto& instr : block.code) {
      text += indent;
      if (!instr->out.empty()) text += names(function, instr->out) + " = ";
      text += operation(function, *instr) + "\n";
      if (instr->kind != ir::Instr::Kind::If) continue;
      write_arm(function, instr->then_block, depth);
      if (instr->else_block.code.empty() && instr->else_block.results.empty()) continue;
      text += indent + "else\n";
      write_arm(function, instr->else_block, depth);
    }
  }

  void write_arm(const ir::Function& function, const ir::Block& block, std::size_t depth) {
    write(function, block, depth + 1);
    if (block.results.empty()) return;
    text += std::string((depth + 1) * kIndent, ' ') + "-> " + names(function, block.results) + "\n";
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
