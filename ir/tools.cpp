#include "ir/tools.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace ir {

using vcode::Family;

ValueId new_value(Function& function, std::optional<Type> type, const Origin& origin) {
  function.values.push_back({type, origin});
  return static_cast<ValueId>(function.values.size() - 1);
}

std::uint32_t add_constant(Module& module, vcode::Constant constant) {
  for (std::uint32_t i = 0; i < module.constants.size(); ++i) {
    if (!is_given(module, i) && module.constants[i] == constant) return i;
  }
  module.constants.push_back(std::move(constant));
  return static_cast<std::uint32_t>(module.constants.size() - 1);
}

vcode::Constant int_constant(std::int64_t number) {
  return {Type::Int, vcode::ConstantForm::Scalar, std::vector<std::int64_t>{number}, {}};
}
vcode::Constant bool_constant(bool flag) {
  return {Type::Bool, vcode::ConstantForm::Scalar, std::vector<std::uint8_t>{flag}, {}};
}
vcode::Constant float_constant(double number) {
  return {Type::Float, vcode::ConstantForm::Scalar, std::vector<double>{number}, {}};
}

vcode::Constant text_constant(const std::string& text) {
  std::vector<std::int64_t> codes;
  for (const char c : text) codes.push_back(static_cast<unsigned char>(c));
  const bool quoted = text.find('"') == std::string::npos;
  return {Type::Int,
          quoted ? vcode::ConstantForm::String : vcode::ConstantForm::Vector,
          std::move(codes),
          {}};
}

vcode::Constant null_constant(Type type) {
  if (type == Type::Float) return float_constant(0);
  return type == Type::Bool ? bool_constant(false) : int_constant(0);
}

vcode::Constant empty_constant(Type type) {
  vcode::Constant constant;
  constant.type = type;
  if (type == Type::Float) constant.elements = std::vector<double>();
  if (type == Type::Bool) constant.elements = std::vector<std::uint8_t>();
  return constant;
}

bool comes_before(const vcode::Constant& a, const vcode::Constant& b) {
  const auto kind = [](const vcode::Constant& constant) {
    return std::tuple(constant.type, constant.form, constant.size());
  };
  if (kind(a) != kind(b)) return kind(a) < kind(b);
  if (a.type != Type::Float) return a.elements < b.elements;
  return std::lexicographical_compare(a.floats().begin(), a.floats().end(), b.floats().begin(),
                                      b.floats().end(), [](double x, double y) {
                                        return std::bit_cast<std::uint64_t>(x) <
                                               std::bit_cast<std::uint64_t>(y);
                                      });
}

Statement make_op(Function& function, Op op, Type written, ValueList operands,
                  const Origin& origin) {
  Statement statement;
  statement.op = op;
  statement.written = written;
  statement.operands = std::move(operands);
  statement.origin = origin;
  for (const char letter : vcode::info(op).results) {
    statement.results.push_back(new_value(function, vcode::operand_type(letter, written), origin));
  }
  return statement;
}

Statement make_const(const Module& module, Function& function, std::uint32_t constant,
                     const Origin& origin) {
  Statement statement;
  statement.kind = Statement::Kind::Const;
  statement.index = constant;
  statement.origin = origin;
  statement.results.push_back(
      new_value(function, vcode::value_type(module.constants[constant].type), origin));
  return statement;
}

Statement make_run(const Module& module, Function& function, std::uint32_t kernel,
                   ValueList operands, const Origin& origin) {
  Statement statement;
  statement.kind = Statement::Kind::Run;
  statement.index = kernel;
  statement.operands = std::move(operands);
  statement.origin = origin;
  const vcode::Kernel& definition = module.kernels[kernel];
  statement.effects = !vcode::is_pure(definition);
  for (const vcode::KernelParameter& output : definition.outputs) {
    const Type type = output.segdes ? Type::Segdes : definition.arrays[output.id].type;
    statement.results.push_back(new_value(function, type, origin));
  }
  return statement;
}

// ---- counting ----

std::vector<std::uint32_t> count_uses(const Function& function) {
  std::vector<std::uint32_t> uses(function.values.size());
  for_each_use(function.body, [&](ValueId value) { ++uses[value]; });
  return uses;
}

std::size_t vector_operations(const Block& block) {
  std::size_t count = 0;
  for_each_statement(block, [&](const Statement& statement) {
    const bool op =
        statement.kind == Statement::Kind::Op && vcode::info(statement.op).is_vector_op();
    if (op || statement.kind == Statement::Kind::Run) ++count;
  });
  return count;
}

std::size_t vector_operations(const Module& module) {
  std::size_t count = 0;
  for (const Function& function : module.functions) count += vector_operations(function.body);
  return count;
}

std::size_t nesting(const Block& block) {
  std::size_t deepest = 0;
  for (const Statement& statement : block.statements) {
    if (statement.kind != Statement::Kind::If) continue;
    deepest =
        std::max({deepest, 1 + nesting(*statement.then_block), 1 + nesting(*statement.else_block)});
  }
  return deepest;
}

Definition definition_of(const Statement& statement, std::uint32_t result) {
  return {statement.kind,  statement.op, statement.written,
          statement.index, result,       {statement.operands.begin(), statement.operands.end()}};
}

std::vector<Definition> definitions(const Function& function) {
  std::vector<Definition> table(function.values.size());
  for_each_statement(function.body, [&](const Statement& statement) {
    for (std::uint32_t i = 0; i < statement.results.size(); ++i) {
      table[statement.results[i]] = definition_of(statement, i);
    }
  });
  return table;
}

// ---- effects ----

bool is_pure(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::Const:
    case Statement::Kind::Given:
      return true;
    case Statement::Kind::Run:
      return !statement.effects;
    case Statement::Kind::Op: {
      const vcode::OpInfo& info = vcode::info(statement.op);
      return (info.is_vector_op() && info.family != Family::Random) || info.family == Family::Pair;
    }
    default:
      return false;
  }
}

bool divides_ints(Op op, Type written) {
  return op == Op::Modulo || (op == Op::Divide && written == Type::Int);
}

bool may_fail(const Statement& statement) {
  if (pushes_constant(statement)) return false;
  if (statement.kind != Statement::Kind::Op) return true;
  switch (vcode::info(statement.op).family) {
    case Family::Pair:
    case Family::Length:
    case Family::Lengths:
      return false;
    case Family::Elementwise:
      // One operand has no length to disagree with.
      return statement.operands.size() > 1;
    default:
      return true;
  }
}

namespace {

bool have_effects(const Block& block, const std::vector<bool>& function_effects) {
  return std::any_of(
      block.statements.begin(), block.statements.end(),
      [&](const Statement& statement) { return has_effects(statement, function_effects); });
}

}  // namespace

std::vector<bool> functions_with_effects(const Module& module) {
  std::vector<bool> effects(module.functions.size());
  for (const std::vector<std::uint32_t>& group : call_groups(module)) {
    // All can reach each other: what one of them does, the others do as well.
    const bool found = std::any_of(group.begin(), group.end(), [&](std::uint32_t index) {
      const Function& function = module.functions[index];
      // A function that never returns must stay where it is called.
      return function.opaque || function.body.diverges || have_effects(function.body, effects);
    });
    for (const std::uint32_t index : group) effects[index] = found;
  }
  return effects;
}

bool has_effects(const Statement& statement, const std::vector<bool>& function_effects) {
  switch (statement.kind) {
    case Statement::Kind::Exit:
      return true;
    case Statement::Kind::Call:
      return function_effects[statement.index];
    case Statement::Kind::If:
      return have_effects(*statement.then_block, function_effects) ||
             have_effects(*statement.else_block, function_effects);
    default:
      return !is_pure(statement);
  }
}

bool goes_on_after_effects(const Statement& statement, const std::vector<bool>& function_effects) {
  if (statement.kind != Statement::Kind::If) return has_effects(statement, function_effects);
  const auto goes_on = [&](const Block& arm) {
    return !arm.diverges && have_effects(arm, function_effects);
  };
  return goes_on(*statement.then_block) || goes_on(*statement.else_block);
}

// ---- changing ----

void Renaming::set(ValueId from, ValueId to) {
  if (from >= to_.size()) to_.resize(from + 1, kNoValue);
  to_[from] = to;
}

ValueId Renaming::operator()(ValueId value) const {
  while (has(value)) value = to_[value];
  return value;
}

bool Renaming::apply(Block& block) const {
  bool changed = false;
  for_each_use(block, [&](ValueId& value) {
    changed |= has(value);
    value = (*this)(value);
  });
  return changed;
}

Statement copy_without_blocks(const Statement& statement) {
  Statement copy;
  copy.kind = statement.kind;
  copy.op = statement.op;
  copy.written = statement.written;
  copy.index = statement.index;
  copy.effects = statement.effects;
  copy.operands = statement.operands;
  copy.results = statement.results;
  copy.origin = statement.origin;
  return copy;
}

Statement clone_statement(const Statement& statement, const Function& from, Function& to,
                          std::vector<ValueId>& names) {
  Statement copy = copy_without_blocks(statement);
  for (ValueId& operand : copy.operands) operand = names[operand];
  if (statement.then_block) {
    copy.then_block = std::make_unique<Block>(clone_block(*statement.then_block, from, to, names));
    copy.else_block = std::make_unique<Block>(clone_block(*statement.else_block, from, to, names));
  }
  for (ValueId& result : copy.results) {
    const ValueInfo& info = from.values[result];
    names[result] = new_value(to, info.type, info.origin);
    result = names[result];
  }
  return copy;
}

Block clone_block(const Block& block, const Function& from, Function& to,
                  std::vector<ValueId>& names) {
  Block copy;
  copy.diverges = block.diverges;
  copy.statements.reserve(block.statements.size());
  for (const Statement& statement : block.statements) {
    copy.statements.push_back(clone_statement(statement, from, to, names));
  }
  for (const ValueId result : block.results) copy.results.push_back(names[result]);
  return copy;
}

namespace {

class Numbering {
 public:
  explicit Numbering(Function& function)
      : function_(function), before_(std::move(function.values)), names_(before_.size(), kNoValue) {
    function_.values.clear();
  }

  void run() {
    for (ValueId& parameter : function_.parameters) assign(parameter);
    block(function_.body);
  }

 private:
  void assign(ValueId& value) {
    names_[value] = static_cast<ValueId>(function_.values.size());
    function_.values.push_back(before_[value]);
    value = names_[value];
  }

  void block(Block& block) {
    for (Statement& statement : block.statements) {
      for (ValueId& operand : statement.operands) operand = names_[operand];
      if (statement.then_block) this->block(*statement.then_block);
      if (statement.else_block) this->block(*statement.else_block);
      for (ValueId& result : statement.results) assign(result);
    }
    for (ValueId& result : block.results) result = names_[result];
  }

  Function& function_;
  std::vector<ValueInfo> before_;
  std::vector<ValueId> names_;  // by value as it was
};

}  // namespace

void number_values(Function& function) {
  Numbering(function).run();
}

namespace {

bool only_computes(const Statement& statement) {
  if (statement.kind != Statement::Kind::If) return is_pure(statement);
  for (const Block* arm : {statement.then_block.get(), statement.else_block.get()}) {
    if (arm->diverges) return false;
    if (!std::all_of(arm->statements.begin(), arm->statements.end(), only_computes)) return false;
  }
  return true;
}

/// Walks backwards through the blocks with the set of values that are needed.
class UnusedStatements {
 public:
  explicit UnusedStatements(std::size_t values) : needed_(values, false) {}

  void drop_from(Block& block) {
    for (const ValueId result : block.results) needed_[result] = true;
    std::vector<Statement>& statements = block.statements;
    std::size_t first = statements.size();  // of those that are kept
    for (std::size_t i = statements.size(); i-- > 0;) {
      if (keep(statements[i]) && --first != i) statements[first] = std::move(statements[i]);
    }
    statements.erase(statements.begin(), statements.begin() + static_cast<std::ptrdiff_t>(first));
  }

 private:
  bool keep(Statement& statement) {
    const bool used = std::any_of(statement.results.begin(), statement.results.end(),
                                  [&](ValueId result) { return needed_[result]; });
    if (!used && only_computes(statement)) return false;
    if (statement.kind == Statement::Kind::If) {
      drop_unused_results(statement);
      drop_from(*statement.then_block);
      drop_from(*statement.else_block);
    }
    for (const ValueId operand : statement.operands) needed_[operand] = true;
    return true;
  }

  void drop_unused_results(Statement& statement) {
    const ValueList results = statement.results;
    const auto filter = [&](ValueList& list) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (needed_[results[i]]) list[kept++] = list[i];
      }
      list.resize(kept);
    };
    filter(statement.results);
    filter(statement.then_block->results);
    filter(statement.else_block->results);
  }

  std::vector<bool> needed_;
};

}  // namespace

void drop_unused(Function& function) {
  UnusedStatements(function.values.size()).drop_from(function.body);
}

}  // namespace ir
