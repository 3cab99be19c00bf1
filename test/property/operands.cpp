#include "property/operands.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "cvl/value.hpp"

namespace property {
namespace {

using reference::Bools;
using reference::Floats;
using reference::Ints;
using reference::Segdes;
using vcode::Family;
using vcode::Op;
using vcode::Type;

/// What a vector is used for, which limits its elements.
enum class Role { Data, Divisor, Bound, Index, Flags, Lengths };

std::vector<double> special_floats(const reference::Widths& widths) {
  const double huge = widths.float_bits == 64 ? 1e300 : 1e37;
  const double tiny = widths.float_bits == 64 ? 4.9e-324 : 1.4e-45;
  return {std::nan(""), -std::nan(""), INFINITY, -INFINITY, 0.0,
          -0.0,         huge,          -huge,    tiny,      -tiny,
          0.5,          -0.5,          2.5,      -2.5,      2147483647.0,
          2147483648.0, -2147483648.0, -3e10,    1e19,      0.49999999999999994};
}

class Generator {
 public:
  Generator(const OperandChoice& choice, const Shape& shape, Random& random)
      : choice_(choice), random_(random), source_{shape.lengths} {}

  std::vector<Operand> make() {
    switch (vcode::info(choice_.op).family) {
      case Family::Elementwise:
        return elementwise();
      case Family::Random:
        return {ints(source_.total(), Role::Bound)};
      case Family::Permute:
        return permute();
      case Family::Combine:
        return combine();
      case Family::Extract:
      case Family::Replace:
        return one_place();
      case Family::Distribute:
        return {data(source_.count()), {source_}};
      case Family::Index:
        return {ints(source_.count(), Role::Data), ints(source_.count(), Role::Data), {source_}};
      case Family::Pack:
        return {data(source_.total()), flags(source_.total()), {source_}};
      case Family::Length:
        return {data(source_.total())};
      case Family::MakeSegdes:
        return {lengths()};
      case Family::Lengths:
        return {{source_}};
      default:  // scans, reductions, ranks
        return {data(source_.total()), {source_}};
    }
  }

 private:
  std::vector<Operand> elementwise() {
    std::vector<Operand> operands;
    const vcode::OpInfo& row = vcode::info(choice_.op);
    for (std::size_t i = 0; i < row.operands.size(); ++i) {
      // Longer operands behind the deepest are cut.
      const std::int64_t extra = i > 0 && random_.chance(0.1) ? random_.between(1, 40) : 0;
      const std::int64_t length = source_.total() + extra;
      const bool divisor = i == 1 && (choice_.op == Op::Divide || choice_.op == Op::Modulo);
      switch (row.operands[i]) {
        case 'I':
          operands.push_back(ints(length, divisor ? Role::Divisor : Role::Data));
          break;
        case 'F':
          operands.push_back(floats(length));
          break;
        case 'B':
          operands.push_back(flags(length));
          break;
        default:
          operands.push_back(divisor && choice_.type == Type::Int ? ints(length, Role::Divisor)
                                                                  : data(length));
      }
    }
    return operands;
  }

  std::vector<Operand> permute() {
    const bool fetches = choice_.op == Op::BPermute || choice_.op == Op::BFPermute;
    const bool flagged =
        choice_.op != Op::Permute && choice_.op != Op::DPermute && choice_.op != Op::BPermute;
    const Segdes target = choice_.op == Op::Permute ? source_ : other_side();
    // The index vector walks over `walked` and points into `pointed`.
    const Segdes& walked = fetches ? target : source_;
    const Segdes& pointed = fetches ? source_ : target;
    Operand mask = flags(walked.total());
    const Operand index = indices(walked, pointed, flagged ? &mask : nullptr);
    std::vector<Operand> operands = {data(source_.total()), index};
    if (flagged) operands.push_back(mask);
    if (choice_.op == Op::DPermute || choice_.op == Op::DFPermute) {
      operands.push_back(data(target.total()));
    }
    operands.push_back({source_});
    if (choice_.op != Op::Permute) operands.push_back({target});
    return operands;
  }

  std::vector<Operand> combine() {
    Segdes target = other_side();
    // Or fewer places than elements, by any factor.
    if (random_.chance(0.6)) {
      const std::int64_t most = random_.pick(std::vector<std::int64_t>{3, 100, 3000, 20000});
      for (std::int64_t& length : target.lengths) {
        length = std::min(length, random_.between(1, most));
      }
    }
    const Operand index = indices(source_, target, nullptr);
    return {data(source_.total()), index, {source_}, {target}};
  }

  /// A second descriptor with as many segments; empty ones only where nothing must be there.
  Segdes other_side() {
    const bool flagged =
        choice_.op == Op::FPermute || choice_.op == Op::BFPermute || choice_.op == Op::DFPermute;
    const bool fetches = choice_.op == Op::BPermute || choice_.op == Op::BFPermute;
    if (random_.chance(0.25)) return source_;
    Segdes other;
    for (const std::int64_t length : source_.lengths) {
      std::int64_t there = length < 16 ? random_.between(0, length + 3)
                                       : random_.between(length / 2, length + length / 4);
      if (length == 0 && fetches && !flagged) there = 0;
      if (length > 0 && there == 0 && !fetches && !flagged) there = 1;
      other.lengths.push_back(there);
    }
    return other;
  }

  /// In-range indices, either a permutation where the sides have equal lengths or any, with equal
  /// ones. Where no index is possible the flag is cleared.
  Operand indices(const Segdes& walked, const Segdes& pointed, Operand* mask) {
    const bool permutation = random_.chance(0.5);
    Ints index;
    index.reserve(static_cast<std::size_t>(walked.total()));
    for (std::size_t segment = 0; segment < walked.lengths.size(); ++segment) {
      const std::int64_t count = walked.lengths[segment];
      const std::int64_t range = pointed.lengths[segment];
      const std::size_t begin = index.size();
      for (std::int64_t i = 0; i < count; ++i) {
        const bool distinct = permutation && range >= count;
        index.push_back(range == 0 ? -1 : distinct ? i : random_.between(0, range - 1));
      }
      if (permutation && range >= count) {
        for (std::int64_t i = count - 1; i > 0; --i) {
          std::swap(index[begin + static_cast<std::size_t>(i)],
                    index[begin + static_cast<std::size_t>(random_.between(0, i))]);
        }
      }
    }
    if (mask != nullptr) clear_impossible(index, *mask);
    Operand operand{std::move(index)};
    return compact(std::move(operand), Role::Index);
  }

  void clear_impossible(Ints& index, Operand& mask) {
    const bool any = std::find(index.begin(), index.end(), -1) != index.end();
    if (any) mask.layout = Layout::Plain;
    auto& flags = std::get<Bools>(mask.value);
    for (std::size_t i = 0; i < index.size(); ++i) {
      if (index[i] < 0) flags[i] = 0;
      // What is not flagged is not looked at.
      if (flags[i] == 0 && random_.chance(0.5)) index[i] = random_.between(-1000, 100000);
    }
  }

  std::vector<Operand> one_place() {
    for (std::int64_t& length : source_.lengths) length = std::max<std::int64_t>(length, 1);
    Ints index;
    for (const std::int64_t length : source_.lengths) {
      index.push_back(random_.between(0, length - 1));
    }
    std::vector<Operand> operands = {data(source_.total()), compact({index}, Role::Index)};
    if (choice_.op == Op::Replace) operands.push_back(data(source_.count()));
    operands.push_back({source_});
    return operands;
  }

  Operand lengths() {
    Operand operand{Ints(source_.lengths)};
    return compact(std::move(operand), Role::Lengths);
  }

  Operand data(std::int64_t length) {
    switch (choice_.type) {
      case Type::Int:
        return ints(length, Role::Data);
      case Type::Float:
        return floats(length);
      default:
        return flags(length);
    }
  }

  Operand ints(std::int64_t length, Role role) {
    const std::int64_t least = choice_.widths.least_int();
    const std::int64_t greatest = choice_.widths.greatest_int();
    const std::int64_t style = random_.between(0, 5);
    const std::int64_t same = random_.between(-3, 3);
    // Of a narrow range somewhere, multiples of a power of two.
    const int unit = static_cast<int>(random_.between(0, choice_.widths.int_bits / 2 - 1));
    const std::int64_t width = random_.between(0, 2 * length) % (greatest >> unit);
    const std::int64_t low = random_.between(least, greatest - (width << unit));
    // Two fields far apart.
    const int high_field = choice_.widths.int_bits - static_cast<int>(random_.between(3, 14));
    Ints result;
    result.reserve(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < length; ++i) {
      std::int64_t element = 0;
      switch (style) {
        case 0:
          element = random_.between(-5, 5);
          break;
        case 1:
          element = random_.chance(0.05) ? (random_.chance(0.5) ? least : greatest)
                                         : random_.between(least, greatest);
          break;
        case 2:
          element = i / 3;
          break;
        case 3:
          element = low + (random_.between(0, width) << unit);
          break;
        case 4:
          element =
              random_.between(-4, 3) * (std::int64_t{1} << high_field) + random_.between(0, 3);
          break;
        default:
          element = same;
      }
      if (role == Role::Divisor && element == 0) element = random_.chance(0.5) ? 1 : -1;
      if (role == Role::Bound) element = std::max<std::int64_t>(1, element);
      result.push_back(element);
    }
    return compact({std::move(result)}, role);
  }

  bool is(Op a, Op b, Op c) const { return choice_.op == a || choice_.op == b || choice_.op == c; }

  Operand floats(std::int64_t length) {
    const std::vector<double> special = special_floats(choice_.widths);
    const bool sums = is(Op::AddScan, Op::AddReduce, Op::AddCombine);
    const bool products = is(Op::MultiplyScan, Op::MultiplyReduce, Op::MultiplyCombine);
    const std::int64_t style = random_.between(0, 2);
    Floats result;
    result.reserve(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < length; ++i) {
      double element = 0;
      if (products) {
        // Products of any length must stay far from overflow.
        element = (random_.chance(0.5) ? 1 : -1) * (1 + (random_.unit() - 0.5) * 1e-5);
      } else if (choice_.special && random_.chance(sums ? 0.002 : 0.3)) {
        element = random_.pick(special);
        // Whether huge numbers cancel before they overflow depends on the order.
        if (sums && std::isfinite(element)) element = -0.0;
      } else if (style == 0) {
        element = (random_.unit() - 0.5) * 200;
      } else if (style == 1) {
        element = static_cast<double>(random_.between(-8, 8)) / 2;
      } else {
        element = std::ldexp(random_.unit() - 0.5, static_cast<int>(random_.between(-20, 20)));
      }
      result.push_back(choice_.widths.round(element));
    }
    return compact({std::move(result)}, Role::Data);
  }

  Operand flags(std::int64_t length) {
    const double density = random_.pick(std::vector<double>{0.5, 0.05, 0.95, 0, 1});
    Bools result;
    result.reserve(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < length; ++i) result.push_back(random_.chance(density) ? 1 : 0);
    return compact({std::move(result)}, Role::Flags);
  }

  /// Gives the vector a compact layout now and then, with elements to match.
  Operand compact(Operand operand, Role role) {
    if (!choice_.compact || !may_be_compact(operand.value, choice_.widths)) return operand;
    auto* ints = std::get_if<Ints>(&operand.value);
    const std::int64_t kind = random_.between(0, ints != nullptr ? 4 : 1);
    if (kind == 1) {
      operand.layout = Layout::Constant;
      std::visit(
          [&](auto& vector) {
            if constexpr (requires { vector.assign(1, vector[0]); }) {
              auto element = vector[0];
              if (role == Role::Index) element = 0;
              vector.assign(vector.size(), element);
            }
          },
          operand.value);
    } else if (kind == 2 && progression_fits(role)) {
      operand.layout = Layout::Progression;
      fill_progression(*ints, role);
    } else if (kind == 3) {
      if (role == Role::Data || role == Role::Divisor) make_characters(*ints, role);
      if (are_characters(*ints)) operand.layout = Layout::Narrow;
    }
    return operand;
  }

  static void make_characters(Ints& ints, Role role) {
    for (std::int64_t& element : ints) element = (element & 255) | (role == Role::Divisor ? 1 : 0);
  }

  /// Indices run within their range only when one segment holds them all.
  bool progression_fits(Role role) const {
    return role != Role::Index ||
           (source_.count() == 1 && (choice_.op == Op::Permute || choice_.op == Op::BPermute));
  }

  void fill_progression(Ints& ints, Role role) {
    const auto length = static_cast<std::int64_t>(ints.size());
    std::int64_t start = random_.between(-1000, 1000);
    std::int64_t step = random_.between(-5, 5);
    if (role == Role::Divisor || role == Role::Bound || role == Role::Lengths) {
      start = random_.between(1, 3);
      step = random_.between(0, 2);
    } else if (role == Role::Index) {
      const bool down = random_.chance(0.5);
      start = down ? length - 1 : 0;
      step = down ? -1 : 1;
      if (source_.lengths[0] < length) start = step = 0;
    } else if (random_.chance(0.2)) {
      start = choice_.widths.greatest_int() - length / 2;  // wraps on the way
      step = 1;
    }
    for (std::int64_t i = 0; i < length; ++i) {
      ints[static_cast<std::size_t>(i)] =
          choice_.widths.wrap(static_cast<std::uint64_t>(start) +
                              static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(step));
    }
  }

  OperandChoice choice_;
  Random& random_;
  Segdes source_;
};

}  // namespace

bool are_characters(const reference::Ints& ints) {
  return std::all_of(ints.begin(), ints.end(),
                     [](std::int64_t element) { return element >= 0 && element <= 255; });
}

bool may_be_compact(const reference::Value& value, const reference::Widths& widths) {
  const Type type = reference::type_of(value);
  if (!vcode::is_data(type)) return false;
  const std::size_t bytes = type == Type::Int     ? static_cast<std::size_t>(widths.int_bits / 8)
                            : type == Type::Float ? static_cast<std::size_t>(widths.float_bits / 8)
                                                  : 1;
  return !cvl::Vector::fits_inline(reference::length_of(value), bytes);
}

std::vector<vcode::Type> types_of(const vcode::OpInfo& row) {
  if (!row.takes_type()) return {vcode::Type::Int};
  std::vector<vcode::Type> types;
  for (const vcode::Type type : {vcode::Type::Int, vcode::Type::Bool, vcode::Type::Float}) {
    if (row.allows(type)) types.push_back(type);
  }
  return types;
}

std::vector<Operand> make_operands(const OperandChoice& choice, const Shape& shape,
                                   Random& random) {
  return Generator(choice, shape, random).make();
}

}  // namespace property
