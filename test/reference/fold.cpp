// Scans, reductions, combinations and ranks: each segment by itself, from left to right.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "reference/evaluator.hpp"

namespace reference {
namespace {

using vcode::Op;

enum class Combiner { Add, Multiply, Max, Min, And, Or, Xor };

Combiner combiner_of(Op op) {
  switch (op) {
    case Op::AddScan:
    case Op::AddReduce:
    case Op::AddCombine:
      return Combiner::Add;
    case Op::MultiplyScan:
    case Op::MultiplyReduce:
    case Op::MultiplyCombine:
      return Combiner::Multiply;
    case Op::MaxScan:
    case Op::MaxReduce:
    case Op::MaxCombine:
      return Combiner::Max;
    case Op::MinScan:
    case Op::MinReduce:
    case Op::MinCombine:
      return Combiner::Min;
    case Op::AndScan:
    case Op::AndReduce:
    case Op::AndCombine:
      return Combiner::And;
    case Op::OrScan:
    case Op::OrReduce:
    case Op::OrCombine:
      return Combiner::Or;
    default:
      return Combiner::Xor;
  }
}

std::int64_t identity(Combiner combiner, const Widths& widths, std::int64_t) {
  switch (combiner) {
    case Combiner::Multiply:
      return 1;
    case Combiner::Max:
      return widths.least_int();
    case Combiner::Min:
      return widths.greatest_int();
    case Combiner::And:
      return -1;
    default:
      return 0;
  }
}

double identity(Combiner combiner, const Widths&, double) {
  constexpr double kBound = 999999961690316245365415600208216064.0;
  switch (combiner) {
    case Combiner::Multiply:
      return 1;
    case Combiner::Max:
      return -kBound;
    case Combiner::Min:
      return kBound;
    default:
      return 0;
  }
}

std::uint8_t identity(Combiner combiner, const Widths&, std::uint8_t) {
  return combiner == Combiner::And ? 1 : 0;
}

std::int64_t combine(Combiner combiner, const Widths& widths, std::int64_t a, std::int64_t b) {
  const auto ua = static_cast<std::uint64_t>(a);
  const auto ub = static_cast<std::uint64_t>(b);
  switch (combiner) {
    case Combiner::Add:
      return widths.wrap(ua + ub);
    case Combiner::Multiply:
      return widths.wrap(ua * ub);
    case Combiner::Max:
      return std::max(a, b);
    case Combiner::Min:
      return std::min(a, b);
    case Combiner::And:
      return a & b;
    case Combiner::Or:
      return a | b;
    default:
      return a ^ b;
  }
}

double combine(Combiner combiner, const Widths& widths, double a, double b) {
  switch (combiner) {
    case Combiner::Add:
      return widths.round(a + b);
    case Combiner::Multiply:
      return widths.round(a * b);
    default:
      if (std::isnan(a) || std::isnan(b)) return std::nan("");
      return combiner == Combiner::Max ? std::max(a, b) : std::min(a, b);
  }
}

std::uint8_t combine(Combiner combiner, const Widths&, std::uint8_t a, std::uint8_t b) {
  switch (combiner) {
    case Combiner::And:
      return a != 0 && b != 0;
    case Combiner::Or:
      return a != 0 || b != 0;
    default:
      return (a != 0) != (b != 0);
  }
}

/// The finite identities of MAX and MIN on FLOAT are what nothing combines to; they take no part
/// in combining something. All others may begin the fold.
bool starts_with_first(Combiner combiner) {
  return combiner == Combiner::Max || combiner == Combiner::Min;
}

/// Folds `count` elements that begin at `data`, telling `before` each value that precedes one.
template <class T, class Before>
T fold(Combiner combiner, const Widths& widths, const T* data, std::int64_t count, Before before) {
  T total = identity(combiner, widths, T{});
  for (std::int64_t i = 0; i < count; ++i) {
    before(total);
    const bool first = i == 0 && starts_with_first(combiner);
    total = first ? data[i] : combine(combiner, widths, total, data[i]);
  }
  return total;
}

template <class T>
std::vector<T> scan_vector(Combiner combiner, const Widths& widths, const std::vector<T>& data,
                           const Segdes& segdes) {
  std::vector<T> result;
  result.reserve(data.size());
  const T* segment = data.data();
  for (const std::int64_t length : segdes.lengths) {
    fold(combiner, widths, segment, length, [&](T total) { result.push_back(total); });
    segment += length;
  }
  return result;
}

template <class T>
std::vector<T> reduce_vector(Combiner combiner, const Widths& widths, const std::vector<T>& data,
                             const Segdes& segdes) {
  std::vector<T> result;
  const T* segment = data.data();
  for (const std::int64_t length : segdes.lengths) {
    result.push_back(fold(combiner, widths, segment, length, [](T) {}));
    segment += length;
  }
  return result;
}

template <class T>
std::vector<T> combine_vector(Combiner combiner, const Widths& widths, const std::vector<T>& data,
                              const Ints& index, const Segdes& from, const Segdes& to) {
  std::vector<std::vector<T>> sent(static_cast<std::size_t>(to.total()));
  const std::vector<std::int64_t> starts = to.starts();
  std::size_t position = 0;
  for (std::size_t segment = 0; segment < from.lengths.size(); ++segment) {
    for (std::int64_t i = 0; i < from.lengths[segment]; ++i, ++position) {
      if (index[position] < 0 || index[position] >= to.lengths[segment]) {
        throw Failure{ErrorCode::IndexOutOfRange, static_cast<std::int64_t>(position)};
      }
      sent[static_cast<std::size_t>(starts[segment] + index[position])].push_back(data[position]);
    }
  }
  std::vector<T> result;
  for (const std::vector<T>& elements : sent) {
    const auto count = static_cast<std::int64_t>(elements.size());
    result.push_back(fold(combiner, widths, elements.data(), count, [](T) {}));
  }
  return result;
}

/// Orders FLOAT elements by sign and magnitude: -0 before +0, and NaNs, all alike, after the rest.
std::int64_t sort_key(double number) {
  if (std::isnan(number)) return std::numeric_limits<std::int64_t>::max();
  const auto bits = std::bit_cast<std::int64_t>(number);
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits - 1;
}

std::int64_t sort_key(std::int64_t number) {
  return number;
}

template <class T>
Ints rank_vector(const std::vector<T>& data, const Segdes& segdes, bool descending) {
  Ints result(data.size());
  std::int64_t start = 0;
  for (const std::int64_t length : segdes.lengths) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(length));
    std::iota(order.begin(), order.end(), start);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      const std::int64_t x = sort_key(data[static_cast<std::size_t>(a)]);
      const std::int64_t y = sort_key(data[static_cast<std::size_t>(b)]);
      return descending ? x > y : x < y;
    });
    for (std::int64_t place = 0; place < length; ++place) {
      result[static_cast<std::size_t>(order[static_cast<std::size_t>(place)])] = place;
    }
    start += length;
  }
  return result;
}

}  // namespace

Value scan(Op op, const Widths& widths, const Value& data, const Segdes& segdes) {
  const Combiner combiner = combiner_of(op);
  if (const auto* ints = std::get_if<Ints>(&data)) {
    return scan_vector(combiner, widths, *ints, segdes);
  }
  if (const auto* floats = std::get_if<Floats>(&data)) {
    return scan_vector(combiner, widths, *floats, segdes);
  }
  return scan_vector(combiner, widths, std::get<Bools>(data), segdes);
}

Value reduce(Op op, const Widths& widths, const Value& data, const Segdes& segdes) {
  const Combiner combiner = combiner_of(op);
  if (const auto* ints = std::get_if<Ints>(&data)) {
    return reduce_vector(combiner, widths, *ints, segdes);
  }
  if (const auto* floats = std::get_if<Floats>(&data)) {
    return reduce_vector(combiner, widths, *floats, segdes);
  }
  return reduce_vector(combiner, widths, std::get<Bools>(data), segdes);
}

Value combine(Op op, const Widths& widths, const std::vector<Value>& operands) {
  const auto combined = [&](const auto& data) -> Value {
    return combine_vector(combiner_of(op), widths, data, std::get<Ints>(operands[1]),
                          std::get<Segdes>(operands[2]), std::get<Segdes>(operands[3]));
  };
  if (const auto* ints = std::get_if<Ints>(&operands[0])) return combined(*ints);
  if (const auto* floats = std::get_if<Floats>(&operands[0])) return combined(*floats);
  return combined(std::get<Bools>(operands[0]));
}

Value rank(const Value& data, const Segdes& segdes, bool descending) {
  if (const auto* ints = std::get_if<Ints>(&data)) return rank_vector(*ints, segdes, descending);
  return rank_vector(std::get<Floats>(data), segdes, descending);
}

Value sort(const Value& data, const Segdes& segdes, bool descending) {
  const Ints ranks = std::get<Ints>(rank(data, segdes, descending));
  const auto sorted = [&](const auto& unsorted) -> Value {
    auto result = unsorted;
    std::size_t begin = 0;
    for (const std::int64_t length : segdes.lengths) {
      for (std::size_t i = begin; i < begin + static_cast<std::size_t>(length); ++i) {
        result[begin + static_cast<std::size_t>(ranks[i])] = unsorted[i];
      }
      begin += static_cast<std::size_t>(length);
    }
    return result;
  };
  if (const auto* ints = std::get_if<Ints>(&data)) return sorted(*ints);
  return sorted(std::get<Floats>(data));
}

}  // namespace reference
