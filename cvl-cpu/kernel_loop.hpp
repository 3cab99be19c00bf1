// What the loops of kernels have in common: their states, the body that makes one state of another,
// and what machine code for rounds of it reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cvl-cpu/kernel_native.hpp"
#include "cvl-cpu/kernel_sink.hpp"

namespace cvl::cpu {

/// Rounds in machine code for few states, before anybody looks whether the run is to end.
inline constexpr std::int64_t kMostSerialRounds = 1 << 16;

/// States of serial loops that a thread takes at a time, one after the other.
inline constexpr std::int64_t kRecursionTile = 64;

/// A component of the states.
struct LoopComponent {
  NodeId initial = kNone;  // in the pass
  NodeId state = kNone;    // in the body, if that reads it
  Type type = Type::Int;
  std::int64_t width = 0;
  bool uniform = false;          // the same in all states and rounds
  bool changes = false;          // from round to round, …
  std::size_t target = 0;        // … and the body's target for what it becomes
  Vector* result = nullptr;      // where its last value goes, or null, …
  std::byte* element = nullptr;  // … and element 0 there
};

/// Writes the last states of a loop.
class LoopSink : public KernelSink {
 public:
  LoopSink(BoundPass& pass, const PlanSink& sink, BoundProgram& program);
  void open_empty() override;
  std::int64_t rounds_cost() const override;

 protected:
  /// Makes room for results, and binds the body. True when its steps are those of the last run.
  bool open_states();
  /// Makes the tables: copies of their operands, or these themselves where nobody else has them.
  void open_tables();

  const PlanLoop& loop_;
  BoundPass body_;
  std::vector<LoopComponent> components_;

 private:
  bool may_take_over(ArrayId operand) const;

  std::vector<bool> takes_over_;  // by table
};

/// The table of addresses for NativeSteps::rounds, with what stays the same in all rounds.
class RoundTable {
 public:
  RoundTable(const BoundPass& body, const PlanLoop& loop);
  /// Looks at the vectors of another run, with the same steps.
  void renew(const BoundPass& body, const PlanLoop& loop);
  const RoundPlaces& places() const { return places_; }
  const std::byte*& operator[](std::uint32_t place) { return at_[place]; }
  const std::byte* const* data() const { return at_.data(); }

 private:
  RoundPlaces places_;
  std::vector<const std::byte*> at_;
  std::vector<std::int64_t> lengths_;  // of the vectors that nodes are gathered from
};

/// What threads work on at a time, one each: made when nobody has left one behind.
template <class States>
class StatesPool {
 public:
  /// `make` returns a pointer to a new one.
  template <class Make>
  States* take(const Make& make) {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
      made_.push_back(make());
      return made_.back().get();
    }
    States* const taken = idle_.back();
    idle_.pop_back();
    return taken;
  }
  void leave(States* states) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(states);
  }
  /// Calls visit(states) for all that are left behind.
  template <class Visit>
  void for_idle(const Visit& visit) {
    for (States* const states : idle_) visit(*states);
  }
  /// False if a run has failed while some were taken.
  bool is_complete() const { return idle_.size() == made_.size(); }
  void clear() {
    idle_.clear();
    made_.clear();
  }
  /// Where a tile remembers those that it has taken.
  static States*& of_tile(std::byte* state) { return *reinterpret_cast<States**>(state); }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<States>> made_;
  std::vector<States*> idle_;  // of those
};

}  // namespace cvl::cpu
