// Rounds of few states, one after the other, in general registers. Lanes of a vector register would
// compute both sides of every choice, and wait for the condition; here a choice that matters is a
// jump, which processors predict.

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "cvl-cpu/native_writers.hpp"
#include "vcode/comparisons.hpp"

namespace cvl::cpu {
namespace {

using asmjit::imm;
using asmjit::Label;
using asmjit::x86::CondCode;
using asmjit::x86::Gp;
using asmjit::x86::Mem;
using asmjit::x86::Xmm;
namespace Inst = asmjit::x86::Inst;
using asmjit::InstId;
using vcode::Op;
using Register = asmjit::x86::Reg;
using Value = NativeLoop::Value;

/// A round is written once for each way through its choices: so many choices, on all ways together.
constexpr int kMostChoices = 12;

/// An arm of more operations is jumped over where it is not wanted.
constexpr int kShortArm = 6;

class SerialWriter {
 public:
  SerialWriter(asmjit::CodeHolder& code, const NativeRounds& rounds, Widths widths)
      : c_(&code), rounds_(rounds), values_(rounds.body.values), widths_(widths) {}

  bool write() {
    asmjit::FuncNode* function = c_.addFunc(
        asmjit::FuncSignatureT<int, const void*, std::int64_t, std::int64_t, std::int64_t>());
    function->frame().setAvxEnabled();
    function->frame().setAvxCleanup();
    const Gp most = c_.newInt64(), end = c_.newInt64();
    at_ = c_.newIntPtr();
    position_ = c_.newInt64();
    left_ = c_.newInt64();
    goes_on_ = c_.newInt32();
    function->setArg(0, at_);
    function->setArg(1, most);
    function->setArg(2, end);
    function->setArg(3, position_);
    Path path;
    path.held.resize(values_.size());
    path.known.resize(values_.size());
    const Label next_state = c_.newLabel();
    again_ = c_.newLabel();
    ended_ = c_.newLabel();
    stopped_ = c_.newLabel();
    failed_ = c_.newLabel();
    for (std::uint32_t k = 0; k < values_.size(); ++k) {
      const Value& value = values_[k];
      if (value.kind == Value::Kind::Uniform && !value.number) {
        path.held[k] = loaded(value.type, element(value.place, value.type, false));
      }
    }
    c_.bind(next_state);
    for (std::uint32_t k = 0; k < values_.size(); ++k) {
      const Value& value = values_[k];
      if (value.kind != Value::Kind::Read) continue;
      path.held[k] = loaded(value.type, element(value.place, value.type, true));
    }
    held_ = path.held;
    c_.mov(left_, most);
    c_.align(asmjit::AlignMode::kCode, 32);
    c_.bind(again_);
    find_simpler(path);
    write_round(path, {rounds_.flag});
    c_.bind(ended_);
    c_.mov(goes_on_, 0);
    const Label store = c_.newLabel();
    c_.jmp(store);
    c_.bind(stopped_);
    c_.mov(goes_on_, 1);
    c_.bind(store);
    for (const NativeRounds::Change& change : rounds_.changes) {
      const Type type = values_[change.state].type;
      this->store(element(change.place, type, true), type, held_[change.state]);
    }
    this->store(element(rounds_.flag_place, Type::Bool, true), Type::Bool, goes_on_);
    c_.inc(position_);
    c_.cmp(position_, end);
    c_.jl(next_state);
    const Gp result = c_.newInt32();
    c_.mov(result, 0);
    const Label leave = c_.newLabel();
    c_.jmp(leave);
    c_.bind(failed_);
    c_.mov(result, 1);
    c_.bind(leave);
    c_.ret(result);
    c_.endFunc();
    return c_.finalize() == asmjit::kErrorOk;
  }

 private:
  /// What is known on a way through the round: which values have been computed, and, of choices
  /// that have been made, what conditions are.
  struct Path {
    std::vector<Register> held;              // invalid: it has not been computed
    std::vector<std::optional<bool>> known;  // of BOOLs
    std::vector<std::uint32_t> same;         // the value that it is, given these
  };
  using Tests = std::vector<std::uint32_t>;

  // --- What is known ---

  bool applies(std::uint32_t k, Op op) const {
    return values_[k].kind == Value::Kind::Apply && values_[k].op == op;
  }
  bool is_logic(std::uint32_t k, Op op) const {
    return values_[k].type == Type::Bool && applies(k, op);
  }

  void learn(Path& path, std::uint32_t number, bool value) {
    const std::uint32_t k = path.same[number];
    if (path.known[k]) return;
    path.known[k] = value;
    const std::uint32_t* args = values_[k].args;
    if (is_logic(k, Op::Not)) learn(path, args[0], !value);
    if (is_logic(k, value ? Op::And : Op::Or)) {
      learn(path, args[0], value);
      learn(path, args[1], value);
    }
  }

  /// Which values are known, or are others, by what has been learnt.
  void find_simpler(Path& path) const {
    path.same.resize(values_.size());
    for (std::uint32_t k = 0; k < values_.size(); ++k) {
      path.same[k] = k;
      const Value& value = values_[k];
      if (value.kind == Value::Kind::Uniform && value.type == Type::Bool && value.number) {
        path.known[k] = *value.number != 0;
      }
      if (value.kind != Value::Kind::Apply) continue;
      const auto known = [&](int a) { return path.known[path.same[value.args[a]]]; };
      const auto become = [&](int a) { path.same[k] = path.same[value.args[a]]; };
      if (value.op == Op::Select) {
        if (known(0)) become(*known(0) ? 1 : 2);
      } else if (is_logic(k, Op::Not)) {
        if (known(0) && !path.known[k]) path.known[k] = !*known(0);
      } else if (is_logic(k, Op::And) || is_logic(k, Op::Or)) {
        const bool neutral = value.op == Op::And;
        for (const int a : {0, 1}) {
          if (!known(a)) continue;
          if (*known(a) == neutral) {
            become(1 - a);
          } else {
            path.known[k] = !neutral;
          }
        }
      }
      if (path.known[path.same[k]]) path.known[k] = path.known[path.same[k]];
    }
  }

  Path given(const Path& path, std::uint32_t condition, bool value) {
    Path result = path;
    learn(result, condition, value);
    find_simpler(result);
    return result;
  }

  // --- The round ---

  /// Writes the rest of a round, in which all tests have to hold if the state is to go on.
  void write_round(Path path, Tests tests) {
    while (!tests.empty()) {
      const std::uint32_t test = path.same[tests.back()];
      tests.pop_back();
      if (path.known[test]) {
        if (*path.known[test]) continue;
        c_.jmp(ended_);
        return;
      }
      const std::uint32_t* args = values_[test].args;
      if (is_logic(test, Op::And)) {
        tests.push_back(args[1]);
        tests.push_back(args[0]);
        continue;
      }
      if (is_logic(test, Op::Or)) {
        // Which of the two holds may be what the next state depends on.
        const bool first = decides(path, path.same[args[0]]);
        if (first || decides(path, path.same[args[1]])) {
          const std::uint32_t condition = path.same[args[first ? 0 : 1]];
          const auto rest = [&](const Path& way, bool holds) {
            Tests more = tests;
            if (!holds) more.push_back(args[first ? 1 : 0]);
            write_round(way, std::move(more));
          };
          return choose(path, condition, rest);
        }
      }
      jump(path, test, false, ended_);
      path = given(path, test, true);
    }
    for (const NativeRounds::Change& change : rounds_.changes) {
      const std::uint32_t next = path.same[change.next];
      if (!applies(next, Op::Select)) continue;
      const std::uint32_t condition = path.same[values_[next].args[0]];
      if (!decides(path, condition)) continue;
      return choose(path, condition, [&](const Path& way, bool) { write_round(way, {}); });
    }
    write_change(path);
  }

  /// Calls rest(path, holds) for both ways.
  template <class Rest>
  void choose(Path& path, std::uint32_t condition, const Rest& rest) {
    ++choices_;
    const Label otherwise = c_.newLabel();
    jump(path, condition, false, otherwise);
    rest(given(path, condition, true), true);
    c_.bind(otherwise);
    rest(given(path, condition, false), false);
  }

  /// Is it worth a jump whether the condition holds? It is where several components depend on it
  /// and there is something to compute for them, or one that takes long.
  bool decides(const Path& path, std::uint32_t condition) const {
    if (choices_ == kMostChoices) return false;
    int components = 0;
    bool computes = false;
    for (const NativeRounds::Change& change : rounds_.changes) {
      const std::uint32_t next = path.same[change.next];
      if (!applies(next, Op::Select)) continue;
      const std::uint32_t* args = values_[next].args;
      if (path.same[args[0]] != condition) continue;
      ++components;
      int room = kShortArm;
      for (const int arm : {1, 2}) {
        if (!is_short(path, path.same[args[arm]], room)) return true;
      }
      computes = computes || room < kShortArm;
    }
    return components > 1 && computes;
  }

  /// Can it be computed by few simple operations? They take room.
  bool is_short(const Path& path, std::uint32_t k, int& room) const {
    const Value& value = values_[k];
    if (path.held[k].isValid() || value.kind == Value::Kind::Uniform) return true;
    const bool divides = applies(k, Op::Divide) || applies(k, Op::Modulo);
    if (divides && !values_[value.args[1]].number) return false;
    if (applies(k, Op::Sqrt) || value.math != nullptr || --room < 0) return false;
    return std::all_of(std::begin(value.args), std::end(value.args), [&](std::uint32_t operand) {
      return operand == NativeLoop::kNone || is_short(path, path.same[operand], room);
    });
  }

  /// The components become the next ones, all at the same time, and the next round begins.
  void write_change(Path& path) {
    struct Next {
      std::uint32_t state;
      Type type;
      Register becomes;
    };
    std::vector<Next> next;
    for (const NativeRounds::Change& change : rounds_.changes) {
      const std::uint32_t becomes = path.same[change.next];
      if (becomes == change.state) continue;
      next.push_back({change.state, values_[change.state].type, need(path, becomes)});
      if (values_[becomes].kind == Value::Kind::Read) {
        next.back().becomes = copied(next.back().type, next.back().becomes);
      }
    }
    for (const Next& one : next) move(held_[one.state], one.type, one.becomes);
    c_.dec(left_);
    c_.jnz(again_);
    c_.jmp(stopped_);
  }

  // --- Registers and memory ---

  bool is_wide(Type type) const {
    return (type == Type::Int ? widths_.int_bytes : widths_.float_bytes) == 8;
  }
  Register make(Type type) {
    if (type == Type::Float) return c_.newXmm();
    return type == Type::Int && is_wide(type) ? c_.newInt64() : c_.newInt32();
  }
  void move(const Register& to, Type type, const Register& from) {
    if (type == Type::Float) {
      c_.vmovaps(to.as<Xmm>(), from.as<Xmm>());
    } else {
      c_.mov(to.as<Gp>(), from.as<Gp>());
    }
  }
  Register copied(Type type, const Register& from) {
    const Register copy = make(type);
    move(copy, type, from);
    return copy;
  }

  /// The one element at a place of the table of addresses, or that of the state.
  Mem element(std::uint32_t place, Type type, bool of_state) {
    const Gp address = c_.newIntPtr();
    c_.mov(address, asmjit::x86::qword_ptr(at_, static_cast<std::int32_t>(place * sizeof(void*))));
    return element(address, type, of_state ? &position_ : nullptr);
  }
  Mem element(const Gp& address, Type type, const Gp* index) const {
    const std::uint32_t shift = type == Type::Bool ? 0 : is_wide(type) ? 3 : 2;
    Mem memory =
        index == nullptr ? asmjit::x86::ptr(address) : asmjit::x86::ptr(address, *index, shift);
    memory.setSize(1U << shift);
    return memory;
  }
  Register loaded(Type type, const Mem& from) {
    const Register to = make(type);
    if (type == Type::Float) {
      is_wide(type) ? c_.vmovsd(to.as<Xmm>(), from) : c_.vmovss(to.as<Xmm>(), from);
    } else if (type == Type::Bool) {
      c_.movzx(to.as<Gp>(), from);
    } else {
      c_.mov(to.as<Gp>(), from);
    }
    return to;
  }
  void store(const Mem& to, Type type, const Register& from) {
    if (type == Type::Float) {
      is_wide(type) ? c_.vmovsd(to, from.as<Xmm>()) : c_.vmovss(to, from.as<Xmm>());
    } else {
      c_.mov(to, type == Type::Bool ? from.as<Gp>().r8() : from.as<Gp>());
    }
  }

  // --- Values ---

  /// The register of a value, which is computed here if it has not been on the way.
  Register need(Path& path, std::uint32_t number) {
    const std::uint32_t k = path.same[number];
    if (path.held[k].isValid()) return path.held[k];
    const Value& value = values_[k];
    Register result;
    if (path.known[k] || value.number) {
      result = make(value.type);
      c_.mov(result.as<Gp>(), imm(path.known[k] ? std::int64_t{*path.known[k]} : *value.number));
    } else {
      result = value.kind == Value::Kind::Gather ? gathered(path, value) : applied(path, value);
    }
    path.held[k] = result;
    return result;
  }
  Gp general(Path& path, std::uint32_t k) { return need(path, k).as<Gp>(); }
  Xmm real(Path& path, std::uint32_t k) { return need(path, k).as<Xmm>(); }

  /// An INT that instructions can contain.
  std::optional<std::int64_t> literal(const Path& path, std::uint32_t k) const {
    const std::optional<std::int64_t> number = values_[path.same[k]].number;
    const bool fits = number && *number == static_cast<std::int32_t>(*number);
    return fits && values_[path.same[k]].type == Type::Int ? number : std::nullopt;
  }

  /// out = out `id` value.
  void combine(Path& path, InstId id, const Gp& out, std::uint32_t k) {
    if (const auto number = literal(path, k)) {
      c_.emit(id, out, imm(*number));
    } else {
      c_.emit(id, out, general(path, k));
    }
  }

  /// Jumps if the condition is what is given.
  void jump(Path& path, std::uint32_t condition, bool if_true, const Label& target) {
    const CondCode holds = compare(path, condition);
    c_.emit(Inst::jccFromCond(if_true ? holds : asmjit::x86::negateCond(holds)), target);
  }

  /// Sets the processor's flags: which of its conditions the value is.
  CondCode compare(Path& path, std::uint32_t number) {
    const std::uint32_t k = path.same[number];
    const Value& value = values_[k];
    if (!path.held[k].isValid() && value.kind == Value::Kind::Apply) {
      if (is_logic(k, Op::Not)) return asmjit::x86::negateCond(compare(path, value.args[0]));
      if (vcode::is_comparison(value.op) && value.written == Type::Int) {
        const Gp first = general(path, value.args[0]);
        if (!literal(path, value.args[1])) general(path, value.args[1]);
        combine(path, Inst::kIdCmp, first, value.args[1]);
        return signed_condition(value.op);
      }
      if (orders_floats(value)) {
        // An operand that is no number is neither below nor above.
        const bool swaps = value.op == Op::Less || value.op == Op::LessEqual;
        const Xmm first = real(path, value.args[swaps ? 1 : 0]);
        const Xmm second = real(path, value.args[swaps ? 0 : 1]);
        is_wide(Type::Float) ? c_.vucomisd(first, second) : c_.vucomiss(first, second);
        const bool equal = value.op == Op::LessEqual || value.op == Op::GreaterEqual;
        return equal ? CondCode::kUnsignedGE : CondCode::kUnsignedGT;
      }
    }
    const Gp flag = general(path, k);
    c_.test(flag, flag);
    return CondCode::kNZ;
  }

  static CondCode signed_condition(Op op) {
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
  static bool orders_floats(const Value& value) {
    return vcode::is_comparison(value.op) && value.written == Type::Float &&
           value.op != Op::Equal && value.op != Op::NotEqual;
  }

  /// The element, or 0 where there is none.
  Register gathered(Path& path, const Value& value) {
    const Gp index = general(path, value.args[0]);
    const Gp length = general(path, value.args[1]);
    const Gp address = c_.newIntPtr(), place = c_.newInt64();
    const Register out = make(value.type);
    const Label none = c_.newLabel();
    if (value.type == Type::Float) {
      c_.vxorps(out.as<Xmm>(), out.as<Xmm>(), out.as<Xmm>());
    } else {
      c_.mov(out.as<Gp>(), 0);
    }
    c_.cmp(index, length);  // without signs: negative ones are beyond every length
    c_.jae(none);
    is_wide(Type::Int) ? c_.mov(place, index) : c_.mov(place.r32(), index);
    c_.mov(address,
           asmjit::x86::qword_ptr(at_, static_cast<std::int32_t>(value.place * sizeof(void*))));
    const Mem from = element(address, value.bytes ? Type::Bool : value.type, &place);
    if (value.bytes) {
      c_.movzx(out.as<Gp>().r32(), from);
    } else {
      move(out, value.type, loaded(value.type, from));
    }
    c_.bind(none);
    return out;
  }

  /// A math function of one number, by the kernel for vectors.
  Register called(Path& path, const Value& value) {
    const Xmm argument = real(path, value.args[0]);
    const auto bytes = static_cast<std::uint32_t>(widths_.float_bytes);
    Mem from = c_.newStack(bytes, bytes), to = c_.newStack(bytes, bytes);
    from.setSize(bytes);
    to.setSize(bytes);
    store(from, Type::Float, argument);
    const Gp from_at = c_.newIntPtr(), to_at = c_.newIntPtr();
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

  Register applied(Path& path, const Value& value) {
    if (value.math != nullptr) return called(path, value);
    const bool is_arithmetic = value.op <= Op::Divide;
    if (is_arithmetic && value.type == Type::Float) return float_arithmetic(path, value);
    switch (value.op) {
      case Op::Select:
        return selected(path, value);
      case Op::Divide:
      case Op::Modulo:
        return divided(path, value);
      case Op::Floor:
      case Op::Ceil:
      case Op::Trunc:
      case Op::Round:
        return rounded(path, value);
      case Op::Sqrt: {
        const Xmm from = real(path, value.args[0]);
        const Xmm out = c_.newXmm();
        is_wide(Type::Float) ? c_.vsqrtsd(out, from, from) : c_.vsqrtss(out, from, from);
        return out;
      }
      case Op::IntToFloat: {
        const Gp from = general(path, value.args[0]);
        const Xmm out = c_.newXmm();
        c_.vxorps(out, out, out);
        is_wide(Type::Float) ? c_.vcvtsi2sd(out, out, from) : c_.vcvtsi2ss(out, out, from);
        return out;
      }
      case Op::IntToBool: {
        const Gp from = general(path, value.args[0]);
        c_.test(from, from);
        return flag(CondCode::kNZ);
      }
      case Op::BoolToInt: {
        const Gp from = general(path, value.args[0]);
        const Register out = make(Type::Int);
        c_.mov(out.as<Gp>().r32(), from);
        return out;
      }
      default:
        break;
    }
    if (vcode::is_comparison(value.op) && value.written != Type::Bool) return compared(path, value);
    return int_arithmetic(path, value);
  }

  /// 0 or 1.
  Gp flag(CondCode condition) {
    const Gp out = c_.newInt32();
    c_.emit(Inst::setccFromCond(condition), out.r8());
    c_.movzx(out, out.r8());
    return out;
  }

  Register compared(Path& path, const Value& value) {
    if (value.written == Type::Int || orders_floats(value)) {
      return flag(compare(path, static_cast<std::uint32_t>(&value - values_.data())));
    }
    const Xmm first = real(path, value.args[0]), second = real(path, value.args[1]);
    const Xmm lanes = c_.newXmm();
    const Gp out = c_.newInt32();
    const int predicate = value.op == Op::Equal ? 0x00 : 0x04;
    is_wide(Type::Float) ? c_.vcmpsd(lanes, first, second, predicate)
                         : c_.vcmpss(lanes, first, second, predicate);
    c_.vmovd(out, lanes);
    c_.and_(out, 1);
    return out;
  }

  Register float_arithmetic(Path& path, const Value& value) {
    const Xmm first = real(path, value.args[0]), second = real(path, value.args[1]);
    const Xmm out = c_.newXmm();
    const bool wide = is_wide(Type::Float);
    switch (value.op) {
      case Op::Add:
        wide ? c_.vaddsd(out, first, second) : c_.vaddss(out, first, second);
        break;
      case Op::Subtract:
        wide ? c_.vsubsd(out, first, second) : c_.vsubss(out, first, second);
        break;
      case Op::Multiply:
        wide ? c_.vmulsd(out, first, second) : c_.vmulss(out, first, second);
        break;
      default:
        wide ? c_.vdivsd(out, first, second) : c_.vdivss(out, first, second);
        break;
    }
    return out;
  }

  /// INTs, or BOOLs, which are 0 or 1.
  Register int_arithmetic(Path& path, const Value& value) {
    const Register result = copied(value.type, general(path, value.args[0]));
    const Gp out = result.as<Gp>();
    const bool is_bool = value.type == Type::Bool;
    const auto combine_with = [&](InstId id) { combine(path, id, out, value.args[1]); };
    switch (value.op) {
      case Op::Add:
        combine_with(Inst::kIdAdd);
        break;
      case Op::Subtract:
        combine_with(Inst::kIdSub);
        break;
      case Op::Multiply:
        if (const auto number = literal(path, value.args[1])) {
          c_.imul(out, out, imm(*number));
        } else {
          c_.imul(out, general(path, value.args[1]));
        }
        break;
      case Op::And:
        combine_with(Inst::kIdAnd);
        break;
      case Op::Or:
        combine_with(Inst::kIdOr);
        break;
      case Op::ShiftLeft:
        shift(path, Inst::kIdShl, Inst::kIdShlx, out, value.args[1]);
        break;
      case Op::ShiftRight:
        shift(path, Inst::kIdSar, Inst::kIdSarx, out, value.args[1]);
        break;
      case Op::Not:
        is_bool ? c_.xor_(out, 1) : c_.not_(out);
        break;
      default:  // Xor; of BOOLs NotEqual, and Equal
        combine_with(Inst::kIdXor);
        if (value.op == Op::Equal) c_.xor_(out, 1);
        break;
    }
    return result;
  }

  /// Processors take counts modulo the width, as is wanted.
  void shift(Path& path, InstId by_literal, InstId by_register, const Gp& out,
             std::uint32_t count) {
    if (const auto number = literal(path, count)) {
      c_.emit(by_literal, out, imm(*number & (is_wide(Type::Int) ? 63 : 31)));
    } else {
      c_.emit(by_register, out, out, general(path, count));
    }
  }

  Register selected(Path& path, const Value& value) {
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
  Register rounded(Path& path, const Value& value) {
    const Xmm from = real(path, value.args[0]);
    const bool wide = is_wide(Type::Float);
    Xmm whole = from;
    const auto round = [&](int mode) {
      whole = c_.newXmm();
      wide ? c_.vroundsd(whole, from, from, mode) : c_.vroundss(whole, from, from, mode);
    };
    if (value.op != Op::Trunc) round(value.op == Op::Ceil ? 0x0A : 0x09);
    if (value.op == Op::Round) {
      // Halves upwards.
      const Xmm above = c_.newXmm(), rest = c_.newXmm();
      const Label below = c_.newLabel();
      const Mem one = wide ? c_.newDoubleConst(asmjit::ConstPoolScope::kLocal, 1.0)
                           : c_.newFloatConst(asmjit::ConstPoolScope::kLocal, 1.0F);
      const Mem half = wide ? c_.newDoubleConst(asmjit::ConstPoolScope::kLocal, 0.5)
                            : c_.newFloatConst(asmjit::ConstPoolScope::kLocal, 0.5F);
      wide ? c_.vsubsd(rest, from, whole) : c_.vsubss(rest, from, whole);
      wide ? c_.vaddsd(above, whole, one) : c_.vaddss(above, whole, one);
      wide ? c_.vucomisd(rest, half) : c_.vucomiss(rest, half);
      c_.jb(below);  // or where it is no number
      c_.vmovaps(whole, above);
      c_.bind(below);
    }
    const Register out = make(Type::Int);
    wide ? c_.vcvttsd2si(out.as<Gp>(), whole) : c_.vcvttss2si(out.as<Gp>(), whole);
    return out;
  }

  // --- Division of INTs ---

  Register divided(Path& path, const Value& value) {
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
      const Register product = copied(Type::Int, quotient);
      c_.imul(product.as<Gp>(), product.as<Gp>(), imm(*by));
      const Register rest = copied(Type::Int, dividend);
      c_.sub(rest.as<Gp>(), product.as<Gp>());
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
  Gp shifted(const Gp& dividend, int bits) {
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
  Gp multiplied(const Gp& dividend, std::int64_t divisor) {
    const int bits = 31 + std::bit_width(static_cast<std::uint64_t>(divisor));
    const Gp factor = c_.newInt64(), product = c_.newInt64();
    c_.mov(factor, (std::uint64_t{1} << bits) / static_cast<std::uint64_t>(divisor) + 1);
    c_.movsxd(product, dividend);
    c_.imul(product, factor);
    c_.sar(product, bits);
    const Gp sign = copied(Type::Int, dividend).as<Gp>();
    c_.sar(sign, 31);
    const Gp out = c_.newInt32();
    c_.mov(out, product.r32());
    c_.sub(out, sign);
    return out;
  }

  asmjit::x86::Compiler c_;
  const NativeRounds& rounds_;
  const std::vector<Value>& values_;
  const Widths widths_;
  Gp at_, position_, left_, goes_on_;
  Label again_, ended_, stopped_, failed_;
  std::vector<Register> held_;  // of the state, in all rounds
  int choices_ = 0;             // written so far
};

}  // namespace

int write_serial_rounds(const NativeRounds& rounds, asmjit::CodeHolder& code, Isa, Widths widths) {
  return SerialWriter(code, rounds, widths).write() ? 1 : 0;
}

}  // namespace cvl::cpu
