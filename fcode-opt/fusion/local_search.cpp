#include "fcode-opt/fusion/local_search.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "fcode-opt/fusion/cost.hpp"
#include "fcode-opt/stopping.hpp"

namespace fcode {
namespace {

// Rounds of moving single nodes.
constexpr int kRounds = 2;
// Places at which a kernel may be cut that are tried at once, in small regions and in others.
constexpr std::size_t kMostCuts = 16, kMostCutsOfLarge = 2;
// Chains of maps that move at once; longer ones move in part.
constexpr std::size_t kLongestChain = 16;
// So many bytes too much are not worth another kernel.
constexpr std::int64_t kLittleExcess = (kKernelCost + kPassCost) / kHeldByteCost;

/// For each node those in whose kernel it may be cheaper: what it reads, what reads it, and what
/// reads the same.
std::vector<std::vector<NodeIndex>> related_nodes(const RegionGraph& graph) {
  std::map<ValueId, std::vector<NodeIndex>> readers;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (!graph.nodes[i].scheduled()) continue;
    for (const Read& read : graph.nodes[i].reads) readers[read.value].push_back(i);
  }
  std::vector<std::vector<NodeIndex>> related(graph.nodes.size());
  for (const auto& [value, nodes] : readers) {
    const NodeIndex producer = graph.producer(value);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      std::vector<NodeIndex>& of_reader = related[nodes[k]];
      if (producer != kOutside) {
        of_reader.push_back(producer);
        related[producer].push_back(nodes[k]);
      }
      // The nearest readers of the same value.
      const std::size_t from = k > 2 ? k - 2 : 0, to = std::min(k + 3, nodes.size());
      of_reader.insert(of_reader.end(), nodes.begin() + static_cast<std::ptrdiff_t>(from),
                       nodes.begin() + static_cast<std::ptrdiff_t>(to));
    }
  }
  for (std::vector<NodeIndex>& nodes : related) {
    if (nodes.size() > kMostRelated) nodes.resize(kMostRelated);
  }
  return related;
}

class LocalSearch {
 public:
  LocalSearch(const Pricing& pricing, Choice& choice)
      : pricing_(pricing),
        graph_(pricing.graph()),
        choice_(choice),
        precedence_(pricing.precedence()),
        check_(precedence_),
        costs_(graph_, pricing.kernels(), choice.schedule),
        small_(graph_.scheduled_nodes() <= kSmallRegion),
        related_(small_ ? decltype(related_)() : related_nodes(graph_)),
        readers_(readers_of(graph_)) {}

  void descend() {
    for (std::int64_t before = choice_.price + 1; choice_.price < before;) {
      before = choice_.price;
      move_nodes();
      put_off_chains();
      move_passes();
      relieving_ = true;
      relieve();
      relieving_ = false;
      join_kernels(kMostDistance);
    }
  }

  void descend_further() {
    for (std::int64_t before = choice_.price + 1; choice_.price < before;) {
      before = choice_.price;
      move_together();
      if (choice_.price < before) descend();
    }
  }

  // In large regions whatever is held by that: descend() relieves them.
  void join_neighbours() {
    any_memory_ = !small_;
    if (any_memory_) choice_.price = costs_.total();
    while (join_kernels(1)) {
    }
    if (any_memory_) choice_.price = pricing_.price(choice_.schedule);
    any_memory_ = false;
  }

 private:
  // Takes the schedule, in which nothing comes before what it needs, if its kernels are legal and
  // it is cheaper.
  bool take(Schedule schedule) {
    end_if_asked();
    const std::optional<std::int64_t> moved = costs_.of(schedule);
    if (!moved || *moved >= (relieving_ ? choice_.price : costs_.total())) return false;
    const std::int64_t held = any_memory_ ? 0 : pricing_.held(schedule, choice_.price - *moved);
    const std::int64_t price = *moved + held;
    if (price >= choice_.price) return false;
    choice_.schedule = std::move(schedule);
    choice_.price = price;
    costs_.start_from(choice_.schedule);
    return true;
  }

  // A node, a chain of maps that ends with it, a pass over a domain, or kWhole kernels, on the way
  // from one kernel to another; kCut and which kernel before which node.
  using Change = std::array<std::uint64_t, 3>;
  static constexpr std::uint64_t kWhole = ~std::uint64_t{0};
  static constexpr std::uint64_t kCut = kWhole - 1;
  static constexpr std::uint64_t kChains = std::uint64_t{1} << 32;  // and the last node
  static constexpr std::uint64_t kPasses = std::uint64_t{2} << 32;  // and the domain
  bool was_tried(const Change& change) { return !tried_.insert(change).second; }

  // Other slots than its own in which the node may be cheaper.
  std::vector<Slot> slots_for(NodeIndex node) const {
    std::vector<Slot> slots;
    if (small_) {
      slots = choice_.schedule;
    } else {
      for (const NodeIndex other : related_[node]) {
        if (graph_.nodes[other].scheduled()) slots.push_back(choice_.schedule[other]);
      }
    }
    std::sort(slots.begin(), slots.end());
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
    std::erase(slots, choice_.schedule[node]);
    return slots;
  }

  // ---- single nodes ----

  void move_nodes() {
    for (int round = 0; round < kRounds; ++round) {
      bool better = false;
      for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
        if (!graph_.nodes[i].in_kernel()) continue;
        for (const Slot slot : slots_for(i)) {
          if (was_tried({i, costs_.key(choice_.schedule[i]), costs_.key(slot)})) continue;
          if (!precedence_.fits(choice_.schedule, i, slot)) continue;
          Schedule schedule = choice_.schedule;
          schedule[i] = slot;
          better |= take(std::move(schedule));
        }
      }
      if (!better) return;
    }
  }

  // ---- maps with the maps that are made for them ----

  // The map and those in its kernel that only it reads, directly or through each other.
  std::vector<NodeIndex> chain_to(NodeIndex last) const {
    std::vector<NodeIndex> chain = {last};
    for (std::size_t k = 0; k < chain.size() && chain.size() < kLongestChain; ++k) {
      for (const Read& read : graph_.nodes[chain[k]].reads) {
        if (read.producer == kOutside || !is_private_map(read.producer)) continue;
        if (choice_.schedule[read.producer] != choice_.schedule[last]) continue;
        const std::vector<NodeIndex>& readers = readers_[read.producer];
        const bool inside = std::all_of(readers.begin(), readers.end(), [&](NodeIndex reader) {
          return std::find(chain.begin(), chain.end(), reader) != chain.end();
        });
        const bool is_new = std::find(chain.begin(), chain.end(), read.producer) == chain.end();
        if (inside && is_new) chain.push_back(read.producer);
      }
    }
    return chain;
  }

  bool is_private_map(NodeIndex i) const {
    const Node& node = graph_.nodes[i];
    return node.role == Role::Map && node.in_kernel() && !node.output;
  }

  // A map that is only read by later kernels, as the fetch of a slice is behind the check of its
  // length: to the first of them, with what would otherwise be stored in its place.
  void put_off_chains() {
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      if (!is_private_map(i) || readers_[i].empty()) continue;
      const auto before = [&](NodeIndex a, NodeIndex b) {
        return choice_.schedule[a] < choice_.schedule[b];
      };
      const Slot slot =
          choice_.schedule[*std::min_element(readers_[i].begin(), readers_[i].end(), before)];
      if (slot == choice_.schedule[i]) continue;
      const std::vector<NodeIndex> chain = chain_to(i);
      if (chain.size() == 1) continue;  // has been tried alone
      if (was_tried({kChains + i, costs_.key(choice_.schedule[i]), costs_.key(slot)})) continue;
      Schedule schedule = choice_.schedule;
      for (const NodeIndex node : chain) schedule[node] = slot;
      if (std::all_of(chain.begin(), chain.end(),
                      [&](NodeIndex node) { return precedence_.fits(schedule, node, slot); })) {
        take(std::move(schedule));
      }
    }
  }

  // ---- passes over a domain ----

  // To a near kernel that runs over it, too, and reads what the first one stores for it, whatever
  // else the kernels do.
  void move_passes() {
    using Pass = std::pair<std::uint32_t, Slot>;  // domain and kernel
    std::map<Pass, std::vector<NodeIndex>> passes;
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (node.in_kernel() && !node.scalar) {
        passes[{node.domain, choice_.schedule[i]}].push_back(i);
      }
    }
    for (auto first = passes.begin(); first != passes.end(); ++first) {
      const auto second = std::next(first);
      if (second == passes.end() || second->first.first != first->first.first) continue;
      if (second->first.second - first->first.second > kMostDistance) continue;
      if (!reads_elements(second->second, first->first.second)) continue;
      if (move_pass(first->second, second->first.second) ||
          move_pass(second->second, first->first.second)) {
        return move_passes();
      }
    }
  }

  bool reads_elements(const std::vector<NodeIndex>& pass, Slot of) const {
    return std::any_of(pass.begin(), pass.end(), [&](NodeIndex reader) {
      const std::vector<Read>& reads = graph_.nodes[reader].reads;
      return std::any_of(reads.begin(), reads.end(), [&](const Read& read) {
        return read.access == Access::Own && read.producer != kOutside &&
               graph_.nodes[read.producer].in_kernel() && choice_.schedule[read.producer] == of;
      });
    });
  }

  bool move_pass(const std::vector<NodeIndex>& pass, Slot to) {
    const NodeIndex first = pass.front();
    const std::uint64_t domain = kPasses + graph_.nodes[first].domain;
    if (was_tried({domain, costs_.key(choice_.schedule[first]), costs_.key(to)})) return false;
    Schedule schedule = choice_.schedule;
    const Slot last = last_slot(graph_, schedule);
    for (const NodeIndex node : pass) schedule[node] = to;
    std::optional<Schedule> moved = made_legal(std::move(schedule), last + 1);
    return moved && take(std::move(*moved));
  }

  // What comes out of place gets the next slot that it may have. Nothing if slots after `limit`
  // were needed.
  std::optional<Schedule> made_legal(Schedule schedule, Slot limit) {
    check_.restart();
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      if (!graph_.nodes[i].scheduled()) continue;
      while (!check_.place(i, schedule[i])) {
        if (++schedule[i] > limit) return std::nullopt;
      }
    }
    return schedule;
  }

  // ---- nodes with those in their way ----

  // The schedule with a node in another slot, where what it reads comes no later.
  std::optional<Schedule> moved_together(NodeIndex node, Slot slot, Slot limit) {
    Schedule schedule = choice_.schedule;
    std::vector<bool> moves(node + 1);
    moves[node] = true;
    for (NodeIndex i = node + 1; i-- > 0;) {
      if (!moves[i]) continue;
      schedule[i] = slot;
      const auto pull = [&](NodeIndex before) {
        if (schedule[before] > slot) moves[before] = true;
      };
      for (const Read& read : graph_.nodes[i].reads) {
        if (read.producer != kOutside) pull(read.producer);
      }
      for (const NodeIndex before : graph_.nodes[i].after) pull(before);
      for (const NodeIndex before : graph_.nodes[i].apart) pull(before);
    }
    return made_legal(std::move(schedule), limit);
  }

  void move_together() {
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      if (!graph_.nodes[i].scheduled()) continue;
      const Slot last = last_slot(graph_, choice_.schedule);
      for (const Slot slot : slots_for(i)) {
        if (precedence_.fits(choice_.schedule, i, slot)) continue;  // has been tried alone
        if (auto schedule = moved_together(i, slot, last + 2)) take(std::move(*schedule));
      }
    }
  }

  // ---- whole kernels ----

  // The kernel in one slot becomes part of that in another.
  bool join(Slot from, Slot to) {
    Schedule result = choice_.schedule;
    const auto moves = [&](NodeIndex i) {
      return graph_.nodes[i].in_kernel() && choice_.schedule[i] == from;
    };
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      if (moves(i)) result[i] = to;
    }
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      if (moves(i) && !precedence_.fits(result, i, to)) return false;
    }
    return take(std::move(result));
  }

  void leave_out_empty_slots() {
    std::vector<Slot> number(last_slot(graph_, choice_.schedule) + 1);
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].scheduled()) number[choice_.schedule[i]] = 1;
    }
    Slot next = 0;
    for (Slot& slot : number) slot = slot != 0 ? next++ : next;
    for (Slot& slot : choice_.schedule) {
      slot = number[std::min<std::size_t>(slot, number.size() - 1)];
    }
    costs_.start_from(choice_.schedule);
  }

  // Kernels that are at most so many slots from each other. True if any were joined.
  bool join_kernels(Slot distance) {
    const std::int64_t before = choice_.price;
    const Slot last = last_slot(graph_, choice_.schedule);
    for (Slot second = 1; second <= last; ++second) {
      for (Slot first = second - std::min(distance, second); first < second; ++first) {
        if (was_tried({kWhole, costs_.key(first), costs_.key(second)})) continue;
        if (!join(second, first)) join(first, second);
      }
    }
    leave_out_empty_slots();
    return choice_.price < before;
  }

  // Members of the kernel in the slot, in program order.
  std::vector<NodeIndex> kernel_in(Slot slot) const {
    std::vector<NodeIndex> members;
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].in_kernel() && choice_.schedule[i] == slot) members.push_back(i);
    }
    return members;
  }

  // The kernel in the slot without its nodes from `first` on, which get a slot of their own after
  // it, before the slot's instructions.
  Schedule cut(const Schedule& schedule, Slot slot, NodeIndex first) const {
    Schedule result = schedule;
    for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
      const bool stays = graph_.nodes[i].in_kernel() && i < first;
      if (schedule[i] > slot || (schedule[i] == slot && !stays)) ++result[i];
    }
    return result;
  }

  // The best cut through the kernel of a slot. False if there is none that pays.
  bool cut_slot(Slot slot) {
    const std::vector<NodeIndex> members = kernel_in(slot);
    const std::size_t step = members.size() / (small_ ? kMostCuts : kMostCutsOfLarge) + 1;
    const Schedule whole = choice_.schedule;
    const KnownKernels::Key key = costs_.key(slot);
    bool pays = false;
    for (std::size_t k = step; k < members.size(); k += step) {
      if (was_tried({kCut, key, members[k]})) continue;
      pays |= take(cut(whole, slot, members[k]));
    }
    return pays;
  }

  // Cuts kernels in two where too much is held, as long as that pays.
  void relieve() {
    for (std::size_t round = 0; round < graph_.nodes.size(); ++round) {
      const MemoryModel::Excess excess = pricing_.excess(choice_.schedule);
      if (excess.bytes < kLittleExcess) return;
      // What is held there may have come into being earlier.
      bool better = false;
      for (Slot slot = excess.slot + 1; slot-- > 0 && !better;) better = cut_slot(slot);
      if (!better) return;
    }
  }

  const Pricing& pricing_;
  const RegionGraph& graph_;
  Choice& choice_;
  bool relieving_ = false;
  bool any_memory_ = false;  // what is held has no price
  const Precedence& precedence_;
  ScheduleCheck check_;
  ScheduleCost costs_;
  const bool small_;
  const std::vector<std::vector<NodeIndex>> related_;  // by node; none in a small region
  const std::vector<std::vector<NodeIndex>> readers_;  // by node
  // What was found too dear is not tried again between the same kernels.
  std::set<Change> tried_;
};

}  // namespace

void descend(const Pricing& pricing, Choice& choice) {
  LocalSearch(pricing, choice).descend();
}

void descend_further(const Pricing& pricing, Choice& choice) {
  LocalSearch(pricing, choice).descend_further();
}

void join_neighbours(const Pricing& pricing, Choice& choice) {
  LocalSearch(pricing, choice).join_neighbours();
}

}  // namespace fcode
