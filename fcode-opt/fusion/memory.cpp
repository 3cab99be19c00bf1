#include "fcode-opt/fusion/memory.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "fcode-opt/fusion/cost.hpp"
#include "fcode-opt/ir_tools.hpp"

namespace fcode {
namespace {

using vcode::Family;

// May an operation by itself write its result over this operand?
bool written_over_alone(const Statement& statement, std::size_t operand) {
  if (statement.kind != Statement::Kind::Op) return false;
  switch (vcode::info(statement.op).family) {
    case Family::Elementwise:
      return true;
    case Family::Scan:
    case Family::Random:
    case Family::Replace:
      return operand == 0;
    default:
      return false;
  }
}

// Does the library keep the result of the operation as a formula?
bool is_formula(const Node& node) {
  if (node.role != Role::Generator || node.by_segment) return false;
  const Op op = node.statement->op;
  return op == Op::Distribute || op == Op::Index;
}

bool is_lengths(const RegionGraph& graph, ValueId value) {
  const NodeIndex made = graph.producer(value);
  if (made == kOutside) return false;
  const Statement& statement = *graph.nodes[made].statement;
  return statement.kind == Statement::Kind::Op &&
         vcode::info(statement.op).family == Family::Lengths;
}

}  // namespace

std::vector<RegionGraph::Storage> storage_of(const RegionGraph& graph, Shapes& shapes,
                                             const std::vector<bool>& survives) {
  std::vector<RegionGraph::Storage> storage(survives.size());
  const auto note = [&](ValueId value, bool counts) {
    if (!counts || !graph.is_typed(value) || storage[value].counts) return;
    storage[value] = {true, !survives[value], shapes.equations.normal(shapes.of(value).length)};
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

MemoryModel::MemoryModel(const RegionGraph& graph, Run run) : graph_(graph) {
  rooms_.resize(graph.storage.size());
  for (ValueId value = 0; value < graph.storage.size(); ++value) {
    const RegionGraph::Storage& storage = graph.storage[value];
    if (!storage.counts) continue;
    const Type type = *graph.types[value];
    if (run.regular && (type == Type::Segdes || is_lengths(graph, value))) continue;
    rooms_[value] = room_of(storage.elements, stored_bytes(type, run.widths));
  }
  for (Room& room : rooms_) {
    if (!room.empty()) room.resize(unknowns_.size() + 1);
  }
  find_owners();
  std::vector<Event> alone;
  for (const Node& node : graph.nodes) alone.push_back(instruction(*node.statement));
  simulate(alone, [this](const Room& room, Slot) { add_peak(room); });
}

void MemoryModel::find_owners() {
  owner_.resize(rooms_.size());
  std::iota(owner_.begin(), owner_.end(), ValueId{0});
  for (const Node& node : graph_.nodes) {
    if (node.statement->kind != Statement::Kind::Op) continue;
    const Family family = vcode::info(node.statement->op).family;
    if (family != Family::MakeSegdes && family != Family::Lengths) continue;
    const ValueId made = node.statement->results[0], from = node.statement->operands[0];
    if (has_room(made) && has_room(from)) owner_[made] = owner_[from];
  }
}

MemoryModel::Room MemoryModel::room_of(const Linear& elements, std::int64_t width) {
  Room room(unknowns_.size() + 1);
  room[0] = elements.constant * width;
  for (const auto& [unknown, factor] : elements.terms) {
    const auto place = std::find(unknowns_.begin(), unknowns_.end(), unknown);
    const auto index = static_cast<std::size_t>(place - unknowns_.begin());
    if (place == unknowns_.end()) unknowns_.push_back(unknown);
    room.resize(unknowns_.size() + 1);
    room[index + 1] = factor * width;
  }
  return room;
}

MemoryModel::Event MemoryModel::instruction(const Statement& statement) const {
  Event event;
  event.reads = statement.operands;
  event.makes = statement.results;
  for (std::size_t i = 0; i < statement.operands.size(); ++i) {
    if (written_over_alone(statement, i)) event.over.push_back(statement.operands[i]);
  }
  return event;
}

// Results that have to exist outside of the kernel that computes them, by node.
std::vector<bool> MemoryModel::stored(const Schedule& schedule) const {
  std::vector<bool> stored(graph_.nodes.size());
  for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    if (!node.scheduled()) continue;
    if (node.output) stored[i] = true;
    for (const Read& read : node.reads) {
      if (read.producer == kOutside) continue;
      const bool together = schedule[read.producer] == schedule[i] && node.in_kernel() &&
                            graph_.nodes[read.producer].in_kernel();
      if (!together) stored[read.producer] = true;
    }
  }
  return stored;
}

MemoryModel::Event MemoryModel::kernel(const std::vector<NodeIndex>& members,
                                       const std::vector<bool>& stored) const {
  Event event;
  const auto inside = [&](const Read& read) {
    return read.producer != kOutside &&
           std::binary_search(members.begin(), members.end(), read.producer);
  };
  for (const NodeIndex i : members) {
    const Node& node = graph_.nodes[i];
    for (const Read& read : node.reads) {
      if (!inside(read)) event.reads.push_back(read.value);
    }
    if (!stored[i]) continue;
    event.makes.insert(event.makes.end(), node.statement->results.begin(),
                       node.statement->results.end());
  }
  std::sort(event.reads.begin(), event.reads.end());
  event.reads.erase(std::unique(event.reads.begin(), event.reads.end()), event.reads.end());
  std::vector<ValueId> kept;  // read otherwise than at the position that is written
  for (const NodeIndex i : members) {
    for (const Read& read : graph_.nodes[i].reads) {
      if (!written_over(members, graph_.nodes[i], read.value)) kept.push_back(read.value);
    }
  }
  std::sort(kept.begin(), kept.end());
  std::set_difference(event.reads.begin(), event.reads.end(), kept.begin(), kept.end(),
                      std::back_inserter(event.over));
  return event;
}

// As far as this reader is concerned, may a result be written over the value? (See PlanSink::over.)
bool MemoryModel::written_over(const std::vector<NodeIndex>& members, const Node& reader,
                               ValueId value) const {
  for (const Read& read : reader.reads) {
    if (read.value != value || read.access == Access::Length) continue;
    const bool own =
        read.access == Access::Own && (reader.role == Role::Map || reader.role == Role::Scan);
    const bool target = read.access == Access::Target && reader.role == Role::Scatter;
    if (!own && !target) return false;
  }
  return std::none_of(members.begin(), members.end(), [&](NodeIndex i) {
    return graph_.nodes[i].role == Role::Filter && graph_.nodes[i].domain == reader.domain;
  });
}

std::vector<MemoryModel::Event> MemoryModel::events(const Schedule& schedule) const {
  const std::vector<bool> kept = stored(schedule);
  Slot last = 0;
  for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
    if (graph_.nodes[i].scheduled()) last = std::max(last, schedule[i]);
  }
  std::vector<std::vector<NodeIndex>> kernels(last + 1), instructions(last + 1);
  for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    if (!node.scheduled()) continue;
    (node.in_kernel() ? kernels : instructions)[schedule[i]].push_back(i);
  }
  std::vector<Event> events;
  for (Slot slot = 0; slot <= last; ++slot) {
    const std::size_t first = events.size();
    if (!kernels[slot].empty()) events.push_back(kernel(kernels[slot], kept));
    for (const NodeIndex i : instructions[slot]) {
      events.push_back(instruction(*graph_.nodes[i].statement));
    }
    for (std::size_t e = first; e < events.size(); ++e) events[e].slot = slot;
  }
  return events;
}

// Calls `visit` with what is held while each event takes place, and the slot of the event.
template <typename Visit>
void MemoryModel::simulate(const std::vector<Event>& events, Visit visit) const {
  constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> last(rooms_.size(), kNever);
  Room held(unknowns_.size() + 1);
  std::vector<int> holders(rooms_.size());  // by owner
  const auto change = [&](ValueId value, int sign) {
    int& count = holders[owner_[value]];
    const bool counts = sign > 0 ? count++ == 0 : --count == 0;
    if (!counts) return;
    for (std::size_t k = 0; k < held.size(); ++k) held[k] += sign * rooms_[value][k];
  };
  for (std::size_t e = 0; e < events.size(); ++e) {
    for (const ValueId value : events[e].reads) {
      if (!has_room(value)) continue;
      const bool from_outside = graph_.producer(value) == kOutside && graph_.storage[value].dies;
      if (last[value] == kNever && from_outside) change(value, 1);
      last[value] = e;
    }
  }
  const auto ends = [&](ValueId value, std::size_t e) {
    return has_room(value) && graph_.storage[value].dies && last[value] == e;
  };
  for (std::size_t e = 0; e < events.size(); ++e) {
    std::vector<ValueId> dying;
    for (const ValueId value : events[e].reads) {
      const bool first = std::find(dying.begin(), dying.end(), value) == dying.end();
      if (ends(value, e) && first) dying.push_back(value);
    }
    for (const ValueId made : events[e].makes) {
      if (!has_room(made)) continue;
      const auto taken = std::find_if(dying.begin(), dying.end(), [&](ValueId value) {
        const auto& over = events[e].over;
        return same_room(value, made) && holders[owner_[value]] == 1 &&
               std::find(over.begin(), over.end(), value) != over.end();
      });
      if (taken != dying.end()) {
        change(*taken, -1);
        dying.erase(taken);
      }
      change(made, 1);
    }
    visit(held, events[e].slot);
    for (const ValueId value : dying) change(value, -1);
    for (const ValueId made : events[e].makes) {
      if (has_room(made) && graph_.storage[made].dies && last[made] == kNever) change(made, -1);
    }
  }
}

std::int64_t MemoryModel::above(const Room& room, const Room& limit) {
  std::int64_t bytes = std::max<std::int64_t>(0, room[0] - limit[0]);
  for (std::size_t k = 1; k < room.size(); ++k) {
    bytes += std::max<std::int64_t>(0, room[k] - limit[k]) * kAssumedLength;
  }
  return bytes;
}

void MemoryModel::add_peak(const Room& room) {
  for (const Room& peak : peaks_) {
    if (above(room, peak) == 0) return;
  }
  peaks_.erase(std::remove_if(peaks_.begin(), peaks_.end(),
                              [&](const Room& peak) { return above(peak, room) == 0; }),
               peaks_.end());
  peaks_.push_back(room);
}

MemoryModel::Excess MemoryModel::excess(const Schedule& schedule) const {
  Excess most;
  if (peaks_.empty()) return most;
  simulate(events(schedule), [&](const Room& room, Slot slot) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Room& peak : peaks_) {
      least = std::min(least, above(room, peak));
      if (least <= most.bytes) return;
    }
    most = {least, slot};
  });
  return most;
}

}  // namespace fcode
