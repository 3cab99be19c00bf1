#include <bit>
#include <map>

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/native_writers.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cpu {
namespace {

namespace Inst = asmjit::x86::Inst;
using vcode::Op;

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

/// Writes the function for pieces, one after the other. Elements meet in the order of
/// ReduceKernels: four blocks of 64 bytes take turns. Where there are only results, so many
/// registers do if the body is short.
class PiecesWriter : public ValueWriter {
 public:
  PiecesWriter(asmjit::CodeHolder& code, const NativePieces& pieces, Isa isa, Widths widths)
      : ValueWriter(code, pieces.body, isa, widths),
        pieces_(pieces),
        register_bytes_(pieces.folds.empty() ? 0 : lanes_ * (is_wide(lane_of_fold(0)) ? 8 : 4)),
        turns_(pieces.folds.empty() ? turns_of_results()
                                    : static_cast<int>(kReductionStateBytes) / register_bytes_),
        totals_(pieces.folds.size()) {}

  int group() const { return lanes_ * turns_; }

  bool write() {
    const Gp left_over = c_.newInt64();  // pieces
    const Gp end = c_.newInt64();
    begin_function(left_over, end);
    for (std::size_t k = 0; k < pieces_.disjunctions.size(); ++k) any_.push_back(no_flags());
    const asmjit::Label next_piece = c_.newLabel();
    c_.bind(next_piece);
    c_.mov(end, asmjit::x86::qword_ptr(at_));
    c_.xor_(position_, position_);
    begin_loop();
    start_totals();
    const Gp whole = c_.newInt64();  // elements of whole groups
    const asmjit::Label again = c_.newLabel(), rest = c_.newLabel(), done = c_.newLabel();
    c_.mov(whole, end);
    c_.and_(whole, -group());
    c_.jz(rest);
    c_.align(asmjit::AlignMode::kCode, 32);
    c_.bind(again);
    for (int turn = 0; turn < turns_; ++turn) write_turn(turn, nullptr);
    c_.add(position_, group());
    c_.cmp(position_, whole);
    c_.jl(again);
    c_.bind(rest);
    for (int turn = 0; turn < turns_; ++turn) {
      const Gp left = c_.newInt64();
      c_.mov(left, end);
      c_.sub(left, position_);
      c_.sub(left, turn * lanes_);
      c_.jle(done);
      const Register valid = first_lanes(left);
      write_turn(turn, &valid);
    }
    c_.bind(done);
    for (std::size_t k = 0; k < totals_.size(); ++k) store_total(k);
    for (std::size_t k = 0; k < any_.size(); ++k) store_any(k);
    c_.add(at_, static_cast<int>(pieces_.words * sizeof(void*)));
    c_.dec(left_over);
    c_.jnz(next_piece);
    return end_function();
  }

 private:
  Lane lane_of_fold(std::size_t k) const { return lane(pieces_.folds[k].result.value); }
  int turns_of_results() const {
    constexpr std::size_t kValues = 8;
    return loop_.values.size() <= kValues ? 4 : 1;
  }

  void start_totals() {
    for (std::size_t k = 0; k < totals_.size(); ++k) {
      const Lane own = lane_of_fold(k);
      const Vec start = constant(own, start_bits(pieces_.folds[k].op, own));
      for (int turn = 0; turn < turns_; ++turn) {
        totals_[k].push_back(make_vector(own));
        move(totals_[k].back(), start);
      }
    }
  }

  void move(const Vec& out, const Vec& from) {
    avx512_ ? c_.vmovdqa64(out, from) : c_.vmovdqa(out, from);
  }

  /// a op b, as the functors of cvl/scalar_ops.hpp have it.
  void fold(Op reduction, Lane own, const Vec& out, const Vec& a, const Vec& b) {
    if (reduction == Op::AddReduce || reduction == Op::MultiplyReduce) {
      const Op op = reduction == Op::AddReduce ? Op::Add : Op::Multiply;
      c_.emit(instruction(avx512_, op, own), out, a, b);
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

  /// The next numbers.
  void write_progression(std::uint32_t k) {
    const Lane own = lane(k);
    const Vec step = constant(own, lanes_);
    Vec& next = next_[k];
    if (!next.isValid()) {
      before_loop([&] {
        next = make_vector(own);
        load_one(next, own, asmjit::x86::ptr(address(loop_.values[k].place)));
        c_.emit(instruction(avx512_, Op::Add, own), next, next, multiples(own, 1));
      });
    }
    held_[k] = make(own);
    move(vector(k), next);
    c_.emit(instruction(avx512_, Op::Add, own), next, next, step);
  }

  /// AVX-512. What lies in front of the last element is not touched.
  void read_backwards(std::uint32_t k, int offset, const Register* valid) {
    const bool wide = is_wide(lane(k));
    const Lane own = wide ? Lane::I64 : Lane::I32;
    const int shift = wide ? 3 : 2;
    Vec& turned = turned_[own];
    if (!turned.isValid()) {
      const Vec last = constant(own, lanes_ - 1);
      at_start([&] {
        turned = make_vector(own);
        c_.emit(instruction(avx512_, Op::Add, own), turned, last, multiples(own, -1));
      });
    }
    const Vec read = make_vector(own);
    const Gp back = c_.newInt64();
    c_.mov(back, position_);
    c_.neg(back);
    const auto from = [&](int before) {
      return asmjit::x86::ptr(address(loop_.values[k].place), back,
                              static_cast<std::uint32_t>(shift), -(offset + before) * (1 << shift));
    };
    Vec order = turned;
    if (valid == nullptr) {
      load(read, own, from(lanes_ - 1));
    } else {
      const Gp count = c_.newInt64();
      copy_mask(count.r32(), valid->as<KReg>());
      c_.popcnt(count.r32(), count.r32());
      c_.sub(back, count);
      c_.k(valid->as<KReg>())
          .z()
          .emit(wide ? Inst::kIdVmovdqu64 : Inst::kIdVmovdqu32, read, from(-1));
      order = make_vector(own);
      c_.sub(count, lanes_);
      spread(order, own, count);
      c_.emit(instruction(avx512_, Op::Add, own), order, order, turned);
    }
    held_[k] = make(own);
    c_.emit(wide ? Inst::kIdVpermq : Inst::kIdVpermd, held_[k], order, read);
  }

  /// Takes in a register of elements; without flags all of them are valid.
  void write_turn(int turn, const Register* valid) {
    counted_ = valid == nullptr ? Register() : *valid;
    for (std::uint32_t k = 0; k < loop_.values.size(); ++k) {
      const Value& value = loop_.values[k];
      if (value.kind == Value::Kind::Progression) {
        write_progression(k);
      } else if (value.backwards) {
        read_backwards(k, turn * lanes_, valid);
      } else {
        write_value(k, turn * lanes_);
      }
    }
    for (const NativeLoop::Result& result : loop_.results) {
      const Lane own = lane(result.value);
      const Mem to = elements(address(result.place), own, turn * lanes_);
      if (valid == nullptr) {
        store(to, own, held_[result.value]);
      } else {
        store_some(to, own, held_[result.value], *valid);
      }
    }
    for (std::size_t k = 0; k < totals_.size(); ++k) {
      const Lane own = lane_of_fold(k);
      const Vec total = totals_[k][static_cast<std::size_t>(turn)];
      const Vec next = valid == nullptr ? total : make_vector(own);
      fold(pieces_.folds[k].op, own, next, total, vector(pieces_.folds[k].result.value));
      if (valid != nullptr) replace(total, own, *valid, next);
    }
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

  /// The four blocks in order, and then halves, until there is one number.
  void store_total(std::size_t k) {
    constexpr std::size_t kBlocks = 4;
    const Op op = pieces_.folds[k].op;
    const Lane own = lane_of_fold(k);
    const std::vector<Vec>& sums = totals_[k];
    std::size_t registers = sums.size() / kBlocks;  // of a block
    for (std::size_t r = registers; r < sums.size(); ++r) {
      const Vec& first = sums[r % registers];
      fold(op, own, first, first, sums[r]);
    }
    while (registers > 1) {
      registers /= 2;
      for (std::size_t r = 0; r < registers; ++r)
        fold(op, own, sums[r], sums[r], sums[registers + r]);
    }
    for (int bytes = register_bytes_ / 2; bytes >= (is_wide(own) ? 8 : 4); bytes /= 2) {
      const Vec high = make_vector(own);
      move_down(high, sums[0], bytes);
      fold(op, own, sums[0], sums[0], high);
    }
    const Vec total = c_.newXmm();  // moves from a register that may lie in memory have other forms
    c_.vmovdqa(total.xmm(), sums[0].xmm());
    const Gp to = address(pieces_.folds[k].result.place);
    is_wide(own) ? c_.vmovq(asmjit::x86::qword_ptr(to), total.xmm())
                 : c_.vmovd(asmjit::x86::dword_ptr(to), total.xmm());
  }

  /// What lies so many bytes behind the beginning to the beginning.
  void move_down(const Vec& out, const Vec& from, int bytes) {
    if (bytes == 32) {
      c_.vshufi64x2(out, from, from, 0x0E);
    } else if (bytes == 16 && avx512_) {
      c_.vshufi64x2(out, from, from, 0x01);
    } else if (bytes == 16) {
      c_.vperm2i128(out, from, from, 0x11);
    } else {
      c_.vpshufd(out, from, bytes == 8 ? 0x4E : 0x55);
    }
  }
  void store_any(std::size_t k) {
    const Gp bits = c_.newInt32();
    if (avx512_) {
      copy_mask(bits, any_[k].as<KReg>());
      c_.test(bits, (1 << lanes_) - 1);  // those of lanes that there are not mean nothing
    } else {
      c_.vptest(any_[k].as<Vec>(), any_[k].as<Vec>());
    }
    c_.setnz(asmjit::x86::byte_ptr(address(pieces_.disjunctions[k].place)));
  }

  const NativePieces& pieces_;
  const int register_bytes_;
  const int turns_;  // registers for each total
  std::vector<std::vector<Vec>> totals_;
  std::vector<Register> any_;          // flags of disjunctions
  std::map<Lane, Vec> turned_;         // the lanes' numbers, the last one first
  std::map<std::uint32_t, Vec> next_;  // of progressions
};

}  // namespace

int write_native(const NativePieces& pieces, asmjit::CodeHolder& code, Isa isa, Widths widths) {
  PiecesWriter writer(code, pieces, isa, widths);
  return writer.write() ? writer.group() : 0;
}

}  // namespace cvl::cpu
