#include "cvl-cpu/native_writers.hpp"

namespace cvl::cpu {
namespace {

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
    before_loop([&] {
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

}  // namespace

int write_loop(const NativeLoop& loop, asmjit::CodeHolder& code, Isa isa, Widths widths) {
  LoopWriter writer(code, loop, isa, widths);
  return writer.write() ? writer.group() : 0;
}

}  // namespace cvl::cpu
