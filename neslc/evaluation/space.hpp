// How much a run of a program with streams holds at once, in the terms of the cost model of streams
// (Madsen and Filinski, "Towards a streaming model for nested data parallelism", 2013): elements of
// vectors, and so the same on every backend and number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "machine/observer.hpp"
#include "vcode/program.hpp"

namespace neslc {

/// Elements of a vector, segments of a descriptor.
std::int64_t length_of(const cvl::Value& value);

struct Space {
  std::uint64_t used = 0;  // the most elements that there were at once
  /// The same if all pieces of a stream were computed at once: the parallel space of the model. The
  /// sequential one is what is used by pieces of one element.
  std::uint64_t parallel = 0;
};

/// Measures the space of a run.
class SpaceMeter final : public vinterp::Observer {
 public:
  /// `program` must outlive the meter.
  explicit SpaceMeter(const vcode::LinkedProgram& program);

  void after(const vinterp::Step& step, double seconds) override;
  void enter_function(std::uint32_t function, std::uint32_t call) override;
  void leave_function(std::uint32_t function) override;

  const Space& space() const { return space_; }
  /// Is anything of the program computed in pieces?
  bool makes_pieces() const { return makes_any_; }

 private:
  /// Elements of a value, for as long as one of its copies is on the stack.
  class Held {
   public:
    Held(std::uint64_t& total, std::uint64_t elements) : total_(total), elements_(elements) {
      total_ += elements_;
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { total_ -= elements_; }

   private:
    std::uint64_t& total_;
    std::uint64_t elements_;
  };

  /// A piece that is being computed.
  struct Piece {
    std::uint64_t number;
    std::uint64_t held_before;
  };
  /// What the pieces hold behind an instruction.
  struct OfInstruction {
    std::uint64_t piece = 0;     // the last one
    std::uint64_t in_piece = 0;  // the most that it has held
    std::uint64_t in_all = 0;    // what all of them have
  };

  void note(std::uint32_t instruction);

  const vcode::LinkedProgram& program_;
  Space space_;
  std::uint64_t total_ = 0;
  std::vector<std::shared_ptr<const Held>> held_;  // by the values of the stack
  std::vector<bool> makes_pieces_;                 // by function
  bool makes_any_ = false;
  std::vector<Piece> pieces_;
  std::uint64_t last_piece_ = 0;
  std::vector<OfInstruction> instructions_;
};

}  // namespace neslc
