#include "fcode-opt/passes/ranges.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "vcode/numbers.hpp"

namespace fcode {

bool is_comparison(Op op) {
  switch (op) {
    case Op::Less:
    case Op::LessEqual:
    case Op::Greater:
    case Op::GreaterEqual:
    case Op::Equal:
    case Op::NotEqual:
      return true;
    default:
      return false;
  }
}

namespace {

constexpr std::size_t kMostBounds = 8;  // that are remembered of one side

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

Op opposite_of(Op comparison) {
  switch (comparison) {
    case Op::Less:
      return Op::GreaterEqual;
    case Op::LessEqual:
      return Op::Greater;
    case Op::Greater:
      return Op::LessEqual;
    case Op::GreaterEqual:
      return Op::Less;
    case Op::Equal:
      return Op::NotEqual;
    default:
      return Op::Equal;
  }
}

// y op x is what x mirrored(op) y is.
Op mirrored(Op comparison) {
  switch (comparison) {
    case Op::Less:
      return Op::Greater;
    case Op::LessEqual:
      return Op::GreaterEqual;
    case Op::Greater:
      return Op::Less;
    case Op::GreaterEqual:
      return Op::LessEqual;
    default:
      return comparison;
  }
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
          const std::size_t before = facts_.size();
          const Bounds known = not_negative_;
          assume(!value, other, place, depth - 1);
          for (std::size_t k = before; k < facts_.size(); ++k) {
            if (!shapes_.is_scalar(facts_[k].x)) continue;
            for (const Linear& more : consequences(facts_[k])) exists(more + Linear::number(1));
          }
          const bool holds = all(value, asked, place, depth - 1);
          facts_.resize(before);
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

// The least of no elements is greater than any number, their greatest less.
Ranges::Range Ranges::extreme(ValueId x, Op reduction, const Place& place, int depth) {
  const Definition* made = shapes_.definition(x);
  const bool reduces = made && made->is(reduction) && made->written == Type::Int;
  if (!reduces) return range(x, place, depth);
  return range(names_(made->operands[0]), Place{true, {}, ++extremes_}, depth);
}

Ranges::Range Ranges::range(ValueId vector, const Place& place, int depth) {
  Range found = made_range(vector, place, depth);
  if (learning_ || !place.known || depth == 0) return found;
  learning_ = true;
  // What is asked on the way may assume more for a while, so the facts may move.
  for (std::size_t k = 0, known = facts_.size(); k < known; ++k) {
    const Fact fact = facts_[k];
    const bool left = same_element(vector, place, fact.x, fact.place);
    if (!left && !same_element(vector, place, fact.y, fact.place)) continue;
    const Range other = range(left ? fact.y : fact.x, fact.place, depth - 1);
    if (!other.exact) continue;
    if (!found.exact) found = unknown(vector, place);  // what it was made of told nothing
    learn(left ? fact.op : mirrored(fact.op), other, found);
  }
  learning_ = false;
  return found;
}

// `range` is of numbers x for which x op y holds.
void Ranges::learn(Op op, const Range& y, Range& range) {
  const auto not_above = [&](std::int64_t more) {
    for (const Linear& bound : y.greatest) {
      add(range.greatest, bound + Linear::number(more), false);
    }
  };
  const auto not_below = [&](std::int64_t more) {
    for (const Linear& bound : y.least) add(range.least, bound + Linear::number(more), true);
  };
  const auto step_away = [&](Bounds& bounds, std::int64_t more) {
    const auto equals = [&](const Linear& a) {
      return [&](const Linear& b) { return shapes_.equations.equal(a, b); };
    };
    for (Linear& bound : bounds) {
      const bool is_y = std::any_of(y.least.begin(), y.least.end(), equals(bound)) &&
                        std::any_of(y.greatest.begin(), y.greatest.end(), equals(bound));
      if (is_y) bound = bound + Linear::number(more);
    }
  };
  if (op == Op::NotEqual) {
    step_away(range.least, 1);
    step_away(range.greatest, -1);
  }
  if (op == Op::Less) not_above(-1);
  if (op == Op::LessEqual || op == Op::Equal) not_above(0);
  if (op == Op::Greater) not_below(1);
  if (op == Op::GreaterEqual || op == Op::Equal) not_below(0);
}

Ranges::Range Ranges::made_range(ValueId vector, const Place& place, int depth) {
  const Definition* made = shapes_.definition(vector);
  const bool computed = made && made->kind == Statement::Kind::Op && made->result == 0;
  const bool adds =
      computed && made->written == Type::Int && (made->op == Op::Add || made->op == Op::Subtract);
  if (adds && depth > 0) {
    Range found = sum(*made, place, depth);
    if (!is_length(vector)) return found;
    if (const auto element = shapes_.element(vector); element && !found.exact) {
      found = Range{{*element}, {*element}, true};
    }
    found.least.push_back(Linear::number(0));
    return found;
  }
  if (computed && made->op == Op::Distribute && depth > 0) {
    const ValueId each = names_(made->operands[0]);
    return range(each, of_segments(place, each, names_(made->operands[1])), depth - 1);
  }
  if (const std::optional<Linear> element = shapes_.element(vector)) {
    Range found{{*element}, {*element}};
    const bool length = is_length(vector);
    if (length) found.least.push_back(Linear::number(0));
    found.exact = length || fits(found);
    return found;
  }
  if (made && made->is_const()) {
    const vcode::Constant& constant = module_.constants[made->index];
    if (constant.type == Type::Int) return this->constant(constant);
  }
  if (!computed || depth == 0) return unknown(vector, place);
  switch (made->op) {
    case Op::Index:
      return positions(vector, place, depth);
    case Op::MakeSegdes: {
      const Range length = range(names_(made->operands[0]), place, depth - 1);
      return length.exact ? length : unknown(vector, place);
    }
    case Op::Multiply:
      return made->written == Type::Int ? scaled(*made, place, depth) : Range{};
    case Op::Modulo:
      return remainder(*made, place, depth);
    case Op::Divide:
      return made->written == Type::Int ? divided(*made, place, depth) : Range{};
    case Op::Rand:
      return below(range(names_(made->operands[0]), place, depth - 1));
    case Op::Select:
      return chosen(*made, place, depth);
    case Op::AddScan:
      return made->written == Type::Int ? starts(*made) : Range{};
    case Op::Lengths:
      return range(names_(made->operands[0]), place, depth - 1);
    case Op::Pack:
    case Op::Permute:
    case Op::BPermute:
      return range(names_(made->operands[0]), Place{false}, depth - 1);
    default:
      return unknown(vector, place);
  }
}

Ranges::Range Ranges::constant(const vcode::Constant& constant) {
  const std::vector<std::int64_t>& elements = constant.ints();
  if (elements.empty()) return {};
  const auto [least, greatest] = std::minmax_element(elements.begin(), elements.end());
  if (!vcode::fits_32_bits(*least) || !vcode::fits_32_bits(*greatest)) return {};
  return {{Linear::number(*least)}, {Linear::number(*greatest)}, true};
}

Ranges::Range Ranges::unknown(ValueId vector, const Place& place) {
  if (!place.known) return {};
  const auto found = std::find_if(unknowns_.begin(), unknowns_.end(), [&](const Unknown& known) {
    return same_element(vector, place, known.vector, known.place);
  });
  const Linear number = found != unknowns_.end() ? found->number : shapes_.equations.unknown();
  if (found == unknowns_.end()) unknowns_.push_back({vector, place, number});
  return {{number}, {number}, true};
}

// Of a position itself it is known, too, what it is.
Ranges::Range Ranges::positions(ValueId index, const Place& place, int depth) {
  const Definition& made = *shapes_.definition(index);
  const ValueId start = names_(made.operands[0]), segments = names_(made.operands[2]);
  if (shapes_.known_element(names_(made.operands[1])) != 1) return {};
  const Range first = range(start, of_segments(place, start, segments), depth - 1);
  const Place segment = of_segments(place, segments, segments);
  const Range length = range(segments, segment, depth - 1);
  if (!first.exact) return {};
  Range found{first.least, lasts(start, segments, segment, depth)};
  found.exact = !found.greatest.empty();
  if (!found.exact) {
    for (const Linear& least : first.greatest) {
      for (const Linear& most : length.greatest) {
        add(found.greatest, least + most - Linear::number(1), false);
      }
    }
    // From 0 or 1 on they end before the length or with it, which is an INT.
    const std::int64_t number = shapes_.known_element(start).value_or(-1);
    found.exact = number == 0 || number == 1 || fits(found);
  }
  found.segment = shapes_.element(segments);
  for (const Linear& most : length.greatest) exists(most);
  const Range itself = unknown(index, place);
  if (found.exact && itself.exact) {
    add(found.least, itself.least.front(), true);
    add(found.greatest, itself.greatest.front(), false);
  }
  return found;
}

// Of segments that are e - s elements long, from s on, the last position is e - 1. None where that
// is not how long they are, or may not be.
Ranges::Bounds Ranges::lasts(ValueId start, ValueId segments, const Place& segment, int depth) {
  const Definition* described = shapes_.definition(segments);
  if (!described || !described->is(Op::MakeSegdes)) return {};
  const Definition* length = shapes_.definition(names_(described->operands[0]));
  if (!length || !length->is(Op::Subtract) || length->written != Type::Int) return {};
  if (!same_element(start, segment, names_(length->operands[1]), segment)) return {};
  const Range end = range(names_(length->operands[0]), segment, depth - 1);
  if (!end.exact || !sum(*length, segment, depth).exact) return {};
  Bounds found;
  for (const Linear& bound : end.greatest) add(found, bound - Linear::number(1), false);
  return found;
}

// Bounds that another one implies are left out.
void Ranges::add(Bounds& bounds, const Linear& bound, bool least) {
  for (Linear& other : bounds) {
    const auto difference = shapes_.equations.difference(other, bound);
    if (!difference) continue;
    if (least ? *difference < 0 : *difference > 0) other = bound;
    return;
  }
  if (bounds.size() < kMostBounds) bounds.push_back(bound);
}

// The first positions of segments of one length.
Ranges::Range Ranges::starts(const Definition& scan) {
  const ValueId lengths = names_(scan.operands[0]), segments = names_(scan.operands[1]);
  const std::optional<Linear> each = shapes_.element(lengths);
  if (!each || !shapes_.one_segment(segments) || !shapes_.fits(lengths, segments)) return {};
  if (!is_length(lengths) && shapes_.equations.number(*each).value_or(-1) < 0) return {};
  Range found{{Linear::number(0)}, {shapes_.of(lengths).sum - *each}};
  found.exact = is_length(lengths) || fits(found);
  return found;
}

Ranges::Range Ranges::sum(const Definition& made, const Place& place, int depth) {
  const Range x = range(names_(made.operands[0]), place, depth - 1);
  const Range y = range(names_(made.operands[1]), place, depth - 1);
  const bool adds = made.op == Op::Add;
  const auto combine = [&](const Bounds& a, const Bounds& b, bool least) {
    Bounds all;
    for (const Linear& first : a) {
      for (const Linear& second : b) add(all, adds ? first + second : first - second, least);
    }
    return all;
  };
  Range found{combine(x.least, adds ? y.least : y.greatest, true),
              combine(x.greatest, adds ? y.greatest : y.least, false)};
  // The difference of two numbers that are not negative does not wrap around.
  const bool difference =
      !adds && x.exact && y.exact && is_not_below_zero(x) && is_not_below_zero(y);
  found.exact = difference || fits(found);
  return found;
}

// By a number that is not negative.
Ranges::Range Ranges::scaled(const Definition& made, const Place& place, int depth) {
  ValueId x = names_(made.operands[0]), factor = names_(made.operands[1]);
  if (shapes_.element(x)) std::swap(x, factor);
  const std::optional<Linear> by = shapes_.element(factor);
  if (!by || (!is_length(factor) && shapes_.equations.number(*by).value_or(-1) < 0)) return {};
  const Range base = range(x, place, depth - 1);
  const auto scale = [&](const Bounds& bounds) {
    Bounds all;
    for (const Linear& bound : bounds) {
      Linear product = *by * bound.constant;
      for (const auto& [atom, coefficient] : bound.terms) {
        product = product + shapes_.equations.product(Linear::atom(atom), *by) * coefficient;
      }
      all.push_back(product);
    }
    return all;
  };
  Range found{scale(base.least), scale(base.greatest)};
  found.exact = base.exact && fits(found);
  return found;
}

// Where the divisor is 0, the operation fails.
Ranges::Range Ranges::remainder(const Definition& made, const Place& place, int depth) {
  const ValueId divisor = names_(made.operands[1]);
  const Range x = range(names_(made.operands[0]), place, depth - 1);
  const Range by = range(divisor, place, depth - 1);
  const Range zero{{Linear::number(0)}, {Linear::number(0)}, true};
  if (!by.exact || !never_less(x, zero, false) ||
      !(is_length(divisor) || never_less(by, zero, false))) {
    return {};
  }
  return below(by);
}

// Of numbers that are not negative, by a positive one: the number of a row, as a rule.
Ranges::Range Ranges::divided(const Definition& made, const Place& place, int depth) {
  const Range x = range(names_(made.operands[0]), place, depth - 1);
  const Range by = range(names_(made.operands[1]), place, depth - 1);
  const auto is_positive = [&](const Linear& bound) { return at_least(bound, Linear::number(1)); };
  if (!x.exact || !by.exact || !is_not_below_zero(x) ||
      std::none_of(by.least.begin(), by.least.end(), is_positive)) {
    return {};
  }
  Range found{{Linear::number(0)}, x.greatest, true};
  for (const Linear& bound : x.greatest) {
    for (const Linear& factor : by.least) {
      const std::optional<Linear> rows = without_factor(bound + Linear::number(1), factor);
      if (rows) add(found.greatest, *rows - Linear::number(1), false);
    }
  }
  return found;
}

std::optional<Linear> Ranges::without_factor(const Linear& product, const Linear& factor) {
  const Linear known = shapes_.equations.normal(product);
  if (known.constant != 0 || known.terms.size() != 1 || known.terms[0].factor != 1) {
    return std::nullopt;
  }
  const auto* factors = shapes_.equations.factors(known.terms[0].atom);
  if (factors == nullptr) return std::nullopt;
  const auto& [a, b] = *factors;
  if (shapes_.equations.equal(a, factor)) return b;
  return shapes_.equations.equal(b, factor) ? std::optional(a) : std::nullopt;
}

Ranges::Range Ranges::below(const Range& bound) {
  Range found{{Linear::number(0)}, {}, bound.exact};
  for (const Linear& most : bound.greatest) found.greatest.push_back(most - Linear::number(1));
  return found;
}

// A number that is one of two: not below what neither is below.
Ranges::Range Ranges::chosen(const Definition& select, const Place& place, int depth) {
  const auto arm = [&](bool first) {
    const std::size_t before = facts_.size();
    assume(first, names_(select.operands[0]), place, depth - 1);
    Range found = range(names_(select.operands[first ? 1 : 2]), place, depth - 1);
    facts_.resize(before);
    return found;
  };
  const Range x = arm(true), y = arm(false);
  Range found;
  const auto bounds_both = [&](const Linear& bound, bool below) {
    const auto holds = [&](const Linear& other) {
      return below ? at_least(other, bound) : at_least(bound, other);
    };
    const Bounds &a = below ? x.least : x.greatest, &b = below ? y.least : y.greatest;
    return std::any_of(a.begin(), a.end(), holds) && std::any_of(b.begin(), b.end(), holds);
  };
  const auto choose = [&](const Bounds& candidates, bool below) {
    for (const Linear& bound : candidates) {
      if (bounds_both(bound, below)) add(below ? found.least : found.greatest, bound, below);
    }
  };
  for (const Range* range : {&x, &y}) {
    choose(range->least, true);
    choose(range->greatest, false);
  }
  choose({Linear::number(0)}, true);
  choose(not_negative_, false);
  found.exact = x.exact && y.exact;
  return found;
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
