// The clean-up passes. Each returns whether it has changed anything; some ask for shapes, and what
// was found for one of them helps the next (shapes/known_walks.hpp).
#pragma once

#include <cstddef>

#include "fcode-opt/ir.hpp"

namespace fcode {

class KnownWalks;

/// Limits of inlining.
struct InlineLimits {
  /// A callee of at most so many vector operations is inlined at every call.
  std::size_t small = 4;
  /// Inlining into several places stops when the program would have more vector operations than
  /// this.
  std::size_t largest = 0;
};

/// Functions of scalars that call themselves last, on each element: kernels that iterate. REQUIRES:
/// functions for one instance are as the front end has made them.
bool make_loops(Module& module);

/// Drops functions that a run cannot enter.
bool prune(Module& module);

/// Replaces calls of functions that are not recursive by their bodies, callees first: of those with
/// one call, of small ones, and of others while the program stays within the limit.
bool inline_calls(Module& module, const InlineLimits& limits);

/// Computes operations on constants, as far as the result is the same for all widths of INT and
/// FLOAT (fcode.md, rule 6) and no operation fails.
bool fold_constants(Module& module);

/// UNPAIR of PAIR, NOT of NOT, x + 0, x * 1, SELECT of the same, ... if the result has the same
/// bits and the length of the operand that is left.
bool simplify_algebra(Module& module, KnownWalks& walks);

/// LENGTHS of MAKE_SEGDES and MAKE_SEGDES of LENGTHS.
bool simplify_descriptors(Module& module);

/// Permutations, gathers and reductions whose result is an operand or is known element by element;
/// and what simplify_algebra() does.
bool recognize_idioms(Module& module, KnownWalks& walks);

/// Packs of whole segments, as copies of runs.
bool copy_packed_runs(Module& module, KnownWalks& walks);

/// Fetches from vectors that are runs of others, one behind the other: from those. A kernel checks
/// such an index a run at a time; other code would pay for it.
bool fetch_from_copied(Module& module, KnownWalks& walks);

/// Checks of indices that go up or down by one in each segment, by the first and the last of these.
bool check_by_ends(Module& module, KnownWalks& walks);

/// Reductions of a few elements for each of many instances, as operations on the instances.
bool unroll_reductions(Module& module, KnownWalks& walks);

/// Results scattered from packed elements, where SELECT can compute them for all elements.
bool select_elements(Module& module, KnownWalks& walks);

/// Conditionals of which one arm computes the same as the other wherever it runs: of the branches
/// of an apply-to-each, where all flags are equal.
bool merge_agreeing_arms(Module& module, KnownWalks& walks);

/// Conditionals: known conditions; conditions inside their own arms; results that are the same in
/// both arms; what follows an arm that ends the run; conditionals without statements.
bool simplify_branches(Module& module);

/// LENGTH goes up to where its operand is made, so that no vector lives on for its length only.
bool hoist_lengths(Module& module);
/// Conditionals that only choose between values go up to where these are there, with comparisons of
/// lengths that they depend on: in between they would part what could be one kernel.
bool hoist_choices(Module& module);

/// Merges an operation with an equal one that is always run before it. Random numbers, timers,
/// input and output are left alone.
bool merge_common(Module& module);

/// Parameters that are the same constant in all calls; results that are constants or are just
/// handed through.
bool propagate_calls(Module& module);

/// Removes what no output, no effect and no condition of an effect depends on: statements,
/// parameters and results of functions, also around recursion, and results of conditionals.
bool remove_dead(Module& module);

}  // namespace fcode
