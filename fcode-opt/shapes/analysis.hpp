// Shape analysis of a whole program (fcode.md, 4.5): sizes and descriptors that are known to be
// equal, across conditionals, calls and recursion.
//
// Each function has a signature: what all its callers guarantee of the arguments, and what it
// guarantees of its results in terms of them. Signatures start from "never called, never returns"
// and grow weaker until they agree with every function body.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "fcode-opt/ir.hpp"
#include "fcode-opt/shapes/known_walks.hpp"
#include "fcode-opt/shapes/shapes.hpp"

namespace fcode {

/// Follows the walk through a function.
class ShapeVisitor {
 public:
  virtual ~ShapeVisitor() = default;
  /// Statements [begin, end) of a block, none of which is a barrier, have been passed. They may be
  /// replaced; `end` must then be set to where the walk is to go on.
  virtual void region(Shapes& /*shapes*/, Block& /*block*/, std::size_t /*begin*/,
                      std::size_t& /*end*/) {}
  /// Around the walk of a block: values that are assigned in it are not seen behind it.
  virtual void enter() {}
  virtual void leave() {}
  /// The condition is known to be `value` in what is walked next of the block.
  virtual void assumed(Shapes& /*shapes*/, ValueId /*condition*/, bool /*value*/) {}
  /// Behind a conditional: what its arms define can be asked for.
  virtual void joined(Shapes& /*shapes*/, const Statement& /*conditional*/) {}
  /// A conditional whose condition is known, before its arms are walked.
  virtual void decided(Shapes& /*shapes*/, Statement& /*conditional*/, bool /*value*/) {}
};

/// Puts statements in the place of a region, and `end` behind them.
void replace_region(Block& block, std::size_t begin, std::size_t& end,
                    std::vector<Statement> statements);

/// Ends a region: control flow, input and output, timers, the seed of random numbers.
bool is_barrier(const Statement& statement);

class ShapeAnalysis {
 public:
  /// When the walk learns from the length rules of operations that have been passed.
  enum class Trust : std::uint8_t {
    Never,
    Regions,  // behind the region that the operation is part of: whatever visitors replace there
              // must still fail where a rule is broken
    Always,   // at once (see Shapes)
  };

  /// Solves the signatures of all functions that the entry can reach, and leaves in `known` what an
  /// analysis of the same program can use again.
  ShapeAnalysis(Module& module, Trust trust, KnownWalks& known);

  /// Walks a function with the solved signatures.
  void walk(std::uint32_t function, ShapeVisitor& visitor);

 private:
  class Walk;
  void solve(std::uint32_t function);
  std::optional<SignatureShapes> signature_of(std::uint32_t function);
  bool meets_the_same(std::uint32_t function, const KnownWalks::Walk& walk);
  const std::optional<SignatureShapes>& call(std::uint32_t caller, std::uint32_t callee,
                                             const SignatureShapes& arguments);
  void try_walk(std::uint32_t callee);
  void weaken_parameters(std::uint32_t function, const SignatureShapes& shapes);
  bool weaken_results(std::uint32_t function, SignatureShapes shapes);

  Module& module_;
  Trust trust_;
  KnownWalks* known_;  // while signatures are solved; passes change functions behind that
  std::vector<std::optional<SignatureShapes>> parameters_;  // nothing: not called so far
  std::vector<std::optional<SignatureShapes>> results_;     // parameters, then results;
                                                            // nothing: does not return so far
  std::vector<char> pending_;                               // functions to walk again
  std::vector<char> walking_;                               // functions in whose walk we are
  int depth_ = 0;
  std::vector<std::set<std::uint32_t>> callers_;  // that a walk has met, of each function
};

}  // namespace fcode
