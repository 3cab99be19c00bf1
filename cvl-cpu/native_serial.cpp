// Rounds of few states, one after the other, in general registers. Lanes of a vector register would
// compute both sides of every choice, and wait for the condition; here a choice that matters is a
// jump, which processors predict.

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cvl-cpu/native_choices.hpp"
#include "cvl-cpu/native_writers.hpp"

namespace cvl::cpu {
namespace {

using vcode::Op;

/// A round is written once for each way through its choices: so many choices, on all ways together.
constexpr int kMostChoices = 12;

/// Nor is one written more than once where so many values might be computed then, in all.
constexpr std::size_t kMostComputations = 1400;

/// What is done with a stack is known on each way.
constexpr int kMostChoicesWithStack = 40;

/// Rounds are written anew for so many states that are known in part from the round before, and
/// need not ask for that: of a recursion it is the first component on the stack, which tells at
/// which of its calls it is, of other loops it is which of the BOOLs are T. These tell that a loop
/// inside has begun, of which only the next round is left then.
constexpr std::size_t kMostBeginnings = 8;

/// An arm of more operations is jumped over where it is not wanted.
constexpr int kShortArm = 6;

class SerialWriter : public ChoiceWriter {
 public:
  SerialWriter(asmjit::CodeHolder& code, const NativeRounds& rounds, Widths widths)
      : ChoiceWriter(code, rounds.body.values, widths), rounds_(rounds) {}

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
    if (rounds_.stack) begin_stack();
    c_.mov(left_, most);
    c_.align(asmjit::AlignMode::kCode, 32);
    c_.bind(again_);
    find_simpler(path);
    write_round(path, {rounds_.flag});
    write_beginnings(path);
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
    if (rounds_.stack) end_stack();
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
  using Tests = std::vector<std::uint32_t>;

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
      branch(path, test, false, ended_);
      path = given(path, test, true);
    }
    for (const NativeRounds::Change& change : rounds_.changes) {
      const std::uint32_t next = path.same[change.next];
      if (!applies(next, Op::Select)) continue;
      const std::uint32_t condition = path.same[values_[next].args[0]];
      if (!decides(path, condition)) continue;
      const auto rest = [&](const Path& way, bool) { write_round(way, {}); };
      return choose(path, deciding_part(path, condition), rest);
    }
    if (const auto condition = open_condition(path)) {
      return choose(path, *condition, [&](const Path& way, bool) { write_round(way, {}); });
    }
    write_change(path);
  }

  /// Of which it depends what is done with the stack, if that is not known yet.
  std::optional<std::uint32_t> open_condition(const Path& path) const {
    if (!rounds_.stack) return std::nullopt;
    const std::uint32_t push = path.same[rounds_.stack->push], pop = path.same[rounds_.stack->pop];
    if (!path.known[push]) return push;
    if (!*path.known[push] && !path.known[pop]) return pop;
    return std::nullopt;
  }

  /// Calls rest(path, holds) for both ways.
  template <class Rest>
  void choose(const Path& path, std::uint32_t condition, const Rest& rest) {
    ++choices_;
    const Label otherwise = c_.newLabel();
    Path yes = path, no = path;
    no.held = branch(yes, condition, false, otherwise);
    rest(given(yes, condition, true), true);
    c_.bind(otherwise);
    rest(given(no, condition, false), false);
  }

  bool is_large() const { return computations() + 2 * values_.size() >= kMostComputations; }

  /// Is it worth a jump whether the condition holds? It is where there are stacks, and where
  /// several components depend on it and there is something to compute for them, or one that takes
  /// long.
  bool decides(const Path& path, std::uint32_t condition) const {
    if (rounds_.plain) return false;
    if (rounds_.stack) return choices_ < kMostChoicesWithStack;
    if (choices_ == kMostChoices || is_large()) return false;
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

  /// What other components depend on, too, if it is a part of the condition.
  std::uint32_t deciding_part(const Path& path, std::uint32_t condition) const {
    if (!is_logic(condition, Op::And) && !is_logic(condition, Op::Or)) return condition;
    for (const std::uint32_t operand : {values_[condition].args[0], values_[condition].args[1]}) {
      std::uint32_t part = path.same[operand];
      if (is_logic(part, Op::Not)) part = path.same[values_[part].args[0]];
      if (!path.known[part] && decides(path, part)) return deciding_part(path, part);
    }
    return condition;
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
    begin_end_of_way();
    const bool pushes = rounds_.stack && *path.known[path.same[rounds_.stack->push]];
    const bool pops = rounds_.stack && !pushes && *path.known[path.same[rounds_.stack->pop]];
    if (pushes) write_push(path);
    std::vector<Next> next;
    for (const NativeRounds::Change& change : rounds_.changes) {
      const std::uint32_t becomes = path.same[change.next];
      if (becomes == change.state || (pops && is_popped(change.state))) continue;
      next.push_back({change.state, values_[change.state].type, need(path, becomes)});
      if (values_[becomes].kind == Value::Kind::Read) {
        next.back().becomes = copied(next.back().type, next.back().becomes);
      }
    }
    write_tables(path);
    if (pushes) c_.add(top_, frame_bytes());
    for (const Next& one : next) move(held_[one.state], one.type, one.becomes);
    if (pops) write_pop();
    c_.dec(left_);
    c_.jnz(pops ? again_ : next_round(path));
    c_.jmp(stopped_);
  }

  /// What is written is computed before anything is.
  void write_tables(Path& path) {
    struct Written {
      const TableChange* change;
      Register flag, element;  // no flag: it holds
      Gp index;
    };
    std::vector<Written> written;
    for (const TableChange& change : rounds_.writes) {
      const std::optional<bool> known = path.known[path.same[change.flag]];
      if (known == false) continue;
      written.push_back({&change, known ? Register() : need(path, change.flag),
                         need(path, change.element), need(path, change.index).as<Gp>()});
    }
    for (const Written& one : written) {
      const Label done = c_.newLabel();
      if (one.flag.isValid()) {
        c_.test(one.flag.as<Gp>(), one.flag.as<Gp>());
        c_.jz(done);
      }
      const TableChange& change = *one.change;
      std::optional<Gp> length;
      if (!is_inside(path, change.index, change.length)) {
        length = need(path, change.length).as<Gp>();
      }
      const Gp place = place_below(one.index, length, done);
      const Type type = values_[one.change->element].type;
      store(element(address(one.change->place), type, &place), type, one.element);
      c_.bind(done);
    }
  }

  // --- The stack ---

  std::int32_t frame_bytes() const {
    return static_cast<std::int32_t>(kFrameSlot) *
           static_cast<std::int32_t>(rounds_.stack->pushed.size());
  }
  bool is_popped(std::uint32_t state) const {
    const std::vector<std::uint32_t>& popped = rounds_.stack->popped;
    return std::find(popped.begin(), popped.end(), state) != popped.end();
  }
  Mem of_stack(std::size_t offset) const {
    return asmjit::x86::qword_ptr(stack_, static_cast<std::int32_t>(offset));
  }
  Mem part(std::size_t number, Type type) const {
    return typed(asmjit::x86::ptr(top_, static_cast<std::int32_t>(kFrameSlot) *
                                            static_cast<std::int32_t>(number)),
                 type);
  }

  // --- Rounds that begin with what is known ---

  /// What is known of the state that this round leads to.
  std::map<std::uint32_t, std::int64_t> known_state(const Path& path) const {
    std::map<std::uint32_t, std::int64_t> result;
    for (const NativeRounds::Change& change : rounds_.changes) {
      const std::uint32_t next = path.same[change.next];
      if (rounds_.stack) {
        const auto& number = values_[next].number;
        if (change.state == rounds_.stack->popped[0] && number) result[change.state] = *number;
      } else if (values_[change.state].type == Type::Bool && path.known[next] == true) {
        result[change.state] = 1;
      }
    }
    return result;
  }

  Label next_round(const Path& path) {
    if (rounds_.plain) return again_;
    std::map<std::uint32_t, std::int64_t> known = known_state(path);
    if (known.empty()) return again_;
    for (const Beginning& one : beginnings_) {
      if (one.known == known) return one.label;
    }
    if (beginnings_.size() == kMostBeginnings || is_large()) return again_;
    beginnings_.push_back({std::move(known), c_.newLabel()});
    return beginnings_.back().label;
  }

  void write_beginnings(const Path& path) {
    for (std::size_t k = 0; k < beginnings_.size(); ++k) {  // more are found on the way
      Path here = path;
      here.begins = beginnings_[k].known;
      find_simpler(here);
      c_.align(asmjit::AlignMode::kCode, 32);
      c_.bind(beginnings_[k].label);
      choices_ = 0;
      write_round(here, {rounds_.flag});
    }
  }

  void begin_stack() {
    stack_ = address(rounds_.stack->place);
    top_ = c_.newIntPtr();
    c_.mov(top_, of_stack(offsetof(FrameStack, top)));
  }

  void end_stack() {
    c_.mov(of_stack(offsetof(FrameStack, top)), top_);
    c_.mov(of_stack(offsetof(FrameStack, rounds_left)), left_);
  }

  /// Writes a frame behind the topmost one. Where there is no room for it the round has not begun.
  void write_push(Path& path) {
    const StackChange& stack = *rounds_.stack;
    c_.cmp(top_, of_stack(offsetof(FrameStack, limit)));
    c_.je(stopped_);
    for (std::size_t k = 0; k < stack.pushed.size(); ++k) {
      const Type type = values_[stack.popped[k]].type;
      store(part(k, type), type, need(path, stack.pushed[k]));
    }
  }

  void write_pop() {
    const StackChange& stack = *rounds_.stack;
    const Label empty = c_.newLabel(), done = c_.newLabel();
    c_.cmp(top_, of_stack(offsetof(FrameStack, base)));
    c_.je(empty);
    c_.sub(top_, frame_bytes());
    for (std::size_t k = 0; k < stack.popped.size(); ++k) {
      const Type type = values_[stack.popped[k]].type;
      load(held_[stack.popped[k]], type, part(k, type));
    }
    c_.jmp(done);
    c_.bind(empty);
    for (const std::uint32_t state : stack.popped) make_zero(held_[state], values_[state].type);
    c_.bind(done);
  }

  const NativeRounds& rounds_;
  Gp left_, goes_on_;
  Gp stack_, top_;
  struct Beginning {
    std::map<std::uint32_t, std::int64_t> known;
    Label label;
  };
  std::vector<Beginning> beginnings_;  // of which rounds are written by themselves
  Label again_, ended_, stopped_;
  std::vector<Register> held_;  // of the state, in all rounds
  int choices_ = 0;             // written so far
};

}  // namespace

int write_serial_rounds(const NativeRounds& rounds, asmjit::CodeHolder& code, Isa, Widths widths) {
  return SerialWriter(code, rounds, widths).write() ? 1 : 0;
}

}  // namespace cvl::cpu
