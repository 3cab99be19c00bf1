// How much storage a region holds while it runs.
//
// What is held at a time is a sum of symbolic sizes. Which of two such sums is more depends on the
// lengths. Two kinds of runs stand for all: those in which the unknown lengths are alike, and those
// in which one of them is far greater than all others. Segments are taken to have an element or
// more on the average, and many if all have the same unknown length: where a number of segments is
// great, what they describe is as great at least. A schedule holds too much where it holds more in
// one of these than the statements one by one.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cvl/value.hpp"
#include "fcode-opt/fusion/steps.hpp"

namespace fcode {

/// For RegionGraph::storage. `survives[v]`: v is read behind the region.
std::map<ValueId, RegionGraph::Storage> storage_of(const RegionGraph& graph, Shapes& shapes,
                                                   const std::vector<bool>& survives);

/// Bytes of an element of a vector, or of a segment of a descriptor, which is kept as INT.
inline std::int64_t stored_bytes(Type type, cvl::Widths widths) {
  return static_cast<std::int64_t>(widths.element_bytes(type == Type::Segdes ? Type::Int : type));
}

class MemoryModel {
 public:
  /// A graph without `storage` needs none. `instructions`: instructions_of() the graph.
  MemoryModel(const RegionGraph& graph, const std::vector<Step>& instructions);

  /// A step and the slot in which it takes place.
  struct Event {
    const Step* step = nullptr;
    Slot slot = 0;
  };
  struct Excess {
    std::int64_t bytes = 0;
    Slot slot = 0;  // where
  };
  /// By how many bytes the peak of a schedule is above that of the statements one by one, unknown
  /// lengths, and the longest of those that are known, being kAssumedLength (cost.hpp) at most.
  /// Above `limit` it may be any number above it.
  Excess excess(std::span<const Event> events, std::int64_t limit) const;
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

 private:
  /// Bytes, by unknown: of known sizes under 0, under k + 1 how many per unit of the k-th unknown
  /// length. In ascending order; what is not there is 0.
  using Room = std::vector<std::pair<std::size_t, std::int64_t>>;
  using Place = std::uint32_t;  // index into vectors_
  static constexpr Place kNone = ~Place{0};
  struct Vector {
    Room room;
    Place owner = kNone;  // whose storage it is: a descriptor shares that of its lengths
    bool dies = false;
    bool from_outside = false;  // is there before the region
  };

  void find_vectors();
  void find_owners();
  void find_kinds();
  Room room_of(const Linear& elements, std::int64_t width);
  Place place(ValueId value) const { return value < places_.size() ? places_[value] : kNone; }
  using Bytes = std::vector<std::int64_t>;  // by kind of runs
  template <typename Visit>
  void simulate(std::span<const Event> events, Bytes held, Visit visit) const;
  template <typename Visit>
  void for_each_result(const Step& step, Visit visit) const;

  const RegionGraph& graph_;
  std::unordered_map<Atom, std::size_t> indices_;  // of the unknown lengths
  double share_ = 1;                               // of known lengths that counts
  // By unknown, as in a Room: the kinds of runs in which that length is not 0, and how great it is
  // there. The first kind has unknown lengths that are alike, then comes for each unknown the one
  // in which that is far greater than all others.
  std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> lengths_;
  std::vector<Place> places_;  // by value; kNone: takes no room that counts
  std::vector<Vector> vectors_;
  Bytes lowest_;  // minus the peaks of the statements one by one
};

}  // namespace fcode
