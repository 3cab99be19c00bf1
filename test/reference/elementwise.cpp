// Elementwise operations: one element at a time, by the text of the language description.
#include <cmath>

#include "reference/evaluator.hpp"

namespace reference {
namespace {

using vcode::Op;

/// Truncation to INT; what does not fit gives the least INT.
std::int64_t float_to_int(const Widths& widths, long double integral) {
  const auto least = static_cast<long double>(widths.least_int());
  const auto greatest = static_cast<long double>(widths.greatest_int());
  if (!(integral >= least && integral <= greatest)) return widths.least_int();
  return static_cast<std::int64_t>(integral);
}

std::int64_t quotient(const Widths& widths, std::int64_t a, std::int64_t b) {
  if (b == -1) return widths.wrap(0 - static_cast<std::uint64_t>(a));
  return a / b;
}

std::int64_t int_operation(Op op, const Widths& widths, std::int64_t a, std::int64_t b) {
  const auto ua = static_cast<std::uint64_t>(a);
  const auto ub = static_cast<std::uint64_t>(b);
  const auto count = static_cast<int>(ub % static_cast<std::uint64_t>(widths.int_bits));
  switch (op) {
    case Op::Add:
      return widths.wrap(ua + ub);
    case Op::Subtract:
      return widths.wrap(ua - ub);
    case Op::Multiply:
      return widths.wrap(ua * ub);
    case Op::Divide:
      return quotient(widths, a, b);
    case Op::Modulo:
      return b == -1 ? 0 : a % b;
    case Op::ShiftLeft:
      return widths.wrap(ua << count);
    case Op::ShiftRight:
      return a >> count;
    case Op::And:
      return a & b;
    case Op::Or:
      return a | b;
    default:
      return a ^ b;
  }
}

double float_operation(Op op, const Widths& widths, double a, double b) {
  // Doubles have more than twice the digits of 32-bit floats: rounding twice is rounding once.
  switch (op) {
    case Op::Add:
      return widths.round(a + b);
    case Op::Subtract:
      return widths.round(a - b);
    case Op::Multiply:
      return widths.round(a * b);
    default:
      return widths.round(a / b);
  }
}

template <class T>
bool comparison(Op op, T a, T b) {
  switch (op) {
    case Op::Less:
      return a < b;
    case Op::LessEqual:
      return a <= b;
    case Op::Greater:
      return a > b;
    case Op::GreaterEqual:
      return a >= b;
    case Op::Equal:
      return a == b;
    default:
      return a != b;
  }
}

double float_function(Op op, double x) {
  switch (op) {
    case Op::Log:
      return std::log(x);
    case Op::Sqrt:
      return std::sqrt(x);
    case Op::Exp:
      return std::exp(x);
    case Op::Sin:
      return std::sin(x);
    case Op::Cos:
      return std::cos(x);
    case Op::Tan:
      return std::tan(x);
    case Op::Asin:
      return std::asin(x);
    case Op::Acos:
      return std::acos(x);
    case Op::Atan:
      return std::atan(x);
    case Op::Sinh:
      return std::sinh(x);
    case Op::Cosh:
      return std::cosh(x);
    default:
      return std::tanh(x);
  }
}

std::int64_t rounding(Op op, const Widths& widths, double x) {
  switch (op) {
    case Op::Floor:
      return float_to_int(widths, std::floor(x));
    case Op::Ceil:
      return float_to_int(widths, std::ceil(x));
    case Op::Trunc:
      return float_to_int(widths, std::trunc(x));
    default:
      // The extended format has 64 digits: the sum is exact wherever the result can differ.
      return float_to_int(widths, std::floor(static_cast<long double>(x) + 0.5L));
  }
}

template <class V>
V select(const Bools& flags, const V& yes, const V& no) {
  V result;
  for (std::size_t i = 0; i < flags.size(); ++i) result.push_back(flags[i] != 0 ? yes[i] : no[i]);
  return result;
}

bool is_comparison(Op op) {
  return op >= Op::Less && op <= Op::NotEqual;
}

Value two_ints(Op op, const Widths& widths, const Ints& a, const Ints& b) {
  if (is_comparison(op)) {
    Bools flags;
    for (std::size_t i = 0; i < a.size(); ++i) flags.push_back(comparison(op, a[i], b[i]));
    return flags;
  }
  Ints result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if ((op == Op::Divide || op == Op::Modulo) && b[i] == 0) {
      throw Failure{ErrorCode::DivisionByZero, static_cast<std::int64_t>(i)};
    }
    result.push_back(int_operation(op, widths, a[i], b[i]));
  }
  return result;
}

Value two_floats(Op op, const Widths& widths, const Floats& a, const Floats& b) {
  if (is_comparison(op)) {
    Bools flags;
    for (std::size_t i = 0; i < a.size(); ++i) flags.push_back(comparison(op, a[i], b[i]));
    return flags;
  }
  Floats result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    result.push_back(float_operation(op, widths, a[i], b[i]));
  }
  return result;
}

Value two_bools(Op op, const Bools& a, const Bools& b) {
  Bools result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool x = a[i] != 0;
    const bool y = b[i] != 0;
    switch (op) {
      case Op::And:
        result.push_back(x && y);
        break;
      case Op::Or:
        result.push_back(x || y);
        break;
      case Op::Equal:
        result.push_back(x == y);
        break;
      default:  // XOR and != are the same
        result.push_back(x != y);
    }
  }
  return result;
}

Value one_int(Op op, const Widths& widths, const Ints& a) {
  if (op == Op::Not) {
    Ints result;
    for (const std::int64_t x : a) result.push_back(~x);
    return result;
  }
  if (op == Op::IntToBool) {
    Bools result;
    for (const std::int64_t x : a) result.push_back(x != 0);
    return result;
  }
  Floats result;
  for (const std::int64_t x : a) {
    // Directly to the width: going through a double would round twice.
    result.push_back(widths.float_bits == 64 ? static_cast<double>(x) : static_cast<float>(x));
  }
  return result;
}

Value one_bool(Op op, const Bools& a) {
  if (op == Op::BoolToInt) return Ints(a.begin(), a.end());
  Bools result;
  for (const std::uint8_t x : a) result.push_back(x == 0);
  return result;
}

Value one_float(Op op, const Widths& widths, const Floats& a) {
  if (op >= Op::Floor && op <= Op::Round) {
    Ints result;
    for (const double x : a) result.push_back(rounding(op, widths, x));
    return result;
  }
  Floats result;
  for (const double x : a) result.push_back(widths.round(float_function(op, x)));
  return result;
}

}  // namespace

Value elementwise(Op op, const Widths& widths, const std::vector<Value>& operands) {
  const Type type = type_of(operands.back());
  if (op == Op::Select) {
    const Bools& flags = std::get<Bools>(operands[0]);
    if (type == Type::Int) {
      return select(flags, std::get<Ints>(operands[1]), std::get<Ints>(operands[2]));
    }
    if (type == Type::Float) {
      return select(flags, std::get<Floats>(operands[1]), std::get<Floats>(operands[2]));
    }
    return select(flags, std::get<Bools>(operands[1]), std::get<Bools>(operands[2]));
  }
  if (operands.size() == 2) {
    if (type == Type::Int) {
      return two_ints(op, widths, std::get<Ints>(operands[0]), std::get<Ints>(operands[1]));
    }
    if (type == Type::Float) {
      return two_floats(op, widths, std::get<Floats>(operands[0]), std::get<Floats>(operands[1]));
    }
    return two_bools(op, std::get<Bools>(operands[0]), std::get<Bools>(operands[1]));
  }
  if (type == Type::Int) return one_int(op, widths, std::get<Ints>(operands[0]));
  if (type == Type::Float) return one_float(op, widths, std::get<Floats>(operands[0]));
  return one_bool(op, std::get<Bools>(operands[0]));
}

}  // namespace reference
