#include "machine/scalars.hpp"

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

template <class Result>
void put(Vector& vector, Type type, Result result) {
  vector.type = type;
  vector.fits_bytes = false;
  *vector.inline_elements<Result>() = result;
}

template <class Functor, class T>
bool combine(Vector& first, const Vector& second) {
  put<T>(first, first.type,
         Functor::apply(*first.inline_elements<T>(), *second.inline_elements<T>()));
  return true;
}

template <class Functor, class T>
bool compare(Vector& first, const Vector& second) {
  put<ops::Bool>(first, Type::Bool,
                 Functor::apply(*first.inline_elements<T>(), *second.inline_elements<T>()));
  return true;
}

template <class T>
bool compute_numbers(Op op, Vector& first, const Vector& second) {
  switch (op) {
    case Op::Add:
      return combine<ops::Add, T>(first, second);
    case Op::Subtract:
      return combine<ops::Subtract, T>(first, second);
    case Op::Multiply:
      return combine<ops::Multiply, T>(first, second);
    case Op::Less:
      return compare<ops::Less, T>(first, second);
    case Op::LessEqual:
      return compare<ops::LessEqual, T>(first, second);
    case Op::Greater:
      return compare<ops::Greater, T>(first, second);
    case Op::GreaterEqual:
      return compare<ops::GreaterEqual, T>(first, second);
    case Op::Equal:
      return compare<ops::Equal, T>(first, second);
    case Op::NotEqual:
      return compare<ops::NotEqual, T>(first, second);
    default:
      return false;
  }
}

bool compute_flags(Op op, Vector& first, const Vector& second) {
  switch (op) {
    case Op::And:
      return combine<ops::And, ops::Bool>(first, second);
    case Op::Or:
      return combine<ops::Or, ops::Bool>(first, second);
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
