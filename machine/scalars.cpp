#include "machine/scalars.hpp"

#include <type_traits>

#include "cvl/scalar_ops.hpp"

namespace vinterp {
namespace {

namespace ops = cvl::ops;
using cvl::Value;
using cvl::Vector;
using vcode::Op;
using vcode::Type;

bool is_here(const Vector& vector) {
  return vector.length == 1 && vector.form == cvl::Form::Inline;
}

/// The result over the first operand.
template <class Functor, class T>
bool compute(Vector& first, const Vector& second, Type type) {
  const auto result = Functor::apply(*first.inline_elements<T>(), *second.inline_elements<T>());
  first.type = type;
  first.fits_bytes = false;
  *first.inline_elements<std::remove_const_t<decltype(result)>>() = result;
  return true;
}

template <class T>
bool compute_numbers(Op op, Vector& first, const Vector& second) {
  switch (op) {
    case Op::Add:
      return compute<ops::Add, T>(first, second, first.type);
    case Op::Subtract:
      return compute<ops::Subtract, T>(first, second, first.type);
    case Op::Multiply:
      return compute<ops::Multiply, T>(first, second, first.type);
    case Op::Less:
      return compute<ops::Less, T>(first, second, Type::Bool);
    case Op::LessEqual:
      return compute<ops::LessEqual, T>(first, second, Type::Bool);
    case Op::Greater:
      return compute<ops::Greater, T>(first, second, Type::Bool);
    case Op::GreaterEqual:
      return compute<ops::GreaterEqual, T>(first, second, Type::Bool);
    case Op::Equal:
      return compute<ops::Equal, T>(first, second, Type::Bool);
    case Op::NotEqual:
      return compute<ops::NotEqual, T>(first, second, Type::Bool);
    default:
      return false;
  }
}

bool compute_flags(Op op, Vector& first, const Vector& second) {
  switch (op) {
    case Op::And:
      return compute<ops::And, ops::Bool>(first, second, first.type);
    case Op::Or:
      return compute<ops::Or, ops::Bool>(first, second, first.type);
    default:
      return false;
  }
}

}  // namespace

bool compute_scalar(const TypedOp& op, cvl::Widths widths, Value* operands) {
  constexpr std::size_t kBinary = 2;
  if (op.operands != kBinary || op.results != 1) return false;
  if (!operands[0].is_vector() || !operands[1].is_vector()) return false;
  Vector& first = operands[0].vector();
  const Vector& second = operands[1].vector();
  if (!is_here(first) || !is_here(second)) return false;
  switch (op.type) {
    case Type::Int:
      return widths.int_bytes == 4 ? compute_numbers<std::int32_t>(op.op, first, second)
                                   : compute_numbers<std::int64_t>(op.op, first, second);
    case Type::Float:
      return widths.float_bytes == 4 ? compute_numbers<float>(op.op, first, second)
                                     : compute_numbers<double>(op.op, first, second);
    case Type::Bool:
      return compute_flags(op.op, first, second);
    default:
      return false;
  }
}

}  // namespace vinterp
