#include "cvl-cpu/narrow.hpp"

#include <algorithm>
#include <utility>

#include "cvl-cpu/movement.hpp"
#include "cvl-cpu/operations.hpp"
#include "cvl/failure.hpp"
#include "vcode/comparisons.hpp"

namespace cvl::cpu {
namespace {

using vcode::Op;

bool fits_bytes(const Value& value) {
  return value.type() == Type::Int && value.vector().fits_bytes;
}

/// The operand that DPERMUTE and DFPERMUTE write over, or -1.
int default_of(Op op) {
  return op == Op::DPermute ? 2 : op == Op::DFPermute ? 3 : -1;
}

/// Is it a vector over which bytes can be written?
bool takes_bytes(const CpuBackend& cpu, const Value& defaults) {
  constexpr std::int64_t kMost = 255;
  const Vector& vector = defaults.vector();
  if (vector.form != Form::Constant) return vector.form == Form::Narrow;
  if (!CpuBackend::keeps_narrow(vector.length)) return false;
  const std::int64_t element = int_at(cpu, vector, 0);
  return element >= 0 && element <= kMost;
}

/// How long is the result of an operation that can be longer than its source?
std::int64_t result_length(Op op, const Value* operands) {
  switch (op) {
    case Op::BPermute:
    case Op::BFPermute:
      return operands[1].vector().length;
    case Op::FPermute:
      return operands[4].segdes().total;
    case Op::DPermute:
      return operands[2].vector().length;
    case Op::DFPermute:
      return operands[3].vector().length;
    case Op::Distribute:
      return operands[1].segdes().total;
    default:
      return 0;
  }
}

/// Elements as BOOLs, which take a byte each. Of what is plain they are copied: it is short.
Vector as_bools(CpuBackend& cpu, Vector ints) {
  Vector result;
  if (ints.form == Form::Narrow || ints.form == Form::Constant) {
    result = std::move(ints);
    if (result.form == Form::Narrow) result.form = Form::Dense;
  } else {
    result = cpu.new_vector(Type::Bool, ints.length);
    cpu.kernels().narrow(mutable_elements<std::uint8_t>(result), elements<void>(ints), ints.length);
  }
  result.type = Type::Bool;
  result.fits_bytes = false;
  return result;
}

void move_bytes(CpuBackend& cpu, Op op, Value* operands, Value* results) {
  switch (vcode::info(op).family) {
    case vcode::Family::Permute:
      return run_permute(cpu, op, Type::Bool, operands, results);
    case vcode::Family::Extract:
      return run_extract(cpu, op, Type::Bool, operands, results);
    case vcode::Family::Distribute:
      return run_distribute(cpu, op, Type::Bool, operands, results);
    default:
      return pack(cpu, cpu.kernels().compress_bytes, operands, results);
  }
}

/// The INTs that were moved as BOOLs.
Vector as_ints(CpuBackend& cpu, Vector bytes) {
  if (bytes.form == Form::Constant) {
    return constant_vector(cpu, Type::Int, bytes.length,
                           make_int(cpu.widths(), *elements<std::uint8_t>(bytes)).payload);
  }
  if (bytes.form == Form::Dense && CpuBackend::keeps_narrow(bytes.length)) {
    bytes.type = Type::Int;
    bytes.form = Form::Narrow;
    bytes.fits_bytes = true;
    return bytes;
  }
  Vector result = cpu.new_vector(Type::Int, bytes.length);
  cpu.kernels().widen(mutable_elements<void>(result), elements<std::uint8_t>(bytes), bytes.length);
  result.fits_bytes = true;
  return result;
}

/// The bytes b for which `b op number` holds.
ByteRange matching_bytes(Op op, std::int64_t number) {
  constexpr std::int64_t kMost = 255;
  // Numbers beyond all bytes on either side are as good as the next one there.
  number = std::clamp<std::int64_t>(number, -1, kMost + 1);
  const auto from_to = [&](std::int64_t first, std::int64_t last, bool outside) -> ByteRange {
    first = std::max<std::int64_t>(first, 0);
    last = std::min(last, kMost);
    if (first > last) return {0, kMost, !outside};
    return {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(last - first), outside};
  };
  switch (op) {
    case Op::Less:
      return from_to(0, number - 1, false);
    case Op::LessEqual:
      return from_to(0, number, false);
    case Op::Greater:
      return from_to(number + 1, kMost, false);
    case Op::GreaterEqual:
      return from_to(number, kMost, false);
    default:
      return from_to(number, number, op == Op::NotEqual);
  }
}

}  // namespace

Vector writable_bytes(CpuBackend& cpu, Vector& dying) {
  if (dying.buffer.unique()) return dying;
  Vector result = cpu.new_narrow(dying.length);
  copy_parallel(cpu, result.buffer->data, dying.buffer->data, dying.length);
  return result;
}

void compare_bytes(const CpuBackend& cpu, Op op, bool number_first, std::int64_t number,
                   const std::byte* bytes, std::byte* out, std::int64_t n) {
  cpu.kernels().match_bytes(reinterpret_cast<std::uint8_t*>(out),
                            reinterpret_cast<const std::uint8_t*>(bytes),
                            matching_bytes(number_first ? mirrored(op) : op, number), n);
}

void compare_bytes(const CpuBackend& cpu, Op op, bool number_first, std::int64_t number,
                   const std::byte* bytes, std::uint64_t* masks, std::int64_t n) {
  cpu.kernels().match_masks(masks, reinterpret_cast<const std::uint8_t*>(bytes),
                            matching_bytes(number_first ? mirrored(op) : op, number), n);
}

bool moves_narrow(const CpuBackend& cpu, Op op, const Value* operands) {
  if (!fits_bytes(operands[0])) return false;
  const Vector& source = operands[0].vector();
  const vcode::Family family = vcode::info(op).family;
  if (family != vcode::Family::Permute && family != vcode::Family::Extract &&
      family != vcode::Family::Distribute && family != vcode::Family::Pack) {
    return false;
  }
  if (source.form != Form::Narrow &&
      !(source.is_plain() && CpuBackend::keeps_narrow(result_length(op, operands)))) {
    return false;
  }
  return default_of(op) < 0 || takes_bytes(cpu, operands[default_of(op)]);
}

void move_narrow(CpuBackend& cpu, Op op, Value* operands, Value* results) {
  const Vector source = operands[0].vector();
  operands[0] = as_bools(cpu, source);
  // Not copied: the operation may write over it.
  Vector* const defaults = default_of(op) < 0 ? nullptr : &operands[default_of(op)].vector();
  const Form form = defaults != nullptr ? defaults->form : Form::Inline;
  if (defaults != nullptr) *defaults = as_bools(cpu, std::move(*defaults));
  try {
    move_bytes(cpu, op, operands, results);
  } catch (const Failure&) {  // whose report may show the operands
    operands[0] = source;
    if (defaults != nullptr) {
      defaults->type = Type::Int;
      defaults->form = form;
      defaults->fits_bytes = form == Form::Narrow;
    }
    throw;
  }
  results[0] = as_ints(cpu, std::move(results[0].vector()));
}

}  // namespace cvl::cpu
