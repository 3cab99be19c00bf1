#include "cvl-cpu/native_writers.hpp"

namespace cvl::cpu {
namespace {

using vcode::Op;

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
      if (loop_.values[k].kind == Value::Kind::Uniform) before_loop([&] { write_uniform(k); });
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
      if (is_applied(value)) write_apply(k);
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
    if (avx512_ && lane == Lane::Flag) {
      c_.kmovw(out.as<KReg>(), from.as<KReg>());
    } else {
      move(out.as<Vec>(), from.as<Vec>());
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

}  // namespace

int write_rounds(const NativeRounds& rounds, asmjit::CodeHolder& code, Isa isa, Widths widths) {
  RoundsWriter writer(code, rounds, isa, widths);
  return writer.write() ? writer.group() : 0;
}

}  // namespace cvl::cpu
