#include <map>

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/native_folds.hpp"
#include "cvl-cpu/native_writers.hpp"

namespace cvl::cpu {
namespace {

namespace Inst = asmjit::x86::Inst;
using vcode::Op;

/// Writes the function for pieces, one after the other. Elements meet in the order of
/// ReduceKernels: four blocks of 64 bytes take turns. Where there are only results, so many
/// registers do if the body is short.
class PiecesWriter : public FoldWriter {
 public:
  PiecesWriter(asmjit::CodeHolder& code, const NativePieces& pieces, Isa isa, Widths widths)
      : FoldWriter(code, pieces, isa, widths),
        register_bytes_(pieces.folds.empty() ? 0 : lanes_ * lane_bytes(lane_of_fold(0))),
        turns_(pieces.folds.empty() ? turns_of_results()
                                    : static_cast<int>(kReductionStateBytes) / register_bytes_) {}

  int group() const { return lanes_ * turns_; }

 private:
  void write_piece(const Gp& end) override {
    start_totals(turns_);
    for (std::uint32_t k = 0; k < loop_.values.size(); ++k) {
      if (loop_.values[k].once || loop_.values[k].kind == Value::Kind::Uniform) {
        write_anywhere(k, 0);
      }
    }
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
  }

  int turns_of_results() const {
    constexpr std::size_t kValues = 8;
    return loop_.values.size() <= kValues ? 4 : 1;
  }

  /// The next numbers.
  void write_progression(std::uint32_t k) {
    const Lane own = lane(k);
    const std::int64_t stride = loop_.values[k].stride;
    const Vec step = constant(own, stride * lanes_);
    Vec& next = next_[k];
    if (!next.isValid()) {
      before_loop([&] {
        next = make_vector(own);
        load_one(next, own, asmjit::x86::ptr(address(loop_.values[k].place)));
        c_.emit(instruction(avx512_, Op::Add, own), next, next, multiples(own, stride));
      });
    }
    held_[k] = make(own);
    move(vector(k), next);
    c_.emit(instruction(avx512_, Op::Add, own), next, next, step);
  }

  /// What lies in front of the last element is not touched.
  void read_backwards(std::uint32_t k, int offset, const Register* valid) {
    const bool wide = is_wide(lane(k));
    const Lane own = wide ? Lane::I64 : Lane::I32;
    const int shift = wide ? 3 : 2;
    const Vec read = make_vector(own);
    const Gp back = c_.newInt64();
    c_.mov(back, position_);
    c_.neg(back);
    const auto from = [&](int before) {
      return asmjit::x86::ptr(address(loop_.values[k].place), back,
                              static_cast<std::uint32_t>(shift), -(offset + before) * (1 << shift));
    };
    held_[k] = make(own);
    if (valid == nullptr) {
      load(read, own, from(lanes_ - 1));
      turn_round(vector(k), own, read);
    } else if (avx512_) {
      const Gp count = c_.newInt64();
      copy_mask(count.r32(), valid->as<KReg>());
      c_.popcnt(count.r32(), count.r32());
      c_.sub(back, count);
      c_.k(valid->as<KReg>())
          .z()
          .emit(wide ? Inst::kIdVmovdqu64 : Inst::kIdVmovdqu32, read, from(-1));
      const Vec order = make_vector(own);
      c_.sub(count, lanes_);
      spread(order, own, count);
      c_.emit(instruction(avx512_, Op::Add, own), order, order, last_lane_first(own));
      c_.emit(wide ? Inst::kIdVpermq : Inst::kIdVpermd, held_[k], order, read);
    } else {
      const Vec flags = make_vector(own);
      turn_round(flags, own, widened(valid->as<Vec>(), own));
      c_.emit(wide ? Inst::kIdVpmaskmovq : Inst::kIdVpmaskmovd, read, flags, from(lanes_ - 1));
      turn_round(vector(k), own, read);
    }
  }

  /// The lanes, the last one first.
  void turn_round(const Vec& out, Lane lane, const Vec& lanes) {
    constexpr int kFourBackwards = 0x1B;
    if (lanes_ == 4) {
      c_.emit(is_wide(lane) ? Inst::kIdVpermq : Inst::kIdVpshufd, out, lanes,
              asmjit::imm(kFourBackwards));
    } else {
      c_.emit(is_wide(lane) ? Inst::kIdVpermq : Inst::kIdVpermd, out, last_lane_first(lane), lanes);
    }
  }
  /// The lanes' numbers, in that order.
  Vec last_lane_first(Lane lane) {
    Vec& turned = turned_[lane];
    if (!turned.isValid()) {
      const Vec last = constant(lane, lanes_ - 1);
      at_start([&] {
        turned = make_vector(lane);
        c_.emit(instruction(avx512_, Op::Add, lane), turned, last, multiples(lane, -1));
      });
    }
    return turned;
  }

  /// Whatever can be read or computed without looking at others than the elements from there on.
  void write_anywhere(std::uint32_t k, int offset) {
    const Value& value = loop_.values[k];
    if (value.kind == Value::Kind::Gather) {
      write_gather(k, value.once);
    } else {
      write_value(k, offset);
    }
  }

  /// Takes in a register of elements; without flags all of them are valid.
  void write_turn(int turn, const Register* valid) {
    counted_ = valid == nullptr ? Register() : *valid;
    for (std::uint32_t k = 0; k < loop_.values.size(); ++k) {
      const Value& value = loop_.values[k];
      if (value.once) continue;
      if (value.kind == Value::Kind::Progression) {
        write_progression(k);
      } else if (value.backwards) {
        read_backwards(k, turn * lanes_, valid);
      } else {
        write_anywhere(k, turn * lanes_);
      }
    }
    for (const NativeLoop::Result& result : loop_.results) {
      const Lane own = lane(result.value);
      const Mem to = elements(address(result.place), own, turn * lanes_);
      if (valid == nullptr || (own == Lane::Flag && !avx512_)) {
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
    note_flags(valid);
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
      for (std::size_t r = 0; r < registers; ++r) {
        fold(op, own, sums[r], sums[r], sums[registers + r]);
      }
    }
    for (int bytes = register_bytes_ / 2; bytes >= lane_bytes(own); bytes /= 2) {
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
  const int register_bytes_;
  const int turns_;                    // registers for each total
  std::map<Lane, Vec> turned_;         // the lanes' numbers, the last one first
  std::map<std::uint32_t, Vec> next_;  // of progressions
};

}  // namespace

int write_pieces(const NativePieces& pieces, asmjit::CodeHolder& code, Isa isa, Widths widths) {
  PiecesWriter writer(code, pieces, isa, widths);
  return writer.write() ? writer.group() : 0;
}

}  // namespace cvl::cpu
