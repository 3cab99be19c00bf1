// The values of rounds in machine code that computes one state at a time: operations in general
// registers, and on the lowest lane of vector registers.
#pragma once

#include <array>
#include <asmjit/x86.h>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cvl-cpu/native_code.hpp"

namespace cvl::cpu {

/// What is known on a way through code: which values have been computed, and, of choices that have
/// been made, what conditions are.
struct ScalarPath {
  std::vector<asmjit::x86::Reg> held;      // invalid: it has not been computed
  std::vector<std::optional<bool>> known;  // of BOOLs
  std::vector<std::uint32_t> same;         // the value that it is, given these
  /// Components of the state of which it is known what they are when the round begins.
  std::map<std::uint32_t, std::int64_t> begins;
};

/// Writes the code for values. Which of them are wanted, and where, is up to the class that is
/// derived from it. INTs are in general registers of their width, BOOLs in such of 32 bits, as 0 or
/// 1, and FLOATs in vector registers.
class ScalarWriter {
 protected:
  using CondCode = asmjit::x86::CondCode;
  using Gp = asmjit::x86::Gp;
  using Label = asmjit::Label;
  using Mem = asmjit::x86::Mem;
  using Register = asmjit::x86::Reg;
  using Value = NativeLoop::Value;
  using Xmm = asmjit::x86::Xmm;

  /// A BOOL that tells whether an index is inside of a vector with `size` elements, or outside.
  struct Range {
    std::uint32_t index, size;  // values
    bool inside;
  };

  ScalarWriter(asmjit::CodeHolder& code, const std::vector<Value>& values, Widths widths);

  bool applies(std::uint32_t k, vcode::Op op) const {
    return values_[k].kind == Value::Kind::Apply && values_[k].op == op;
  }
  bool is_logic(std::uint32_t k, vcode::Op op) const {
    return values_[k].type == Type::Bool && applies(k, op);
  }

  Register make(Type type);
  /// Registers made from here on are for the end of a way; other ways may end with the same ones.
  void begin_end_of_way() { making_ = {&own_.back(), {}}; }
  void move(const Register& to, Type type, const Register& from);
  Register copied(Type type, const Register& from);

  /// The one element at a place of the table of addresses, or that of the state.
  Mem element(std::uint32_t place, Type type, bool of_state);
  Mem element(const Gp& address, Type type, const Gp* index) const;
  /// The index, of 64 bits. Jumps if there is no such element among so many, if that is asked.
  Gp place_below(const Gp& index, const std::optional<Gp>& length, const Label& none);
  /// Is it known that there is such an element?
  bool is_inside(const ScalarPath& path, std::uint32_t index, std::uint32_t length) const;
  Gp address(std::uint32_t place);
  /// A place in memory of such a value.
  Mem typed(Mem memory, Type type) const;
  void load(const Register& to, Type type, const Mem& from);
  Register loaded(Type type, const Mem& from);
  void make_zero(const Register& to, Type type);
  void store(const Mem& to, Type type, const Register& from);

  /// The register of a value, which is computed here if it has not been on the way.
  Register need(ScalarPath& path, std::uint32_t number);
  /// Sets the processor's flags: which of its conditions the value is.
  CondCode compare(ScalarPath& path, std::uint32_t number);
  /// How many values have been computed so far, on all ways.
  std::size_t computations() const { return computations_; }

  asmjit::x86::Compiler c_;
  const std::vector<Value>& values_;
  std::vector<std::optional<Range>> ranges_;  // of values
  Gp at_;                                     // the table of addresses
  Gp position_;                               // of the state
  Label failed_;                              // where division by 0 leads

 private:
  enum Kind : std::uint8_t { kByte, kWord, kLong, kReal, kKinds };
  /// Registers by their kind. A value that is computed on several ways has the same ones on all of
  /// them: to assign registers takes longer than in proportion to their number.
  using Own = std::array<std::vector<Register>, kKinds>;
  /// Those that the value in the making has taken so far.
  struct Making {
    Own* own = nullptr;  // none: each one is new
    std::array<std::size_t, kKinds> taken{};
  };

  Register make(Kind kind);
  Gp make_word() { return make(kWord).as<Gp>(); }
  Gp make_long() { return make(kLong).as<Gp>(); }
  Xmm make_real() { return make(kReal).as<Xmm>(); }
  Register computed(ScalarPath& path, std::uint32_t k);

  bool is_wide(Type type) const {
    return (type == Type::Int ? widths_.int_bytes : widths_.float_bytes) == 8;
  }
  /// An instruction for FLOATs, by their width.
  template <class... Operands>
  void emit_float(asmjit::InstId narrow, asmjit::InstId wide, const Operands&... operands) {
    c_.emit(is_wide(Type::Float) ? wide : narrow, operands...);
  }

  Gp general(ScalarPath& path, std::uint32_t k) { return need(path, k).as<Gp>(); }
  Xmm real(ScalarPath& path, std::uint32_t k) { return need(path, k).as<Xmm>(); }
  std::optional<std::int64_t> literal(const ScalarPath& path, std::uint32_t k) const;
  void combine(ScalarPath& path, asmjit::InstId id, const Gp& out, std::uint32_t k);
  std::optional<Range> range(std::uint32_t k) const;
  Gp flag(CondCode condition);

  Register gathered(ScalarPath& path, const Value& value);
  Register called(ScalarPath& path, const Value& value);
  Register applied(ScalarPath& path, std::uint32_t k);
  Register converted(ScalarPath& path, const Value& value);
  Register compared(ScalarPath& path, std::uint32_t k);
  Register float_arithmetic(ScalarPath& path, const Value& value);
  Register int_arithmetic(ScalarPath& path, const Value& value);
  void shift(ScalarPath& path, const Value& value, const Gp& out);
  Register selected(ScalarPath& path, const Value& value);
  Register rounded(ScalarPath& path, const Value& value);
  Register divided(ScalarPath& path, const Value& value);
  Gp shifted(const Gp& dividend, int bits);
  Gp multiplied(const Gp& dividend, std::int64_t divisor);

  const Widths widths_;
  std::vector<Own> own_;  // of values, and of ends of ways
  Making making_;
  std::size_t computations_ = 0;
};

}  // namespace cvl::cpu
