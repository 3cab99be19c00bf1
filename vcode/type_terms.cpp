#include "vcode/type_terms.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace vcode {
namespace {

constexpr Type kKnown[] = {Type::Int, Type::Bool, Type::Float, Type::Segdes};
constexpr TypeSet kPairSet = type_bit(Type::Pair);

}  // namespace

void TypeTerms::clear() {
  terms_.clear();
  trail_.clear();
  for (Type type : kKnown) fresh(type_bit(type), type_bit(type));
}

TermId TypeTerms::fresh(TypeSet allowed, TypeSet expected) {
  terms_.push_back({.allowed = allowed, .expected = expected});
  return static_cast<TermId>(terms_.size() - 1);
}

TermId TypeTerms::opaque(TypeSet allowed, TypeSet expected) {
  const TermId term = fresh(allowed, expected);
  terms_[term].opaque = true;
  return term;
}

TermId TypeTerms::pair(TermId first, TermId second) {
  const TermId term = fresh(kPairSet, kPairSet);
  terms_[term].first = first;
  terms_[term].second = second;
  return term;
}

std::pair<TermId, TermId> TypeTerms::components(TermId term) {
  if (terms_[term].first == kNone) {
    // Components of joined pairs have no place to pass on what is asked of them.
    const bool traceable = !terms_[term].opaque && terms_[term].one_arm == kNone;
    const TermId first = traceable ? fresh() : opaque();
    const TermId second = traceable ? fresh() : opaque();
    terms_[term].first = first;
    terms_[term].second = second;
  }
  return {terms_[term].first, terms_[term].second};
}

TypeTerms::Outcome TypeTerms::narrow(TermId id, TypeSet types) {
  Term& term = terms_[id];
  if ((term.allowed & types) == 0) return Outcome::Clash;
  if ((term.allowed & ~types) != 0) {
    trail_.push_back({id, term.allowed});
    term.allowed &= types;
  }
  return expect(id, term.allowed);
}

TypeTerms::Outcome TypeTerms::expect_less(TermId id, TypeSet types) {
  Outcome outcome = Outcome::Fits;
  pending_.assign(1, id);
  while (!pending_.empty()) {
    Term& term = terms_[pending_.back()];
    pending_.pop_back();
    const TypeSet expected = term.expected & term.allowed & types;
    if (expected == 0) {
      outcome = Outcome::Doubtful;
      term.expected = term.allowed;
    } else if (expected != term.expected) {
      term.expected = expected;
      if (term.opaque) outcome = Outcome::Doubtful;
      if (term.one_arm != kNone) pending_.insert(pending_.end(), {term.one_arm, term.other_arm});
    }
  }
  return outcome;
}

TypeTerms::Outcome TypeTerms::join(TermId a, TermId b, TermId& result, int depth) {
  result = a;
  if (a == b) return Outcome::Fits;
  const Term left = terms_[a];
  const Term right = terms_[b];
  if ((left.allowed & right.allowed) == 0) return Outcome::Clash;
  const TypeSet allowed = left.allowed | right.allowed;
  if (allowed == kPairSet && depth > 0 && left.first != kNone && right.first != kNone) {
    TermId first = kNone, second = kNone;
    const Outcome one = join(left.first, right.first, first, depth - 1);
    const Outcome two = join(left.second, right.second, second, depth - 1);
    const Outcome worst = std::max(one, two);
    if (worst != Outcome::Clash) result = pair(first, second);
    return worst;
  }
  const TypeSet expected = left.expected & right.expected;
  result = fresh(allowed, expected != 0 ? expected : allowed);
  terms_[result].one_arm = a;
  terms_[result].other_arm = b;
  if (expected == 0) return Outcome::Doubtful;
  return std::max(expect(a, expected), expect(b, expected));
}

std::vector<TypeTerms::Fact> TypeTerms::take_back(std::size_t mark) {
  std::vector<Fact> facts;
  for (std::size_t i = mark; i < trail_.size(); ++i) {
    facts.push_back({trail_[i].term, terms_[trail_[i].term].allowed});
  }
  // Backwards, so that of several former sets of one term the oldest is put back last.
  for (; trail_.size() > mark; trail_.pop_back()) {
    terms_[trail_.back().term].allowed = trail_.back().allowed;
  }
  const auto by_term = [](const Fact& a, const Fact& b) { return a.term < b.term; };
  std::sort(facts.begin(), facts.end(), by_term);
  const auto same_term = [](const Fact& a, const Fact& b) { return a.term == b.term; };
  facts.erase(std::unique(facts.begin(), facts.end(), same_term), facts.end());
  return facts;
}

void TypeTerms::restate(const std::vector<Fact>& facts) {
  for (const Fact& fact : facts) narrow(fact.term, fact.allowed);
}

void TypeTerms::restate_common(const std::vector<Fact>& a, const std::vector<Fact>& b) {
  for (auto left = a.begin(), right = b.begin(); left != a.end() && right != b.end();) {
    if (left->term == right->term) {
      narrow(left->term, static_cast<TypeSet>(left->allowed | right->allowed));
      ++left, ++right;
    } else {
      ++(left->term < right->term ? left : right);
    }
  }
}

ValueType TypeTerms::describe(TermId term, Numbering& numbers) const {
  numbers.of.resize(terms_.size());
  return describe(term, numbers, kDeepestPair);
}

ValueType TypeTerms::describe(TermId id, Numbering& numbers, int depth) const {
  const Term& term = terms_[id];
  ValueType type{term.allowed, term.expected, 0, {}};
  const bool known = id < std::size(kKnown);
  if (!known) {
    if (numbers.of[id] == 0) numbers.of[id] = ++numbers.last;
    type.variable = numbers.of[id];
  }
  if (term.expected == kPairSet && term.first != kNone && depth > 0) {
    type.components.push_back(describe(term.first, numbers, depth - 1));
    type.components.push_back(describe(term.second, numbers, depth - 1));
  }
  return type;
}

}  // namespace vcode
