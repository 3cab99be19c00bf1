// Operand checks and the choice of the family. The length conditions are written out by hand, not
// read from the operation table, so that the table is checked too.
#include "reference/evaluator.hpp"

#include <initializer_list>
#include <utility>

#include "cvl/random.hpp"

namespace reference {
namespace {

using vcode::Family;
using vcode::Op;
using vcode::OpInfo;

const Segdes& segdes_of(const Value& value) {
  return std::get<Segdes>(value);
}

std::int64_t total_of(const Value& value) {
  return segdes_of(value).total();
}

void require(bool condition) {
  if (!condition) throw Failure{ErrorCode::LengthMismatch};
}

void check_types(const OpInfo& op, Type written, const std::vector<Value>& operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Type found = type_of(operands[i]);
    bool fits = false;
    switch (op.operands[i]) {
      case 'T':
        fits = found == written;
        break;
      case 'I':
        fits = found == Type::Int;
        break;
      case 'B':
        fits = found == Type::Bool;
        break;
      case 'F':
        fits = found == Type::Float;
        break;
      case 'S':
        fits = found == Type::Segdes;
        break;
      default:  // any vector
        fits = vcode::is_data(found);
    }
    if (!fits) throw Failure{ErrorCode::TypeMismatch};
  }
}

/// Cuts the operands of an elementwise operation to the length of the deepest.
void trim_elementwise(std::vector<Value>& operands, bool strict) {
  const std::int64_t length = length_of(operands[0]);
  for (Value& operand : operands) {
    const std::int64_t other = length_of(operand);
    require(strict ? other == length : other >= length);
    std::visit(
        [&](auto& vector) {
          if constexpr (requires { vector.resize(0); }) {
            vector.resize(static_cast<std::size_t>(length));
          }
        },
        operand);
  }
}

void check_lengths(Op op, const std::vector<Value>& v) {
  const auto own = [&](std::size_t i) { return length_of(v[i]); };
  const auto total = [&](std::size_t i) { return total_of(v[i]); };
  switch (op) {
    case Op::RankUp:
    case Op::RankDown:
    case Op::SortUp:
    case Op::SortDown:
      return require(total(1) == own(0));
    case Op::Permute:
      return require(own(1) == own(0) && total(2) == own(0));
    case Op::DPermute:
      return require(own(1) == own(0) && total(3) == own(0) && total(4) == own(2) &&
                     own(3) == own(4));
    case Op::FPermute:
      return require(own(1) == own(0) && own(2) == own(0) && total(3) == own(0) &&
                     own(3) == own(4));
    case Op::BPermute:
      return require(total(2) == own(0) && total(3) == own(1) && own(2) == own(3));
    case Op::BFPermute:
      return require(own(2) == own(1) && total(3) == own(0) && total(4) == own(1) &&
                     own(3) == own(4));
    case Op::DFPermute:
      return require(own(1) == own(0) && own(2) == own(0) && total(4) == own(0) &&
                     total(5) == own(3) && own(4) == own(5));
    case Op::Extract:
      return require(own(1) == own(2) && total(2) == own(0));
    case Op::Replace:
      return require(own(1) == own(3) && own(2) == own(3) && total(3) == own(0));
    case Op::Distribute:
      return require(own(0) == own(1));
    case Op::Index:
      return require(own(0) == own(2) && own(1) == own(2));
    case Op::Pack:
      return require(own(1) == own(0) && total(2) == own(0));
    default:
      return;
  }
}

Value draw_all(const Widths&, Random& random, const Ints& bounds) {
  Ints result;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i] < 1) throw Failure{ErrorCode::RandRange, static_cast<std::int64_t>(i)};
    const std::uint64_t number =
        cvl::draw(random.key, random.drawn + i, static_cast<std::uint64_t>(bounds[i]));
    result.push_back(static_cast<std::int64_t>(number));
  }
  random.drawn += bounds.size();
  return result;
}

Value progressions(const Widths& widths, const Ints& starts, const Ints& steps,
                   const Segdes& segdes) {
  Ints result;
  for (std::size_t segment = 0; segment < segdes.lengths.size(); ++segment) {
    auto element = static_cast<std::uint64_t>(starts[segment]);
    for (std::int64_t i = 0; i < segdes.lengths[segment]; ++i) {
      result.push_back(widths.wrap(element));
      element += static_cast<std::uint64_t>(steps[segment]);
    }
  }
  return result;
}

Segdes packed_segdes(const Bools& flags, const Segdes& segdes) {
  Segdes result;
  std::size_t position = 0;
  for (const std::int64_t length : segdes.lengths) {
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < length; ++i) kept += flags[position++] != 0 ? 1 : 0;
    result.lengths.push_back(kept);
  }
  return result;
}

Segdes segdes_from(const Ints& lengths) {
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0) throw Failure{ErrorCode::NegativeLength, static_cast<std::int64_t>(i)};
  }
  return Segdes{lengths};
}

Value evaluate_other(Op op, const Widths& widths, Random& random,
                     const std::vector<Value>& operands) {
  const auto ints = [&](std::size_t i) -> const Ints& { return std::get<Ints>(operands[i]); };
  switch (op) {
    case Op::Rand:
      return draw_all(widths, random, ints(0));
    case Op::RankUp:
    case Op::RankDown:
      return rank(operands[0], segdes_of(operands[1]), op == Op::RankDown);
    case Op::SortUp:
    case Op::SortDown:
      return sort(operands[0], segdes_of(operands[1]), op == Op::SortDown);
    case Op::Index:
      return progressions(widths, ints(0), ints(1), segdes_of(operands[2]));
    case Op::Length: {
      const std::int64_t length = length_of(operands[0]);
      if (length > widths.greatest_int()) throw Failure{ErrorCode::CountOverflow};
      return Ints{length};
    }
    case Op::MakeSegdes:
      return segdes_from(ints(0));
    case Op::Lengths:
      return Ints(segdes_of(operands[0]).lengths);
    default:
      return move_elements(op, operands);
  }
}

}  // namespace

Random::Random() : Random(cvl::kDefaultSeed) {}
Random::Random(std::uint64_t seed) : key(cvl::seeded(seed).key) {}

std::vector<Value> evaluate(Op op, Type written, const Widths& widths, Random& random,
                            const std::vector<Value>& operands, bool strict) {
  const OpInfo& row = info(op);
  check_types(row, written, operands);
  switch (row.family) {
    case Family::Elementwise: {
      std::vector<Value> trimmed = operands;
      trim_elementwise(trimmed, strict);
      return {elementwise(op, widths, trimmed)};
    }
    case Family::Scan:
      require(total_of(operands[1]) == length_of(operands[0]));
      return {scan(op, widths, operands[0], segdes_of(operands[1]))};
    case Family::Reduce:
      require(total_of(operands[1]) == length_of(operands[0]));
      return {reduce(op, widths, operands[0], segdes_of(operands[1]))};
    case Family::Combine:
      require(length_of(operands[1]) == length_of(operands[0]) &&
              total_of(operands[2]) == length_of(operands[0]) &&
              length_of(operands[2]) == length_of(operands[3]));
      return {combine(op, widths, operands)};
    default:
      break;
  }
  check_lengths(op, operands);
  if (strict && op == Op::Length && type_of(operands[0]) != written) {
    throw Failure{ErrorCode::TypeMismatch};
  }
  std::vector<Value> results = {evaluate_other(op, widths, random, operands)};
  if (op == Op::Pack) {
    results.emplace_back(packed_segdes(std::get<Bools>(operands[1]), segdes_of(operands[2])));
  }
  return results;
}

}  // namespace reference
