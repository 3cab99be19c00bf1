// Symbolic integers: lengths, sums of lengths and the values of scalars that hold them.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/few.hpp"

namespace fcode {

/// An unknown integer. Numbered in order of creation.
using Atom = std::uint32_t;

struct Term {
  Atom atom;
  std::int64_t factor;
  auto operator<=>(const Term&) const = default;
};

/// constant + Σ coefficient·atom, the atoms ascending and no coefficient zero.
struct Linear {
  std::int64_t constant = 0;
  ir::Few<Term, 2> terms;  // rarely more

  static Linear number(std::int64_t value) { return {value, {}}; }
  static Linear atom(Atom atom) { return {0, {{atom, 1}}}; }
  bool is_number() const { return terms.empty(); }
  bool operator==(const Linear&) const = default;
  std::strong_ordering operator<=>(const Linear& other) const {
    if (const auto order = constant <=> other.constant; order != 0) return order;
    return terms <=> other.terms;
  }
};

Linear operator+(const Linear& a, const Linear& b);
Linear operator-(const Linear& a, const Linear& b);
Linear operator*(const Linear& a, std::int64_t factor);

/// Linear equations between atoms, kept solved (Gaussian elimination, as far as a coefficient is
/// 1 or -1), with scopes that can be left again.
///
/// A combination whose numbers leave 64 bits is replaced by a new atom: then nothing is known of
/// it.
class Equations {
 public:
  Atom fresh() { return next_++; }
  Linear unknown() { return Linear::atom(fresh()); }

  /// `term` with everything put in that is known.
  Linear normal(const Linear& term) const;
  bool is_normal(const Linear& term) const;
  bool equal(const Linear& a, const Linear& b) const;
  /// a - b, if it is a known number.
  std::optional<std::int64_t> difference(const Linear& a, const Linear& b) const;
  std::optional<std::int64_t> number(const Linear& term) const;

  /// Learns that a = b. False if that contradicts what is known: then this place is never reached.
  bool unite(const Linear& a, const Linear& b);
  /// a·b; products of two unknowns are atoms, the same for the same factors.
  Linear product(const Linear& a, const Linear& b);
  /// Of an atom that is a product, else null.
  const std::pair<Linear, Linear>* factors(Atom atom) const {
    const auto found = factors_.find(atom);
    return found == factors_.end() ? nullptr : &found->second;
  }

  /// What was learned since, for leaving a branch and for taking its knowledge along.
  using Mark = std::size_t;
  using Learned = std::vector<std::pair<Linear, Linear>>;
  Mark mark() const { return trail_.size(); }
  Learned leave(Mark mark);
  void replay(const Learned& learned);

 private:
  Atom next_ = 0;
  static constexpr std::uint32_t kUnsolved = ~std::uint32_t{0};
  struct Step {
    Atom atom;
    Linear value;        // that the atom equals, the newest of its equation
    Linear left, right;  // which was learned
  };
  const Linear* solved(Atom atom) const {
    if (atom >= step_of_.size() || step_of_[atom] == kUnsolved) return nullptr;
    return &trail_[step_of_[atom]].value;
  }
  std::vector<Step> trail_;
  std::vector<std::uint32_t> step_of_;  // by atom: index into trail_
  std::map<std::pair<Linear, Linear>, Atom> products_;
  std::map<Atom, std::pair<Linear, Linear>> factors_;
};

}  // namespace fcode
