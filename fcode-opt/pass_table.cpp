#include "fcode-opt/pass_table.hpp"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "fcode-opt/checks.hpp"
#include "fcode-opt/fusion/fuse.hpp"
#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/shapes/unify.hpp"
#include "fcode-opt/stopping.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

// A function of so few vector operations is inlined at every call.
constexpr std::size_t kSmallFunction = 4;
// How much inlining may enlarge a program, in vector operations; compiled programs of some hundred
// functions need a factor of 2.5 to 3.9 for all their calls that are not recursive.
constexpr std::size_t kLargestGrowth = 4;
// Programs of up to this size may grow to it in any case.
constexpr std::size_t kSmallProgram = 500;

bool inline_small(Module& module, PassState&) {
  return inline_calls(module, {kSmallFunction, 0});
}

bool inline_all(Module& module, PassState&) {
  const std::size_t largest = kLargestGrowth * vector_operations(module);
  return inline_calls(module, {kSmallFunction, std::max(largest, kSmallProgram)});
}

// Some passes ask for shapes.
bool run_pass(bool (*pass)(Module&), Module& module, PassState&) {
  end_if_asked();
  return pass(module);
}
bool run_pass(bool (*pass)(Module&, KnownWalks&), Module& module, PassState& state) {
  return pass(module, state.walks);
}

constexpr int kRounds = 5;
// The analysis of the whole program is the dearest of these passes.
constexpr int kShapeRounds = 3;

// One pass hides what it could do itself until what is between has been simplified by others.
template <int kMost, auto pass, auto... simplify>
bool to_the_end(Module& module, PassState& state) {
  bool changed = false;
  for (int round = 0; round < kMost && run_pass(pass, module, state); ++round) {
    changed = true;
    (run_pass(simplify, module, state), ...);
  }
  return changed;
}

// The inner conditional of three goes first.
bool selections_to_the_end(Module& module, PassState& state) {
  bool changed = false;
  for (int round = 0; round < kRounds; ++round) {
    simplify_branches(module);
    const bool selected = select_elements(module, state.walks);
    merge_common(module);
    remove_dead(module);
    const bool merged = merge_agreeing_arms(module, state.walks);
    if (!selected && !merged) break;
    changed = true;
  }
  return changed;
}

template <auto pass>
bool plain(Module& module, PassState& state) {
  return run_pass(pass, module, state);
}

bool fuse_operations(Module& module, PassState& state) {
  const std::size_t before = module.kernels.size();
  state.report.fusion = fuse(module, state.walks);
  return module.kernels.size() != before;
}

constexpr Pass kPasses[] = {
    {"loops", 3, false, "functions that call themselves last, on each element, as loops",
     plain<make_loops>},
    {"prune", 1, true, "drop functions that are never called", plain<prune>},
    {"calls", 1, true, "constants and unchanged values across calls", plain<propagate_calls>},
    {"fold", 1, true, "operations on constants, as far as all widths agree", plain<fold_constants>},
    {"descriptors", 1, true, "LENGTHS of MAKE_SEGDES and back", plain<simplify_descriptors>},
    {"branches", 1, true, "known conditions, equal results of both arms", plain<simplify_branches>},
    {"common", 1, true, "common subexpressions", plain<merge_common>},
    {"dead", 1, true, "unused statements, parameters and results, through recursion too",
     plain<remove_dead>},
    {"inline-small", 2, false, "calls of small functions and of those with one call", inline_small},
    {"inline", 2, false, "all other calls but recursive ones, up to a limit", inline_all},
    {"idioms", 2, false, "building and taking apart of short sequences",
     to_the_end<kRounds, recognize_idioms, simplify_descriptors, merge_common, remove_dead>},
    {"selections", 2, false, "conditionals element by element as SELECT", selections_to_the_end},
    {"algebra", 1, false, "x + 0, x * 1, NOT NOT, UNPAIR PAIR, ...", plain<simplify_algebra>},
    {"shapes", 2, false, "equal descriptors and sizes, conditions on lengths",
     to_the_end<kShapeRounds, unify_shapes, fold_constants, simplify_descriptors, simplify_branches,
                merge_common, remove_dead>},
    {"runs", 3, false, "packs of whole segments, as copies of runs",
     to_the_end<1, copy_packed_runs, merge_common, remove_dead>},
    {"copies", 3, false, "fetches from copied runs, as fetches from what was copied",
     to_the_end<kRounds, fetch_from_copied, recognize_idioms, simplify_algebra, merge_common,
                remove_dead>},
    {"ends", 3, false, "checks of evenly spaced indices, by the first and the last",
     to_the_end<1, check_by_ends, recognize_idioms, simplify_descriptors, fold_constants,
                simplify_algebra, merge_common, remove_dead>},
    {"choices", 3, false, "choices between vectors as soon as these are there",
     plain<hoist_choices>},
    {"checks", 3, false, "run-time checks as assertions", plain<checks_to_assertions>},
    {"unroll", 3, false, "reductions of short segments, element by element",
     to_the_end<kRounds, unroll_reductions, merge_common, recognize_idioms, simplify_descriptors,
                fold_constants, merge_common, remove_dead>},
    {"fuse", 3, false, "kernels", fuse_operations},
    {"lengths", 2, false, "lengths as soon as their vectors are there", plain<hoist_lengths>},
};

}  // namespace

std::span<const Pass> pass_table() {
  return kPasses;
}

bool is_pass(std::string_view name) {
  return std::any_of(std::begin(kPasses), std::end(kPasses),
                     [&](const Pass& pass) { return pass.name == name; });
}

std::string list_passes() {
  std::string text;
  for (const Pass& pass : pass_table()) {
    text += fmt::format("{:<14} -O{}  {}\n", pass.name, pass.level, pass.text);
  }
  return text;
}

}  // namespace fcode
