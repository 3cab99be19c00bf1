#include "cvl-cpu/native_folds.hpp"

#include <bit>

#include "cvl/scalar_ops.hpp"
#include "vcode/reductions.hpp"

namespace cvl::cpu {

namespace Inst = asmjit::x86::Inst;
using vcode::Op;

namespace {

/// Of the larger and of the lesser of two numbers; 0 when there is none.
asmjit::InstId extreme_instruction(bool avx512, Op reduction, Lane lane) {
  const bool largest = reduction == Op::MaxReduce;
  switch (lane) {
    case Lane::I32:
      return largest ? Inst::kIdVpmaxsd : Inst::kIdVpminsd;
    case Lane::I64:
      if (!avx512) return 0;
      return largest ? Inst::kIdVpmaxsq : Inst::kIdVpminsq;
    case Lane::F32:
      return largest ? Inst::kIdVmaxps : Inst::kIdVminps;
    default:
      return largest ? Inst::kIdVmaxpd : Inst::kIdVminpd;
  }
}

/// What folding begins with, as an integer of the lane's width.
template <class Number, class Bits>
std::int64_t start_bits(Op reduction) {
  const auto start = [&] {
    switch (reduction) {
      case Op::MultiplyReduce:
        return ops::fold_start<ops::Multiply, Number>();
      case Op::MaxReduce:
        return ops::fold_start<ops::Max, Number>();
      case Op::MinReduce:
        return ops::fold_start<ops::Min, Number>();
      default:
        return ops::fold_start<ops::Add, Number>();
    }
  };
  return std::bit_cast<Bits>(start());
}
std::int64_t start_bits(Op reduction, Lane lane) {
  switch (lane) {
    case Lane::I32:
      return start_bits<std::int32_t, std::int32_t>(reduction);
    case Lane::I64:
      return start_bits<std::int64_t, std::int64_t>(reduction);
    case Lane::F32:
      return start_bits<float, std::int32_t>(reduction);
    default:
      return start_bits<double, std::int64_t>(reduction);
  }
}

}  // namespace

FoldWriter::FoldWriter(asmjit::CodeHolder& code, const NativePieces& pieces, Isa isa, Widths widths)
    : ValueWriter(code, pieces.body, isa, widths), pieces_(pieces), totals_(pieces.folds.size()) {}

bool FoldWriter::write() {
  const Gp left_over = c_.newInt64();  // pieces
  const Gp end = c_.newInt64();
  begin_function(left_over, end);
  for (std::size_t k = 0; k < pieces_.disjunctions.size(); ++k) any_.push_back(no_flags());
  const asmjit::Label next_piece = c_.newLabel();
  c_.bind(next_piece);
  c_.mov(end, asmjit::x86::qword_ptr(at_));
  c_.xor_(position_, position_);
  begin_loop();
  write_piece(end);
  for (std::size_t k = 0; k < any_.size(); ++k) store_any(k);
  c_.add(at_, static_cast<int>(pieces_.words * sizeof(void*)));
  c_.dec(left_over);
  c_.jnz(next_piece);
  return end_function();
}

void FoldWriter::start_totals(int registers) {
  for (std::size_t k = 0; k < totals_.size(); ++k) {
    const Lane own = lane_of_fold(k);
    const Vec start = constant(own, start_bits(pieces_.folds[k].op, own));
    for (int turn = 0; turn < registers; ++turn) {
      totals_[k].push_back(make_vector(own));
      move(totals_[k].back(), start);
    }
  }
}

void FoldWriter::fold(Op reduction, Lane own, const Vec& out, const Vec& a, const Vec& b) {
  if (const auto op = vcode::elementwise_of(reduction)) {
    c_.emit(instruction(avx512_, *op, own), out, a, b);
    return;
  }
  const asmjit::InstId extreme = extreme_instruction(avx512_, reduction, own);
  const Vec result = make_vector(own);
  if (extreme == 0) {
    const Op wins = reduction == Op::MaxReduce ? Op::Greater : Op::Less;
    blend(result, own, compare(wins, own, a, b), a, b);
  } else {
    c_.emit(extreme, result, a, b);
    // The instruction gives b where a is no number.
    if (is_float(own)) replace(result, own, compare(Op::NotEqual, own, a, a), a);
  }
  move(out, result);
}

void FoldWriter::note_flags(const Register* valid) {
  for (std::size_t k = 0; k < any_.size(); ++k) {
    Register flags = held_[pieces_.disjunctions[k].value];
    if (valid != nullptr) {
      const Register some = make(Lane::Flag);
      c_.emit(instruction(avx512_, Op::And, Lane::Flag), some, flags, *valid);
      flags = some;
    }
    c_.emit(instruction(avx512_, Op::Or, Lane::Flag), any_[k], any_[k], flags);
  }
}

void FoldWriter::store_any(std::size_t k) {
  const Gp bits = c_.newInt32();
  if (avx512_) {
    copy_mask(bits, any_[k].as<KReg>());
    c_.test(bits, (1 << lanes_) - 1);  // those of lanes that there are not mean nothing
  } else {
    c_.vptest(any_[k].as<Vec>(), any_[k].as<Vec>());
  }
  const Gp any = c_.newUInt8();
  c_.setnz(any);
  c_.or_(asmjit::x86::byte_ptr(address(pieces_.disjunctions[k].place)), any);
}

}  // namespace cvl::cpu
