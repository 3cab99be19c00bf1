// How much storage a region holds while it runs.
//
// Every statement, or kernel, is an event: results come into being while all operands are still
// there; then those that nobody reads any more go. What is held at a time is a sum of symbolic
// sizes. A schedule holds too much where its sum is more than each of those that the statements one
// by one come to, whatever the unknown lengths are.
#pragma once

#include <cstdint>
#include <vector>

#include "cvl/value.hpp"
#include "fcode-opt/fusion/legality.hpp"

namespace fcode {

/// For RegionGraph::storage. `survives[v]`: v is read behind the region.
std::vector<RegionGraph::Storage> storage_of(const RegionGraph& graph, Shapes& shapes,
                                             const std::vector<bool>& survives);

/// Bytes of an element of a vector, or of a segment of a descriptor, which is kept as INT.
inline std::int64_t stored_bytes(Type type, cvl::Widths widths) {
  return static_cast<std::int64_t>(widths.element_bytes(type == Type::Segdes ? Type::Int : type));
}

class MemoryModel {
 public:
  /// What only the run decides.
  struct Run {
    cvl::Widths widths;
    bool regular = false;  // all segments of a descriptor are equally long: it takes no room
  };
  /// A graph without `storage` needs none.
  MemoryModel(const RegionGraph& graph, Run run);

  struct Excess {
    std::int64_t bytes = 0;
    Slot slot = 0;  // where
  };
  /// By how many bytes a schedule's peak is above that of the statements one by one, unknown
  /// lengths being kAssumedLength (cost.hpp). 0: for no lengths it is above.
  Excess excess(const Schedule& schedule) const;

 private:
  /// Bytes, by unknown: [0] of known sizes, then for each unknown length how many bytes per unit.
  using Room = std::vector<std::int64_t>;
  struct Event {
    std::vector<ValueId> reads, makes;
    std::vector<ValueId> over;  // of what is read: may give its storage to a result
    Slot slot = 0;
  };

  Room room_of(const Linear& elements, std::int64_t width);
  Event instruction(const Statement& statement) const;
  Event kernel(const std::vector<NodeIndex>& members, const std::vector<bool>& stored) const;
  std::vector<bool> stored(const Schedule& schedule) const;
  bool written_over(const std::vector<NodeIndex>& members, const Node& reader, ValueId value) const;
  std::vector<Event> events(const Schedule& schedule) const;
  template <typename Visit>
  void simulate(const std::vector<Event>& events, Visit visit) const;
  void find_owners();
  bool has_room(ValueId value) const { return value < rooms_.size() && !rooms_[value].empty(); }
  bool same_room(ValueId a, ValueId b) const { return rooms_[a] == rooms_[b]; }
  void add_peak(const Room& room);
  static std::int64_t above(const Room& room, const Room& limit);

  const RegionGraph& graph_;
  std::vector<Atom> unknowns_;
  std::vector<Room> rooms_;  // by value; empty: takes none that counts
  // By value: whose storage it is. A descriptor shares that of the vector of its lengths.
  std::vector<ValueId> owner_;
  std::vector<Room> peaks_;  // of the statements one by one; none is within another one
};

}  // namespace fcode
