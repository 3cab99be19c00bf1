// Conditionals that only check, turned into assertions; from the inside out.
#include <optional>
#include <utility>

#include "fcode-opt/checks.hpp"
#include "fcode-opt/counting_checks.hpp"
#include "fcode-opt/shapes/analysis.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

using Kind = Statement::Kind;

/// Which values have exactly one element wherever they exist.
class Scalars : public ShapeVisitor {
 public:
  explicit Scalars(std::size_t values) : scalar(values, false) {}
  void region(Shapes& shapes, Block& block, std::size_t begin, std::size_t& end) override {
    for (std::size_t i = begin; i < end; ++i) {
      for (ValueId value : block.statements[i].results) scalar[value] = shapes.is_scalar(value);
    }
  }
  std::vector<bool> scalar;
};

class CheckRewriter {
 public:
  CheckRewriter(Module& module, Function& function, std::vector<bool> scalar)
      : module_(module),
        function_(function),
        names_(function.values.size()),
        scalar_(std::move(scalar)) {}

  bool run() {
    block(function_.body);
    names_.apply(function_.body);
    changed_ |= simplify_counting_checks(module_, function_);
    return changed_;
  }

 private:
  void block(Block& block) {
    std::vector<Statement> result;
    for (Statement& statement : block.statements) {
      if (statement.kind == Kind::If) {
        this->block(*statement.then_block);
        this->block(*statement.else_block);
        if (check(statement, result) || around_checks(statement, result)) {
          changed_ = true;
          continue;
        }
      }
      result.push_back(std::move(statement));
    }
    block.statements = std::move(result);
  }

  // IF c message EXIT ELSE rest: an assertion, and then the rest.
  bool check(Statement& statement, std::vector<Statement>& result) {
    const std::optional<std::string> then_message = message_of(*statement.then_block);
    const std::optional<std::string> else_message = message_of(*statement.else_block);
    if (then_message.has_value() == else_message.has_value()) return false;
    Block& rest = then_message ? *statement.else_block : *statement.then_block;
    if (rest.diverges) return false;
    ValueId ok = statement.operands[0];
    if (then_message) ok = negation(ok, statement.origin, result);
    assertion(then_message ? *then_message : *else_message, ok, statement.origin, result);
    splice(statement, rest, result);
    return true;
  }

  // The arms check and compute, but nothing that may fail, and give nothing: then each check gets
  // the condition, and everything is done in any case.
  bool around_checks(Statement& statement, std::vector<Statement>& result) {
    if (!statement.results.empty()) return false;
    for (const Block* arm : {statement.then_block.get(), statement.else_block.get()}) {
      if (arm->diverges) return false;
      for (const Statement& inner : arm->statements) {
        const bool scalar_check = is_assertion(module_, inner) && is_scalar(inner.operands[0]);
        if (!scalar_check && !cannot_fail(inner)) return false;
      }
    }
    const ValueId condition = statement.operands[0];
    const ValueId negated = negation(condition, statement.origin, result);
    for (auto [arm, excuse] : {std::pair(statement.then_block.get(), negated),
                               std::pair(statement.else_block.get(), condition)}) {
      for (Statement& inner : arm->statements) {
        if (is_assertion(module_, inner)) {
          inner.operands[0] = scalar_op(Op::Or, {excuse, inner.operands[0]}, inner.origin, result);
        }
        result.push_back(std::move(inner));
      }
    }
    return true;
  }

  void splice(const Statement& statement, Block& arm, std::vector<Statement>& result) {
    for (Statement& inner : arm.statements) result.push_back(std::move(inner));
    for (std::size_t i = 0; i < statement.results.size(); ++i) {
      names_.set(statement.results[i], arm.results[i]);
      note_scalar(statement.results[i], is_scalar(arm.results[i]));
    }
  }

  // A block that does nothing but write a constant text and end the program. What else it computes
  // and writes explains the text, and is left out.
  std::optional<std::string> message_of(const Block& block) const {
    std::optional<std::string> message;
    bool ends = false;
    for (const Statement& statement : block.statements) {
      if (statement.kind == Kind::Exit) {
        ends = true;
      } else if (statement.kind == Kind::Op && statement.op == Op::Write) {
        if (!message) message = text_of(block, statement);
        if (!message) return std::nullopt;
      } else if (!is_pure(statement)) {
        return std::nullopt;
      }
    }
    return ends ? message : std::nullopt;
  }

  std::optional<std::string> text_of(const Block& block, const Statement& write) const {
    if (write.written != Type::Char) return std::nullopt;
    for (const Statement& statement : block.statements) {
      if (statement.kind != Kind::Const || statement.results[0] != write.operands[0]) continue;
      const vcode::Constant& constant = module_.constants[statement.index];
      std::string text;
      for (std::int64_t code : constant.ints()) {
        // What a kernel's text can hold between quotes.
        const bool plain =
            code == '\n' || (code >= ' ' && code < 127 && code != '"' && code != '\\');
        if (!plain) return std::nullopt;
        text += static_cast<char>(code);
      }
      return text;
    }
    return std::nullopt;
  }

  bool is_scalar(ValueId value) const { return value < scalar_.size() && scalar_[value]; }
  void note_scalar(ValueId value, bool is) {
    if (value >= scalar_.size()) scalar_.resize(function_.values.size());
    scalar_[value] = is;
  }

  bool cannot_fail(const Statement& statement) const {
    if (!is_pure(statement)) return false;
    if (!may_fail(statement)) return true;
    if (statement.kind != Kind::Op) return false;
    if (vcode::info(statement.op).family != vcode::Family::Elementwise) return false;
    if (divides_ints(statement.op, statement.written)) return false;
    for (ValueId operand : statement.operands) {
      if (!is_scalar(operand)) return false;
    }
    return true;
  }

  ValueId scalar_op(Op op, ValueList operands, const Origin& origin,
                    std::vector<Statement>& result) {
    result.push_back(make_op(function_, op, Type::Bool, std::move(operands), origin));
    const ValueId value = result.back().results[0];
    note_scalar(value, true);
    return value;
  }

  ValueId negation(ValueId value, const Origin& origin, std::vector<Statement>& result) {
    return scalar_op(Op::Not, {value}, origin, result);
  }

  void assertion(const std::string& message, ValueId ok, const Origin& origin,
                 std::vector<Statement>& result) {
    result.push_back(
        make_run(module_, function_, assertion_kernel(module_, message), {ok}, origin));
  }

  Module& module_;
  Function& function_;
  Renaming names_;
  std::vector<bool> scalar_;
  bool changed_ = false;
};

// Is there a conditional that could be a check, or an assertion?
bool has_checks(const Module& module) {
  bool found = false;
  for (const Function& function : module.functions) {
    for_each_statement(function.body, [&](const Statement& statement) {
      found |= statement.kind == Kind::Exit || is_assertion(module, statement);
    });
  }
  return found;
}

}  // namespace

bool checks_to_assertions(Module& module, KnownWalks& walks) {
  if (!has_checks(module)) return false;
  ShapeAnalysis shapes(module, ShapeAnalysis::Trust::Always, walks);
  bool changed = false;
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    Function& function = module.functions[i];
    if (function.opaque) continue;
    Scalars scalars(function.values.size());
    shapes.walk(i, scalars);
    changed |= CheckRewriter(module, function, std::move(scalars.scalar)).run();
  }
  return changed;
}

}  // namespace fcode
