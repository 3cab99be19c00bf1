// Iterate, with a stack for each state: what a function is that calls itself anywhere; and with
// tables: what one is that changes elements of its sequences.
//
// A thread takes one state after the other, so that it has one stack at a time. It computes of a
// round what is needed of it; when that has taken long it makes machine code, which keeps the state
// in registers for many rounds. States that change tables are all run by one thread.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cvl-cpu/gather_scatter.hpp"
#include "cvl-cpu/kernel_loop.hpp"
#include "cvl-cpu/native_code.hpp"

namespace cvl::cpu {
namespace {

/// Rounds without machine code before anybody looks whether it pays.
constexpr std::int64_t kRoundsBetween = 64;

/// So many frames have room at first.
constexpr std::int64_t kFirstFrames = 64;
constexpr std::int64_t kGrowth = 4;

/// A value of any type. Operations on one element may read and write as much as a register holds.
struct alignas(64) Cell {
  std::byte bytes[64];
};

/// The body of a loop, and code for its rounds as soon as there is some.
class RecursionBody {
 public:
  RecursionBody(BoundPass& body, const PlanLoop& loop) : body_(body), loop_(loop) {}

  /// When the body has been bound.
  void open() {
    forget_other_native_steps(body_, body_.main, NativeSteps::Form::SerialRounds);
    note_code();
    over_ = false;
  }

  const NativeCode* code() const { return code_.load(std::memory_order_acquire); }

  /// So many rounds have been computed, which leads to better code when there are enough of them.
  void count(std::int64_t rounds) {
    const std::int64_t before = rounds_.fetch_add(rounds, std::memory_order_relaxed);
    if (before < enough_.load(std::memory_order_relaxed)) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || before < enough_.load(std::memory_order_relaxed)) return;
    make_native_rounds(body_, body_.main, loop_, 1);
    note_code();
  }

  const BoundPass& pass() const { return body_; }

  /// No state needs to go on any more: a failure has been thrown, or the run is to end.
  bool is_over() const { return over_.load(std::memory_order_relaxed); }
  void end() { over_ = true; }

 private:
  void note_code() {
    const NativeSteps& native = body_.main.native;
    code_.store(native.rounds.get(), std::memory_order_release);
    if (native.is_plain) {
      enough_ = tuning.rounds_in_plain_code;
    } else {
      const bool is_final = native.rounds != nullptr || native.tried_rounds;
      enough_ = is_final ? std::numeric_limits<std::int64_t>::max() : tuning.rounds_without_code;
    }
  }

  BoundPass& body_;
  const PlanLoop& loop_;
  std::atomic<const NativeCode*> code_ = nullptr;
  std::atomic<std::int64_t> rounds_ = 0;
  std::atomic<std::int64_t> enough_ = 0;  // from which other code is made
  std::atomic<bool> over_ = false;
  std::mutex mutex_;
};

/// The state that a thread is at.
class SerialState {
 public:
  SerialState(CpuBackend& cpu, RecursionBody& body, const PlanLoop& loop,
              const std::vector<LoopComponent>& components)
      : cpu_(cpu),
        body_(body),
        loop_(loop),
        components_(components),
        frame_bytes_(loop.has_stack() ? kFrameSlot * static_cast<std::int64_t>(loop.frame()) : 0),
        steps_(loop.body.nodes.size()),
        values_(loop.body.nodes.size()),
        computed_in_(loop.body.nodes.size()),
        now_(components.size()),
        next_(components.size()),
        written_(loop.writes.size()),
        table_(body.pass(), loop) {
    for (const BoundStep& step : body.pass().main.usual().steps) steps_[step.node] = &step;
    const RoundPlaces& places = table_.places();
    for (std::uint32_t k = 0; k < places.components; ++k) {
      table_[places.now(k)] = table_[places.next(k)] = now_[k].bytes;
    }
    table_[places.flags()] = reinterpret_cast<const std::byte*>(&goes_on_);
    table_[places.stack()] = reinterpret_cast<const std::byte*>(&stack_);
    if (loop.has_stack()) give_room(std::min(kFirstFrames, loop.depth));
  }

  /// In a run with the same steps as the last one.
  void renew() { table_.renew(body_.pass(), loop_); }

  /// Begins with state i of a block, and goes on to the end.
  void run(BlockEvaluator& values, std::int64_t i) {
    for (std::size_t k = 0; k < components_.size(); ++k) {
      const LoopComponent& component = components_[k];
      const bool same = component.uniform || body_.pass().begins_uniform[k];
      copy(now_[k].bytes, values.at(component.initial) + (same ? 0 : i * component.width), k);
    }
    stack_.top = stack_.base;
    std::int64_t left = loop_.rounds;
    while (left > 0 && !body_.is_over()) {
      if (cpu_.stop != nullptr && cpu_.stop()) return body_.end();
      const bool can_push = !loop_.has_stack() || has_room();
      const NativeCode* const code = can_push ? body_.code() : nullptr;
      const std::int64_t most = code != nullptr ? kMostSerialRounds : kRoundsBetween;
      const std::int64_t rounds = std::min(left, most);
      const bool ended = code != nullptr ? !run_code(*code, rounds) : !run_rounds(rounds);
      if (ended) return;
      left -= rounds - stack_.rounds_left;
    }
  }

  const std::byte* last(std::size_t component) const { return now_[component].bytes; }

 private:
  /// Is there room for a frame? False only where there must not be more of them.
  bool has_room() {
    if (stack_.top != stack_.limit) return true;
    const std::int64_t frames = (stack_.limit - stack_.base) / frame_bytes_;
    if (frames == loop_.depth) return false;
    give_room(std::min(kGrowth * frames, loop_.depth));
    return true;
  }

  void give_room(std::int64_t frames) {
    const std::ptrdiff_t used = stack_.top - stack_.base;
    const std::int64_t bytes = frames * frame_bytes_;
    std::unique_ptr<std::byte[]> room;
    try {
      room = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
    } catch (...) {
      body_.end();
      throw;
    }
    std::copy_n(stack_.base, used, room.get());
    frames_ = std::move(room);
    stack_.base = frames_.get();
    stack_.top = stack_.base + used;
    stack_.limit = stack_.base + bytes;
  }

  /// Runs at most so many rounds in machine code, or fewer if frames need more room. False if the
  /// state has come to its end.
  bool run_code(const NativeCode& code, std::int64_t rounds) {
    // Nothing fails in rounds: what divides is never 0.
    code.run_rounds(table_.data(), rounds, 1);
    // How many it has taken to come to an end it does not say.
    const bool goes_on = goes_on_ != 0;
    body_.count(goes_on ? rounds - stack_.rounds_left : kRoundsBetween);
    return goes_on;
  }

  /// The same without it; as many as asked for.
  bool run_rounds(std::int64_t rounds) {
    stack_.rounds_left = 0;
    for (std::int64_t round = 0; round < rounds; ++round) {
      if (run_round()) continue;
      body_.count(round);
      return false;
    }
    body_.count(rounds);
    return true;
  }

  bool run_round() {
    ++round_;
    if (!flag(loop_.step().flag)) return false;
    const bool pushes = loop_.has_stack() && flag(loop_.push());
    if (pushes && !has_room()) return false;
    const bool pops = loop_.has_stack() && !pushes && flag(loop_.pop());
    const std::size_t popped = pops ? loop_.frame() : 0;
    for (std::size_t k = popped; k < components_.size(); ++k) {
      if (components_[k].changes) copy(next_[k].bytes, value(loop_.step().values[k]), k);
    }
    if (pushes) {
      for (std::size_t k = 0; k < loop_.frame(); ++k) copy(part(k), value(loop_.pushed(k)), k);
      stack_.top += frame_bytes_;
    }
    if (pops) {
      constexpr Cell kZero{};
      const bool empty = stack_.top == stack_.base;
      if (!empty) stack_.top -= frame_bytes_;
      for (std::size_t k = 0; k < popped; ++k) {
        copy(next_[k].bytes, empty ? kZero.bytes : part(k), k);
      }
    }
    write_tables();
    for (std::size_t k = 0; k < components_.size(); ++k) {
      if (components_[k].changes) copy(now_[k].bytes, next_[k].bytes, k);
    }
    return true;
  }

  /// Everything else has been read before.
  void write_tables() {
    for (std::size_t k = 0; k < written_.size(); ++k) {
      const NodeId* const nodes = loop_.written(k);
      written_[k].element = flag(nodes[0]) ? value(nodes[2]) : nullptr;
      if (written_[k].element != nullptr) {
        written_[k].place = body_.pass().int_at(value(nodes[1]), 0);
      }
    }
    for (std::size_t k = 0; k < written_.size(); ++k) {
      Vector& table = body_.pass().state().arrays[loop_.tables[loop_.writes[k]].array];
      const std::int64_t place = written_[k].place;
      if (written_[k].element == nullptr || place < 0 || place >= table.length) continue;
      const auto width = static_cast<std::int64_t>(cpu_.element_bytes(table.type));
      std::copy_n(written_[k].element, width, mutable_elements<std::byte>(table) + place * width);
    }
  }

  /// Of the frame at the top.
  std::byte* part(std::size_t number) const {
    return stack_.top + kFrameSlot * static_cast<std::int64_t>(number);
  }

  bool flag(NodeId node) { return *value(node) != std::byte{0}; }

  void copy(std::byte* to, const std::byte* from, std::size_t component) const {
    std::memcpy(to, from, static_cast<std::size_t>(components_[component].width));
  }

  /// Of a node in this round. Only what is needed for it is computed.
  const std::byte* value(NodeId number) {
    const PlanNode& node = loop_.body.nodes[number];
    if (body_.pass().is_uniform(number)) return body_.pass().node(number).base;
    if (node.kind == PlanNode::Kind::State) return now_[node.id].bytes;
    const BoundStep& step = *steps_[number];
    if (step.kind == BoundStep::Kind::Copy) return value(step.args[0]);
    if (node.applies(vcode::Op::Select)) return value(step.args[flag(step.args[0]) ? 1 : 2]);
    std::byte* const result = values_[number].bytes;
    if (computed_in_[number] == round_) return result;
    computed_in_[number] = round_;
    if (step.kind == BoundStep::Kind::Gather) {
      auto index = static_cast<std::uint64_t>(body_.pass().int_at(value(step.args[0]), 0));
      Source(cpu_, *step.vector).fetch(result, &index, nullptr, 1);
      return result;
    }
    const std::byte* args[3] = {};
    for (int k = 0; k < 3; ++k) {
      if (step.args[k] != kNone) args[k] = value(step.args[k]);
    }
    step.kernel(result, args[0], args[1], args[2], 1);
    return result;
  }

  CpuBackend& cpu_;
  RecursionBody& body_;
  const PlanLoop& loop_;
  const std::vector<LoopComponent>& components_;
  const std::int64_t frame_bytes_;
  std::vector<const BoundStep*> steps_;    // per node: what computes it
  std::vector<Cell> values_;               // per node, …
  std::vector<std::int64_t> computed_in_;  // … and the round that it is of
  std::int64_t round_ = 0;
  std::vector<Cell> now_, next_;  // the components
  struct Written {
    std::int64_t place = 0;
    const std::byte* element = nullptr;  // null: nothing
  };
  std::vector<Written> written_;  // in this round
  std::unique_ptr<std::byte[]> frames_;
  FrameStack stack_;
  std::uint8_t goes_on_ = 0;  // behind rounds in machine code
  RoundTable table_;
};

class Recursion final : public LoopSink {
 public:
  Recursion(BoundPass& pass, const PlanSink& sink, BoundProgram& program)
      : LoopSink(pass, sink, program), recursion_(body_, loop_) {}

  void open_empty() override {
    open_tables();
    LoopSink::open_empty();
  }
  Need open(std::size_t&) override {
    open_tables();
    if (!open_states() || !pool_.is_complete()) pool_.clear();
    pool_.for_idle([](SerialState& state) { state.renew(); });
    recursion_.open();
    return Need::Blocks;
  }

  bool is_free_of_races(bool) override { return loop_.writes.empty(); }

  void begin_tile(const KernelTile&, std::byte* state) override {
    active(state) = pool_.take(
        [this] { return std::make_unique<SerialState>(cpu_, recursion_, loop_, components_); });
  }
  void block(BlockEvaluator& values, const KernelTile&, std::byte* state, std::int64_t begin,
             std::int64_t n) override {
    for (std::int64_t i = 0; i < n; ++i) {
      active(state)->run(values, i);
      for (std::size_t k = 0; k < components_.size(); ++k) {
        const LoopComponent& component = components_[k];
        if (component.element == nullptr) continue;
        std::memcpy(component.element + (begin + i) * component.width, active(state)->last(k),
                    static_cast<std::size_t>(component.width));
      }
    }
  }
  void end_tile(const KernelTile&, std::byte* state, std::byte*) override {
    pool_.leave(active(state));
  }
  /// Stacks may have grown large.
  void close() override {
    if (loop_.has_stack()) pool_.clear();
  }

 private:
  static SerialState*& active(std::byte* state) { return StatesPool<SerialState>::of_tile(state); }

  RecursionBody recursion_;
  StatesPool<SerialState> pool_;
};

}  // namespace

std::unique_ptr<KernelSink> make_recursion(BoundPass& pass, const PlanSink& sink,
                                           BoundProgram& program) {
  return std::make_unique<Recursion>(pass, sink, program);
}

}  // namespace cvl::cpu
