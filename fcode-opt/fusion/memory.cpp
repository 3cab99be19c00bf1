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
  if (graph.storage.empty()) return;
  for (const RegionGraph::Storage& storage : graph.storage) {
    if (!storage.counts || !storage.elements.is_number()) continue;
    longest_known_ = std::max(longest_known_, storage.elements.constant);
  }
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
  peaks_.resize(unknowns_.size() + 1);
  simulate(steps_of(graph), [this](const Room& room, Slot) {
    for (std::size_t k = 0; k < room.size(); ++k) peaks_[k] = std::max(peaks_[k], bytes(room, k));
  });
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
  // Known lengths in proportion, so that they do not hide what is of unknown ones.
  const double share = static_cast<double>(kAssumedLength) /
                       static_cast<double>(std::max(longest_known_, kAssumedLength));
  room[0] = static_cast<std::int64_t>(static_cast<double>(elements.constant * width) * share);
  for (const auto& [unknown, factor] : elements.terms) {
    const auto place = std::find(unknowns_.begin(), unknowns_.end(), unknown);
    const auto index = static_cast<std::size_t>(place - unknowns_.begin());
    if (place == unknowns_.end()) unknowns_.push_back(unknown);
    room.resize(unknowns_.size() + 1);
    room[index + 1] = factor * width;
  }
  return room;
}

// Calls `visit` with what is held while each step takes place, and the slot of the step.
template <typename Visit>
void MemoryModel::simulate(const std::vector<Step>& steps, Visit visit) const {
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
  for (std::size_t s = 0; s < steps.size(); ++s) {
    for (const Step::Operand& read : steps[s].reads) {
      const ValueId value = read.value;
      if (!has_room(value)) continue;
      const bool from_outside = graph_.producer(value) == kOutside && graph_.storage[value].dies;
      if (last[value] == kNever && from_outside) change(value, 1);
      last[value] = s;
    }
  }
  std::vector<Step::Operand> dying;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    dying.clear();
    for (const Step::Operand& read : steps[s].reads) {
      const bool ends =
          has_room(read.value) && graph_.storage[read.value].dies && last[read.value] == s;
      if (ends) dying.push_back(read);
    }
    for_each_result(steps[s], [&](ValueId made, bool may_take_over) {
      const auto taken = std::find_if(dying.begin(), dying.end(), [&](const Step::Operand& read) {
        return may_take_over && read.over && same_room(read.value, made) &&
               holders[owner_[read.value]] == 1;
      });
      if (taken != dying.end()) {
        change(taken->value, -1);
        dying.erase(taken);
      }
      change(made, 1);
    });
    visit(held, steps[s].slot);
    for (const Step::Operand& read : dying) change(read.value, -1);
    for_each_result(steps[s], [&](ValueId made, bool) {
      if (graph_.storage[made].dies && last[made] == kNever) change(made, -1);
    });
  }
}

std::int64_t MemoryModel::bytes(const Room& room, std::size_t greatest) {
  std::int64_t bytes = room[0];
  for (std::size_t k = 1; k < room.size(); ++k) {
    if (greatest == kAlike || greatest == k) bytes += room[k] * kAssumedLength;
  }
  return bytes;
}

MemoryModel::Excess MemoryModel::excess(const std::vector<Step>& steps) const {
  Excess most;
  if (peaks_.empty()) return most;
  simulate(steps, [&](const Room& room, Slot slot) {
    for (std::size_t k = 0; k < room.size(); ++k) {
      const std::int64_t above = bytes(room, k) - peaks_[k];
      if (above > most.bytes) most = {above, slot};
    }
  });
  return most;
}

}  // namespace fcode
