#include "cvl-cpu/native_code.hpp"

#include <algorithm>
#include <asmjit/x86.h>
#include <bit>
#include <map>
#include <sys/mman.h>

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/native_values.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cpu {
namespace {

namespace Inst = asmjit::x86::Inst;
using vcode::Op;

/// Writes the function for a loop over elements.
class LoopWriter : public ValueWriter {
 public:
  LoopWriter(asmjit::CodeHolder& code, const NativeLoop& loop, Isa isa, Widths widths)
      : ValueWriter(code, loop, isa, widths) {
    // Short bodies are repeated, so that counting does not take longer than they do.
    constexpr std::size_t kInstructions = 16;
    while (repeats_ < 4 &&
           loop.values.size() * static_cast<std::size_t>(repeats_) * 2 <= kInstructions) {
      repeats_ *= 2;
    }
  }

  int group() const { return lanes_; }

  bool write() {
    begin_ = c_.newInt64();
    const Gp end = c_.newInt64();
    begin_function(begin_, end);
    const asmjit::Label done = c_.newLabel();
    if (repeats_ > 1) {
      const asmjit::Label rest = c_.newLabel();
      const Gp last = c_.newInt64();  // where the last repeated body may begin
      c_.lea(last, asmjit::x86::ptr(end, -lanes_ * repeats_));
      c_.cmp(position_, last);
      c_.jg(rest);
      write_loop(repeats_, last, [&](const asmjit::Label& again) { c_.jle(again); });
      c_.bind(rest);
      c_.cmp(position_, end);
      c_.jge(done);
    }
    write_loop(1, end, [&](const asmjit::Label& again) { c_.jl(again); });
    c_.bind(done);
    return end_function();
  }

 private:
  /// The body so many times, and again where `jump` jumps after comparing the position with
  /// `bound`.
  template <class Jump>
  void write_loop(int repeats, const Gp& bound, const Jump& jump) {
    const asmjit::Label again = c_.newLabel();
    c_.align(asmjit::AlignMode::kCode, 32);
    c_.bind(again);
    for (int k = 0; k < repeats; ++k) write_body(k * lanes_);
    c_.add(position_, lanes_ * repeats);
    c_.cmp(position_, bound);
    jump(again);
  }
  /// All values of the elements from position_ + offset on, and the results of them.
  void write_body(int offset) {
    for (std::uint32_t k = 0; k < loop_.values.size(); ++k) {
      if (loop_.values[k].kind == Value::Kind::Progression) {
        write_progression(k);
      } else {
        write_value(k, offset);
      }
    }
    for (const NativeLoop::Result& result : loop_.results) {
      const Lane stored = lane(result.value);
      store(elements(address(result.place), stored, offset), stored, held_[result.value]);
    }
    for (const auto& [value, step] : steps_) {
      const Vec sum = vector(value);
      c_.emit(instruction(avx512_, Op::Add, lane(value)), sum, sum, step);
    }
  }

  /// Held from one repetition of the body to the next, and counted on behind each.
  void write_progression(std::uint32_t k) {
    if (held_[k].isValid()) return;
    const Value& value = loop_.values[k];
    const Lane own = lane(k);
    const Vec step = constant(own, value.stride * lanes_);
    at_start([&] {
      held_[k] = make(own);
      const Gp first = c_.newInt64();
      const Gp factor = c_.newInt64();
      c_.mov(factor, value.stride);
      c_.mov(first, begin_);
      c_.add(first, position_);
      c_.imul(first, factor);
      c_.mov(factor, value.start);
      c_.add(first, factor);
      spread(vector(k), own, first);
      c_.emit(instruction(avx512_, Op::Add, own), vector(k), vector(k),
              multiples(own, value.stride));
    });
    steps_.emplace_back(k, step);
  }

  int repeats_ = 1;
  Gp begin_;
  std::vector<std::pair<std::uint32_t, Vec>> steps_;  // of progressions
};

/// Writes the function for rounds. Several registers of lanes take turns, so that an instruction
/// need not wait for the one before it.
class RoundsWriter : public ValueWriter {
 public:
  RoundsWriter(asmjit::CodeHolder& code, const NativeRounds& rounds, Isa isa, Widths widths)
      : ValueWriter(code, rounds.body, isa, widths),
        rounds_(rounds),
        ends_together_(rounds.shared[rounds.flag]) {
    const std::size_t most = ends_together_ ? 64 / static_cast<std::size_t>(lanes_) : 4;
    while (turns_.size() < most && fit(2 * turns_.size())) turns_.resize(2 * turns_.size());
  }

  int group() const { return lanes_ * static_cast<int>(turns_.size()); }

  bool write() {
    const Gp most = c_.newInt64();
    const Gp end = c_.newInt64();
    begin_function(most, end);
    for (std::uint32_t k = 0; k < loop_.values.size(); ++k) {
      if (loop_.values[k].kind == Value::Kind::Uniform) at_start([&] { write_uniform(k); });
    }
    const asmjit::Label next_group = c_.newLabel(), again = c_.newLabel(), done = c_.newLabel();
    c_.bind(next_group);
    for (std::uint32_t k = 0; k < loop_.values.size(); ++k) {
      if (rounds_.shared[k] && is_read(k)) read_shared(k);
    }
    for (std::size_t k = 0; k < turns_.size(); ++k) begin_turn(k, end);
    const Gp left = c_.newInt64();
    c_.mov(left, most);
    c_.align(asmjit::AlignMode::kCode, 32);
    c_.bind(again);
    ends_together_ ? write_rounds_together(left, again, done) : write_rounds(left, again, done);
    c_.bind(done);
    for (std::size_t k = 0; k < turns_.size(); ++k) end_turn(k);
    c_.add(position_, group());
    c_.cmp(position_, end);
    c_.jl(next_group);
    return end_function();
  }

 private:
  struct Turn {
    std::vector<Register> held;
    Register active;  // flags of the lanes that go on
  };

  /// Do so many turns have all that they hold in registers? Moving flags to memory and back costs
  /// more than waiting.
  bool fit(std::size_t turns) const {
    constexpr std::size_t kFlags = 7;    // with AVX-512, as 0 means no mask
    constexpr std::size_t kBetween = 2;  // results of operations that wait to be used
    const std::size_t registers = avx512_ ? 32 : 16;
    std::size_t read = 0, read_flags = 0, uniform = 0, uniform_flags = kBetween;
    for (std::uint32_t k = 0; k < loop_.values.size(); ++k) {
      const bool is_flag = lane(k) == Lane::Flag;
      if (loop_.values[k].kind == Value::Kind::Uniform) ++(is_flag ? uniform_flags : uniform);
      if (is_read(k) && !rounds_.shared[k]) ++(is_flag ? read_flags : read);
    }
    // The more turns, the less of what they share falls to each: it may come from memory.
    if (ends_together_) return turns * (read + read_flags + kBetween) <= registers;
    if (fails_by_element()) uniform_flags += 2;
    const std::size_t values = turns * (read + kBetween) + uniform;
    const std::size_t flags = turns * (read_flags + 1) + uniform_flags;
    return avx512_ ? values <= registers && flags <= kFlags : values + flags <= registers;
  }

  int offset(std::size_t turn) const { return lanes_ * static_cast<int>(turn); }
  bool is_read(std::uint32_t value) const { return loop_.values[value].kind == Value::Kind::Read; }

  /// Addresses are wanted seldom, so that no register is kept for them.
  Gp address_now(std::uint32_t place) {
    const Gp address = c_.newIntPtr();
    c_.mov(address, asmjit::x86::qword_ptr(at_, static_cast<std::int32_t>(place * sizeof(void*))));
    return address;
  }

  /// All turns hold one register.
  void read_shared(std::uint32_t k) {
    held_[k] = make(lane(k));
    load_one(held_[k], lane(k), elements(address_now(loop_.values[k].place), lane(k), 0));
  }

  void begin_turn(std::size_t number, const Gp& end) {
    Turn& turn = turns_[number];
    turn.held = held_;
    for (std::uint32_t k = 0; k < loop_.values.size(); ++k) {
      if (!is_read(k) || rounds_.shared[k]) continue;
      turn.held[k] = make(lane(k));
      load(turn.held[k], lane(k),
           elements(address_now(loop_.values[k].place), lane(k), offset(number)));
    }
    // Lanes behind the last element do not go on.
    const Gp count = c_.newInt64();
    c_.mov(count, end);
    c_.sub(count, position_);
    c_.sub(count, offset(number));
    turn.active = first_lanes(count);
  }

  /// Each lane goes on until its own condition holds no more.
  void write_rounds(const Gp& left, const asmjit::Label& again, const asmjit::Label& done) {
    for (Turn& turn : turns_) {
      held_ = turn.held;
      write_values(turn, false);
      c_.emit(instruction(avx512_, Op::And, Lane::Flag), turn.active, turn.active,
              held_[rounds_.flag]);
      change(false, &turn.active);
    }
    c_.dec(left);
    c_.jz(done);
    jump_if_any(again);
  }

  /// All lanes go on for the same number of rounds.
  void write_rounds_together(const Gp& left, const asmjit::Label& again,
                             const asmjit::Label& done) {
    const asmjit::Label ended = c_.newLabel();
    held_ = turns_[0].held;
    write_values(turns_[0], true);
    jump_unless(held_[rounds_.flag], ended);
    const std::vector<Register> common = held_;
    for (Turn& turn : turns_) {
      held_ = turn.held;
      for (std::uint32_t k = 0; k < held_.size(); ++k) {
        if (rounds_.shared[k]) held_[k] = common[k];
      }
      write_values(turn, false);
      change(false, nullptr);
    }
    held_ = common;
    change(true, nullptr);
    c_.dec(left);
    c_.jnz(again);
    c_.jmp(done);
    c_.bind(ended);
    for (const Turn& turn : turns_) {
      c_.emit(instruction(avx512_, Op::Xor, Lane::Flag), turn.active, turn.active, turn.active);
    }
  }

  /// The values that are computed, of those that are shared or of the others.
  void write_values(const Turn& turn, bool shared) {
    counted_ = turn.active;
    for (std::uint32_t k = 0; k < loop_.values.size(); ++k) {
      if (rounds_.shared[k] != shared) continue;
      const Value& value = loop_.values[k];
      if (value.kind == Value::Kind::Apply) write_apply(k);
      if (value.kind == Value::Kind::Gather) write_gather(k, shared);
    }
  }

  /// Components, those that are shared or the others, become the next ones, all at the same time.
  /// Null: in all lanes.
  void change(bool shared, const Register* active) {
    std::vector<std::pair<std::uint32_t, Register>> next;
    for (const NativeRounds::Change& change : rounds_.changes) {
      if (rounds_.shared[change.state] != shared) continue;
      next.emplace_back(change.state, held_[change.next]);
      if (!is_read(change.next)) continue;
      const Lane own = lane(change.next);
      next.back().second = make(own);
      copy(next.back().second, own, held_[change.next]);
    }
    for (const auto& [state, becomes] : next) {
      if (active != nullptr) {
        replace(held_[state], lane(state), *active, becomes);
      } else {
        copy(held_[state], lane(state), becomes);
      }
    }
  }

  void copy(const Register& out, Lane lane, const Register& from) {
    if (!avx512_) {
      c_.vmovdqa(out.as<Vec>(), from.as<Vec>());
    } else if (lane == Lane::Flag) {
      c_.kmovw(out.as<KReg>(), from.as<KReg>());
    } else {
      c_.vmovdqa64(out.as<Vec>(), from.as<Vec>());
    }
  }

  /// Jumps if the flag, which is the same in all lanes, is F.
  void jump_unless(const Register& flag, const asmjit::Label& target) {
    const Gp bits = c_.newInt64();
    copy_first_lane(bits, Lane::Flag, flag);
    c_.test(bits, 1);
    c_.jz(target);
  }

  /// Jumps if some lane goes on.
  void jump_if_any(const asmjit::Label& target) {
    Register any = turns_[0].active;
    for (std::size_t k = 1; k < turns_.size(); ++k) {
      const Register both = make(Lane::Flag);
      c_.emit(instruction(avx512_, Op::Or, Lane::Flag), both, any, turns_[k].active);
      any = both;
    }
    if (avx512_) {
      // Bits of lanes that there are not are never set in `active`.
      c_.kortestw(any.as<KReg>(), any.as<KReg>());
    } else {
      c_.vptest(any.as<Vec>(), any.as<Vec>());
    }
    c_.jnz(target);
  }

  void end_turn(std::size_t number) {
    const Turn& turn = turns_[number];
    for (const NativeRounds::Change& change : rounds_.changes) {
      const Lane own = lane(change.state);
      store(elements(address_now(change.place), own, offset(number)), own, turn.held[change.state]);
    }
    store(elements(address_now(rounds_.flag_place), Lane::Flag, offset(number)), Lane::Flag,
          turn.active);
  }

  const NativeRounds& rounds_;
  const bool ends_together_;
  std::vector<Turn> turns_{1};
};

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

/// Writes the function for pieces. Elements meet in the order of ReduceKernels: four blocks of 64
/// bytes take turns. Where there are only results, so many registers do if the body is short.
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
    const Gp unused = c_.newInt64();
    const Gp end = c_.newInt64();
    begin_function(unused, end);
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
      at_start([&] {
        for (int turn = 0; turn < turns_; ++turn) {
          totals_[k].push_back(make_vector(own));
          move(totals_[k].back(), start);
        }
      });
    }
    at_start([&] {
      for (std::size_t k = 0; k < pieces_.disjunctions.size(); ++k) any_.push_back(no_flags());
    });
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
      at_start([&] {
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

  void store_total(std::size_t k) {
    for (int turn = 0; turn < turns_; ++turn) {
      const Mem to =
          asmjit::x86::ptr(address(pieces_.folds[k].result.place), turn * register_bytes_);
      store(to, lane_of_fold(k), totals_[k][static_cast<std::size_t>(turn)]);
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

/// The code that a writer makes of a loop.
struct Made {
  void* memory = MAP_FAILED;
  std::size_t bytes = 0;
  std::int64_t group = 0;
};

template <class Writer, class Loop>
Made make_code(const Loop& loop, Isa isa, Widths widths) {
  Made made;
  asmjit::CodeHolder code;
  if (code.init(asmjit::Environment::host()) != asmjit::kErrorOk) return made;
  Writer writer(code, loop, isa, widths);
  if (!writer.write() || code.flatten() != asmjit::kErrorOk ||
      code.resolveUnresolvedLinks() != asmjit::kErrorOk) {
    return made;
  }
  // Memory is never to be written and to be run at the same time.
  made.bytes = code.codeSize();
  made.group = writer.group();
  void* memory =
      mmap(nullptr, made.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return made;
  if (code.relocateToBase(reinterpret_cast<std::uintptr_t>(memory)) == asmjit::kErrorOk &&
      code.copyFlattenedData(memory, made.bytes) == asmjit::kErrorOk &&
      mprotect(memory, made.bytes, PROT_READ | PROT_EXEC) == 0) {
    made.memory = memory;
  } else {
    munmap(memory, made.bytes);
  }
  return made;
}

}  // namespace

bool has_native_form(Isa isa, Widths widths, Op op, Type written) {
  if (isa == Isa::Baseline || (op >= Op::Log && op <= Op::Tanh && op != Op::Sqrt)) return false;
  const bool avx512 = isa == Isa::V4;
  const bool wide = widths.int_bytes == 8;
  switch (op) {
    case Op::Divide:
      return written == Type::Float || !wide;
    case Op::Modulo:
      return !wide;
    case Op::Multiply:
      return avx512 || written == Type::Float || !wide;
    case Op::ShiftRight:
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Round:
    case Op::IntToFloat:
      return avx512 || !wide;
    default:
      return true;
  }
}

bool has_native_fold(Isa isa, Widths widths, Op op, Type type) {
  switch (op) {
    case Op::AddReduce:
      return has_native_form(isa, widths, Op::Add, type);
    case Op::MultiplyReduce:
      return has_native_form(isa, widths, Op::Multiply, type);
    case Op::MaxReduce:
    case Op::MinReduce:
      return isa != Isa::Baseline;
    default:
      return false;
  }
}

bool has_native_result(Isa isa, Type type) {
  return isa == Isa::V4 || (isa == Isa::V3 && type != Type::Bool);
}

bool has_native_backwards(Isa isa, Type type) {
  return isa == Isa::V4 && type != Type::Bool;
}

NativeCode::NativeCode(void* memory, std::size_t bytes, std::int64_t group)
    : memory_(memory),
      bytes_(bytes),
      group_(group),
      function_(reinterpret_cast<Function>(memory)) {}

std::int64_t NativeCode::reach(const std::byte* const* at, std::int64_t n) const {
  if (n < group_) return 0;
  if (n % group_ == 0) return n;
  for (const std::uint32_t result : written_) {
    for (const std::uint32_t operand : read_) {
      if (at[result] == at[operand]) return n & -group_;
    }
  }
  return n;
}

NativeCode::~NativeCode() {
  munmap(memory_, bytes_);
}

std::unique_ptr<NativeCode> NativeCode::make(const NativeLoop& loop, Isa isa, Widths widths) {
  const Made made = make_code<LoopWriter>(loop, isa, widths);
  if (made.memory == MAP_FAILED) return nullptr;
  std::unique_ptr<NativeCode> code(new NativeCode(made.memory, made.bytes, made.group));
  for (const NativeLoop::Value& value : loop.values) {
    if (value.kind == NativeLoop::Value::Kind::Read) code->read_.push_back(value.place);
  }
  for (const NativeLoop::Result& result : loop.results) code->written_.push_back(result.place);
  return code;
}

std::unique_ptr<NativeCode> NativeCode::make(const NativeRounds& rounds, Isa isa, Widths widths) {
  const Made made = make_code<RoundsWriter>(rounds, isa, widths);
  if (made.memory == MAP_FAILED) return nullptr;
  return std::unique_ptr<NativeCode>(new NativeCode(made.memory, made.bytes, made.group));
}

std::unique_ptr<NativeCode> NativeCode::make(const NativePieces& pieces, Isa isa, Widths widths) {
  const Made made = make_code<PiecesWriter>(pieces, isa, widths);
  if (made.memory == MAP_FAILED) return nullptr;
  return std::unique_ptr<NativeCode>(new NativeCode(made.memory, made.bytes, made.group));
}

}  // namespace cvl::cpu
