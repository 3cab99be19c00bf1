// How much storage a region holds while it runs.
//
// What is held at a time is a sum of symbolic sizes. Which of two such sums is more depends on the
// lengths. Two kinds of runs stand for all: those in which the unknown lengths are alike, and those
// in which one of them is far greater than all others. A schedule holds too much where it holds
// more in one of these than the statements one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "cvl/value.hpp"
#include "fcode-opt/fusion/steps.hpp"

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
  /// By how many bytes the peak of a schedule is above that of the statements one by one, unknown
  /// lengths, and the longest of those that are known, being kAssumedLength (cost.hpp) at most.
  Excess excess(const std::vector<Step>& steps) const;

 private:
  /// Bytes, by unknown: [0] of known sizes, then for each unknown length how many bytes per unit.
  using Room = std::vector<std::int64_t>;
  /// An unknown whose length is far greater than all others, or:
  static constexpr std::size_t kAlike = 0;

  Room room_of(const Linear& elements, std::int64_t width);
  template <typename Visit>
  void simulate(const std::vector<Step>& steps, Visit visit) const;
  /// Of the results that take room; with each whether it may lie where an operand did.
  template <typename Visit>
  void for_each_result(const Step& step, Visit visit) const {
    for (const NodeIndex index : step.makes) {
      const Node& node = graph_.nodes[index];
      const bool in_place = !step.kernel || node.role == Role::Map || node.role == Role::Scan ||
                            node.role == Role::Random || node.target;
      for (const ValueId made : node.statement->results) {
        if (has_room(made)) visit(made, in_place);
      }
    }
  }
  void find_owners();
  bool has_room(ValueId value) const { return value < rooms_.size() && !rooms_[value].empty(); }
  bool same_room(ValueId a, ValueId b) const { return rooms_[a] == rooms_[b]; }
  static std::int64_t bytes(const Room& room, std::size_t greatest);

  const RegionGraph& graph_;
  std::int64_t longest_known_ = 0;  // of all vectors
  std::vector<Atom> unknowns_;
  std::vector<Room> rooms_;  // by value; empty: takes none that counts
  // By value: whose storage it is. A descriptor shares that of the vector of its lengths.
  std::vector<ValueId> owner_;
  // Of the statements one by one: bytes, kAlike and by unknown that is the greatest.
  std::vector<std::int64_t> peaks_;
};

}  // namespace fcode
