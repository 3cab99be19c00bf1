#include "cvl-cpu/native_scalars.hpp"

#include <bit>

#include "vcode/comparisons.hpp"

namespace cvl::cpu {

using asmjit::imm;
using asmjit::InstId;
using asmjit::Label;
using asmjit::x86::CondCode;
using asmjit::x86::Gp;
using asmjit::x86::Mem;
using asmjit::x86::Xmm;
namespace Inst = asmjit::x86::Inst;
using Register = asmjit::x86::Reg;
using Value = NativeLoop::Value;
using vcode::Op;

namespace {

CondCode signed_condition(Op op) {
  switch (op) {
    case Op::Less:
      return CondCode::kSignedLT;
    case Op::LessEqual:
      return CondCode::kSignedLE;
    case Op::Greater:
      return CondCode::kSignedGT;
    case Op::GreaterEqual:
      return CondCode::kSignedGE;
    case Op::Equal:
      return CondCode::kEqual;
    default:
      return CondCode::kNotEqual;
  }
}

bool orders_floats(const Value& value) {
  return vcode::is_comparison(value.op) && value.written == Type::Float && value.op != Op::Equal &&
         value.op != Op::NotEqual;
}

/// Of INTs, or of BOOLs, which are 0 or 1: the instruction that replaces one of two registers.
InstId int_instruction(Op op) {
  switch (op) {
    case Op::Add:
      return Inst::kIdAdd;
    case Op::Subtract:
      return Inst::kIdSub;
    case Op::And:
      return Inst::kIdAnd;
    case Op::Or:
      return Inst::kIdOr;
    default:  // Xor, of BOOLs NotEqual, and, before it is turned round, Equal
      return Inst::kIdXor;
  }
}

}  // namespace

ScalarWriter::ScalarWriter(asmjit::CodeHolder& code, const std::vector<Value>& values,
                           Widths widths)
    : c_(&code), values_(values), widths_(widths), own_(values.size() + 1) {
  for (std::uint32_t k = 0; k < values_.size(); ++k) ranges_.push_back(range(k));
}

/// 0 <= index AND index < size, or index < 0 OR index >= size.
std::optional<ScalarWriter::Range> ScalarWriter::range(std::uint32_t k) const {
  const bool inside = is_logic(k, Op::And);
  if (!inside && !is_logic(k, Op::Or)) return std::nullopt;
  const std::uint32_t* args = values_[k].args;
  for (const int first : {0, 1}) {
    const std::uint32_t below = args[first], above = args[1 - first];
    const bool compares = applies(below, inside ? Op::GreaterEqual : Op::Less) &&
                          applies(above, inside ? Op::Less : Op::GreaterEqual) &&
                          values_[below].written == Type::Int &&
                          values_[above].written == Type::Int &&
                          values_[below].args[0] == values_[above].args[0];
    if (!compares || values_[values_[below].args[1]].number != 0) continue;
    const std::uint32_t size = values_[above].args[1];
    if (values_[size].is_size) return Range{values_[above].args[0], size, inside};
  }
  return std::nullopt;
}

// --- Registers and memory ---

Register ScalarWriter::make(Kind kind) {
  const auto made = [&]() -> Register {
    switch (kind) {
      case kByte:
        return c_.newUInt8();
      case kWord:
        return c_.newInt32();
      case kLong:
        return c_.newInt64();
      default:
        return c_.newXmm();
    }
  };
  if (making_.own == nullptr) return made();
  std::vector<Register>& own = (*making_.own)[kind];
  const std::size_t number = making_.taken[kind]++;
  if (number == own.size()) own.push_back(made());
  return own[number];
}

Register ScalarWriter::make(Type type) {
  if (type == Type::Float) return make(kReal);
  return make(type == Type::Int && is_wide(type) ? kLong : kWord);
}

void ScalarWriter::move(const Register& to, Type type, const Register& from) {
  if (type == Type::Float) {
    c_.vmovaps(to.as<Xmm>(), from.as<Xmm>());
  } else {
    c_.mov(to.as<Gp>(), from.as<Gp>());
  }
}

Register ScalarWriter::copied(Type type, const Register& from) {
  const Register copy = make(type);
  move(copy, type, from);
  return copy;
}

Gp ScalarWriter::address(std::uint32_t place) {
  const Gp address = make_long();
  c_.mov(address, asmjit::x86::qword_ptr(at_, static_cast<std::int32_t>(place * sizeof(void*))));
  return address;
}

Mem ScalarWriter::element(std::uint32_t place, Type type, bool of_state) {
  return element(address(place), type, of_state ? &position_ : nullptr);
}

Mem ScalarWriter::element(const Gp& address, Type type, const Gp* index) const {
  const std::uint32_t shift = type == Type::Bool ? 0 : is_wide(type) ? 3 : 2;
  return typed(
      index == nullptr ? asmjit::x86::ptr(address) : asmjit::x86::ptr(address, *index, shift),
      type);
}

Mem ScalarWriter::typed(Mem memory, Type type) const {
  memory.setSize(type == Type::Bool ? 1 : is_wide(type) ? 8 : 4);
  return memory;
}

Register ScalarWriter::loaded(Type type, const Mem& from) {
  const Register to = make(type);
  load(to, type, from);
  return to;
}

void ScalarWriter::load(const Register& to, Type type, const Mem& from) {
  if (type == Type::Float) {
    emit_float(Inst::kIdVmovss, Inst::kIdVmovsd, to, from);
  } else if (type == Type::Bool) {
    c_.movzx(to.as<Gp>(), from);
  } else {
    c_.mov(to.as<Gp>(), from);
  }
}

void ScalarWriter::make_zero(const Register& to, Type type) {
  if (type == Type::Float) {
    c_.vxorps(to.as<Xmm>(), to.as<Xmm>(), to.as<Xmm>());
  } else {
    c_.xor_(to.as<Gp>(), to.as<Gp>());
  }
}

void ScalarWriter::store(const Mem& to, Type type, const Register& from) {
  if (type == Type::Float) {
    emit_float(Inst::kIdVmovss, Inst::kIdVmovsd, to, from);
  } else {
    c_.mov(to, type == Type::Bool ? from.as<Gp>().r8() : from.as<Gp>());
  }
}

// --- Values ---

Register ScalarWriter::need(ScalarPath& path, std::uint32_t number) {
  const std::uint32_t k = path.same[number];
  if (!path.held[k].isValid()) {
    ++computations_;
    const Making before = std::exchange(making_, {&own_[k], {}});
    path.held[k] = computed(path, k);
    making_ = before;
  }
  return path.held[k];
}

Register ScalarWriter::computed(ScalarPath& path, std::uint32_t k) {
  const Value& value = values_[k];
  if (path.known[k] || value.number) {
    const Register result = make(value.type);
    c_.mov(result.as<Gp>(), imm(path.known[k] ? std::int64_t{*path.known[k]} : *value.number));
    return result;
  }
  if (value.kind == Value::Kind::Gather) return gathered(path, value);
  return value.math != nullptr ? called(path, value) : applied(path, k);
}

/// An INT that instructions can contain.
std::optional<std::int64_t> ScalarWriter::literal(const ScalarPath& path, std::uint32_t k) const {
  const Value& value = values_[path.same[k]];
  const bool fits = value.number && *value.number == static_cast<std::int32_t>(*value.number);
  return fits && value.type == Type::Int ? value.number : std::nullopt;
}

/// out = out `id` value.
void ScalarWriter::combine(ScalarPath& path, InstId id, const Gp& out, std::uint32_t k) {
  if (const auto number = literal(path, k)) {
    c_.emit(id, out, imm(*number));
  } else {
    c_.emit(id, out, general(path, k));
  }
}

CondCode ScalarWriter::compare(ScalarPath& path, std::uint32_t number) {
  const std::uint32_t k = path.same[number];
  const Value& value = values_[k];
  if (!path.held[k].isValid() && value.kind == Value::Kind::Apply) {
    if (is_logic(k, Op::Not)) return asmjit::x86::negateCond(compare(path, value.args[0]));
    if (const auto& range = ranges_[k]) {
      // Without signs: negative ones are beyond every length.
      c_.cmp(general(path, range->index), general(path, range->size));
      return range->inside ? CondCode::kUnsignedLT : CondCode::kUnsignedGE;
    }
    if (vcode::is_comparison(value.op) && value.written == Type::Int) {
      combine(path, Inst::kIdCmp, general(path, value.args[0]), value.args[1]);
      return signed_condition(value.op);
    }
    if (orders_floats(value)) {
      // An operand that is no number is neither below nor above.
      const bool swaps = value.op == Op::Less || value.op == Op::LessEqual;
      const Xmm first = real(path, value.args[swaps ? 1 : 0]);
      const Xmm second = real(path, value.args[swaps ? 0 : 1]);
      emit_float(Inst::kIdVucomiss, Inst::kIdVucomisd, first, second);
      const bool equal = value.op == Op::LessEqual || value.op == Op::GreaterEqual;
      return equal ? CondCode::kUnsignedGE : CondCode::kUnsignedGT;
    }
  }
  const Gp flag = general(path, k);
  c_.test(flag, flag);
  return CondCode::kNZ;
}

/// 0 or 1.
Gp ScalarWriter::flag(CondCode condition) {
  const Gp byte = make(kByte).as<Gp>(), out = make_word();
  c_.emit(Inst::setccFromCond(condition), byte);
  c_.movzx(out, byte);
  return out;
}

bool ScalarWriter::is_inside(const ScalarPath& path, std::uint32_t index,
                             std::uint32_t length) const {
  for (std::uint32_t k = 0; k < ranges_.size(); ++k) {
    const std::optional<Range>& range = ranges_[k];
    const bool is_known = range && range->index == index && range->size == length;
    if (is_known && path.known[k] == range->inside) return true;
  }
  return false;
}

Gp ScalarWriter::place_below(const Gp& index, const std::optional<Gp>& length, const Label& none) {
  const Gp place = make_long();
  if (length) {
    c_.cmp(index, *length);
    c_.jae(none);
  }
  is_wide(Type::Int) ? c_.mov(place, index) : c_.mov(place.r32(), index);
  return place;
}

/// The element, or 0 where there is none.
Register ScalarWriter::gathered(ScalarPath& path, const Value& value) {
  const Gp index = general(path, value.args[0]), length = general(path, value.args[1]);
  const Register out = make(value.type);
  const Label none = c_.newLabel();
  const bool inside = is_inside(path, value.args[0], value.args[1]);
  if (!inside && value.type == Type::Float) {
    c_.vxorps(out.as<Xmm>(), out.as<Xmm>(), out.as<Xmm>());
  } else if (!inside) {
    c_.mov(out.as<Gp>(), 0);
  }
  const Gp place = place_below(index, inside ? std::nullopt : std::optional(length), none);
  const Mem from = element(address(value.place), value.bytes ? Type::Bool : value.type, &place);
  if (value.bytes) {
    c_.movzx(out.as<Gp>().r32(), from);
  } else {
    move(out, value.type, loaded(value.type, from));
  }
  c_.bind(none);
  return out;
}

/// A math function of one number, by the kernel for vectors.
Register ScalarWriter::called(ScalarPath& path, const Value& value) {
  const Xmm argument = real(path, value.args[0]);
  const auto bytes = static_cast<std::uint32_t>(widths_.float_bytes);
  Mem from = c_.newStack(bytes, bytes), to = c_.newStack(bytes, bytes);
  from.setSize(bytes);
  to.setSize(bytes);
  store(from, Type::Float, argument);
  const Gp from_at = make_long(), to_at = make_long();
  c_.lea(from_at, from);
  c_.lea(to_at, to);
  asmjit::InvokeNode* call = nullptr;
  c_.invoke(
      &call, imm(reinterpret_cast<std::uintptr_t>(value.math)),
      asmjit::FuncSignatureT<bool, void*, const void*, const void*, const void*, std::int64_t>());
  call->setArg(0, to_at);
  call->setArg(1, from_at);
  call->setArg(2, imm(0));
  call->setArg(3, imm(0));
  call->setArg(4, imm(1));
  return loaded(Type::Float, to);
}

Register ScalarWriter::applied(ScalarPath& path, std::uint32_t k) {
  const Value& value = values_[k];
  switch (value.op) {
    case Op::Select:
      return selected(path, value);
    case Op::Divide:
    case Op::Modulo:
      return value.type == Type::Float ? float_arithmetic(path, value) : divided(path, value);
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Round:
      return rounded(path, value);
    case Op::Sqrt: {
      const Xmm from = real(path, value.args[0]), out = make_real();
      emit_float(Inst::kIdVsqrtss, Inst::kIdVsqrtsd, out, from, from);
      return out;
    }
    case Op::IntToFloat:
    case Op::IntToBool:
    case Op::BoolToInt:
      return converted(path, value);
    default:
      break;
  }
  if (ranges_[k]) return flag(compare(path, k));
  if (vcode::is_comparison(value.op) && value.written != Type::Bool) return compared(path, k);
  return value.type == Type::Float ? float_arithmetic(path, value) : int_arithmetic(path, value);
}

Register ScalarWriter::converted(ScalarPath& path, const Value& value) {
  const Gp from = general(path, value.args[0]);
  if (value.op == Op::IntToBool) {
    c_.test(from, from);
    return flag(CondCode::kNZ);
  }
  const Register out = make(value.type);
  if (value.op == Op::BoolToInt) {
    c_.mov(out.as<Gp>().r32(), from);
  } else {
    c_.vxorps(out.as<Xmm>(), out.as<Xmm>(), out.as<Xmm>());
    emit_float(Inst::kIdVcvtsi2ss, Inst::kIdVcvtsi2sd, out, out, from);
  }
  return out;
}

Register ScalarWriter::compared(ScalarPath& path, std::uint32_t k) {
  const Value& value = values_[k];
  if (value.written == Type::Int || orders_floats(value)) return flag(compare(path, k));
  const Xmm first = real(path, value.args[0]), second = real(path, value.args[1]);
  const Xmm lanes = make_real();
  const Gp out = make_word();
  constexpr int kEqual = 0x00, kNotEqual = 0x04;
  emit_float(Inst::kIdVcmpss, Inst::kIdVcmpsd, lanes, first, second,
             imm(value.op == Op::Equal ? kEqual : kNotEqual));
  c_.vmovd(out, lanes);
  c_.and_(out, 1);
  return out;
}

Register ScalarWriter::float_arithmetic(ScalarPath& path, const Value& value) {
  const Xmm first = real(path, value.args[0]), second = real(path, value.args[1]);
  const Xmm out = make_real();
  const auto emit = [&](InstId narrow, InstId wide) {
    emit_float(narrow, wide, out, first, second);
  };
  switch (value.op) {
    case Op::Add:
      emit(Inst::kIdVaddss, Inst::kIdVaddsd);
      break;
    case Op::Subtract:
      emit(Inst::kIdVsubss, Inst::kIdVsubsd);
      break;
    case Op::Multiply:
      emit(Inst::kIdVmulss, Inst::kIdVmulsd);
      break;
    default:
      emit(Inst::kIdVdivss, Inst::kIdVdivsd);
      break;
  }
  return out;
}

/// INTs, or BOOLs, which are 0 or 1.
Register ScalarWriter::int_arithmetic(ScalarPath& path, const Value& value) {
  const Register result = copied(value.type, general(path, value.args[0]));
  const Gp out = result.as<Gp>();
  switch (value.op) {
    case Op::Multiply:
      if (const auto number = literal(path, value.args[1])) {
        c_.imul(out, out, imm(*number));
      } else {
        c_.imul(out, general(path, value.args[1]));
      }
      break;
    case Op::ShiftLeft:
    case Op::ShiftRight:
      shift(path, value, out);
      break;
    case Op::Not:
      value.type == Type::Bool ? c_.xor_(out, 1) : c_.not_(out);
      break;
    default:
      combine(path, int_instruction(value.op), out, value.args[1]);
      if (value.op == Op::Equal) c_.xor_(out, 1);
      break;
  }
  return result;
}

/// Processors take counts modulo the width, as is wanted.
void ScalarWriter::shift(ScalarPath& path, const Value& value, const Gp& out) {
  const bool left = value.op == Op::ShiftLeft;
  if (const auto number = literal(path, value.args[1])) {
    c_.emit(left ? Inst::kIdShl : Inst::kIdSar, out, imm(*number & (is_wide(Type::Int) ? 63 : 31)));
  } else {
    c_.emit(left ? Inst::kIdShlx : Inst::kIdSarx, out, out, general(path, value.args[1]));
  }
}

Register ScalarWriter::selected(ScalarPath& path, const Value& value) {
  const Register yes = need(path, value.args[1]), no = need(path, value.args[2]);
  const CondCode condition = compare(path, value.args[0]);
  const Register out = copied(value.type, no);
  if (value.type == Type::Float) {
    const Label kept = c_.newLabel();
    c_.emit(Inst::jccFromCond(asmjit::x86::negateCond(condition)), kept);
    move(out, value.type, yes);
    c_.bind(kept);
  } else {
    c_.emit(Inst::cmovccFromCond(condition), out, yes);
  }
  return out;
}

/// FLOOR, CEIL, TRUNC and ROUND; the least INT where the number does not fit.
Register ScalarWriter::rounded(ScalarPath& path, const Value& value) {
  const Xmm from = real(path, value.args[0]);
  Xmm whole = from;
  if (value.op != Op::Trunc) {
    constexpr int kDown = 0x09, kUp = 0x0A;
    whole = make_real();
    emit_float(Inst::kIdVroundss, Inst::kIdVroundsd, whole, from, from,
               imm(value.op == Op::Ceil ? kUp : kDown));
  }
  if (value.op == Op::Round) {
    // Halves upwards.
    const auto number = [&](double x) {
      constexpr auto kScope = asmjit::ConstPoolScope::kLocal;
      return is_wide(Type::Float) ? c_.newDoubleConst(kScope, x)
                                  : c_.newFloatConst(kScope, static_cast<float>(x));
    };
    const Xmm above = make_real(), rest = make_real();
    const Label below = c_.newLabel();
    emit_float(Inst::kIdVsubss, Inst::kIdVsubsd, rest, from, whole);
    emit_float(Inst::kIdVaddss, Inst::kIdVaddsd, above, whole, number(1.0));
    emit_float(Inst::kIdVucomiss, Inst::kIdVucomisd, rest, number(0.5));
    c_.jb(below);  // or where it is no number
    c_.vmovaps(whole, above);
    c_.bind(below);
  }
  const Register out = make(Type::Int);
  emit_float(Inst::kIdVcvttss2si, Inst::kIdVcvttsd2si, out, whole);
  return out;
}

// --- Division of INTs ---

Register ScalarWriter::divided(ScalarPath& path, const Value& value) {
  const Gp dividend = general(path, value.args[0]);
  const std::optional<std::int64_t> by = literal(path, value.args[1]);
  const bool wants_rest = value.op == Op::Modulo;
  const std::uint64_t size =
      by ? static_cast<std::uint64_t>(*by < 0 ? -*by : *by) : std::uint64_t{0};
  if (size != 0 && (std::has_single_bit(size) || !is_wide(Type::Int))) {
    const Gp quotient = std::has_single_bit(size)
                            ? shifted(dividend, std::countr_zero(size))
                            : multiplied(dividend, static_cast<std::int64_t>(size));
    if (*by < 0) c_.neg(quotient);
    if (!wants_rest) return quotient;
    const Gp product = copied(Type::Int, quotient).as<Gp>();
    const Gp rest = copied(Type::Int, dividend).as<Gp>();
    c_.imul(product, product, imm(*by));
    c_.sub(rest, product);
    return rest;
  }
  const Gp divisor = general(path, value.args[1]);
  const Label negates = c_.newLabel(), done = c_.newLabel();
  // Loops do not divide by 0 but where nobody reads the quotient.
  c_.test(divisor, divisor);
  c_.jz(failed_);
  const Gp low = copied(Type::Int, dividend).as<Gp>(), high = make(Type::Int).as<Gp>();
  c_.cmp(divisor, -1);  // the least INT divided by which makes processors stop
  c_.je(negates);
  is_wide(Type::Int) ? c_.cqo(high, low) : c_.cdq(high, low);
  c_.idiv(high, low, divisor);
  c_.jmp(done);
  c_.bind(negates);
  c_.neg(low);
  c_.mov(high, 0);
  c_.bind(done);
  return wants_rest ? high : low;
}

/// Divided by a power of two, towards zero.
Gp ScalarWriter::shifted(const Gp& dividend, int bits) {
  const Gp out = copied(Type::Int, dividend).as<Gp>();
  if (bits == 0) return out;
  const int width = is_wide(Type::Int) ? 64 : 32;
  const Gp more = copied(Type::Int, dividend).as<Gp>();
  c_.sar(more, width - 1);
  c_.shr(more, width - bits);
  c_.add(out, more);
  c_.sar(out, bits);
  return out;
}

/// A 32-bit INT divided by a number that is no power of two: multiplied with its reciprocal
/// (Granlund and Montgomery, "Division by invariant integers using multiplication", PLDI 1994).
Gp ScalarWriter::multiplied(const Gp& dividend, std::int64_t divisor) {
  const int bits = 31 + std::bit_width(static_cast<std::uint64_t>(divisor));
  const Gp factor = make_long(), product = make_long();
  c_.mov(factor, (std::uint64_t{1} << bits) / static_cast<std::uint64_t>(divisor) + 1);
  c_.movsxd(product, dividend);
  c_.imul(product, factor);
  c_.sar(product, bits);
  const Gp sign = copied(Type::Int, dividend).as<Gp>();
  c_.sar(sign, 31);
  const Gp out = make_word();
  c_.mov(out, product.r32());
  c_.sub(out, sign);
  return out;
}

}  // namespace cvl::cpu
