#include "fcode-opt/passes/ranges.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace fcode {
namespace {

std::optional<Op> opposite_of(Op comparison) {
  switch (comparison) {
    case Op::Less:
      return Op::GreaterEqual;
    case Op::LessEqual:
      return Op::Greater;
    case Op::Greater:
      return Op::LessEqual;
    case Op::GreaterEqual:
      return Op::Less;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool Ranges::all(bool value, ValueId flags, int depth) const {
  const Definition* made = shapes_.definition(flags);
  if (!made || made->kind != Statement::Kind::Op || made->operands.empty() || depth == 0) {
    return false;
  }
  const ValueId x = names_(made->operands.front()), y = names_(made->operands.back());
  if (made->is(Op::Distribute)) return all(value, x, depth - 1);
  if (made->written == Type::Bool) {
    switch (made->op) {
      case Op::Not:
        return all(!value, x, depth - 1);
      case Op::And:
      case Op::Or: {
        const bool needs_both = value == (made->op == Op::And);
        return needs_both ? all(value, x, depth - 1) && all(value, y, depth - 1)
                          : all(value, x, depth - 1) || all(value, y, depth - 1);
      }
      default:
        return false;
    }
  }
  const std::optional<Op> never_holds = value ? opposite_of(made->op) : made->op;
  return never_holds && never(*never_holds, made->written, x, y, depth);
}

bool Ranges::never(Op op, Type written, ValueId x, ValueId y, int depth) const {
  if (written != Type::Int) return false;
  const auto least = [&](ValueId value) { return extreme(value, Op::MinReduce, depth); };
  const auto greatest = [&](ValueId value) { return extreme(value, Op::MaxReduce, depth); };
  switch (op) {
    case Op::Less:
    case Op::LessEqual:
      return never_less(least(x), greatest(y), op == Op::LessEqual);
    case Op::Greater:
    case Op::GreaterEqual:
      return never_less(least(y), greatest(x), op == Op::GreaterEqual);
    default:
      return false;
  }
}

bool Ranges::inside(ValueId positions, const Linear& length) const {
  const std::optional<Range> found = range(positions, kDepth);
  if (!found || !found->exact) return false;
  const auto least = shapes_.equations.number(found->least);
  const auto left = shapes_.equations.difference(length, found->greatest);
  return least && *least >= 0 && left && *left >= 1;
}

bool Ranges::never_less(const std::optional<Range>& x, const std::optional<Range>& y,
                        bool or_equal) const {
  if (!x || !y || !x->exact || !y->exact) return false;
  const auto difference = shapes_.equations.difference(x->least, y->greatest);
  return difference && *difference >= (or_equal ? 1 : 0);
}

// The least of no elements is greater than any number, their greatest less.
std::optional<Ranges::Range> Ranges::extreme(ValueId x, Op reduction, int depth) const {
  const Definition* made = shapes_.definition(x);
  const bool reduces = made && made->is(reduction) && made->written == Type::Int;
  return range(reduces ? names_(made->operands[0]) : x, depth);
}

std::optional<Ranges::Range> Ranges::range(ValueId vector, int depth) const {
  const Definition* made = shapes_.definition(vector);
  const bool computed = made && made->kind == Statement::Kind::Op && made->result == 0;
  if (const std::optional<Linear> element = shapes_.element(vector)) {
    const bool is_length = computed && (made->op == Op::Length || made->op == Op::Lengths);
    return Range{*element, *element, is_length || fits(*element, *element)};
  }
  if (!computed || depth == 0) return std::nullopt;
  switch (made->op) {
    case Op::Index:
      return positions(*made);
    case Op::Add:
    case Op::Subtract:
      return made->written == Type::Int ? sum(*made, depth) : std::nullopt;
    case Op::Distribute:
    case Op::Pack:
    case Op::Permute:
    case Op::BPermute:
      return range(names_(made->operands[0]), depth - 1);
    default:
      return std::nullopt;
  }
}

std::optional<Ranges::Range> Ranges::positions(const Definition& index) const {
  const std::optional<Linear> start = shapes_.element(names_(index.operands[0]));
  const std::optional<Linear> length = shapes_.element(names_(index.operands[2]));
  if (!start || !length || shapes_.known_element(names_(index.operands[1])) != 1) {
    return std::nullopt;
  }
  const Linear greatest = *start + *length - Linear::number(1);
  const bool from_zero = shapes_.equations.number(*start) == 0;
  return Range{*start, greatest, from_zero || fits(*start, greatest)};
}

std::optional<Ranges::Range> Ranges::sum(const Definition& made, int depth) const {
  const auto x = range(names_(made.operands[0]), depth - 1);
  const auto y = range(names_(made.operands[1]), depth - 1);
  if (!x || !y) return std::nullopt;
  const bool adds = made.op == Op::Add;
  const Linear least = adds ? x->least + y->least : x->least - y->greatest;
  const Linear greatest = adds ? x->greatest + y->greatest : x->greatest - y->least;
  return Range{least, greatest, fits(least, greatest)};
}

// Arithmetic on INT wraps around, and what is computed agrees with what should have been as far as
// INT goes: if that lies within, it is that. An unknown is an INT itself.
bool Ranges::fits(const Linear& least, const Linear& greatest) const {
  using Narrow = std::numeric_limits<std::int32_t>;
  const Linear low = shapes_.equations.normal(least), high = shapes_.equations.normal(greatest);
  const auto unknown_plus = [](const Linear& term) {
    return term.terms.size() == 1 && term.terms[0].second == 1;
  };
  const bool not_below =
      low.is_number() ? low.constant >= Narrow::min() : unknown_plus(low) && low.constant >= 0;
  const bool not_above =
      high.is_number() ? high.constant <= Narrow::max() : unknown_plus(high) && high.constant <= 0;
  return not_below && not_above;
}

}  // namespace fcode
