// Streams in the arms of a conditional.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "neslc/flatten/streams.hpp"

namespace neslc {

/// Goes around the two arms. What an arm leaves pending is dropped, and what it traverses can be
/// traversed by the other arm too, but no more behind both.
///
/// Where the arms give streams, the conditional gives descriptions of both, and their traversal
/// carries out that of the arm that is chosen. What they are made of are values of the arm; they
/// are results of the conditional too, and the other arm gives null values for them.
class StreamArms {
 public:
  enum Arm : std::uint8_t { Then, Else };

  StreamArms(Flattener& flattener, ir::ValueId condition);
  ~StreamArms();
  StreamArms(const StreamArms&) = delete;
  StreamArms& operator=(const StreamArms&) = delete;

  /// The value of an arm, which ends with it.
  Value end(Arm arm, const Value& value);
  /// In the block of an arm, when both have ended: what the streams of both are made of.
  void append_parts(Arm arm, ir::ValueList& results);
  /// Behind the conditional: `results[next...]` is that, and `next` moves on.
  void set_parts(const ir::ValueList& results, std::size_t& next);
  /// The stream that it gives.
  Value choice(const Value& then_stream, const Value& else_stream);

 private:
  template <class Action>
  void for_each_carried(Arm arm, const Action& action);

  Flattener& f_;
  Streams& streams_;
  ir::ValueId condition_;
  std::size_t traversed_before_;
  std::uint32_t begin_;  // the number of the first node that the present arm can make
  std::vector<FoldPtr> outside_;
  std::array<std::vector<StreamNode*>, 2> made_;  // in each arm, and given by it
  std::vector<StreamPtr> kept_;
};

}  // namespace neslc
