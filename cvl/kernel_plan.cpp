// Bindings to passes.
//
// Bindings are placed in order, each into the earliest pass over its index space that runs after
// everything that must lie in memory for it. Maps wait until somebody reads them, and are then part
// of the graph of that pass; a map that a later pass reads again is stored by the first.

#include "cvl/kernel_plan.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "cvl/kernel_graph.hpp"
#include "cvl/kernel_liveness.hpp"
#include "cvl/kernel_passes.hpp"

namespace cvl {
namespace {

using vcode::Binding;
using vcode::Kernel;
using vcode::Thunk;
using vcode::ThunkNode;
using SinkKind = PlanSink::Kind;

std::vector<SizeId> canonical_sizes(const Kernel& kernel) {
  std::vector<SizeId> result(kernel.sizes.size());
  std::map<std::int64_t, SizeId> literals;
  for (SizeId k = 0; k < result.size(); ++k) {
    const auto& literal = kernel.sizes[k].literal;
    result[k] = literal ? literals.emplace(*literal, k).first->second : k;
  }
  return result;
}

/// What a binding reads.
struct Needs {
  std::uint32_t pass = 0;              // the earliest in which all of it is there
  std::vector<std::uint32_t> maps;     // bindings to be made part of the same pass
  std::vector<std::uint32_t> scanned;  // passes with a Scan whose results it reads at its own index
};

class Planner {
 public:
  Planner(const Kernel& kernel, const PlanOptions& options)
      : kernel_(kernel),
        options_(options),
        canonical_(canonical_sizes(kernel)),
        live_(kernel_liveness(kernel, canonical_)),
        producer_(kernel.arrays.size(), kNone),
        pass_of_(kernel.arrays.size(), kNone),
        size_available_(kernel.sizes.size(), 0),
        segdes_available_(kernel.segdes.size(), 0) {}

  KernelPlan run() {
    for (std::uint32_t b = 0; b < kernel_.bindings.size(); ++b) {
      const Binding& binding = kernel_.bindings[b];
      for (const ArrayId array : binding.arrays) producer_[array] = b;
      if (binding.kind != Binding::Kind::Random) continue;
      draws_.push_back({b, canonical_[length_of_space(kernel_, binding.space)]});
    }
    for (std::uint32_t b = 0; b < kernel_.bindings.size(); ++b) {
      if (live_.bindings[b] && !waits(kernel_.bindings[b])) place(b);
    }
    return finish();
  }

 private:
  /// Maps and random numbers that cannot fail are placed with their first reader if they need not
  /// lie in memory.
  bool waits(const Binding& binding) const {
    const bool can_wait = binding.kind == Binding::Kind::Map ||
                          (binding.kind == Binding::Kind::Random && has_known_bound(binding));
    return can_wait && std::none_of(binding.arrays.begin(), binding.arrays.end(),
                                    [&](ArrayId array) { return live_.stored[array]; });
  }

  /// Is the bound a number for which there are random numbers?
  static bool has_known_bound(const Binding& binding) {
    const ThunkNode& bound = binding.elements.nodes[binding.elements.results[0]];
    return bound.kind == ThunkNode::Kind::Constant && bound.int_value >= 1 &&
           bound.int_value <= std::numeric_limits<std::int32_t>::max();
  }

  // --- What a binding reads ---

  void require_space(const vcode::Space& space, Needs& needs) const {
    needs.pass = std::max(needs.pass, space.segmented ? segdes_available_[space.id]
                                                      : size_available_[canonical_[space.id]]);
  }

  /// Where the numbers of a RAND begin depends on how many are drawn before them.
  void require_draws(std::uint32_t number, Needs& needs) const {
    if (kernel_.bindings[number].kind != Binding::Kind::Random) return;
    for (const PlanDraw& draw : draws_) {
      if (draw.binding < number) needs.pass = std::max(needs.pass, size_available_[draw.length]);
    }
  }

  /// Adds what a thunk over a space of this length reads.
  void add_needs(const Thunk& thunk, bool once, SizeId length, Needs& needs,
                 std::vector<std::uint32_t>& queue) const {
    const auto require = [&](std::uint32_t pass) { needs.pass = std::max(needs.pass, pass); };
    for (const ThunkNode& node : thunk.nodes) {
      switch (node.kind) {
        case ThunkNode::Kind::Size:
          if (!(once && bound_once(node.id, needs))) require(size_available_[canonical_[node.id]]);
          break;
        case ThunkNode::Kind::Subscript: {
          const bool own = !once && thunk.nodes[node.args[0]].kind == ThunkNode::Kind::Index &&
                           canonical_[kernel_.arrays[node.id].length] == length;
          add_array(node.id, own, needs, queue);
          break;
        }
        default:
          if (names_descriptor(node)) require(segdes_available_[node.id]);
          break;
      }
    }
  }

  /// Is the size bound by a pass without an index, which a binding without an index can join?
  bool bound_once(SizeId size, Needs& needs) const {
    const std::uint32_t ready = size_available_[canonical_[size]];
    if (ready == 0 || drafts_[ready - 1].sizes.count(canonical_[size]) == 0) return false;
    needs.pass = std::max(needs.pass, ready - 1);
    return true;
  }

  void add_array(ArrayId array, bool own, Needs& needs, std::vector<std::uint32_t>& queue) const {
    const std::uint32_t producer = producer_[array];
    if (producer == kNone) return;
    const Binding::Kind kind = kernel_.bindings[producer].kind;
    if (own && is_pointwise(kind)) {
      if (pass_of_[array] == kNone) {
        queue.push_back(producer);
        return;
      }
      needs.pass = std::max(needs.pass, pass_of_[array]);
      const PassDraft& home = drafts_[pass_of_[array]];
      if (home.graph[home.arrays.at(array)].after_scan) needs.scanned.push_back(pass_of_[array]);
      return;
    }
    needs.pass = std::max(needs.pass, pass_of_[array] + 1);
  }

  /// All that a binding and the maps that wait for it read.
  Needs needs_of(std::uint32_t number, const std::vector<const Thunk*>& thunks, bool once,
                 SizeId length) const {
    Needs needs;
    std::vector<std::uint32_t> queue;
    for (const Thunk* thunk : thunks) add_needs(*thunk, once, length, needs, queue);
    std::vector<bool> seen(number + 1);
    while (!queue.empty()) {
      const std::uint32_t map = queue.back();
      queue.pop_back();
      if (seen[map]) continue;
      seen[map] = true;
      needs.maps.push_back(map);
      require_space(kernel_.bindings[map].space, needs);
      require_draws(map, needs);
      add_needs(kernel_.bindings[map].elements, false, length, needs, queue);
    }
    std::sort(needs.maps.begin(), needs.maps.end());
    return needs;
  }

  // --- Passes ---

  std::uint32_t pass_for(bool once, SizeId length, std::uint32_t earliest) {
    for (std::uint32_t p = earliest; p < drafts_.size(); ++p) {
      if (drafts_[p].once == once && (once || drafts_[p].length == length)) return p;
    }
    drafts_.emplace_back(kernel_, canonical_, once, length);
    return static_cast<std::uint32_t>(drafts_.size() - 1);
  }

  /// The pass stores an array that it makes, unless it already does.
  void store(std::uint32_t pass, ArrayId array) {
    PassDraft& draft = drafts_[pass];
    for (const PlanSink& sink : draft.sinks) {
      if (sink.kind == SinkKind::Store && sink.arrays[0] == array) return;
    }
    PlanSink sink;
    sink.values = {draft.arrays.at(array)};
    sink.arrays = {array};
    sink.binding = producer_[array];
    draft.sinks.push_back(std::move(sink));
  }

  std::vector<NodeId> lower(std::uint32_t pass, const Thunk& thunk, std::uint32_t binding) {
    const auto array_value = [&](ArrayId array) -> NodeId {
      const auto found = drafts_[pass].arrays.find(array);
      if (found != drafts_[pass].arrays.end()) return found->second;
      if (producer_[array] != kNone && pass_of_[array] != kNone &&
          drafts_[pass_of_[array]].arrays.count(array) > 0) {
        store(pass_of_[array], array);
      }
      return kNone;
    };
    const auto size_value = [&](SizeId size) -> NodeId {
      const auto found = drafts_[pass].sizes.find(canonical_[size]);
      return found != drafts_[pass].sizes.end() ? found->second : kNone;
    };
    return drafts_[pass].graph.lower(thunk, binding, array_value, size_value);
  }

  static bool is_pointwise(Binding::Kind kind) {
    return kind == Binding::Kind::Map || kind == Binding::Kind::Scan ||
           kind == Binding::Kind::Random;
  }

  std::uint32_t draw_of(std::uint32_t number) const {
    const auto draw = std::find_if(draws_.begin(), draws_.end(), [&](const PlanDraw& candidate) {
      return candidate.binding == number;
    });
    return static_cast<std::uint32_t>(draw - draws_.begin());
  }

  /// Bounds are looked at even if nobody reads the numbers.
  void check_bound(std::uint32_t pass, std::uint32_t number) {
    const Binding& binding = kernel_.bindings[number];
    if (binding.kind != Binding::Kind::Random || has_known_bound(binding)) return;
    PlanSink sink;
    sink.kind = SinkKind::Assert;
    sink.binding = number;
    sink.index = lower(pass, binding.elements, number)[0];
    sink.values = {drafts_[pass].graph.at_least_one(sink.index, number)};
    drafts_[pass].sinks.push_back(std::move(sink));
  }

  void make_pointwise(std::uint32_t pass, std::uint32_t number) {
    const Binding& binding = kernel_.bindings[number];
    std::vector<NodeId> values = lower(pass, binding.elements, number);
    const SegdesId under = under_of(binding.space);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!live_.arrays[binding.arrays[k]]) continue;
      if (binding.kind == Binding::Kind::Scan) {
        values[k] = drafts_[pass].graph.scan(binding.monoids[k], values[k], under, number);
      } else if (binding.kind == Binding::Kind::Random) {
        values[k] = drafts_[pass].graph.random(draw_of(number), values[k], number);
      }
      drafts_[pass].arrays.emplace(binding.arrays[k], values[k]);
      pass_of_[binding.arrays[k]] = pass;
      if (live_.stored[binding.arrays[k]]) store(pass, binding.arrays[k]);
    }
  }

  SegdesId under_of(const vcode::Space& space) const {
    if (!space.segmented) return kNone;
    return kernel_.sizes[kernel_.segdes[space.id].count].literal == 1 ? kNone : space.id;
  }

  /// Chooses the pass of thunks over a space, from `earliest` on, and brings the maps that wait for
  /// them into it.
  std::uint32_t open_pass(std::uint32_t number, const std::vector<const Thunk*>& thunks,
                          const vcode::Space* space, std::uint32_t earliest, bool before_scans) {
    const bool once = space == nullptr;
    const SizeId length = once ? 0 : canonical_[length_of_space(kernel_, *space)];
    Needs needs = needs_of(number, thunks, once, length);
    require_draws(number, needs);
    if (!once) require_space(*space, needs);
    if (before_scans) {
      for (const std::uint32_t pass : needs.scanned) needs.pass = std::max(needs.pass, pass + 1);
    }
    const std::uint32_t pass = pass_for(once, length, std::max(earliest, needs.pass));
    for (const std::uint32_t map : needs.maps) make_pointwise(pass, map);
    return pass;
  }

  // --- Bindings ---

  void place(std::uint32_t number) {
    const Binding& binding = kernel_.bindings[number];
    std::uint32_t earliest = 0;
    if (binding.kind == Binding::Kind::Scatter && !binding.defaults.results.empty()) {
      earliest = place_defaults(number) + 1;
    } else if (binding.into) {
      Needs needs;
      require_space(*binding.into, needs);
      earliest = needs.pass;
    }
    const bool reduction = binding.kind == Binding::Kind::Reduce && !options_.reduces_scanned;
    const bool before_scans = reduction || binding.kind == Binding::Kind::Scan ||
                              binding.kind == Binding::Kind::Filter ||
                              binding.kind == Binding::Kind::Split;
    const std::uint32_t pass =
        open_pass(number,
                  {&binding.elements, &binding.flags, &binding.index, &binding.next, &binding.push,
                   &binding.pop},
                  has_space(binding) && !asserts_once(binding) ? &binding.space : nullptr, earliest,
                  before_scans);
    if (is_pointwise(binding.kind)) {
      make_pointwise(pass, number);
      check_bound(pass, number);
      return;
    }
    add_sinks(pass, number);
  }

  bool asserts_once(const Binding& binding) const {
    return options_.asserts_once && binding.kind == Binding::Kind::Assert &&
           kernel_.sizes[length_of_space(kernel_, binding.space)].literal == 1 &&
           !reads_index(binding.elements);
  }

  static bool reads_index(const Thunk& thunk) {
    const auto is_index = [&](std::uint32_t node) {
      return thunk.nodes[node].kind == ThunkNode::Kind::Index;
    };
    return std::any_of(thunk.results.begin(), thunk.results.end(), is_index) ||
           std::any_of(thunk.nodes.begin(), thunk.nodes.end(), [&](const ThunkNode& node) {
             return std::any_of(node.args, node.args + argument_count(node), is_index);
           });
  }

  std::uint32_t place_defaults(std::uint32_t number) {
    const Binding& binding = kernel_.bindings[number];
    const std::uint32_t pass = open_pass(number, {&binding.defaults}, &*binding.into, 0, false);
    const std::vector<NodeId> values = lower(pass, binding.defaults, number);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!live_.arrays[binding.arrays[k]]) continue;
      PlanSink sink;
      sink.values = {values[k]};
      sink.arrays = {binding.arrays[k]};
      sink.binding = number;
      drafts_[pass].sinks.push_back(std::move(sink));
    }
    return pass;
  }

  void add_sinks(std::uint32_t pass, std::uint32_t number) {
    const Binding& binding = kernel_.bindings[number];
    PlanSink sink;
    sink.binding = number;
    sink.under = has_space(binding) ? under_of(binding.space) : kNone;
    sink.values = lower(pass, binding.elements, number);
    const auto one_by_one = [&](SinkKind kind) {
      const std::vector<NodeId> values = std::exchange(sink.values, {});
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (!live_.arrays[binding.arrays[k]]) continue;
        PlanSink single = sink;
        single.kind = kind;
        single.values = {values[k]};
        single.arrays = {binding.arrays[k]};
        if (kind == SinkKind::Reduce) single.op = binding.monoids[k].op;
        drafts_[pass].sinks.push_back(std::move(single));
      }
    };
    switch (binding.kind) {
      case Binding::Kind::Size:
        sink.kind = SinkKind::Size;
        sink.size = canonical_[binding.size];
        drafts_[pass].sizes.emplace(sink.size, sink.values[0]);
        size_available_[sink.size] = pass + 1;
        drafts_[pass].sinks.push_back(std::move(sink));
        break;
      case Binding::Kind::Assert:
        sink.kind = SinkKind::Assert;
        drafts_[pass].sinks.push_back(std::move(sink));
        break;
      case Binding::Kind::Once:
        one_by_one(SinkKind::Store);
        break;
      case Binding::Kind::Reduce:
        one_by_one(SinkKind::Reduce);
        break;
      case Binding::Kind::Scatter:
        add_scatter(pass, binding, std::move(sink));
        break;
      case Binding::Kind::Iterate:
        sink.kind = SinkKind::Iterate;
        sink.loop = add_loop(binding, number);
        drop_dead(binding, sink);
        sink.arrays.resize(sink.values.size());  // without the tables
        drafts_[pass].sinks.push_back(std::move(sink));
        break;
      case Binding::Kind::Segments:
        sink.kind = SinkKind::Segments;
        sink.segdes = binding.segdes;
        drafts_[pass].sinks.push_back(std::move(sink));
        break;
      default:
        add_selection(pass, binding, std::move(sink));
        break;
    }
    for (const ArrayId array : binding.arrays) {
      pass_of_[array] = pass;
      bind_size(kernel_.arrays[array].length, binding, pass);
    }
    for (const SegdesId segdes : binding.segdes) {
      segdes_available_[segdes] = pass + 1;
      bind_size(kernel_.segdes[segdes].total, binding, pass);
    }
  }

  /// Results whose length depends on data bind it.
  void bind_size(SizeId size, const Binding& binding, std::uint32_t pass) {
    const bool binds = binding.kind == Binding::Kind::Filter ||
                       binding.kind == Binding::Kind::Split ||
                       binding.kind == Binding::Kind::Segments;
    const SizeId canonical = canonical_[size];
    if (binds && size_available_[canonical] == 0) size_available_[canonical] = pass + 1;
  }

  void drop_dead(const Binding& binding, PlanSink& sink) const {
    sink.arrays = binding.arrays;
    for (ArrayId& array : sink.arrays) {
      if (!live_.arrays[array]) array = kNone;
    }
  }

  void add_scatter(std::uint32_t pass, const Binding& binding, PlanSink sink) {
    sink.kind = SinkKind::Scatter;
    drop_dead(binding, sink);
    for (std::size_t k = sink.arrays.size(); k-- > 0;) {
      if (sink.arrays[k] != kNone) continue;
      const auto at = static_cast<std::ptrdiff_t>(k);
      sink.arrays.erase(sink.arrays.begin() + at);
      sink.values.erase(sink.values.begin() + at);
    }
    const auto number = sink.binding;
    sink.index = lower(pass, binding.index, number)[0];
    if (!binding.flags.results.empty()) sink.flag = lower(pass, binding.flags, number)[0];
    sink.into = binding.into ? under_of(*binding.into) : kNone;
    if (sink.under == kNone || sink.into == kNone) sink.under = sink.into = kNone;
    sink.into_length = canonical_[binding.into ? length_of_space(kernel_, *binding.into)
                                               : length_of_space(kernel_, binding.space)];
    sink.zeroed = binding.defaults.results.empty();
    drafts_[pass].sinks.push_back(std::move(sink));
  }

  std::uint32_t add_loop(const Binding& binding, std::uint32_t number) {
    PassDraft draft(kernel_, canonical_, false,
                    canonical_[length_of_space(kernel_, binding.space)]);
    const auto nowhere = [](std::uint32_t) { return kNone; };
    PlanSink step;
    step.kind = SinkKind::Iterate;
    step.binding = number;
    step.flag = draft.graph.lower(binding.flags, number, nowhere, nowhere)[0];
    step.values = draft.graph.lower(binding.next, number, nowhere, nowhere);
    PlanLoop loop;
    loop.components = step.values.size();
    loop.rounds = binding.rounds;
    loop.depth = binding.depth;
    if (!binding.push.results.empty()) {
      const std::vector<NodeId> push = draft.graph.lower(binding.push, number, nowhere, nowhere);
      step.values.push_back(push[0]);
      step.values.push_back(draft.graph.lower(binding.pop, number, nowhere, nowhere)[0]);
      step.values.insert(step.values.end(), push.begin() + 1, push.end());
    }
    loop.stack_values = step.values.size() - loop.components;
    const std::vector<ArrayId> tables = vcode::tables_of(binding);
    for (std::size_t k = 0; k < tables.size(); ++k) {
      loop.tables.push_back({tables[k], binding.arrays[loop.components + k]});
    }
    for (const vcode::TableWrite& write : binding.writes) {
      const std::vector<NodeId> written = draft.graph.lower(write.thunk, number, nowhere, nowhere);
      step.values.insert(step.values.end(), written.begin(), written.end());
      const auto table = std::find(tables.begin(), tables.end(), write.operand);
      loop.writes.push_back(static_cast<std::uint32_t>(table - tables.begin()));
    }
    draft.sinks.push_back(std::move(step));
    loop.body = finish_pass(draft);
    for (PlanNode& node : loop.body.nodes) {
      if (node.kind != PlanNode::Kind::Gather) continue;
      for (const PlanLoop::Table& table : loop.tables) {
        if (node.id != table.operand) continue;
        node.id = table.array;
        node.changes = true;
        node.uniform = false;
        break;
      }
    }
    loops_.push_back(std::move(loop));
    return static_cast<std::uint32_t>(loops_.size() - 1);
  }

  /// Filter and Split.
  void add_selection(std::uint32_t pass, const Binding& binding, PlanSink sink) {
    const bool filter = binding.kind == Binding::Kind::Filter;
    sink.kind = filter ? SinkKind::Filter : SinkKind::Split;
    sink.flag = lower(pass, binding.flags, sink.binding)[0];
    sink.classes = filter ? 1 : binding.classes;
    sink.segdes = binding.segdes;
    drop_dead(binding, sink);
    for (const SegdesId segdes : binding.segdes) sink.wants_segdes |= live_.segdes[segdes];
    if (filter) {
      for (PlanSink& other : drafts_[pass].sinks) {
        if (other.kind != SinkKind::Filter || other.flag != sink.flag || other.under != sink.under)
          continue;
        other.values.insert(other.values.end(), sink.values.begin(), sink.values.end());
        other.arrays.insert(other.arrays.end(), sink.arrays.begin(), sink.arrays.end());
        other.segdes.insert(other.segdes.end(), sink.segdes.begin(), sink.segdes.end());
        other.wants_segdes |= sink.wants_segdes;
        return;
      }
    }
    drafts_[pass].sinks.push_back(std::move(sink));
  }

  // --- The finished plan ---

  KernelPlan finish() {
    KernelPlan plan;
    plan.kernel = &kernel_;
    plan.canonical_size = canonical_;
    plan.draws = draws_;
    plan.loops = std::move(loops_);
    for (PassDraft& draft : drafts_) plan.passes.push_back(finish_pass(draft));
    find_lifetimes(plan);
    return plan;
  }

  const Kernel& kernel_;
  const PlanOptions options_;
  std::vector<SizeId> canonical_;
  KernelLiveness live_;
  std::vector<PlanDraw> draws_;
  std::vector<PlanLoop> loops_;
  std::vector<std::uint32_t> producer_;          // binding that makes an array; kNone: an operand
  std::vector<std::uint32_t> pass_of_;           // pass that makes an array, once there is one
  std::vector<std::uint32_t> size_available_;    // first pass that can use a size
  std::vector<std::uint32_t> segdes_available_;  // first pass that can use a descriptor
  std::vector<PassDraft> drafts_;
};

}  // namespace

bool KernelPlan::has_serial_loops() const {
  return std::any_of(loops.begin(), loops.end(),
                     [](const PlanLoop& loop) { return loop.is_serial(); });
}

std::size_t KernelPlan::launches() const {
  return static_cast<std::size_t>(
      std::count_if(passes.begin(), passes.end(), [](const PlanPass& pass) { return !pass.once; }));
}

std::optional<KernelPlan> plan_kernel(const Kernel& kernel, const PlanOptions& options) {
  try {
    return Planner(kernel, options).run();
  } catch (const TooManyGuards&) {
    return std::nullopt;
  }
}

}  // namespace cvl
