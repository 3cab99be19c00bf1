#include "cvl-cpu/native_values.hpp"

#include <algorithm>

#include "cvl-cpu/native_gather.hpp"
#include "vcode/comparisons.hpp"

namespace cvl::cpu {

using asmjit::x86::Gp;
using asmjit::x86::KReg;
using asmjit::x86::Mem;
using asmjit::x86::Vec;
namespace Inst = asmjit::x86::Inst;
using asmjit::InstId;
using vcode::Op;
using Register = ValueWriter::Register;

namespace {

/// The type of operand k, or of the result.
Lane operand_lane(const NativeLoop::Value& value, std::size_t k, Widths widths) {
  return lane_of(*vcode::operand_type(vcode::info(value.op).operands[k], value.written), widths);
}

/// Instructions of three registers by lanes; kIdNone: there is none.
struct Instructions {
  Op op;
  InstId by_lane[5];
};
constexpr Instructions kAvx512[] = {
    {Op::Add, {Inst::kIdVpaddd, Inst::kIdVpaddq, Inst::kIdVaddps, Inst::kIdVaddpd}},
    {Op::Subtract, {Inst::kIdVpsubd, Inst::kIdVpsubq, Inst::kIdVsubps, Inst::kIdVsubpd}},
    {Op::Multiply, {Inst::kIdVpmulld, Inst::kIdVpmullq, Inst::kIdVmulps, Inst::kIdVmulpd}},
    {Op::Divide, {0, 0, Inst::kIdVdivps, Inst::kIdVdivpd}},
    {Op::And, {Inst::kIdVpandd, Inst::kIdVpandq, 0, 0, Inst::kIdKandw}},
    {Op::Or, {Inst::kIdVpord, Inst::kIdVporq, 0, 0, Inst::kIdKorw}},
    {Op::Xor, {Inst::kIdVpxord, Inst::kIdVpxorq, 0, 0, Inst::kIdKxorw}},
    {Op::NotEqual, {0, 0, 0, 0, Inst::kIdKxorw}},
    {Op::Equal, {0, 0, 0, 0, Inst::kIdKxnorw}},
    {Op::ShiftLeft, {Inst::kIdVpsllvd, Inst::kIdVpsllvq}},
    {Op::ShiftRight, {Inst::kIdVpsravd, Inst::kIdVpsravq}},
};
constexpr Instructions kAvx2[] = {
    {Op::Add, {Inst::kIdVpaddd, Inst::kIdVpaddq, Inst::kIdVaddps, Inst::kIdVaddpd}},
    {Op::Subtract, {Inst::kIdVpsubd, Inst::kIdVpsubq, Inst::kIdVsubps, Inst::kIdVsubpd}},
    {Op::Multiply, {Inst::kIdVpmulld, 0, Inst::kIdVmulps, Inst::kIdVmulpd}},
    {Op::Divide, {0, 0, Inst::kIdVdivps, Inst::kIdVdivpd}},
    {Op::And, {Inst::kIdVpand, Inst::kIdVpand, 0, 0, Inst::kIdVpand}},
    {Op::Or, {Inst::kIdVpor, Inst::kIdVpor, 0, 0, Inst::kIdVpor}},
    {Op::Xor, {Inst::kIdVpxor, Inst::kIdVpxor, 0, 0, Inst::kIdVpxor}},
    {Op::NotEqual, {0, 0, 0, 0, Inst::kIdVpxor}},
    {Op::Equal, {0, 0, 0, 0, Inst::kIdVpcmpeqd}},
    {Op::ShiftLeft, {Inst::kIdVpsllvd, Inst::kIdVpsllvq}},
    {Op::ShiftRight, {Inst::kIdVpsravd, 0}},
};

InstId shift_by_literal(Op op, Lane in) {
  if (op == Op::ShiftLeft) return in == Lane::I64 ? Inst::kIdVpsllq : Inst::kIdVpslld;
  return in == Lane::I64 ? Inst::kIdVpsraq : Inst::kIdVpsrad;
}

/// What VCMPPD is asked; comparisons with NaN are false but for the last one.
int float_predicate(Op op) {
  switch (op) {
    case Op::Less:
      return 0x11;
    case Op::LessEqual:
      return 0x12;
    case Op::Greater:
      return 0x1E;
    case Op::GreaterEqual:
      return 0x1D;
    case Op::Equal:
      return 0x00;
    default:
      return 0x04;
  }
}
/// The same for VPCMPD.
int int_predicate(Op op) {
  switch (op) {
    case Op::Less:
      return 1;
    case Op::LessEqual:
      return 2;
    case Op::Greater:
      return 6;
    case Op::GreaterEqual:
      return 5;
    case Op::Equal:
      return 0;
    default:
      return 4;
  }
}

}  // namespace

InstId instruction(bool avx512, Op op, Lane lane) {
  const auto find = [&](const auto& table) -> InstId {
    for (const Instructions& row : table) {
      if (row.op == op) return row.by_lane[static_cast<std::size_t>(lane)];
    }
    return 0;
  };
  return avx512 ? find(kAvx512) : find(kAvx2);
}

ValueWriter::ValueWriter(asmjit::CodeHolder& code, const NativeLoop& loop, Isa isa, Widths widths)
    : c_(&code),
      loop_(loop),
      widths_(widths),
      avx512_(isa == Isa::V4),
      lanes_((avx512_ ? 16 : 8) / (needs_wide_lanes(loop, widths) ? 2 : 1)),
      held_(loop.values.size()) {}

/// Do some lanes take 64 bits?
bool ValueWriter::needs_wide_lanes(const NativeLoop& loop, Widths widths) {
  return std::any_of(loop.values.begin(), loop.values.end(), [&](const Value& value) {
    return is_wide(lane_of(value.type, widths)) || value.divides_ints();
  });
}

bool ValueWriter::fails_by_element() const {
  return std::any_of(loop_.values.begin(), loop_.values.end(), [&](const Value& value) {
    return value.divides_ints() && loop_.values[value.args[1]].kind != Value::Kind::Uniform;
  });
}

void ValueWriter::begin_function(const Gp& first, const Gp& second) {
  asmjit::FuncNode* function = c_.addFunc(
      asmjit::FuncSignatureT<int, const void*, std::int64_t, std::int64_t, std::int64_t>());
  function->frame().setAvxEnabled();
  if (avx512_) function->frame().setAvx512Enabled();
  function->frame().setAvxCleanup();
  at_ = c_.newIntPtr();
  function->setArg(0, at_);
  function->setArg(1, first);
  function->setArg(2, second);
  position_ = c_.newInt64();
  function->setArg(3, position_);
  start_ = c_.cursor();
  c_.bind(c_.newLabel());
  begin_loop();
  const bool fails = std::any_of(loop_.values.begin(), loop_.values.end(),
                                 [](const Value& value) { return value.divides_ints(); });
  if (fails) at_start([&] { failed_ = no_flags(); });
}

void ValueWriter::copy_mask(const Gp& out, const KReg& mask) {
  // The compiler would read a mask that it keeps in memory from there, which no instruction does.
  const KReg here = c_.newKw();
  c_.kmovw(here, mask);
  c_.kmovw(out, here);
}

void ValueWriter::copy_first_lane(const Gp& out, Lane lane, const Register& from) {
  if (lane == Lane::Flag && avx512_) {
    copy_mask(out.r32(), from.as<KReg>());
    return;
  }
  const Vec here = c_.newXmm();  // see copy_mask()
  c_.vmovdqa(here, from.as<Vec>().xmm());
  is_wide(lane) ? c_.vmovq(out, here.xmm()) : c_.vmovd(out.r32(), here.xmm());
}

bool ValueWriter::end_function() {
  const Gp result = c_.newInt32();
  if (!failed_.isValid()) {
    c_.xor_(result, result);
  } else if (avx512_) {
    copy_mask(result, failed_.as<KReg>());
  } else {
    c_.vpmovmskb(result, failed_.as<Vec>());
  }
  c_.ret(result);
  c_.endFunc();
  return c_.finalize() == asmjit::kErrorOk;
}

// --- Registers ---

Register ValueWriter::make(Lane lane) {
  if (lane == Lane::Flag && avx512_) return c_.newKw();
  switch (lanes_ * lane_bytes(lane)) {
    case 16:
      return c_.newXmm();
    case 32:
      return c_.newYmm();
    default:
      return c_.newZmm();
  }
}
void ValueWriter::blend(const Vec& out, Lane lane, const Register& flags, const Vec& yes,
                        const Vec& no) {
  if (avx512_) {
    // One instruction would do, but the compiler takes its result for something that it reads.
    c_.vmovdqa64(out, no);
    c_.k(flags.as<KReg>()).emit(is_wide(lane) ? Inst::kIdVmovdqa64 : Inst::kIdVmovdqa32, out, yes);
  } else {
    c_.vpblendvb(out, no, yes, widened(flags.as<Vec>(), lane));
  }
}

Vec ValueWriter::constant(Lane lane, std::int64_t number) {
  Vec& held = constants_[{lane, number}];
  if (!held.isValid()) {
    at_start([&] {
      held = make_vector(lane);
      const Gp general = c_.newInt64();
      c_.mov(general, number);
      spread(held, lane, general);
    });
  }
  return held;
}
Mem ValueWriter::multiples(Lane lane, std::int64_t stride) {
  std::int64_t wide[16];
  std::int32_t narrow[16];
  for (int i = 0; i < 16; ++i) {
    wide[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) *
                                        static_cast<std::uint64_t>(i));
    narrow[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(wide[i]));
  }
  const void* numbers = is_wide(lane) ? static_cast<const void*>(wide) : narrow;
  const std::size_t bytes = static_cast<std::size_t>(lanes_ * lane_bytes(lane));
  return c_.newConst(asmjit::ConstPoolScope::kLocal, numbers, bytes);
}
void ValueWriter::spread(const Vec& out, Lane lane, const Gp& general) {
  const Vec low = c_.newXmm();
  if (is_wide(lane)) {
    c_.vmovq(low.xmm(), general.r64());
    c_.vpbroadcastq(out, low.xmm());
  } else {
    c_.vmovd(low.xmm(), general.r32());
    c_.vpbroadcastd(out, low.xmm());
  }
}
Register ValueWriter::no_flags() {
  const Register none = make(Lane::Flag);
  if (avx512_) {
    c_.kxorw(none.as<KReg>(), none.as<KReg>(), none.as<KReg>());
  } else {
    c_.vpxor(none.as<Vec>(), none.as<Vec>(), none.as<Vec>());
  }
  return none;
}

Gp ValueWriter::address(std::uint32_t place) {
  Gp& held = addresses_[place];
  if (!held.isValid()) {
    before_loop([&] {
      held = c_.newIntPtr();
      c_.mov(held, asmjit::x86::qword_ptr(at_, static_cast<std::int32_t>(place * sizeof(void*))));
    });
  }
  return held;
}
Mem ValueWriter::elements(const Gp& address, Lane lane, int offset) const {
  const int shift = lane == Lane::Flag ? 0 : is_wide(lane) ? 3 : 2;
  return asmjit::x86::ptr(address, position_, static_cast<std::uint32_t>(shift), offset << shift);
}

// --- Values ---

void ValueWriter::load(const Register& out, Lane lane, const Mem& from) {
  if (lane != Lane::Flag) {
    avx512_ ? c_.vmovdqu64(out.as<Vec>(), from) : c_.vmovdqu(out.as<Vec>(), from);
  } else if (avx512_) {
    const Vec bytes = c_.newXmm();
    lanes_ == 8 ? c_.vmovq(bytes.xmm(), from) : c_.vmovdqu64(bytes, from);
    c_.vptestmb(out.as<KReg>(), bytes, bytes);
  } else {
    const Vec flags = out.as<Vec>();
    c_.vpmovzxbd(flags, from);
    c_.vpsubd(flags, constant(Lane::I32, 0), flags);
  }
}

/// AVX-512: a byte for each, 0 or 1.
Vec ValueWriter::flag_bytes(const KReg& flags) {
  if (!byte_ones_.isValid()) {
    at_start([&] {
      byte_ones_ = c_.newXmm();
      const Gp one = c_.newInt64();
      c_.mov(one, 1);
      c_.vmovd(byte_ones_.xmm(), one.r32());
      c_.vpbroadcastb(byte_ones_, byte_ones_.xmm());
    });
  }
  const Vec bytes = c_.newXmm();
  c_.k(flags).z().vmovdqu8(bytes, byte_ones_);
  return bytes;
}

void ValueWriter::store(const Mem& to, Lane lane, const Register& value) {
  if (lane != Lane::Flag) {
    avx512_ ? c_.vmovdqu64(to, value.as<Vec>()) : c_.vmovdqu(to, value.as<Vec>());
    return;
  }
  if (avx512_) {
    const Vec bytes = flag_bytes(value.as<KReg>());
    lanes_ == 8 ? c_.vmovq(to, bytes.xmm()) : c_.vmovdqu64(to, bytes);
    return;
  }
  const Vec bytes = c_.newXmm();
  const Vec flags = value.as<Vec>();
  if (lanes_ == 8) {
    const Vec high = c_.newXmm();
    c_.vextracti128(high, flags, 1);
    c_.vpackssdw(bytes, flags.xmm(), high);
  } else {
    c_.vpackssdw(bytes, flags, flags);
  }
  c_.vpacksswb(bytes, bytes, bytes);
  c_.vpabsb(bytes, bytes);
  lanes_ == 8 ? c_.vmovq(to, bytes.xmm()) : c_.vmovd(to, bytes.xmm());
}

void ValueWriter::store_some(const Mem& to, Lane lane, const Register& value,
                             const Register& flags) {
  if (!avx512_) {
    c_.emit(is_wide(lane) ? Inst::kIdVpmaskmovq : Inst::kIdVpmaskmovd, to,
            widened(flags.as<Vec>(), lane), value);
  } else if (lane == Lane::Flag) {
    const Vec bytes = flag_bytes(value.as<KReg>());
    c_.k(flags.as<KReg>()).vmovdqu8(to, bytes);
  } else {
    c_.k(flags.as<KReg>()).emit(is_wide(lane) ? Inst::kIdVmovdqu64 : Inst::kIdVmovdqu32, to, value);
  }
}

void ValueWriter::write_value(std::uint32_t k, int offset) {
  const Value& value = loop_.values[k];
  if (is_applied(value)) {
    write_apply(k);
  } else if (value.kind == Value::Kind::Read) {
    held_[k] = make(lane(k));
    load(held_[k], lane(k), elements(address(value.place), lane(k), offset));
  } else if (!held_[k].isValid()) {
    before_loop([&] { write_uniform(k); });
  }
}

void ValueWriter::load_one(const Register& out, Lane lane, Mem from) {
  if (lane == Lane::Flag) {
    const Gp flag = c_.newInt32();
    from.setSize(1);
    c_.movzx(flag, from);
    c_.neg(flag);
    if (avx512_) {
      c_.kmovw(out.as<KReg>(), flag);
    } else {
      spread(out.as<Vec>(), Lane::I32, flag);
    }
  } else if (is_wide(lane)) {
    from.setSize(8);
    c_.vpbroadcastq(out.as<Vec>(), from);
  } else {
    from.setSize(4);
    c_.vpbroadcastd(out.as<Vec>(), from);
  }
}

void ValueWriter::write_uniform(std::uint32_t k) {
  held_[k] = make(lane(k));
  load_one(held_[k], lane(k), asmjit::x86::ptr(address(loop_.values[k].place)));
}

void ValueWriter::write_apply(std::uint32_t k) {
  const Value& value = loop_.values[k];
  if (value.kind == Value::Kind::Bitwise) return write_bitwise(k);
  if (value.kind == Value::Kind::Rotate) return write_rotation(k);
  const Lane in = operand_lane(value, 0, widths_);
  if (value.divides_ints()) {
    write_division(k);
  } else if (const InstId id = instruction(avx512_, value.op, in); id != 0) {
    held_[k] = make(lane(k));
    write_simple(id, k, in);
  } else if (is_comparison(value.op)) {
    held_[k] = compare(value.op, in, vector(value.args[0]), vector(value.args[1]));
  } else {
    write_other(k, in);
  }
}

/// With AVX-512.
void ValueWriter::write_bitwise(std::uint32_t k) {
  const Value& value = loop_.values[k];
  const Lane own = lane(k);
  held_[k] = make(own);
  move(vector(k), vector(value.args[0]));
  c_.emit(is_wide(own) ? Inst::kIdVpternlogq : Inst::kIdVpternlogd, vector(k),
          vector(value.args[1]), vector(value.args[2]), asmjit::imm(value.table));
}

/// With AVX-512.
void ValueWriter::write_rotation(std::uint32_t k) {
  const Value& value = loop_.values[k];
  const Lane own = lane(k);
  held_[k] = make(own);
  if (const auto& count = loop_.values[value.args[1]].number) {
    c_.emit(is_wide(own) ? Inst::kIdVprolq : Inst::kIdVprold, vector(k), vector(value.args[0]),
            asmjit::imm(*count));
  } else {
    c_.emit(is_wide(own) ? Inst::kIdVprolvq : Inst::kIdVprolvd, vector(k), vector(value.args[0]),
            vector(value.args[1]));
  }
}

/// Flags of indices from 0 up to the length, without that.
Register ValueWriter::inside(const Vec& indices, const Vec& length, Lane in) {
  if (avx512_) {
    constexpr int kLess = 1;
    const KReg result = c_.newKw();
    c_.emit(in == Lane::I64 ? Inst::kIdVpcmpuq : Inst::kIdVpcmpud, result, indices, length,
            asmjit::imm(kLess));
    return result;
  }
  const Vec result = make_vector(Lane::Flag);
  c_.vpandn(result, compare(Op::Less, in, indices, constant(in, 0)).as<Vec>(),
            compare(Op::Less, in, indices, length).as<Vec>());
  return result;
}

/// The element at an index that all lanes have, or 0 where their flags say so.
void ValueWriter::fetch_one(const Vec& out, const GatheredVector& from, const Vec& index,
                            Lane index_lane, const Register& flags) {
  const Gp wanted = c_.newInt64(), general = c_.newInt64();
  const asmjit::Label none = c_.newLabel();
  avx512_ ? c_.vpxord(out, out, out) : c_.vpxor(out, out, out);
  copy_first_lane(wanted, Lane::Flag, flags);
  c_.test(wanted, 1);
  c_.jz(none);
  copy_first_lane(general, index_lane, index);
  const std::uint32_t shift = from.bytes ? 0 : is_wide(from.lane) ? 3 : 2;
  load_one(out, is_wide(from.lane) ? Lane::I64 : Lane::I32,
           asmjit::x86::ptr(from.base, general, shift));
  c_.bind(none);
}

void ValueWriter::write_gather(std::uint32_t k, bool one) {
  const Value& value = loop_.values[k];
  const Lane own = lane(k), in = lane(value.args[0]);
  const Register flags = inside(vector(value.args[0]), vector(value.args[1]), in);
  const GatheredVector from{address(value.place), own, value.bytes};
  const Lane read = own == Lane::Flag ? Lane::I32 : own;
  const Vec out = make_vector(read);
  if (one) {
    fetch_one(out, from, vector(value.args[0]), in, flags);
  } else {
    cpu::write_gather(c_, avx512_, out, from, vector(value.args[0]), in,
                      avx512_ ? flags : widened(flags.as<Vec>(), own));
  }
  held_[k] = out;
  if (own == Lane::Flag) {
    // What lies behind the byte has been read, too.
    held_[k] = make(own);
    if (avx512_) {
      c_.vptestmd(mask(k), out, constant(Lane::I32, 1));
    } else {
      c_.vpand(out, out, constant(Lane::I32, 1));
      c_.vpsubd(vector(k), constant(Lane::I32, 0), out);
    }
  } else if (value.bytes) {
    c_.emit(instruction(avx512_, Op::And, own), out, out, constant(own, 255));
  }
}

/// One instruction of three registers.
void ValueWriter::write_simple(InstId id, std::uint32_t k, Lane in) {
  const Value& value = loop_.values[k];
  const Register& a = held_[value.args[0]];
  if (value.op == Op::ShiftLeft || value.op == Op::ShiftRight) {
    const std::int64_t most = is_wide(in) ? 63 : 31;
    if (const auto& literal = loop_.values[value.args[1]].number) {
      c_.emit(shift_by_literal(value.op, in), held_[k], a, asmjit::imm(*literal & most));
      return;
    }
    const Vec count = make_vector(in);
    c_.emit(instruction(avx512_, Op::And, in), count, held_[value.args[1]], constant(in, most));
    c_.emit(id, held_[k], a, count);
  } else {
    c_.emit(id, held_[k], a, held_[value.args[1]]);
  }
}

Register ValueWriter::first_lanes(const Gp& count) {
  const Vec counts = make_vector(Lane::I32), lanes = make_vector(Lane::I32);
  spread(counts, Lane::I32, count);
  if (avx512_) {
    c_.vmovdqu32(lanes, multiples(Lane::I32, 1));
  } else {
    c_.vmovdqu(lanes, multiples(Lane::I32, 1));
  }
  return compare(Op::Greater, Lane::I32, counts, lanes);
}

void ValueWriter::replace(const Register& lanes, Lane lane, const Register& flags,
                          const Register& by) {
  if (!avx512_) {
    const Vec old = lanes.as<Vec>();
    c_.vpblendvb(old, old, by.as<Vec>(), widened(flags.as<Vec>(), lane));
  } else if (lane == Lane::Flag) {
    const KReg kept = c_.newKw(), taken = c_.newKw();
    c_.kandnw(kept, flags.as<KReg>(), lanes.as<KReg>());
    c_.kandw(taken, flags.as<KReg>(), by.as<KReg>());
    c_.korw(lanes.as<KReg>(), kept, taken);
  } else {
    c_.k(flags.as<KReg>()).emit(is_wide(lane) ? Inst::kIdVmovdqa64 : Inst::kIdVmovdqa32, lanes, by);
  }
}

Register ValueWriter::compare(Op op, Lane in, const Vec& a, const Vec& b) {
  if (avx512_) {
    const KReg result = c_.newKw();
    const InstId id = in == Lane::F64   ? Inst::kIdVcmppd
                      : in == Lane::F32 ? Inst::kIdVcmpps
                      : in == Lane::I64 ? Inst::kIdVpcmpq
                                        : Inst::kIdVpcmpd;
    c_.emit(id, result, a, b, asmjit::imm(is_float(in) ? float_predicate(op) : int_predicate(op)));
    return result;
  }
  const Vec result = make_vector(in);
  if (is_float(in)) {
    c_.emit(in == Lane::F64 ? Inst::kIdVcmppd : Inst::kIdVcmpps, result, a, b,
            asmjit::imm(float_predicate(op)));
    return narrowed(result, in);
  }
  const bool equality = op == Op::Equal || op == Op::NotEqual;
  const bool swaps = op == Op::Less || op == Op::GreaterEqual;
  const InstId id = equality ? (in == Lane::I64 ? Inst::kIdVpcmpeqq : Inst::kIdVpcmpeqd)
                             : (in == Lane::I64 ? Inst::kIdVpcmpgtq : Inst::kIdVpcmpgtd);
  c_.emit(id, result, swaps ? b : a, swaps ? a : b);
  const Vec flags = narrowed(result, in);
  if (op == Op::NotEqual || op == Op::LessEqual || op == Op::GreaterEqual) {
    const Vec turned = make_vector(Lane::Flag);
    c_.vpxor(turned, flags, constant(Lane::I32, -1));
    return turned;
  }
  return flags;
}
/// AVX2: the flags of lanes of either width.
Vec ValueWriter::narrowed(const Vec& lanes, Lane in) {
  if (!is_wide(in)) return lanes;
  const Vec flags = make_vector(Lane::Flag);
  const Vec high = c_.newXmm();
  c_.vextracti128(high, lanes, 1);
  c_.vshufps(flags, lanes.xmm(), high, 0x88);
  return flags;
}
Vec ValueWriter::widened(const Vec& flags, Lane to) {
  if (!is_wide(to)) return flags;
  const Vec lanes = make_vector(to);
  c_.vpmovsxdq(lanes, flags);
  return lanes;
}

void ValueWriter::write_other(std::uint32_t k, Lane in) {
  const Value& value = loop_.values[k];
  const Lane own = lane(k);
  switch (value.op) {
    case Op::Not:
      held_[k] = make(own);
      if (own == Lane::Flag && avx512_) {
        c_.knotw(mask(k), mask(value.args[0]));
      } else {
        c_.emit(instruction(avx512_, Op::Xor, own), vector(k), vector(value.args[0]),
                constant(own == Lane::Flag ? Lane::I32 : own, -1));
      }
      break;
    case Op::Select:
      write_select(k);
      break;
    case Op::Sqrt:
      held_[k] = make(own);
      c_.emit(own == Lane::F64 ? Inst::kIdVsqrtpd : Inst::kIdVsqrtps, vector(k),
              vector(value.args[0]));
      break;
    case Op::IntToFloat:
      held_[k] = make(own);
      convert(vector(k), own, vector(value.args[0]), in);
      break;
    case Op::IntToBool:
      held_[k] = compare(Op::NotEqual, in, vector(value.args[0]), constant(in, 0));
      break;
    case Op::BoolToInt:
      write_bool_to_int(k);
      break;
    default:
      write_rounded(k, in);
      break;
  }
}

void ValueWriter::write_select(std::uint32_t k) {
  const Value& value = loop_.values[k];
  const Lane own = lane(k);
  const std::uint32_t flag = value.args[0], yes = value.args[1], no = value.args[2];
  held_[k] = make(own);
  if (own == Lane::Flag && avx512_) {
    const KReg other = c_.newKw();
    c_.kandnw(other, mask(flag), mask(no));
    c_.kandw(mask(k), mask(flag), mask(yes));
    c_.korw(mask(k), mask(k), other);
  } else {
    blend(vector(k), own, held_[flag], vector(yes), vector(no));
  }
}

void ValueWriter::write_bool_to_int(std::uint32_t k) {
  const std::uint32_t flag = loop_.values[k].args[0];
  const Lane own = lane(k);
  const Vec one = constant(own, 1);
  held_[k] = make(own);
  if (avx512_) {
    const InstId id = is_wide(own) ? Inst::kIdVmovdqa64 : Inst::kIdVmovdqa32;
    c_.k(mask(flag)).z().emit(id, vector(k), one);
  } else {
    c_.vpand(vector(k), widened(vector(flag), own), one);
  }
}

/// Between INT and FLOAT; FLOATs are truncated, to the least INT where they do not fit.
void ValueWriter::convert(const Vec& out, Lane to, const Vec& from, Lane in) {
  static constexpr InstId kIds[2][2][2] = {
      // to FLOAT: by width of the result, then of the operand
      {{Inst::kIdVcvtdq2ps, Inst::kIdVcvtqq2ps}, {Inst::kIdVcvtdq2pd, Inst::kIdVcvtqq2pd}},
      // to INT
      {{Inst::kIdVcvttps2dq, Inst::kIdVcvttpd2dq}, {Inst::kIdVcvttps2qq, Inst::kIdVcvttpd2qq}},
  };
  c_.emit(kIds[is_float(in)][is_wide(to)][is_wide(in)], out, from);
}

Vec ValueWriter::rounded(const Vec& from, Lane in, bool up) {
  const Vec result = make_vector(in);
  const int mode = up ? 0x0A : 0x09;
  if (avx512_) {
    c_.emit(in == Lane::F64 ? Inst::kIdVrndscalepd : Inst::kIdVrndscaleps, result, from,
            asmjit::imm(mode));
  } else {
    c_.emit(in == Lane::F64 ? Inst::kIdVroundpd : Inst::kIdVroundps, result, from,
            asmjit::imm(mode));
  }
  return result;
}

/// FLOOR, CEIL, TRUNC and ROUND.
void ValueWriter::write_rounded(std::uint32_t k, Lane in) {
  const Value& value = loop_.values[k];
  Vec whole = vector(value.args[0]);
  if (value.op == Op::Round) {
    whole = nearest(whole, in);
  } else if (value.op != Op::Trunc) {
    whole = rounded(whole, in, value.op == Op::Ceil);
  }
  held_[k] = make(lane(k));
  convert(vector(k), lane(k), whole, in);
}
/// Halves upwards.
Vec ValueWriter::nearest(const Vec& from, Lane in) {
  const bool wide = in == Lane::F64;
  const Vec below = rounded(from, in, false);
  const Vec above = make_vector(in);
  const Vec rest = make_vector(in);
  const Lane bits = wide ? Lane::I64 : Lane::I32;
  const auto number = [&](std::int64_t narrow_bits, std::int64_t wide_bits) {
    return constant(bits, wide ? wide_bits : narrow_bits);
  };
  const Vec one = number(0x3F800000, 0x3FF0000000000000);
  const Vec half = number(0x3F000000, 0x3FE0000000000000);
  c_.emit(instruction(avx512_, Op::Add, in), above, below, one);
  c_.emit(instruction(avx512_, Op::Subtract, in), rest, from, below);
  const Register rises = compare(Op::GreaterEqual, in, rest, half);
  const Vec result = make_vector(in);
  blend(result, in, rises, above, below);
  return result;
}

// --- Division of 32-bit INT ---
//
// In FLOAT 64, rounded towards zero: that gives such quotients exactly. The least INT divided by
// -1 fits no INT; what the processor gives then is the least INT, as is wanted. 0 divides nothing.

/// Is it 0, the operation fails, whether an element wants the quotient or not: the steps know.
ValueWriter::Divisor ValueWriter::uniform_divisor(const Vec& number) {
  Divisor result{number, make_vector(Lane::F64)};
  const Register zero = compare(Op::Equal, Lane::I32, number, constant(Lane::I32, 0));
  c_.emit(instruction(avx512_, Op::Or, Lane::Flag), failed_, failed_, zero);
  c_.vcvtdq2pd(result.by, number);
  c_.vdivpd(result.by, constant(Lane::I64, 0x3FF0000000000000), result.by);  // 1.0
  return result;
}

/// 1 divides in place of 0.
ValueWriter::Divisor ValueWriter::divisor(const Vec& given, std::uint32_t guard) {
  Divisor result{make_vector(Lane::I32), make_vector(Lane::F64)};
  const Register zero = compare(Op::Equal, Lane::I32, given, constant(Lane::I32, 0));
  blend(result.number, Lane::I32, zero, constant(Lane::I32, 1), given);
  c_.vcvtdq2pd(result.by, result.number);
  note_failure(zero, guard);
  return result;
}

void ValueWriter::write_division(std::uint32_t k) {
  const Value& value = loop_.values[k];
  const std::uint32_t by = value.args[1];
  const bool uniform = loop_.values[by].kind == Value::Kind::Uniform;
  if (uniform && !divisors_.contains(by)) {
    before_loop([&] { divisors_[by] = uniform_divisor(vector(by)); });
  }
  const Divisor divisor = uniform ? divisors_[by] : this->divisor(vector(by), value.guard);
  const Vec x = vector(value.args[0]);
  const Vec dividend = make_vector(Lane::F64);
  c_.vcvtdq2pd(dividend, x);
  if (uniform) {
    // Half of a unit more keeps the quotient away from integers farther than the product with
    // the rounded reciprocal is off.
    const Vec half = make_vector(Lane::F64);
    const Vec sign = constant(Lane::I64, std::int64_t{1} << 63);
    const InstId conjunction = instruction(avx512_, Op::And, Lane::I64);
    const InstId disjunction = instruction(avx512_, Op::Or, Lane::I64);
    c_.emit(conjunction, half, dividend, sign);
    c_.emit(disjunction, half, half, constant(Lane::I64, 0x3FE0000000000000));
    c_.vaddpd(dividend, dividend, half);
    c_.vmulpd(dividend, dividend, divisor.by);
  } else {
    c_.vdivpd(dividend, dividend, divisor.by);
  }
  const Vec quotient = make_vector(Lane::I32);
  c_.vcvttpd2dq(quotient, dividend);
  held_[k] = quotient;
  if (value.op == Op::Divide) return;
  const Vec rest = make_vector(Lane::I32);
  c_.vpmulld(rest, quotient, divisor.number);
  c_.vpsubd(rest, x, rest);
  held_[k] = rest;
}

void ValueWriter::note_failure(const Register& where, std::uint32_t guard) {
  Register failed = where;
  const auto restrict_to = [&](const Register& flags) {
    const Register rest = make(Lane::Flag);
    c_.emit(instruction(avx512_, Op::And, Lane::Flag), rest, failed, flags);
    failed = rest;
  };
  if (guard != NativeLoop::kNone) restrict_to(held_[guard]);
  if (counted_.isValid()) restrict_to(counted_);
  c_.emit(instruction(avx512_, Op::Or, Lane::Flag), failed_, failed_, failed);
}

}  // namespace cvl::cpu
