#include "cvl-cpu/native_simplify.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace cvl::cpu {
namespace {

using NativeValue = NativeLoop::Value;
using vcode::Op;

/// Calls visit(operand) for those of a value.
template <class Visit>
void for_operands(NativeValue& value, const Visit& visit) {
  for (std::uint32_t& operand : value.args) {
    if (operand != NativeLoop::kNone) visit(operand);
  }
  if (value.guard != NativeLoop::kNone) visit(value.guard);
}

bool computes_int(const NativeValue& value) {
  return value.kind == NativeValue::Kind::Apply && value.type == Type::Int;
}

bool is_bitwise(const NativeValue& value) {
  return computes_int(value) &&
         (value.op == Op::And || value.op == Op::Or || value.op == Op::Xor || value.op == Op::Not);
}

/// A function of each bit of up to three numbers, and how many operations it is made of.
struct BitFunction {
  std::vector<std::uint32_t> numbers;
  std::uint8_t table = 0;  // bit 4a + 2b + c: what becomes of bits a, b, and c
  int operations = 0;
};

std::uint8_t applied(Op op, std::uint8_t a, std::uint8_t b) {
  switch (op) {
    case Op::And:
      return a & b;
    case Op::Or:
      return a | b;
    case Op::Xor:
      return a ^ b;
    default:
      return static_cast<std::uint8_t>(~a);
  }
}

/// The table of a function, as one of `numbers`, which it reads among others.
std::uint8_t table_over(const std::vector<std::uint32_t>& numbers, const BitFunction& function) {
  std::uint8_t table = 0;
  for (unsigned bits = 0; bits < 8; ++bits) {
    unsigned own = 0;
    for (std::size_t k = 0; k < function.numbers.size(); ++k) {
      const auto at = std::find(numbers.begin(), numbers.end(), function.numbers[k]);
      const auto place = static_cast<unsigned>(at - numbers.begin());
      own |= ((bits >> (2 - place)) & 1) << (2 - k);
    }
    table |= static_cast<std::uint8_t>(((function.table >> own) & 1) << bits);
  }
  return table;
}

/// Nothing if it would be one of more than three numbers.
std::optional<BitFunction> combined(Op op, const BitFunction& a, const BitFunction& b) {
  BitFunction result;
  result.numbers = a.numbers;
  for (const std::uint32_t number : b.numbers) {
    if (std::find(a.numbers.begin(), a.numbers.end(), number) == a.numbers.end()) {
      result.numbers.push_back(number);
    }
  }
  if (result.numbers.size() > 3) return std::nullopt;
  result.table = applied(op, table_over(result.numbers, a), table_over(result.numbers, b));
  result.operations = a.operations + b.operations + 1;
  return result;
}

/// What the value is of others: of its operands, or, where nobody else reads those, of theirs.
BitFunction bit_function(const NativeValue& value,
                         const std::vector<std::optional<BitFunction>>& known,
                         const std::vector<int>& readers) {
  constexpr std::uint8_t kFirst = 0xF0;  // the table of the first number
  const auto itself = [](std::uint32_t number) { return BitFunction{{number}, kFirst, 0}; };
  const auto inner = [&](std::uint32_t number) {
    return known[number] && readers[number] == 1 ? *known[number] : itself(number);
  };
  if (value.op == Op::Not) {
    BitFunction result = inner(value.args[0]);
    result.table = static_cast<std::uint8_t>(~result.table);
    ++result.operations;
    return result;
  }
  const std::uint32_t a = value.args[0], b = value.args[1];
  for (const auto& [first, second] : {std::pair(inner(a), inner(b)), std::pair(inner(a), itself(b)),
                                      std::pair(itself(a), inner(b))}) {
    if (const auto found = combined(value.op, first, second)) return *found;
  }
  return *combined(value.op, itself(a), itself(b));
}

/// The bitwise operations that pay as one: a copy and an instruction do the work of more.
void merge_bitwise(std::vector<NativeValue>& values, const std::vector<std::uint32_t*>& wanted) {
  constexpr int kLeast = 3;
  std::vector<int> readers(values.size());
  for (NativeValue& value : values) for_operands(value, [&](std::uint32_t& k) { ++readers[k]; });
  for (const std::uint32_t* const number : wanted) ++readers[*number];
  std::vector<std::optional<BitFunction>> known(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (is_bitwise(values[k])) known[k] = bit_function(values[k], known, readers);
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!known[k] || known[k]->operations < kLeast) continue;
    NativeValue& value = values[k];
    value.kind = NativeValue::Kind::Bitwise;
    value.table = known[k]->table;
    for (std::size_t i = 0; i < 3; ++i) {
      value.args[i] = known[k]->numbers[std::min(i, known[k]->numbers.size() - 1)];
    }
  }
}

/// Finds numbers that are rotated by shifts: x << n | (x >> (32 - n) & ((1 << n) - 1)), where n may
/// be a literal, or 32 - m.
class Rotations {
 public:
  Rotations(std::vector<NativeValue>& values, Widths widths)
      : values_(values), width_(8 * widths.int_bytes) {}

  void merge() {
    for (NativeValue& value : values_) {
      if (!computes_int(value) || value.op != Op::Or) continue;
      for (const int k : {0, 1}) {
        if (!is_rotation(value.args[k], value.args[1 - k])) continue;
        const NativeValue& left = values_[value.args[k]];
        value.kind = NativeValue::Kind::Rotate;
        value.args[0] = left.args[0];
        value.args[1] = left.args[1];
        break;
      }
    }
  }

 private:
  bool applies(std::uint32_t k, Op op) const {
    return computes_int(values_[k]) && values_[k].op == op;
  }
  const std::optional<std::int64_t>& number(std::uint32_t k) const { return values_[k].number; }

  /// Is one x shifted to the left, and the other one what comes in at the right?
  bool is_rotation(std::uint32_t left, std::uint32_t masked) const {
    if (!applies(left, Op::ShiftLeft) || !applies(masked, Op::And)) return false;
    const auto& [x, n, unused] = values_[left].args;
    for (const int k : {0, 1}) {
      const std::uint32_t right = values_[masked].args[k], mask = values_[masked].args[1 - k];
      if (applies(right, Op::ShiftRight) && values_[right].args[0] == x &&
          is_rest(values_[right].args[1], n) && is_mask(mask, n)) {
        return true;
      }
    }
    return false;
  }

  /// Are there as many bits in an INT as both numbers say together?
  bool is_rest(std::uint32_t a, std::uint32_t b) const {
    if (number(a) && number(b)) {
      return *number(a) > 0 && *number(b) > 0 && *number(a) + *number(b) == width_;
    }
    const auto is_difference = [&](std::uint32_t k, std::uint32_t from) {
      return applies(k, Op::Subtract) && number(values_[k].args[0]) == width_ &&
             values_[k].args[1] == from;
    };
    return is_difference(a, b) || is_difference(b, a);
  }

  /// Is it a number whose last n bits alone are 1?
  bool is_mask(std::uint32_t mask, std::uint32_t n) const {
    if (const auto& bits = number(mask)) {
      return number(n) && static_cast<std::uint64_t>(*bits) == (std::uint64_t{1} << *number(n)) - 1;
    }
    const std::uint32_t* args = values_[mask].args;
    return applies(mask, Op::Subtract) && number(args[1]) == 1 && applies(args[0], Op::ShiftLeft) &&
           number(values_[args[0]].args[0]) == 1 && values_[args[0]].args[1] == n;
  }

  std::vector<NativeValue>& values_;
  const std::int64_t width_;
};

void remove_unused(std::vector<NativeValue>& values, const std::vector<std::uint32_t*>& wanted) {
  std::vector<bool> used(values.size());
  for (const std::uint32_t* const number : wanted) used[*number] = true;
  for (std::size_t k = values.size(); k-- > 0;) {
    if (values[k].divides_ints()) used[k] = true;
    if (used[k]) for_operands(values[k], [&](std::uint32_t& operand) { used[operand] = true; });
  }
  std::vector<std::uint32_t> number(values.size());
  std::uint32_t count = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!used[k]) continue;
    number[k] = count;
    values[count] = values[k];
    for_operands(values[count++], [&](std::uint32_t& operand) { operand = number[operand]; });
  }
  values.resize(count);
  for (std::uint32_t* const from : wanted) *from = number[*from];
}

/// `wanted`: the numbers of values outside of those.
void simplify(NativeLoop& loop, std::vector<std::uint32_t*> wanted, Isa isa, Widths widths) {
  for (NativeLoop::Result& stored : loop.results) wanted.push_back(&stored.value);
  if (isa == Isa::V4) {
    Rotations(loop.values, widths).merge();
    merge_bitwise(loop.values, wanted);
  }
  remove_unused(loop.values, wanted);
}

}  // namespace

void simplify(NativeLoop& loop, Isa isa, Widths widths) {
  simplify(loop, {}, isa, widths);
}

void simplify(NativeRounds& rounds, Isa isa, Widths widths) {
  std::vector<std::uint32_t*> wanted = {&rounds.flag};
  for (NativeRounds::Change& change : rounds.changes) {
    wanted.insert(wanted.end(), {&change.state, &change.next});
  }
  simplify(rounds.body, std::move(wanted), isa, widths);
}

void simplify(NativePieces& pieces, Isa isa, Widths widths) {
  std::vector<std::uint32_t*> wanted;
  for (NativePieces::Fold& fold : pieces.folds) wanted.push_back(&fold.result.value);
  for (NativeLoop::Result& any : pieces.disjunctions) wanted.push_back(&any.value);
  simplify(pieces.body, std::move(wanted), isa, widths);
}

}  // namespace cvl::cpu
