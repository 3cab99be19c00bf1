#include "fcode-opt/passes/ranges.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "vcode/comparisons.hpp"

namespace fcode {

namespace {

// 2n - 1 is not negative where n - 1 is not.
Linear tightened(const Linear& term) {
  std::int64_t factor = 0;
  for (const Term& each : term.terms) factor = std::gcd(factor, each.factor);
  if (factor <= 1) return term;
  Linear result = term;
  for (Term& each : result.terms) each.factor /= factor;
  const std::int64_t rest = term.constant % factor;
  result.constant = term.constant / factor - (rest < 0 ? 1 : 0);
  return result;
}

}  // namespace

bool Ranges::all(bool value, ValueId flags) {
  const Bounds before = not_negative_;
  if (!shapes_.is_scalar(flags)) exists(shapes_.of(flags).length);
  const bool found = all(value, flags, Place{}, kDepth);
  not_negative_ = before;
  return found;
}

bool Ranges::all(bool value, ValueId flags, const Place& place, int depth) {
  const bool assumed = std::any_of(flags_.begin(), flags_.end(), [&](const Flag& known) {
    return known.value == value && same_element(known.flags, known.place, flags, place);
  });
  if (assumed) return true;
  const Definition* made = shapes_.definition(flags);
  if (!made || made->kind != Statement::Kind::Op || made->operands.empty() || depth == 0) {
    return false;
  }
  const ValueId x = names_(made->operands.front()), y = names_(made->operands.back());
  if (made->is(Op::Distribute)) return all(value, x, of_segments(place, x, y), depth - 1);
  if (made->written == Type::Bool) {
    switch (made->op) {
      case Op::Not:
        return all(!value, x, place, depth - 1);
      case Op::And:
      case Op::Or: {
        if (value == (made->op == Op::And)) {
          return all(value, x, place, depth - 1) && all(value, y, place, depth - 1);
        }
        const auto unless = [&](ValueId other, ValueId asked) {
          const Assumptions assumptions(*this);
          const Bounds known = not_negative_;
          assume(!value, other, place, depth - 1);
          for (std::size_t k = assumptions.first_fact(); k < facts_.size(); ++k) {
            if (!shapes_.is_scalar(facts_[k].x)) continue;
            for (const Linear& more : consequences(facts_[k])) exists(more + Linear::number(1));
          }
          const bool holds = all(value, asked, place, depth - 1);
          not_negative_ = known;
          return holds;
        };
        return unless(y, x) || unless(x, y);
      }
      default:
        return false;
    }
  }
  if (!is_comparison(made->op)) return false;
  return never(value ? opposite_of(made->op) : made->op, made->written, x, y, place, depth);
}

void Ranges::assume(bool value, ValueId flags, const Place& place, int depth) {
  const Definition* made = shapes_.definition(flags);
  if (!made || made->kind != Statement::Kind::Op || made->operands.empty() || depth == 0) return;
  const ValueId x = names_(made->operands.front()), y = names_(made->operands.back());
  if (made->is(Op::Distribute)) {
    assume(value, x, of_segments(place, x, y), depth - 1);
  } else if (made->is(Op::Not) && made->written == Type::Bool) {
    assume(!value, x, place, depth - 1);
  } else if (made->is(value ? Op::And : Op::Or) && made->written == Type::Bool) {
    assume(value, x, place, depth - 1);
    assume(value, y, place, depth - 1);
  } else if (is_comparison(made->op) && made->written == Type::Int) {
    facts_.push_back({value ? made->op : opposite_of(made->op), x, y, place});
  } else {
    flags_.push_back({value, flags, place});
  }
}

bool Ranges::never(Op op, Type written, ValueId x, ValueId y, const Place& place, int depth) {
  if (written != Type::Int) return false;
  // Where this compares elements there are some; elsewhere there may be none.
  const Bounds before = not_negative_;
  const bool found = never_at(op, x, y, place, depth);
  not_negative_ = before;
  return found;
}

bool Ranges::never_at(Op op, ValueId x, ValueId y, const Place& place, int depth) {
  const auto least = [&](ValueId value) { return extreme(value, Op::MinReduce, place, depth); };
  const auto greatest = [&](ValueId value) { return extreme(value, Op::MaxReduce, place, depth); };
  switch (op) {
    case Op::Less:
    case Op::LessEqual:
      return never_less(least(x), greatest(y), op == Op::LessEqual);
    case Op::Greater:
    case Op::GreaterEqual:
      return never_less(least(y), greatest(x), op == Op::GreaterEqual);
    case Op::Equal: {
      const Range a = range(x, place, depth), b = range(y, place, depth);
      return never_less(a, b, true) || never_less(b, a, true);
    }
    default:
      return false;
  }
}

bool Ranges::inside(ValueId positions, const Linear& length) {
  // Where there are none they are, too.
  exists(shapes_.of(positions).length);
  const Range found = range(positions, Place{}, kDepth);
  const auto not_above = [&](const Linear& bound) {
    return at_least(length - Linear::number(1), bound);
  };
  return is_not_below_zero(found) &&
         std::any_of(found.greatest.begin(), found.greatest.end(), not_above);
}

bool Ranges::not_negative(ValueId scalar) {
  const Range found = range(scalar, Place{}, kDepth);
  return found.exact && is_not_below_zero(found);
}

bool Ranges::is_not_below_zero(const Range& range) {
  return std::any_of(range.least.begin(), range.least.end(),
                     [&](const Linear& bound) { return at_least(bound, Linear::number(0)); });
}

bool Ranges::never_less(const Range& x, const Range& y, bool or_equal) {
  if (!is_exact(x, y) || !is_exact(y, x)) return false;
  return std::any_of(x.least.begin(), x.least.end(), [&](const Linear& low) {
    return std::any_of(y.greatest.begin(), y.greatest.end(), [&](const Linear& high) {
      return at_least(low, high + Linear::number(or_equal ? 1 : 0));
    });
  });
}

// A number that as far as INT goes agrees with the length of segments, which is an INT, is that
// length. `other` is of positions in those segments: where there are none, there is no question.
bool Ranges::is_exact(const Range& range, const Range& other) {
  if (range.exact) return true;
  return other.segment && range.least.size() == 1 && range.greatest.size() == 1 &&
         shapes_.equations.equal(range.least[0], *other.segment) &&
         shapes_.equations.equal(range.greatest[0], *other.segment);
}

// Where neither of two factors is less than 1, their product is not less than their sum less 1.
bool Ranges::at_least(const Linear& x, const Linear& y) {
  const Linear asked = tightened(shapes_.equations.normal(x - y));
  if (is_known(asked)) return true;
  const Linear one = Linear::number(1);
  return std::any_of(asked.terms.begin(), asked.terms.end(), [&](const Term& term) {
    const auto* factors = shapes_.equations.factors(term.atom);
    if (factors == nullptr || term.factor != 1) return false;
    const auto& [a, b] = *factors;
    const Linear less = asked - Linear::atom(term.atom) + a + b - one;
    return is_known(less) && is_known(a - one) && is_known(b - one);
  });
}

bool Ranges::is_known(const Linear& not_negative) {
  const auto more = [&](const Linear& than) {
    const auto difference = shapes_.equations.difference(not_negative, than);
    return difference && *difference >= 0;
  };
  return more(Linear::number(0)) || std::any_of(not_negative_.begin(), not_negative_.end(), more) ||
         std::any_of(known_.begin(), known_.end(), more);
}

// So many things, if they are counted by rows of equal length: there is a row, and it has elements.
void Ranges::exists(const Linear& count) {
  if (not_negative_.size() >= kMostBounds) return;
  not_negative_.push_back(count - Linear::number(1));
  const Linear known = shapes_.equations.normal(count);
  if (known.constant != 0 || known.terms.size() != 1 || known.terms[0].factor != 1) return;
  const auto* factors = shapes_.equations.factors(known.terms[0].atom);
  if (factors == nullptr || !is_length(factors->first) || !is_length(factors->second)) return;
  exists(factors->first);
  if (factors->second != factors->first) exists(factors->second);
}

std::vector<Linear> Ranges::follows(ValueId condition, bool value) {
  assume(value, condition, Place{}, kDepth);
  flags_.clear();
  std::vector<Linear> result;
  for (const Fact& fact : std::exchange(facts_, {})) {
    for (const Linear& more : consequences(fact)) result.push_back(more);
  }
  return result;
}

// What is not negative where that holds, of scalars. What is asked on the way may assume more for a
// while, so facts may move.
std::vector<Linear> Ranges::consequences(Fact fact) {
  const bool learning = std::exchange(learning_, true);
  Range more = range(fact.x, Place{}, kDepth), less = range(fact.y, Place{}, kDepth);
  learning_ = learning;
  std::vector<Linear> result;
  if (!fact.place.segments.empty() || !more.exact || !less.exact) return result;
  if (fact.op == Op::Equal || fact.op == Op::NotEqual) return result;
  if (fact.op == Op::Less || fact.op == Op::LessEqual) std::swap(more, less);
  const bool differ = fact.op == Op::Less || fact.op == Op::Greater;
  for (const Linear& high : more.greatest) {
    for (const Linear& low : less.least) {
      const Linear known = high - low - Linear::number(differ ? 1 : 0);
      result.push_back(tightened(shapes_.equations.normal(known)));
    }
  }
  return result;
}

Ranges::Quotient Ranges::quotient(ValueId numbers, ValueId divisor) {
  exists(shapes_.of(numbers).length);
  const Range x = range(numbers, Place{}, kDepth), by = range(divisor, Place{}, kDepth);
  if (!x.exact || !by.exact || !is_not_below_zero(x)) return Quotient::Unknown;
  const auto known = std::find_if(by.greatest.begin(), by.greatest.end(), [&](const Linear& most) {
    return at_least(most, Linear::number(1)) &&
           std::any_of(by.least.begin(), by.least.end(),
                       [&](const Linear& least) { return shapes_.equations.equal(least, most); });
  });
  if (known == by.greatest.end()) return Quotient::Unknown;
  const auto below = [&](std::int64_t times) {
    const Linear most = *known * times - Linear::number(1);
    return std::any_of(x.greatest.begin(), x.greatest.end(),
                       [&](const Linear& bound) { return at_least(most, bound); });
  };
  return below(1) ? Quotient::Zero : below(2) ? Quotient::ZeroOrOne : Quotient::Unknown;
}

bool Ranges::is_length(ValueId vector) const {
  const bool is_known = std::any_of(lengths_.begin(), lengths_.end(),
                                    [&](ValueId length) { return names_(length) == vector; });
  const Definition* made = shapes_.definition(vector);
  if (is_known || !made || made->kind != Statement::Kind::Op || made->result != 0) return is_known;
  if (made->op == Op::Distribute) return is_length(names_(made->operands[0]));
  return made->op == Op::Length || made->op == Op::Lengths;
}

bool Ranges::is_length(const Linear& number) {
  const auto equal = [&](const Linear& other) { return shapes_.equations.equal(other, number); };
  return std::any_of(counted_.begin(), counted_.end(), equal) ||
         std::any_of(lengths_.begin(), lengths_.end(), [&](ValueId length) {
           const std::optional<Linear> element = shapes_.element(names_(length));
           return element && equal(*element);
         });
}

// Or is it a length? An INT and a number, if that is not negative, cannot wrap around to one.
bool Ranges::is_below_length(const Linear& bound) {
  const auto is_below = [&](ValueId length) {
    const std::optional<Linear> element = shapes_.element(names_(length));
    if (!element) return false;
    const Linear most = shapes_.equations.normal(*element);
    return most.terms.size() == 1 && most.terms[0].factor == 1 && most.constant >= 0 &&
           at_least(most, bound);
  };
  return std::any_of(lengths_.begin(), lengths_.end(), is_below) ||
         std::any_of(counted_.begin(), counted_.end(),
                     [&](const Linear& count) { return at_least(count, bound); });
}

// Arithmetic on INT wraps around, and what is computed agrees with what should have been as far as
// INT goes: if that lies within, it is that. An unknown is an INT itself.
bool Ranges::fits(const Range& range) {
  using Narrow = std::numeric_limits<std::int32_t>;
  const auto unknown_plus = [](const Linear& term) {
    return term.terms.size() == 1 && term.terms[0].factor == 1;
  };
  const auto minus_unknown = [](const Linear& term) {
    return term.terms.size() == 1 && term.terms[0].factor == -1;
  };
  const auto not_below = [&](const Linear& bound) {
    const Linear low = shapes_.equations.normal(bound);
    return (unknown_plus(low) && low.constant >= 0) || (minus_unknown(low) && low.constant >= -1) ||
           at_least(low, Linear::number(Narrow::min())) || is_below_length(low * -1);
  };
  const auto not_above = [&](const Linear& bound) {
    const Linear high = shapes_.equations.normal(bound);
    return (unknown_plus(high) && high.constant <= 0) ||
           at_least(Linear::number(Narrow::max()), high) || is_below_length(high);
  };
  return std::any_of(range.least.begin(), range.least.end(), not_below) &&
         std::any_of(range.greatest.begin(), range.greatest.end(), not_above);
}

Ranges::Place Ranges::of_segments(const Place& place, ValueId each, ValueId segments) {
  if (shapes_.is_scalar(each)) return {true, {}};
  Place segment = place;
  segment.segments.push_back(segments);
  return segment;
}

bool Ranges::same_element(ValueId x, const Place& at, ValueId y, const Place& other) {
  if (x != y && shapes_.of(x).content != shapes_.of(y).content) return false;
  return at.known && other.known && at.extreme == other.extreme &&
         at.segments.size() == other.segments.size() &&
         std::equal(at.segments.begin(), at.segments.end(), other.segments.begin(),
                    [&](ValueId a, ValueId b) { return shapes_.same_segments(a, b); });
}

}  // namespace fcode
