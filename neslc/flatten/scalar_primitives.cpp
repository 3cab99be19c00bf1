// Arithmetic, comparison, logic, conversion: one VCODE operation on each instance.
#include <limits>

#include "neslc/flatten/primitives.hpp"

namespace neslc {
namespace {

using ir::ValueId;
using ir::ValueList;
using vcode::Op;
using VectorType = vcode::Type;
using CallSite = Flattener::CallSite;

/// The operation, in the outermost context that has all operands.
Value apply(Flattener& f, Op op, VectorType type, const std::vector<Value>& operands) {
  Context* context = f.serial();
  for (const Value& operand : operands) context = Flattener::deeper(context, operand.context);
  ValueList vars;
  for (const Value& operand : operands) vars.push_back(f.bring_scalar(operand, context));
  return Value::scalar(f.builder().operation(op, type, std::move(vars))[0], context);
}

template <Op kOp>
Value unary(Flattener& f, const CallSite&, const Value& argument) {
  return apply(f, kOp, f.type_of(argument), {argument});
}

template <Op kOp>
Value binary(Flattener& f, const CallSite&, const Value& argument) {
  return apply(f, kOp, f.type_of(argument.parts[0]), argument.parts);
}

/// For operations without a written type.
template <Op kOp>
Value untyped_unary(Flattener& f, const CallSite&, const Value& argument) {
  return apply(f, kOp, VectorType::Int, {argument});
}
template <Op kOp>
Value untyped_binary(Flattener& f, const CallSite&, const Value& argument) {
  return apply(f, kOp, VectorType::Int, argument.parts);
}

template <Op kOp>
Value negated_binary(Flattener& f, const CallSite& site, const Value& argument) {
  const Value result = binary<kOp>(f, site, argument);
  return apply(f, Op::Not, f.type_of(result), {result});
}

Value zero(Flattener& f, VectorType type) {
  return Value::scalar(f.builder().null_constant(type), f.serial());
}

Value negate(Flattener& f, const CallSite&, const Value& argument) {
  const VectorType type = f.type_of(argument);
  return apply(f, Op::Subtract, type, {zero(f, type), argument});
}

Value checked_quotient(Flattener& f, const CallSite& site, const Value& argument, Op op,
                       const char* message) {
  const Value& divisor = argument.parts[1];
  const VectorType type = f.type_of(divisor);
  const auto known_int = f.builder().known_int(divisor.var);
  const auto known_float = f.builder().known_float(divisor.var);
  const bool safe = (known_int && *known_int != 0) || (known_float && *known_float != 0);
  if (safe) return apply(f, op, type, argument.parts);
  // What may fail runs only in its own context, where it may have no instances.
  const bool unwanted = f.goes_on_unwanted();
  const Value here = unwanted ? argument : f.bring(argument, site.context);
  Value by = here.parts[1];
  const Value is_zero = apply(f, Op::Equal, type, {by, zero(f, type)});
  f.check(is_zero, site.context, message, {{"dividend", here.parts[0]}});
  if (type == VectorType::Int && unwanted) {
    const Value some = Value::scalar(f.builder().int_constant(1), f.serial());
    by = f.select(is_zero, by.context, some, by);
  }
  return apply(f, op, type, {here.parts[0], by});
}

Value divide(Flattener& f, const CallSite& site, const Value& argument) {
  return checked_quotient(f, site, argument, Op::Divide, "Divide by zero.");
}

Value remainder(Flattener& f, const CallSite& site, const Value& argument) {
  return checked_quotient(f, site, argument, Op::Modulo, "Divide by zero in function REM.");
}

Value same(Flattener&, const CallSite&, const Value& argument) {
  return argument;
}

std::int64_t extreme_int(Flattener& f, bool greatest) {
  if (f.compiler().options().int_bytes == 8) {
    return greatest ? std::numeric_limits<std::int64_t>::max()
                    : std::numeric_limits<std::int64_t>::min();
  }
  return greatest ? std::numeric_limits<std::int32_t>::max()
                  : std::numeric_limits<std::int32_t>::min();
}

Value max_int(Flattener& f, const CallSite&, const Value&) {
  return Value::scalar(f.builder().int_constant(extreme_int(f, true)), f.serial());
}

Value min_int(Flattener& f, const CallSite&, const Value&) {
  return Value::scalar(f.builder().int_constant(extreme_int(f, false)), f.serial());
}

Value one(Flattener& f, const CallSite&, const Value& argument) {
  ir::Builder& b = f.builder();
  return Value::scalar(
      f.type_of(argument) == VectorType::Float ? b.float_constant(1) : b.int_constant(1),
      f.serial());
}

Value to_float(Flattener& f, const CallSite&, const Value& argument) {
  if (f.type_of(argument) == VectorType::Float) return argument;
  return apply(f, Op::IntToFloat, VectorType::Int, {argument});
}

/// (int, float, number): the first or the second one, whichever has the type of the third.
Value of_type(Flattener& f, const CallSite&, const Value& argument) {
  const std::vector<Value> parts = components(argument, 3);
  return f.type_of(parts[2]) == VectorType::Float ? parts[1] : parts[0];
}

/// How many powers of ten an int can hold.
Value digits(Flattener& f, const CallSite&, const Value&) {
  return Value::scalar(f.builder().int_constant(f.compiler().options().int_bytes == 8 ? 19 : 10),
                       f.serial());
}

/// Each instance draws its own number.
Value random_int(Flattener& f, const CallSite& site, const Value& argument) {
  const ValueId range = f.bring_scalar(argument, site.context);
  return Value::scalar(f.builder().operation(Op::Rand, VectorType::Int, {range})[0], site.context);
}

Value random(Flattener& f, const CallSite& site, const Value& argument) {
  const VectorType type = f.type_of(argument);
  const Value range = f.bring(argument, site.context);
  f.check(apply(f, Op::LessEqual, type, {range, zero(f, type)}), site.context,
          "Rand only works with positive numbers.", {{"argument", range}});
  if (type == VectorType::Int) return random_int(f, site, range);
  // A 30-bit fraction of the range.
  constexpr std::int64_t kSteps = std::int64_t{1} << 30;
  const Value step =
      random_int(f, site, Value::scalar(f.builder().int_constant(kSteps), f.serial()));
  const Value fraction =
      apply(f, Op::Divide, VectorType::Float,
            {apply(f, Op::IntToFloat, VectorType::Int, {step}),
             Value::scalar(f.builder().float_constant(static_cast<double>(kSteps)), f.serial())});
  return apply(f, Op::Multiply, VectorType::Float, {range, fraction});
}

Value seed(Flattener& f, const CallSite&, const Value& argument) {
  return Value::scalar(f.builder().operation(Op::Srand, VectorType::Int, {argument.var})[0],
                       f.serial());
}

}  // namespace

std::vector<PrimitiveEntry> scalar_primitives() {
  return {
      {"not", unary<Op::Not>},
      {"and", binary<Op::And>},
      {"or", binary<Op::Or>},
      {"xor", binary<Op::Xor>},
      {"nand", negated_binary<Op::And>},
      {"nor", negated_binary<Op::Or>},
      {"==", binary<Op::Equal>},
      {"/=", binary<Op::NotEqual>},
      {"<", binary<Op::Less>},
      {">", binary<Op::Greater>},
      {"<=", binary<Op::LessEqual>},
      {">=", binary<Op::GreaterEqual>},
      {"+", binary<Op::Add>},
      {"-", binary<Op::Subtract>},
      {"*", binary<Op::Multiply>},
      {"/", divide},
      {"rem", remainder},
      {"negate", negate},
      {"lshift", untyped_binary<Op::ShiftLeft>},
      {"rshift", untyped_binary<Op::ShiftRight>},
      {"machine.sqrt", untyped_unary<Op::Sqrt>},
      {"machine.ln", untyped_unary<Op::Log>},
      {"exp", untyped_unary<Op::Exp>},
      {"sin", untyped_unary<Op::Sin>},
      {"cos", untyped_unary<Op::Cos>},
      {"tan", untyped_unary<Op::Tan>},
      {"asin", untyped_unary<Op::Asin>},
      {"acos", untyped_unary<Op::Acos>},
      {"atan", untyped_unary<Op::Atan>},
      {"sinh", untyped_unary<Op::Sinh>},
      {"cosh", untyped_unary<Op::Cosh>},
      {"tanh", untyped_unary<Op::Tanh>},
      {"btoi", untyped_unary<Op::BoolToInt>},
      {"code_char", same},
      {"char_code", same},
      {"float", untyped_unary<Op::IntToFloat>},
      {"ceil", untyped_unary<Op::Ceil>},
      {"floor", untyped_unary<Op::Floor>},
      {"trunc", untyped_unary<Op::Trunc>},
      {"round", untyped_unary<Op::Round>},
      {"machine.max_int", max_int},
      {"machine.min_int", min_int},
      {"machine.quotient", binary<Op::Divide>},
      {"machine.one", one},
      {"machine.to_float", to_float},
      {"machine.of_type", of_type},
      {"machine.digits", digits},
      {"rand", random},
      {"rand_seed", seed},
  };
}

}  // namespace neslc
