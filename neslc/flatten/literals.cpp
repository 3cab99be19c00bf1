#include "neslc/flatten/literals.hpp"

#include "neslc/front/session.hpp"

namespace neslc {
namespace {

using ir::ValueId;
using ir::ValueList;
using vcode::ConstantForm;
using VectorType = vcode::Type;

const Expr* negated_number(const Call& call) {
  const auto* callee = std::get_if<GlobalRef>(&call.callee->node);
  if (callee == nullptr || !callee->definition->library || callee->definition->name != "negate") {
    return nullptr;
  }
  const bool number = std::holds_alternative<IntLiteral>(call.argument->node) ||
                      std::holds_alternative<FloatLiteral>(call.argument->node);
  return number ? call.argument.get() : nullptr;
}

const Expr* constructed(const Call& call) {
  const auto* callee = std::get_if<GlobalRef>(&call.callee->node);
  return callee != nullptr && callee->definition->kind == DefinitionKind::Constructor
             ? call.argument.get()
             : nullptr;
}

/// The flat vectors of a value, filled element by element.
class Columns {
 public:
  Columns(TypeTable& types, TypePtr type) : types_(types) {
    std::vector<VectorType> column_types;
    append_types(types, type, column_types);
    for (const VectorType column : column_types) columns_.push_back(ir::empty_constant(column));
  }

  void add(const Expr& expr, TypePtr type, std::size_t& column) {
    if (type->kind == TypeKind::Record) type = types_.fields_of(type);
    if (const auto* call = std::get_if<Call>(&expr.node)) {
      if (const Expr* number = negated_number(*call)) {
        if (const auto* integer = std::get_if<IntLiteral>(&number->node)) {
          ints(column++).push_back(-integer->value);
        } else {
          floats(column++).push_back(-std::get<FloatLiteral>(number->node).value);
        }
        return;
      }
      add(*constructed(*call), type, column);
      return;
    }
    if (const auto* pair = std::get_if<Pair>(&expr.node)) {
      add(*pair->first, type->first(), column);
      add(*pair->second, type->second(), column);
      return;
    }
    add_scalar_or_sequence(expr, type, column);
  }

  std::vector<vcode::Constant>& columns() { return columns_; }

 private:
  void add_scalar_or_sequence(const Expr& expr, TypePtr type, std::size_t& column) {
    if (const auto* integer = std::get_if<IntLiteral>(&expr.node)) {
      ints(column++).push_back(integer->value);
    } else if (const auto* real = std::get_if<FloatLiteral>(&expr.node)) {
      floats(column++).push_back(real->value);
    } else if (const auto* character = std::get_if<CharLiteral>(&expr.node)) {
      ints(column++).push_back(character->value);
    } else if (const auto* flag = std::get_if<BoolLiteral>(&expr.node)) {
      std::get<2>(columns_[column++].elements).push_back(flag->value ? 1 : 0);
    } else if (const auto* string = std::get_if<StringLiteral>(&expr.node)) {
      ints(column++).push_back(static_cast<std::int64_t>(string->text.size()));
      for (const char c : string->text) ints(column).push_back(static_cast<unsigned char>(c));
      ++column;
    } else {
      std::size_t end = column + 1;
      std::vector<VectorType> inner;
      append_types(types_, type->element(), inner);
      end += inner.size();
      const auto* sequence = std::get_if<SequenceLiteral>(&expr.node);
      const std::size_t count = sequence != nullptr ? sequence->elements.size() : 0;
      ints(column).push_back(static_cast<std::int64_t>(count));
      for (std::size_t i = 0; i < count; ++i) {
        std::size_t element_column = column + 1;
        add(*sequence->elements[i], type->element(), element_column);
      }
      column = end;
    }
  }

  std::vector<std::int64_t>& ints(std::size_t column) {
    return std::get<0>(columns_[column].elements);
  }
  std::vector<double>& floats(std::size_t column) { return std::get<1>(columns_[column].elements); }

  TypeTable& types_;
  std::vector<vcode::Constant> columns_;
};

/// Constant descriptors of several segments are made from their lengths: not every interpreter
/// reads them as constants.
ValueId column_constant(ir::Builder& b, vcode::Constant constant) {
  const std::size_t size = constant.size();
  constant.form = size == 1 ? ConstantForm::Scalar : ConstantForm::Vector;
  if (constant.type == VectorType::Segdes && size > 1) {
    constant.type = VectorType::Int;
    return b.op(vcode::Op::MakeSegdes, VectorType::Int, {b.constant(std::move(constant))});
  }
  return b.constant(std::move(constant));
}

void set_lengths(ir::Builder& b, const Value& value, ir::LengthId length) {
  if (value.is_tuple()) {
    for (const Value& part : value.parts) set_lengths(b, part, length);
    return;
  }
  b.set_length(value.var, length);
  if (value.is_sequence()) set_lengths(b, value.elements(), b.variable(value.var).total);
}

}  // namespace

bool is_literal(const Expr& expr) {
  if (const auto* call = std::get_if<Call>(&expr.node)) {
    if (negated_number(*call) != nullptr) return true;
    const Expr* argument = constructed(*call);
    return argument != nullptr && is_literal(*argument);
  }
  if (const auto* pair = std::get_if<Pair>(&expr.node)) {
    return is_literal(*pair->first) && is_literal(*pair->second);
  }
  if (const auto* sequence = std::get_if<SequenceLiteral>(&expr.node)) {
    for (const ExprPtr& element : sequence->elements) {
      if (!is_literal(*element)) return false;
    }
    return true;
  }
  return std::holds_alternative<IntLiteral>(expr.node) ||
         std::holds_alternative<FloatLiteral>(expr.node) ||
         std::holds_alternative<CharLiteral>(expr.node) ||
         std::holds_alternative<BoolLiteral>(expr.node) ||
         std::holds_alternative<StringLiteral>(expr.node) ||
         std::holds_alternative<EmptySequence>(expr.node);
}

Value literal_value(ir::Builder& b, TypeTable& types, const Expr& expr, TypePtr type,
                    Context* context) {
  if (const auto* string = std::get_if<StringLiteral>(&expr.node)) {
    return string_value(b, string->text, context);
  }
  Columns columns(types, type);
  std::size_t column = 0;
  columns.add(expr, type, column);
  ValueList vars;
  for (vcode::Constant& constant : columns.columns()) {
    vars.push_back(column_constant(b, std::move(constant)));
  }
  std::size_t next = 0;
  Value result = make_value(types, type, vars, next, context);
  for_each_leaf(result, [&](const Value& leaf) { set_lengths(b, leaf, ir::kOne); });
  return result;
}

Value string_value(ir::Builder& b, const std::string& text, Context* context) {
  const ValueId descriptor = b.single_constant(static_cast<std::int64_t>(text.size()));
  const ValueId codes = text.empty() ? b.empty(VectorType::Int) : b.text_constant(text);
  b.set_length(codes, b.variable(descriptor).total);
  return Value::sequence(descriptor, Value::scalar(codes, context), context);
}

Value empty_sequence(ir::Builder& b, TypeTable& types, TypePtr type, Context* context) {
  std::vector<VectorType> column_types;
  append_types(types, type->element(), column_types);
  ValueList vars{b.single_constant(0)};
  for (const VectorType column : column_types) vars.push_back(b.empty(column));
  std::size_t next = 0;
  return make_value(types, type, vars, next, context);
}

}  // namespace neslc
