// Lengths that are taken for equal because operations demand it, although nothing proves it.
//
// An operation whose operands do not fit fails, or cuts them if it is elementwise. Kernels are
// written for the case that everything fits. Each checks when it starts, by the sizes of its
// operands, whatever it takes for granted; if that is not so, its SPEC is run: the operations one
// by one, with their own results and failures.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "fcode-opt/fusion/legality.hpp"

namespace fcode {

/// The assumptions of one region. Between construction and leave() the shapes follow from them.
class Assumptions {
 public:
  /// `dropped[i]`: the rules of statement i are not assumed; such a statement can be part of a
  /// kernel only if they are proved.
  Assumptions(std::span<const Statement> statements, const Module& module, Shapes& shapes,
              const std::vector<bool>& dropped);
  /// Forgets what was assumed.
  void leave();

  /// Of each statement: is one of its rules assumed?
  const std::vector<bool>& assumed() const { return assumed_; }

  struct Checks {
    /// What the kernel must take as operands so that all that it takes for granted is checked.
    ValueList values;
    /// Descriptors that would have to exist as values for this, …
    ValueList missing;
    /// … and statements whose rules cannot be assumed.
    std::vector<std::size_t> impossible;
    bool complete() const { return missing.empty() && impossible.empty(); }
  };
  /// For the kernel of one slot, which consists of these nodes.
  Checks checks(const RegionGraph& graph, const Schedule& schedule,
                const std::vector<NodeIndex>& members) const;

  /// What is proved of a value that the region mentions, in terms that nothing assumed has changed.
  struct Proved {
    Linear length, sum;
    std::optional<Linear> element;
  };
  const Proved& proved(ValueId value) const { return proved_.at(value); }

 private:
  // The rules of a statement: terms that must be equal.
  struct Rule {
    std::size_t statement;
    Linear left, right;
  };
  class Kernel;

  void note(ValueId value);

  std::span<const Statement> statements_;
  Shapes& shapes_;
  std::map<ValueId, Proved> proved_;  // of what the statements mention
  std::vector<Rule> rules_;           // that are assumed
  std::vector<bool> assumed_;
  Equations::Mark mark_;
};

}  // namespace fcode
