#include "fcode-opt/fusion/memory.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "fcode-opt/fusion/cost.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

using vcode::Family;

// Does the library keep the result of the operation as a formula, or is it never made?
bool is_formula(const Node& node) {
  if (node.view) return !node.kept;
  if (node.role != Role::Generator || node.by_segment) return false;
  const Op op = node.statement->op;
  return op == Op::Distribute || op == Op::Index;
}

// No length is taken to be greater because segments have to be filled: far more than any known
// number of segments for each of an unknown one.
constexpr std::int64_t kGreatestLength = 1024 * kAssumedLength;

// Elements that a segment is taken to have on the average if all have the same unknown length.
constexpr std::int64_t kRegularLength = 16;

// Sums of a few thousand of these, times lengths, fit into 64 bits.
std::int64_t limited(double bytes) {
  constexpr double kMost = 1LL << 30;
  return static_cast<std::int64_t>(std::clamp(bytes, -kMost, kMost));
}

// The widths that programs have if nobody asks for others.
constexpr cvl::Widths kWidths{4, 8};

}  // namespace

std::map<ValueId, RegionGraph::Storage> storage_of(const RegionGraph& graph, Shapes& shapes,
                                                   const std::vector<bool>& survives) {
  std::map<ValueId, RegionGraph::Storage> storage;
  const auto note = [&](ValueId value, bool counts) {
    if (!graph.is_typed(value) || (!counts && !graph.is_segdes(value))) return;
    RegionGraph::Storage& noted = storage[value];
    if (noted.counts) return;
    noted.counts = counts;
    noted.dies = !survives[value];
    noted.elements = shapes.equations.normal(shapes.of(value).length);
    if (!graph.is_segdes(value)) return;
    noted.described = shapes.equations.normal(shapes.of(value).sum);
    const std::optional<Linear> each = shapes.element(value);
    noted.regular = each && !shapes.equations.number(*each);
  };
  for (const Node& node : graph.nodes) {
    const bool made = !pushes_constant(*node.statement) && !is_formula(node);
    for (const ValueId result : node.statement->results) note(result, made);
  }
  // What the region only reads, and what is read behind it as well, is there all the time.
  std::vector<bool> inside(survives.size());
  for (const Node& node : graph.nodes) {
    for (const ValueId result : node.statement->results) inside[result] = true;
  }
  for (const Node& node : graph.nodes) {
    for (const ValueId operand : node.statement->operands) {
      note(operand, !inside[operand] && !survives[operand]);
    }
  }
  return storage;
}

MemoryModel::MemoryModel(const RegionGraph& graph, const std::vector<Step>& instructions)
    : graph_(graph) {
  if (graph.storage.empty()) return;
  find_vectors();
  find_owners();
  find_kinds();
  lowest_.resize(indices_.size() + 1);
  std::vector<Event> events;
  for (const Step& step : instructions) events.push_back({&step, 0});
  simulate(events, Bytes(lowest_.size()), [this](std::size_t kind, std::int64_t bytes, Slot) {
    lowest_[kind] = std::min(lowest_[kind], -bytes);
    return true;
  });
}

void MemoryModel::find_vectors() {
  std::int64_t longest_known = 0;
  for (const auto& [value, storage] : graph_.storage) {
    if (!storage.counts) continue;
    longest_known = std::max(longest_known, storage.elements.constant);
  }
  // Known lengths in proportion, so that they do not hide what is of unknown ones.
  share_ = static_cast<double>(kAssumedLength) /
           static_cast<double>(std::max(longest_known, kAssumedLength));
  places_.resize(graph_.producers.size(), kNone);
  for (const auto& [value, storage] : graph_.storage) {
    if (!storage.counts) continue;
    const Type type = *graph_.type(value);
    places_[value] = static_cast<Place>(vectors_.size());
    Vector vector;
    vector.room = room_of(storage.elements, stored_bytes(type, kWidths));
    vector.owner = places_[value];
    vector.dies = storage.dies;
    vector.from_outside = storage.dies && graph_.producer(value) == kOutside;
    vectors_.push_back(std::move(vector));
  }
}

void MemoryModel::find_owners() {
  for (const Node& node : graph_.nodes) {
    if (node.statement->kind != Statement::Kind::Op) continue;
    const Family family = vcode::info(node.statement->op).family;
    if (family != Family::MakeSegdes && family != Family::Lengths) continue;
    const Place made = place(node.statement->results[0]);
    const Place from = place(node.statement->operands[0]);
    if (made != kNone && from != kNone) vectors_[made].owner = vectors_[from].owner;
  }
}

namespace {

/// A number of segments or elements: a sum of unknown lengths.
struct Sum {
  std::int64_t constant = 0;
  std::vector<std::pair<std::size_t, std::int64_t>> terms;  // an unknown, how many times

  std::int64_t of(const std::vector<std::int64_t>& lengths) const {
    std::int64_t length = constant;
    for (const auto& [unknown, factor] : terms) {
      length += limited(static_cast<double>(factor)) * lengths[unknown];
    }
    return length;
  }
};

/// Makes unknown lengths greater where a descriptor would have more segments than elements of them.
/// In each round those descriptors are looked at of which a length has changed.
class SegmentFilling {
 public:
  SegmentFilling(const RegionGraph& graph, const std::unordered_map<Atom, std::size_t>& unknowns,
                 double share)
      : users_(unknowns.size()) {
    std::set<std::pair<Linear, Linear>> different;
    for (const auto& [value, storage] : graph.storage) {
      if (storage.described.is_number()) continue;
      different.emplace(storage.elements * (storage.regular ? kRegularLength : 1),
                        storage.described);
    }
    const auto sum_of = [&](const Linear& elements) {
      Sum sum;
      sum.constant = limited(static_cast<double>(elements.constant) * share);
      for (const auto& [atom, factor] : elements.terms) {
        const auto unknown = unknowns.find(atom);
        if (unknown == unknowns.end()) continue;
        sum.terms.emplace_back(unknown->second, factor);
        users_[unknown->second].push_back(descriptors_.size());
      }
      return sum;
    };
    for (const auto& [segments, described] : different) {
      Descriptor descriptor;
      descriptor.segments = sum_of(segments);
      descriptor.described = sum_of(described);
      if (descriptor.segments.constant > descriptor.described.constant) {
        lacking_.push_back(descriptors_.size());
      }
      descriptors_.push_back(std::move(descriptor));
    }
  }

  /// `known`: the lengths that are not 0.
  void fill(std::vector<std::int64_t>& lengths, std::span<const std::size_t> known) const {
    std::set<std::size_t> now(lacking_.begin(), lacking_.end()), next;
    for (const std::size_t unknown : known) {
      now.insert(users_[unknown].begin(), users_[unknown].end());
    }
    for (std::size_t round = 0; !now.empty() && round <= lengths.size(); ++round) {
      while (!now.empty()) {
        const std::size_t at = *now.begin();
        now.erase(now.begin());
        const std::optional<std::size_t> raised = raise(descriptors_[at], lengths);
        if (!raised) continue;
        for (const std::size_t user : users_[*raised]) (user > at ? now : next).insert(user);
      }
      now.swap(next);
    }
  }

 private:
  struct Descriptor {
    Sum segments, described;
  };

  /// The unknown that was made greater, if any was.
  static std::optional<std::size_t> raise(const Descriptor& descriptor,
                                          std::vector<std::int64_t>& lengths) {
    const std::int64_t missing = descriptor.segments.of(lengths) - descriptor.described.of(lengths);
    if (missing <= 0) return std::nullopt;
    for (const auto& [unknown, factor] : descriptor.described.terms) {
      if (factor < 1) continue;
      const std::int64_t before = lengths[unknown];
      lengths[unknown] = std::min(before + missing / factor + 1, kGreatestLength);
      if (lengths[unknown] == before) return std::nullopt;
      return unknown;
    }
    return std::nullopt;
  }

  std::vector<Descriptor> descriptors_;
  std::vector<std::vector<std::size_t>> users_;  // of each unknown: the descriptors that mention it
  std::vector<std::size_t> lacking_;  // have more segments than elements where all lengths are 0
};

}  // namespace

// One kind of runs after the other: first all alike, then each of the unknowns far greater than the
// others.
void MemoryModel::find_kinds() {
  const std::size_t count = indices_.size();
  const SegmentFilling filling(graph_, indices_, share_);
  std::vector<std::size_t> all(count);  // unknowns
  std::iota(all.begin(), all.end(), std::size_t{0});
  lengths_.resize(count + 1);
  for (std::size_t kind = 0; kind <= count; ++kind) {
    std::vector<std::int64_t> lengths(count, kind == 0 ? kAssumedLength : 0);
    if (kind != 0) lengths[kind - 1] = kAssumedLength;
    filling.fill(lengths, kind == 0 ? std::span(all) : std::span(all).subspan(kind - 1, 1));
    lengths_[0].emplace_back(kind, 1);
    for (std::size_t k = 0; k < count; ++k) {
      if (lengths[k] != 0) lengths_[k + 1].emplace_back(kind, lengths[k]);
    }
  }
}

MemoryModel::Room MemoryModel::room_of(const Linear& elements, std::int64_t width) {
  Room room;
  const auto add = [&](std::size_t index, double bytes) {
    if (const std::int64_t whole = limited(bytes); whole != 0) room.emplace_back(index, whole);
  };
  add(0, static_cast<double>(elements.constant) * static_cast<double>(width) * share_);
  for (const auto& [unknown, factor] : elements.terms) {
    const auto entry = indices_.try_emplace(unknown, indices_.size()).first;
    add(entry->second + 1, static_cast<double>(factor) * static_cast<double>(width));
  }
  std::sort(room.begin(), room.end());
  return room;
}

// Of the results that take room; with each whether it may lie where an operand did.
template <typename Visit>
void MemoryModel::for_each_result(const Step& step, Visit visit) const {
  for (const NodeIndex index : step.makes) {
    const Node& node = graph_.nodes[index];
    const bool in_place = !step.kernel || node.pointwise() || node.target;
    for (const ValueId made : node.statement->results) {
      if (place(made) != kNone) visit(place(made), in_place);
    }
  }
}

// Calls `visit(kind, bytes, slot)` while each step takes place, in the slot, with the bytes that
// are then held, `held` at first, for each kind of runs in which they have grown since. Ends when
// that gives false.
template <typename Visit>
void MemoryModel::simulate(std::span<const Event> events, Bytes held, Visit visit) const {
  constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> last(vectors_.size(), kNever);
  std::vector<int> holders(vectors_.size());  // by owner
  std::vector<std::size_t> grown;             // kinds of runs
  const auto change = [&](Place at, int sign) {
    const Vector& vector = vectors_[at];
    int& count = holders[vector.owner];
    const bool counts = sign > 0 ? count++ == 0 : --count == 0;
    if (!counts) return;
    for (const auto& [unknown, bytes] : vector.room) {
      for (const auto& [kind, length] : lengths_[unknown]) {
        held[kind] += sign * bytes * length;
        if (sign * bytes > 0) grown.push_back(kind);
      }
    }
  };
  for (std::size_t s = 0; s < events.size(); ++s) {
    for (const Step::Operand& read : events[s].step->reads) {
      const Place at = place(read.value);
      if (at == kNone) continue;
      if (last[at] == kNever && vectors_[at].from_outside) change(at, 1);
      last[at] = s;
    }
  }
  struct Dying {
    Place at;
    bool over;
  };
  std::vector<Dying> dying;
  for (std::size_t s = 0; s < events.size(); ++s) {
    dying.clear();
    for (const Step::Operand& read : events[s].step->reads) {
      const Place at = place(read.value);
      if (at != kNone && vectors_[at].dies && last[at] == s) dying.push_back({at, read.over});
    }
    for_each_result(*events[s].step, [&](Place made, bool in_place) {
      const auto taken = std::find_if(dying.begin(), dying.end(), [&](const Dying& operand) {
        return in_place && operand.over && holders[vectors_[operand.at].owner] == 1 &&
               vectors_[operand.at].room == vectors_[made].room;
      });
      if (taken != dying.end()) {
        change(taken->at, -1);
        dying.erase(taken);
      }
      change(made, 1);
    });
    for (const std::size_t kind : grown) {
      if (!visit(kind, held[kind], events[s].slot)) return;
    }
    grown.clear();
    for (const Dying& operand : dying) change(operand.at, -1);
    for_each_result(*events[s].step, [&](Place made, bool) {
      if (vectors_[made].dies && last[made] == kNever) change(made, -1);
    });
  }
}

MemoryModel::Excess MemoryModel::excess(std::span<const Event> events, std::int64_t limit) const {
  Excess most;
  if (lowest_.empty()) return most;
  simulate(events, lowest_, [&](std::size_t, std::int64_t above, Slot slot) {
    if (above > most.bytes) most = {above, slot};
    return most.bytes <= limit;
  });
  return most;
}

}  // namespace fcode
