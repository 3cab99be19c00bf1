// The types of the values on the verifier's stack, as terms that are narrowed while it learns.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "vcode/effects.hpp"

namespace vcode {

using TermId = std::uint32_t;

/// Terms of one function. A term stands for the type of a value, wherever copies of that value are.
///
/// `allowed` holds facts: a value of another type certainly fails. Facts learnt in an arm of a
/// conditional are taken back at its end unless both arms agree; for that a trail keeps the former
/// sets. `expected` holds what any instruction has asked for, and is never taken back; what is
/// asked of a value that came from two arms is also expected of the values in both arms. A term is
/// opaque if nothing is known of where its value came from: then what is asked of it is doubtful.
class TypeTerms {
 public:
  enum class Outcome : std::uint8_t { Fits, Doubtful, Clash };
  struct Fact {
    TermId term;
    TypeSet allowed;
  };

  TypeTerms() { clear(); }
  void clear();

  /// The term of a known type other than PAIR.
  static TermId known(Type type) { return static_cast<TermId>(type); }
  TermId fresh(TypeSet allowed = kAnySet, TypeSet expected = kAnySet);
  TermId opaque(TypeSet allowed = kAnySet, TypeSet expected = kAnySet);
  TermId pair(TermId first, TermId second);

  TypeSet allowed(TermId term) const { return terms_[term].allowed; }
  /// The components of a term that has been narrowed to PAIR; unknown ones are made.
  std::pair<TermId, TermId> components(TermId term);

  /// An instruction needs one of `types`. Doubtful: another path asked for something else.
  Outcome narrow(TermId term, TypeSet types);
  /// The same for what a callee expects on some path only: never a fact.
  Outcome expect(TermId term, TypeSet types) {
    const Term& known = terms_[term];
    const TypeSet expected = known.expected & known.allowed & types;
    return expected == known.expected && expected != 0 ? Outcome::Fits : expect_less(term, types);
  }
  /// The type of a value that is `a` on one path and `b` on another; Clash if they differ.
  Outcome join(TermId a, TermId b, TermId& result) { return join(a, b, result, kDeepestPair); }

  std::size_t trail_mark() const { return trail_.size(); }
  /// Takes back the facts since `mark` and returns them, sorted by term.
  std::vector<Fact> take_back(std::size_t mark);
  /// States facts again.
  void restate(const std::vector<Fact>& facts);
  /// States what holds in both of two lists of facts, each sorted by term.
  void restate_common(const std::vector<Fact>& a, const std::vector<Fact>& b);

  /// The numbers of variables, in the order in which they come up.
  struct Numbering {
    std::vector<std::uint32_t> of;  // each term; 0: none yet
    std::uint32_t last = 0;
  };
  /// The term as a value type.
  ValueType describe(TermId term, Numbering& numbers) const;

 private:
  // Pairs nested deeper are not followed: shared components can make them exponentially large.
  static constexpr int kDeepestPair = 6;
  static constexpr TermId kNone = 0xFFFFFFFF;

  struct Term {
    TypeSet allowed, expected;
    bool opaque = false;
    TermId first = kNone, second = kNone;       // components of a pair
    TermId one_arm = kNone, other_arm = kNone;  // what was joined
  };

  Outcome expect_less(TermId term, TypeSet types);
  Outcome join(TermId a, TermId b, TermId& result, int depth);
  ValueType describe(TermId term, Numbering& numbers, int depth) const;

  std::vector<Term> terms_;
  std::vector<Fact> trail_;      // former `allowed` sets
  std::vector<TermId> pending_;  // of expect()
};

}  // namespace vcode
