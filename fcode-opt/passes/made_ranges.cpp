// Between which numbers the results of operations are, from those of their operands.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "fcode-opt/passes/ranges.hpp"
#include "vcode/comparisons.hpp"
#include "vcode/numbers.hpp"

namespace fcode {

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
    const Assumptions assumptions(*this);
    assume(first, names_(select.operands[0]), place, depth - 1);
    return range(names_(select.operands[first ? 1 : 2]), place, depth - 1);
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

}  // namespace fcode
