#include "fcode-opt/shapes/terms.hpp"

#include <algorithm>
#include <limits>

namespace fcode {
namespace {

__extension__ using Wide = __int128;

// Far below the limits of 64 bits, so that sums of a few need no further care.
constexpr std::int64_t kLargest = std::int64_t{1} << 52;

std::int64_t bounded(Wide value) {
  return static_cast<std::int64_t>(std::clamp<Wide>(value, std::numeric_limits<std::int64_t>::min(),
                                                    std::numeric_limits<std::int64_t>::max()));
}

bool small(const Linear& term) {
  auto fits = [](std::int64_t value) { return value >= -kLargest && value <= kLargest; };
  return fits(term.constant) && std::all_of(term.terms.begin(), term.terms.end(),
                                            [&](const auto& entry) { return fits(entry.factor); });
}

// a + b·factor
Linear combine(const Linear& a, const Linear& b, std::int64_t factor) {
  Linear result{bounded(a.constant + static_cast<Wide>(b.constant) * factor), {}};
  auto i = a.terms.begin();
  auto j = b.terms.begin();
  while (i != a.terms.end() || j != b.terms.end()) {
    if (j == b.terms.end() || (i != a.terms.end() && i->atom < j->atom)) {
      result.terms.push_back(*i++);
    } else if (i == a.terms.end() || j->atom < i->atom) {
      result.terms.emplace_back(j->atom, bounded(static_cast<Wide>(j->factor) * factor));
      ++j;
    } else {
      const std::int64_t sum = bounded(i->factor + static_cast<Wide>(j->factor) * factor);
      if (sum != 0) result.terms.emplace_back(i->atom, sum);
      ++i;
      ++j;
    }
  }
  return result;
}

}  // namespace

Linear operator+(const Linear& a, const Linear& b) {
  return combine(a, b, 1);
}

Linear operator-(const Linear& a, const Linear& b) {
  return combine(a, b, -1);
}

Linear operator*(const Linear& a, std::int64_t factor) {
  return factor == 0 ? Linear{} : combine(Linear{}, a, factor);
}

Linear Equations::normal(const Linear& term) const {
  // Solved atoms are the newest of their equations: replacing from the newest on meets each once.
  Linear result = term;
  for (std::size_t at = result.terms.size(); at-- > 0;) {
    const auto [atom, coefficient] = result.terms[at];
    const Linear* known = solved(atom);
    if (known == nullptr) continue;
    result.terms.erase(result.terms.begin() + at);
    result = combine(result, *known, coefficient);
    at = static_cast<std::size_t>(
        std::lower_bound(result.terms.begin(), result.terms.end(), atom,
                         [](const Term& entry, Atom a) { return entry.atom < a; }) -
        result.terms.begin());
  }
  return result;
}

bool Equations::is_normal(const Linear& term) const {
  return std::none_of(term.terms.begin(), term.terms.end(),
                      [&](const Term& entry) { return solved(entry.atom) != nullptr; });
}

bool Equations::equal(const Linear& a, const Linear& b) const {
  if (a == b) return true;
  if (is_normal(a) && is_normal(b)) return false;
  return normal(a - b) == Linear{};
}

std::optional<std::int64_t> Equations::difference(const Linear& a, const Linear& b) const {
  if (a.terms != b.terms && is_normal(a) && is_normal(b)) return std::nullopt;
  return number(a - b);
}

std::optional<std::int64_t> Equations::number(const Linear& term) const {
  const bool may_be = std::all_of(term.terms.begin(), term.terms.end(),
                                  [&](const Term& entry) { return solved(entry.atom) != nullptr; });
  if (term.terms.size() == 1 && !may_be) return std::nullopt;
  const Linear known = normal(term);
  if (!known.is_number()) return std::nullopt;
  return known.constant;
}

bool Equations::unite(const Linear& a, const Linear& b) {
  const Linear zero = normal(a - b);
  if (zero.is_number()) return zero.constant == 0;
  if (!small(zero)) return true;
  for (auto entry = zero.terms.rbegin(); entry != zero.terms.rend(); ++entry) {
    if (entry->factor != 1 && entry->factor != -1) continue;
    // Only the newest atom may go, so that what replaces it is older; otherwise the equation would
    // have to be turned around inside others.
    if (entry != zero.terms.rbegin()) break;
    Linear value = zero;
    value.terms.pop_back();
    if (entry->atom >= step_of_.size()) step_of_.resize(next_, kUnsolved);
    step_of_[entry->atom] = static_cast<std::uint32_t>(trail_.size());
    trail_.push_back({entry->atom, value * -entry->factor, a, b});
    break;
  }
  return true;
}

Linear Equations::product(const Linear& a, const Linear& b) {
  Linear x = normal(a), y = normal(b);
  if (x.is_number()) std::swap(x, y);
  if (y.is_number()) {
    const Linear result = x * y.constant;
    return small(result) ? result : unknown();
  }
  if (y < x) std::swap(x, y);
  const auto [place, is_new] = products_.try_emplace({x, y}, next_);
  if (is_new) factors_.emplace(next_++, place->first);
  return Linear::atom(place->second);
}

Equations::Learned Equations::leave(Mark mark) {
  Learned learned;
  for (std::size_t i = mark; i < trail_.size(); ++i) {
    step_of_[trail_[i].atom] = kUnsolved;
    learned.emplace_back(std::move(trail_[i].left), std::move(trail_[i].right));
  }
  trail_.resize(mark);
  return learned;
}

void Equations::replay(const Learned& learned) {
  for (const auto& [a, b] : learned) unite(a, b);
}

}  // namespace fcode
